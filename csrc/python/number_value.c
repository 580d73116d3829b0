#include "number_value.h"

#include <math.h>

#include "int_value.h"
#include "number_write.h"
#include "walk_state.h"

static ovt_status write_null(ovt_buffer *out) {
    return ovt_buffer_append(out, "null", 4) ? OVT_OK : OVT_NO_MEMORY;
}

ovt_status ovt_write_float_value(ovt_buffer *out, const ovt_profile *profile, double value) {
    if (OVT_UNLIKELY(!isfinite(value))) {
        return profile->non_finite_null ? write_null(out) : OVT_FLOAT_DOMAIN;
    }
    if (!ovt_buffer_reserve(out, OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    out->end += profile->exact_integral_floats ? ovt_write_double_integral_exact(out->end, value)
                                               : ovt_write_double(out->end, value);
    return OVT_OK;
}

/* Forgets the exception that is set; whether it says that memory ran out. */
static bool forget_exception(void) {
    const bool is_out_of_memory = PyErr_ExceptionMatches(PyExc_MemoryError);
    PyErr_Clear();
    return is_out_of_memory;
}

/* The magnitude of an int beyond 64 bits, if it has at most 128 of them: else `fits` is false. */
static ovt_status magnitude_of(PyObject *value, uint64_t *high, uint64_t *low, bool *fits) {
    /* The slots of int itself, so that a subclass cannot interfere. */
    const PyNumberMethods *const as_int = PyLong_Type.tp_as_number;
    PyObject *magnitude = as_int->nb_absolute(value);
    PyObject *width = PyLong_FromLong(64);
    PyObject *upper = NULL;
    if (magnitude != NULL && width != NULL) {
        upper = as_int->nb_rshift(magnitude, width);
    }
    if (upper != NULL) {
        *low = PyLong_AsUnsignedLongLongMask(magnitude);
        *high = PyLong_AsUnsignedLongLong(upper);
    }
    *fits = !PyErr_Occurred();
    const bool is_out_of_memory = !*fits && forget_exception();
    Py_XDECREF(magnitude);
    Py_XDECREF(width);
    Py_XDECREF(upper);
    return is_out_of_memory ? OVT_NO_MEMORY : OVT_OK;
}

/* Whether high * 2**64 + low is below 10**21. */
static bool is_below_1e21(uint64_t high, uint64_t low) {
    const uint64_t limit_high = 54, limit_low = UINT64_C(3875820019684212736);
    return high < limit_high || (high == limit_high && low < limit_low);
}

/* All digits of an int, as int itself writes them: there may be a limit to how many. */
static ovt_status write_all_digits(ovt_buffer *out, PyObject *value) {
    PyObject *digits = PyLong_Type.tp_repr(value);
    if (digits == NULL) {
        return forget_exception() ? OVT_NO_MEMORY : OVT_INTEGER_DOMAIN;
    }
    const bool is_written =
        ovt_buffer_append(out, PyUnicode_DATA(digits), (size_t)PyUnicode_GET_LENGTH(digits));
    Py_DECREF(digits);
    return is_written ? OVT_OK : OVT_NO_MEMORY;
}

/* An int that does not fit 64 bits. */
static OVT_NEVER_INLINE ovt_status write_large_int(ovt_buffer *out, const ovt_profile *profile,
                                                   PyObject *value, bool is_negative) {
    if (profile->integers == OVT_INTEGERS_SAFE_ONLY) {
        return OVT_INTEGER_DOMAIN;
    }
    if (profile->integers == OVT_INTEGERS_ALL_DIGITS) {
        return write_all_digits(out, value);
    }
    if (!ovt_buffer_reserve(out, 1 + OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    if (profile->integers == OVT_INTEGERS_EXACT_BELOW_1E21 && ovt_is_medium_int(value)) {
        uint64_t high = 0, low = 0;
        bool fits;
        if (magnitude_of(value, &high, &low, &fits) != OVT_OK) {
            return OVT_NO_MEMORY;
        }
        if (fits && is_below_1e21(high, low)) {
            if (is_negative) {
                ovt_buffer_put(out, '-');
            }
            out->end += ovt_write_u128(out->end, high, low);
            return OVT_OK;
        }
    }
    const double nearest = PyLong_AsDouble(value);
    if (nearest == -1.0 && PyErr_Occurred()) {
        if (forget_exception()) {
            return OVT_NO_MEMORY;
        }
        return profile->non_finite_null ? write_null(out) : OVT_INTEGER_DOMAIN;
    }
    out->end += ovt_write_double(out->end, nearest);
    return OVT_OK;
}

ovt_status ovt_write_other_int(ovt_buffer *out, const ovt_profile *profile, PyObject *value) {
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
        return write_large_int(out, profile, value, overflow < 0);
    }
    if (!ovt_buffer_reserve(out, OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    if (is_safe_integer(number) || profile->integers == OVT_INTEGERS_EXACT_BELOW_1E21 ||
        profile->integers == OVT_INTEGERS_ALL_DIGITS) {
        out->end += ovt_write_i64(out->end, number);
        return OVT_OK;
    }
    if (profile->integers == OVT_INTEGERS_SAFE_ONLY) {
        return OVT_INTEGER_DOMAIN;
    }
    out->end += ovt_write_double(out->end, (double)number);
    return OVT_OK;
}

ovt_status ovt_write_int_value(ovt_buffer *out, const ovt_profile *profile, PyObject *value) {
    int64_t number;
    if (!ovt_small_int(value, &number) || !is_safe_integer(number)) {
        return ovt_write_other_int(out, profile, value);
    }
    if (!ovt_buffer_reserve(out, OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    out->end += ovt_write_i64(out->end, number);
    return OVT_OK;
}
