/* Strings of a JSON text to canonical form: checked, unescaped and escaped anew in one pass.
 *
 * A canonical string is never longer than what it was read from, so that a caller whose output has
 * room for the rest of the text, and OVT_STRING_SLACK more, need not look after room. */
#ifndef OVT_TEXT_STRING_H
#define OVT_TEXT_STRING_H

#include "json_read.h"

enum {
    OVT_STRING_SLACK = 64,             /* bytes that may be touched past the string's own */
    OVT_FIRST_ABOVE_SURROGATES = 0xEE, /* first UTF-8 byte of U+E000 and up */
};

/* What a string turned out to hold. */
typedef struct {
    bool has_escapes; /* as it was read */
    bool is_ascii;    /* as it was read */
    bool has_high;    /* characters past U+DFFF, where UTF-16 order and code-point order differ */
} ovt_string_traits;

/* Writes the characters of the string that starts at `at`, after its opening quote, to *out, which
 * moves behind them. Returns the position past the closing quote, or NULL if something is wrong. */
const uint8_t *ovt_copy_string(ovt_reader *reader, const uint8_t *at, char **out,
                               bool escape_surrogates, ovt_string_traits *traits);

/* Removes white space, as str.strip does, from both ends of the characters of a canonical string.
 * Returns their new end; they start where they did. */
char *ovt_trim_canonical(char *start, char *end);

/* Whether a canonical string may have white space at an end. */
static inline bool ovt_may_trim(const char *start, const char *end, bool has_escapes) {
    if (start == end) {
        return false;
    }
    const uint8_t first = (uint8_t)*start, last = (uint8_t)end[-1];
    return has_escapes || first == ' ' || last == ' ' || first >= 0x80 || last >= 0x80;
}

/* Whether a lone surrogate stands in WTF-8. */
static inline bool ovt_has_wtf8_surrogates(const char *text, size_t length) {
    for (size_t i = 0; i + 1 < length; i++) {
        if ((uint8_t)text[i] == 0xED && (uint8_t)text[i + 1] >= 0xA0) {
            return true;
        }
    }
    return false;
}

/* What becomes of a lone surrogate in UTF-8. */
typedef enum {
    OVT_KEEP_LONE,    /* three bytes (WTF-8) */
    OVT_REPLACE_LONE, /* U+FFFD */
} ovt_lone_surrogates;

/* Writes the characters that a valid string stands for, given without its quotes. Eight bytes more
 * than its length may be touched at `out`. Returns how many were written. */
size_t ovt_unescape(char *out, const char *text, size_t length, ovt_lone_surrogates lone);

#endif
