#include "scalar_put.h"

#include "number_value.h"
#include "string_units.h"

enum {
    /* Between the second and the third, and after the last one, there is no white space. */
    FIRST_WIDE_SPACE = 0x85,
    NO_BREAK_SPACE = 0xA0,
    OGHAM_SPACE = 0x1680,
    LAST_SPACE = 0x3000,
};

static inline bool may_be_space(uint32_t unit) {
    const bool is_early = unit <= ' ' || (unit >= FIRST_WIDE_SPACE && unit <= NO_BREAK_SPACE);
    return unit <= LAST_SPACE && (is_early || unit >= OGHAM_SPACE) && ovt_is_space(unit);
}

/* Whether a non-empty text begins or ends with white space. */
static inline bool needs_trimming(ovt_text text) {
    const size_t last = text.length - 1;
    switch (text.width) {
    case 1:
        return may_be_space(((const uint8_t *)text.data)[0]) ||
               may_be_space(((const uint8_t *)text.data)[last]);
    case 2:
        return may_be_space(((const uint16_t *)text.data)[0]) ||
               may_be_space(((const uint16_t *)text.data)[last]);
    default:
        return may_be_space(((const uint32_t *)text.data)[0]) ||
               may_be_space(((const uint32_t *)text.data)[last]);
    }
}

/* A str of any kind. */
static OVT_NEVER_INLINE char *put_any_str(walk *w, PyObject *value, char *end, ovt_status *status) {
    ovt_text text;
    w->out->end = end;
    if (!ovt_read_str(value, &text)) {
        *status = OVT_NO_MEMORY;
        return end;
    }
    size_t length;
    const char *const utf8 = !text.is_ascii && !(w->trims && needs_trimming(text))
                                 ? ovt_cached_utf8(value, &length)
                                 : NULL;
    *status = utf8 != NULL ? ovt_write_utf8(w->out, utf8, length)
                           : ovt_write_string(w->out, w->profile, text);
    return w->out->end;
}

/* A short one comes from its code points, which lie in its object, unless CPython keeps the UTF-8
 * with it: making CPython keep it would cost more than all this. */
char *ovt_put_other_str(walk *w, PyObject *value, char *end, ovt_status *status) {
    const size_t length =
        PyUnicode_IS_COMPACT(value) ? (size_t)PyUnicode_GET_LENGTH(value) : SIZE_MAX;
    if (OVT_LIKELY(length <= OVT_UNITS_FEW && !PyUnicode_IS_ASCII(value))) {
        const ovt_text text = {((PyCompactUnicodeObject *)value) + 1, length,
                               (int)PyUnicode_KIND(value), false};
        size_t kept_length;
        const bool is_kept = ovt_cached_utf8(value, &kept_length) != NULL;
        char *const start = make_room(w->out, end, ovt_quoted_room(length));
        if (OVT_UNLIKELY(start == NULL)) {
            *status = OVT_NO_MEMORY;
            return w->out->end;
        }
        end = start;
        if (OVT_LIKELY(!is_kept && !(w->trims && needs_trimming(text)))) {
            char *const after = ovt_units()->few(start, text.data, length, text.width);
            if (OVT_LIKELY(after != NULL)) {
                return after;
            }
        }
    }
    return put_any_str(w, value, end, status);
}

char *ovt_put_other_int(walk *w, PyObject *value, char *end, ovt_status *status) {
    hold_for_exceptions(w, value);
    if (w->is_strong && w->value == NULL) {
        take_current(w, value); /* what runs may take it out of its list */
    }
    w->out->end = end;
    *status = ovt_write_other_int(w->out, w->profile, value);
    return w->out->end;
}

char *ovt_put_verbatim(walk *w, PyObject *value, char *end, ovt_status *status) {
    ovt_text text;
    w->out->end = end;
    if (!ovt_read_str(value, &text)) {
        *status = OVT_NO_MEMORY;
    } else if (ovt_has_surrogates(text)) {
        *status = OVT_SURROGATE;
    } else {
        *status = ovt_write_raw(w->out, text);
    }
    return w->out->end;
}
