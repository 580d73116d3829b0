/* The value of a Python int of 60 bits at most, read from its digits where CPython shows them.
 *
 * Most ints have one or two digits of 30 bits; reading those in place costs a few instructions, a
 * third of the API call that serves the rest. */
#ifndef OVT_INT_VALUE_H
#define OVT_INT_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030B0000
#include <longintrepr.h>
#endif

#if PYLONG_BITS_IN_DIGIT == 30 && PY_VERSION_HEX < 0x030F0000

/* How many digits the int has, and whether it is negative. */
static inline size_t ovt_int_digits(PyObject *value, bool *is_negative) {
#if PY_VERSION_HEX >= 0x030C0000
    /* lv_tag: the number of digits above three bits, of which the lower two are the sign: 0
     * positive, 1 zero, 2 negative. */
    const uintptr_t tag = ((PyLongObject *)value)->long_value.lv_tag;
    *is_negative = (tag >> 1) & 1;
    return tag >> 3;
#else
    const Py_ssize_t size = Py_SIZE(value);
    *is_negative = size < 0;
    return (size_t)(size < 0 ? -size : size);
#endif
}

static inline const digit *ovt_int_storage(PyObject *value) {
#if PY_VERSION_HEX >= 0x030C0000
    return ((PyLongObject *)value)->long_value.ob_digit;
#else
    return ((PyLongObject *)value)->ob_digit;
#endif
}

/* The magnitude and the sign of an int, or of an object of a subclass; false if it needs more than
 * 60 bits. One digit or two is not branched on: in a list they may come in any order. */
static inline bool ovt_int_parts(PyObject *value, uint64_t *magnitude, bool *is_negative) {
    const size_t count = ovt_int_digits(value, is_negative);
    if (count > 2) {
        return false;
    }
#if PY_VERSION_HEX < 0x030C0000
    if (count == 0) { /* may have no digit; later ones have a digit of 0 */
        *magnitude = 0;
        return true;
    }
#endif
    const digit *const digits = ovt_int_storage(value);
    const size_t last = count >> 1;
    const uint64_t upper = (uint64_t)digits[last] & (0 - (uint64_t)last);
    *magnitude = upper << 30 | digits[0];
    return true;
}

/* The value of an int, or of an object of a subclass; false if it needs more than 60 bits. */
static inline bool ovt_small_int(PyObject *value, int64_t *result) {
    uint64_t magnitude;
    bool is_negative;
    if (!ovt_int_parts(value, &magnitude, &is_negative)) {
        return false;
    }
    *result = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

/* Whether an int has at most 120 bits, which is more than 10**21 needs. */
static inline bool ovt_is_medium_int(PyObject *value) {
    bool is_negative;
    return ovt_int_digits(value, &is_negative) <= 4;
}

/* Whether an int may lie past the double range; for one that does not, nothing is raised. */
static inline bool ovt_may_exceed_double(PyObject *value) {
    bool is_negative;
    return ovt_int_digits(value, &is_negative) >= 35; /* from 2**1020 */
}

#else

static inline bool ovt_is_medium_int(PyObject *value) {
    (void)value;
    return true;
}

static inline bool ovt_may_exceed_double(PyObject *value) {
    (void)value;
    return true;
}

static inline bool ovt_int_parts(PyObject *value, uint64_t *magnitude, bool *is_negative) {
    (void)value;
    (void)magnitude;
    (void)is_negative;
    return false;
}

static inline bool ovt_small_int(PyObject *value, int64_t *result) {
    (void)value;
    (void)result;
    return false;
}

#endif

#endif
