/* Strings and keys to canonical JSON text in UTF-8.
 *
 * Escapes are the seven short ones, \u00xx for the other control characters, and \udxxx for lone
 * surrogates where the profile allows them; every other character is written as it is. Runs of
 * plain ASCII cost about one vector step for 16 bytes; what other text costs is said in
 * string_units.h. A long string is written in pieces, so the room asked for stays small, and the
 * hash of one piece runs beside the writing of the next. */
#ifndef OVT_STRING_WRITE_H
#define OVT_STRING_WRITE_H

#include "buffer.h"
#include "profile.h"
#include "status.h"
#include "string_put.h"

/* Quotes, a colon or comma, and what may be touched past a string. */
enum { OVT_QUOTED_SLACK = 72 };

/* Room for a string of so many code points, or bytes, and for all that. */
static inline size_t ovt_quoted_room(size_t length) {
    return length * OVT_LONGEST_ESCAPE + OVT_QUOTED_SLACK;
}

/* A string as CPython stores it: `length` code points of 1, 2 or 4 bytes each. */
typedef struct {
    const void *data;
    size_t length;
    int width;
    bool is_ascii;
} ovt_text;

/* The code point at an index of a text's data. */
static inline uint32_t ovt_unit_at(const void *data, size_t index, int width) {
    switch (width) {
    case 1:
        return ((const uint8_t *)data)[index];
    case 2:
        return ((const uint16_t *)data)[index];
    default:
        return ((const uint32_t *)data)[index];
    }
}

/* A string value in quotes, trimmed if the profile says so. */
ovt_status ovt_write_string(ovt_buffer *out, const ovt_profile *profile, ovt_text text);

/* A string value that is there as valid UTF-8, in quotes. */
ovt_status ovt_write_utf8(ovt_buffer *out, const char *text, size_t length);

/* A key in quotes and the colon after it. `text` is UTF-8; where `has_surrogates` is set, lone
 * surrogates stand in it as three bytes (WTF-8). */
ovt_status ovt_write_key(ovt_buffer *out, const char *text, size_t length, bool has_surrogates);

/* UTF-8 as it is, without quotes or escapes, each lone surrogate as U+FFFD. */
ovt_status ovt_write_raw(ovt_buffer *out, ovt_text text);

/* Four bytes a code point, and what the last store may touch past them. */
#define OVT_WTF8_ROOM(length) (4 * (length) + 8)

/* The WTF-8 form of a text that holds surrogates: they are joined where two make a pair and the
 * profile says so, and *has_surrogates tells whether lone ones remain. `out` has room for
 * OVT_WTF8_ROOM(length) bytes; returns how many were written. */
size_t ovt_encode_wtf8(char *out, ovt_text text, bool join_surrogates, bool *has_surrogates);

/* Whether surrogate code points stand in a text. */
bool ovt_has_surrogates(ovt_text text);

/* A code point as UTF-8 (a surrogate as WTF-8), and a code unit as \uxxxx; eight bytes may be
 * touched. Both return the end of what they wrote. */
char *ovt_put_utf8(char *out, uint32_t code_point);
char *ovt_put_hex_escape(char *out, uint32_t unit);

/* Whether str.strip removes a character: White_Space of Unicode, and U+001C to U+001F. */
bool ovt_is_space(uint32_t code_point);

#endif
