/* Values that are no containers, written at the end of the output.
 *
 * The functions keep that end in a variable, `end`, and hand it on: through the buffer in memory it
 * would cost more than the writing. Usual values are written inline. */
#ifndef OVT_SCALAR_PUT_H
#define OVT_SCALAR_PUT_H

#include <math.h>

#include "number_write.h"
#include "string_put.h"
#include "walk_state.h"

enum {
    SCALAR_ROOM = 64, /* for a comma and any value but a str */
    SHORT_UTF8 = 256, /* bytes of a str or key that are written in one go */
};

/* Makes room for `count` bytes at `end`; NULL when memory runs out. */
static inline char *make_room(ovt_buffer *out, char *end, size_t count) {
    if (OVT_LIKELY((size_t)(out->limit - end) >= count)) {
        return end;
    }
    out->end = end;
    return ovt_buffer_grow(out, count) ? out->end : NULL;
}

/* Up to where scalars may be written without a look at the buffer: there is `room`, and nothing for
 * the hash yet. */
static inline char *free_until(const ovt_buffer *out, size_t room) {
    char *const last = out->limit - room;
    return out->hash_due < last ? out->hash_due : last;
}

static inline char *put_text(char *end, const char *text, size_t length) {
    memcpy(end, text, length);
    return end + length;
}

/* Bytes in quotes; `has_header` as for ovt_put_bytes. NULL when memory runs out. */
OVT_ALWAYS_INLINE char *put_quoted(ovt_buffer *out, char *end, const void *bytes, size_t length,
                                   bool has_header) {
    end = make_room(out, end, length * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK);
    if (OVT_LIKELY(end != NULL)) {
        *end++ = '"';
        end = ovt_put_bytes(end, bytes, length, has_header);
        *end++ = '"';
    }
    return end;
}

OVT_ALWAYS_INLINE char *put_finite(const walk *w, double number, char *end) {
    return end + (w->profile->exact_integral_floats ? ovt_write_double_integral_exact(end, number)
                                                    : ovt_write_double(end, number));
}

/* Whether a str is short ASCII that no white space may have to be trimmed from. */
OVT_ALWAYS_INLINE bool is_plain_str(PyObject *str, bool trims) {
    const uint8_t *const bytes = (const uint8_t *)(((PyASCIIObject *)str) + 1);
    const size_t length = (size_t)PyUnicode_GET_LENGTH(str);
    return PyUnicode_IS_COMPACT_ASCII(str) && length <= SHORT_UTF8 &&
           !((bytes[0] <= ' ' || bytes[length - 1] <= ' ') && trims && length != 0);
}

/* The values of their kinds that are not written inline. They return the new end; *status changes
 * only when something is wrong. */

/* A str that is no short ASCII one. */
char *ovt_put_other_str(walk *w, PyObject *value, char *end, ovt_status *status);

char *ovt_put_other_int(walk *w, PyObject *value, char *end, ovt_status *status);

char *ovt_put_verbatim(walk *w, PyObject *value, char *end, ovt_status *status);

OVT_ALWAYS_INLINE char *put_str(walk *w, PyObject *value, char *end, ovt_status *status) {
    if (OVT_LIKELY(PyUnicode_CheckExact(value) && is_plain_str(value, w->trims))) {
        end = put_quoted(w->out, end, ((PyASCIIObject *)value) + 1,
                         (size_t)PyUnicode_GET_LENGTH(value), true);
        if (OVT_UNLIKELY(end == NULL)) {
            *status = OVT_NO_MEMORY;
            return w->out->end;
        }
        return end;
    }
    return ovt_put_other_str(w, value, end, status);
}

/* Writes a value that is no container at `end`, where there is SCALAR_ROOM; returns the new end.
 * *status changes only when something is wrong. */
OVT_ALWAYS_INLINE char *put_scalar(walk *w, value_kind kind, PyObject *value, char *end,
                                   ovt_status *status) {
    switch (kind) {
    case KIND_STR:
        return put_str(w, value, end, status);
    case KIND_INT: {
        int64_t number;
        if (OVT_LIKELY(ovt_small_int(value, &number) && is_safe_integer(number))) {
            return end + ovt_write_i64(end, number);
        }
        return ovt_put_other_int(w, value, end, status);
    }
    case KIND_FLOAT: {
        const double number = PyFloat_AS_DOUBLE(value);
        if (OVT_LIKELY(isfinite(number))) {
            return put_finite(w, number, end);
        }
        if (!w->profile->non_finite_null) {
            *status = OVT_FLOAT_DOMAIN;
            return end;
        }
        return put_text(end, "null", 4);
    }
    case KIND_TRUE:
        return put_text(end, "true", 4);
    case KIND_FALSE:
        return put_text(end, "false", 5);
    case KIND_VERBATIM:
        return ovt_put_verbatim(w, value, end, status);
    default: /* None; or, at the top only, a dropped value */
        return put_text(end, "null", 4);
    }
}

#endif
