#include "utf16_length.h"

#include "string_put.h"

enum {
    STEP = 64,          /* code points that are looked at together */
    SHORT_ESCAPE = 2,   /* units of \n */
    UNICODE_ESCAPE = 6, /* units of \u001f */
};

size_t ovt_utf16_length(ovt_text text) {
    size_t length = text.length;
    if (text.width == 4) {
        const uint32_t *points = text.data;
        for (size_t i = 0; i < text.length; i++) {
            length += points[i] > 0xFFFF;
        }
    }
    return length;
}

static size_t escape_length(uint32_t point) {
    switch (point) {
    case '"':
    case '\\':
    case '\b':
    case '\t':
    case '\n':
    case '\f':
    case '\r':
        return SHORT_ESCAPE;
    default:
        return UNICODE_ESCAPE;
    }
}

/* By how many units the escapes of a text are longer than what they stand for. Most steps hold
 * nothing to escape, which the first loop finds out without a branch. */
OVT_ALWAYS_INLINE size_t escape_excess(const void *data, size_t length, int width) {
    size_t excess = 0;
    for (size_t start = 0; start < length; start += STEP) {
        const size_t end = length - start < STEP ? length : start + STEP;
        unsigned found = 0;
        for (size_t i = start; i < end; i++) {
            const uint32_t point = ovt_unit_at(data, i, width);
            found |=
                (unsigned)(point < 0x20) | (unsigned)(point == '"') | (unsigned)(point == '\\');
        }
        for (size_t i = start; found != 0 && i < end; i++) {
            const uint32_t point = ovt_unit_at(data, i, width);
            excess += ovt_needs_escape(point) ? escape_length(point) - 1 : 0;
        }
    }
    return excess;
}

size_t ovt_utf16_length_quoted(ovt_text text) {
    const size_t length = 2 + ovt_utf16_length(text);
    switch (text.width) {
    case 1:
        return length + escape_excess(text.data, text.length, 1);
    case 2:
        return length + escape_excess(text.data, text.length, 2);
    default:
        return length + escape_excess(text.data, text.length, 4);
    }
}
