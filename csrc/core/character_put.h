/* One character as UTF-8 or as an escape: a store of eight bytes, of which the first count. */
#ifndef OVT_CHARACTER_PUT_H
#define OVT_CHARACTER_PUT_H

#include <stdbool.h>

#include "compiler.h"

#pragma GCC visibility push(hidden)
/* How each ASCII character is written in a string: the bytes from the lowest up, and in the highest
 * how many they are. */
extern const uint64_t ovt_ascii_texts[0x80];
#pragma GCC visibility pop

static inline bool ovt_is_surrogate(uint32_t unit) {
    return (unit & 0xFFFFF800u) == 0xD800;
}

/* Stores the lowest `count` bytes of a little-endian word; eight may be touched. */
static inline char *ovt_put_word(char *out, uint64_t word, size_t count) {
    ovt_store_le64(out, word);
    return out + count;
}

/* An ASCII character, escaped where it must be; eight bytes may be touched. */
static inline char *ovt_put_ascii(char *out, uint32_t unit) {
    const uint64_t text = ovt_ascii_texts[unit];
    return ovt_put_word(out, text, text >> 56);
}

/* A code point past the Basic Multilingual Plane as UTF-8; eight bytes may be touched. */
static inline char *ovt_put_supplementary(char *out, uint32_t code_point) {
    const uint64_t last = code_point & 0x3F, third = code_point >> 6 & 0x3F;
    const uint64_t second = code_point >> 12 & 0x3F;
    return ovt_put_word(out,
                        (0xF0 | code_point >> 18) | (0x80 | second) << 8 | (0x80 | third) << 16 |
                            (0x80 | last) << 24,
                        4);
}

/* Any code point as UTF-8 (a surrogate as WTF-8), an ASCII character as `ascii` says: like
 * ovt_ascii_texts. `width` is that of the units it comes from. Eight bytes may be touched. */
OVT_ALWAYS_INLINE char *ovt_put_character(char *out, uint32_t code_point, uint64_t ascii,
                                          int width) {
    if (width == 4 && OVT_UNLIKELY(code_point >= 0x10000)) {
        return ovt_put_supplementary(out, code_point);
    }
    const uint64_t last = code_point & 0x3F, middle = code_point >> 6 & 0x3F;
    const uint64_t two = (0xC0 | code_point >> 6) | (0x80 | last) << 8;
    const uint64_t three = (0xE0 | code_point >> 12) | (0x80 | middle) << 8 | (0x80 | last) << 16;
    uint64_t word = ascii, count = ascii >> 56;
    word = code_point >= 0x80 ? two : word;
    count = code_point >= 0x80 ? 2 : count;
    if (width > 1) {
        word = code_point >= 0x800 ? three : word;
        count = code_point >= 0x800 ? 3 : count;
    }
    return ovt_put_word(out, word, count);
}

#endif
