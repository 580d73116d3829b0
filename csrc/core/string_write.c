#include "string_write.h"

#include "character_put.h"
#include "string_put.h"
#include "string_units.h"

enum {
    /* Code points written between two looks at the buffer. With a hash few enough that hashing them
     * runs beside the writing of the next ones. */
    PIECE = 1024,
    PIECE_WITH_HASH = 256,
    SHORT = 64,       /* bytes that are written in one go */
    LEAST_PIECE = 64, /* that is written where there is no room for a whole one */
};

#define BYTES(count, bytes) ((uint64_t)(count) << 56 | (bytes))
#define LETTER(letter) BYTES(2, '\\' | (uint64_t)(letter) << 8)
#define HEX_DIGIT(n) ((n) < 10 ? '0' + (n) : 'a' + (n)-10)
#define HEX(c)                                                                                     \
    BYTES(6, '\\' | 'u' << 8 | '0' << 16 | (uint64_t)'0' << 24 |                                   \
                 (uint64_t)HEX_DIGIT((c) >> 4) << 32 | (uint64_t)HEX_DIGIT((c)&15) << 40)
#define HEX_8(c)                                                                                   \
    HEX(c), HEX(c + 1), HEX(c + 2), HEX(c + 3), HEX(c + 4), HEX(c + 5), HEX(c + 6), HEX(c + 7)
#define SELF(c) BYTES(1, c)
#define SELF_8(c)                                                                                  \
    SELF(c), SELF(c + 1), SELF(c + 2), SELF(c + 3), SELF(c + 4), SELF(c + 5), SELF(c + 6),         \
        SELF(c + 7)

const uint64_t ovt_ascii_texts[0x80] = {
    HEX_8(0x00),  LETTER('b'),  LETTER('t'),  LETTER('n'),  HEX(0x0B),  LETTER('f'),  LETTER('r'),
    HEX(0x0E),    HEX(0x0F),    HEX_8(0x10),  HEX_8(0x18),  SELF(' '),  SELF('!'),    LETTER('"'),
    SELF('#'),    SELF('$'),    SELF('%'),    SELF('&'),    SELF('\''), SELF_8(0x28), SELF_8(0x30),
    SELF_8(0x38), SELF_8(0x40), SELF_8(0x48), SELF_8(0x50), SELF('X'),  SELF('Y'),    SELF('Z'),
    SELF('['),    LETTER('\\'), SELF(']'),    SELF('^'),    SELF('_'),  SELF_8(0x60), SELF_8(0x68),
    SELF_8(0x70), SELF_8(0x78),
};

static const char hex_digits[] = "0123456789abcdef";

/* ---- one character --------------------------------------------------------------------- */

static inline bool is_high_surrogate(uint32_t unit) {
    return (unit & 0xFFFFFC00u) == 0xD800;
}

static inline bool is_low_surrogate(uint32_t unit) {
    return (unit & 0xFFFFFC00u) == 0xDC00;
}

static inline uint32_t joined(uint32_t high, uint32_t low) {
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

static char *put_hex_escape(char *out, uint32_t unit) {
    out[0] = '\\';
    out[1] = 'u';
    for (int i = 0; i < 4; i++) {
        out[2 + i] = hex_digits[(unit >> (12 - 4 * i)) & 0xF];
    }
    return out + OVT_LONGEST_ESCAPE;
}

char *ovt_put_escape(char *out, uint8_t byte) {
    return ovt_put_ascii(out, byte);
}

static inline char *put_utf8(char *out, uint32_t code_point) {
    if (code_point < 0x80) {
        *out = (char)code_point;
        return out + 1;
    }
    return ovt_put_character(out, code_point, 0, 4);
}

static inline bool reserve_piece(ovt_buffer *out, size_t count) {
    return ovt_buffer_reserve(out, ovt_quoted_room(count));
}

/* Makes room for a piece of what is `left`, and says how long it is; false if memory runs out. */
static inline bool reserve_next_piece(ovt_buffer *out, size_t left, size_t *piece) {
    const size_t most = out->hash != NULL ? PIECE_WITH_HASH : PIECE;
    const size_t room = (size_t)(out->limit - out->end);
    *piece = left < most ? left : most;
    if (OVT_LIKELY(room >= ovt_quoted_room(*piece))) {
        return true;
    }
    if (room >= ovt_quoted_room(LEAST_PIECE)) {
        *piece = (room - OVT_QUOTED_SLACK) / OVT_LONGEST_ESCAPE;
        return true;
    }
    return ovt_buffer_grow(out, ovt_quoted_room(*piece));
}

/* Escapes bytes for which there is room. */
static inline char *put_long_bytes(char *out, const uint8_t *bytes, size_t count) {
    const ovt_units_variant *const units = ovt_units();
    for (size_t index = 0;;) {
        const ovt_units_written written = units->bytes(out, bytes, index, count, 1);
        if (OVT_LIKELY(written.index == count)) {
            return written.end;
        }
        const size_t left = count - written.index;
        const size_t few = left < OVT_PUT_STEP ? left : OVT_PUT_STEP;
        out = ovt_put_bytes_singly(written.end, bytes + written.index, few);
        index = written.index + few;
    }
}

static ovt_status write_long_bytes(ovt_buffer *out, const uint8_t *bytes, size_t count) {
    size_t piece;
    for (; count != 0; count -= piece, bytes += piece) {
        if (!reserve_next_piece(out, count, &piece)) {
            return OVT_NO_MEMORY;
        }
        out->end = put_long_bytes(out->end, bytes, piece);
        ovt_buffer_offer(out, out->end);
    }
    return OVT_OK;
}

/* Bytes between quotes, with `suffix` after the closing one (nothing when it is 0). */
static inline ovt_status write_quoted_bytes(ovt_buffer *out, const uint8_t *bytes, size_t count,
                                            char suffix) {
    const bool is_short = count <= SHORT;
    if (!reserve_piece(out, is_short ? count : 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    if (OVT_LIKELY(is_short)) {
        out->end = ovt_put_bytes(out->end, bytes, count, false);
    } else {
        const ovt_status status = write_long_bytes(out, bytes, count);
        if (status != OVT_OK || !reserve_piece(out, 0)) {
            return OVT_NO_MEMORY;
        }
    }
    ovt_buffer_put(out, '"');
    if (suffix != 0) {
        ovt_buffer_put(out, suffix);
    }
    return OVT_OK;
}

/* ---- code points --------------------------------------------------------------------------- */

/* Writes the unit at *index, which is a surrogate, or the pair that begins there. */
static OVT_NEVER_INLINE char *put_surrogate(char *out, const ovt_profile *profile, ovt_text text,
                                            size_t *index) {
    const uint32_t unit = ovt_unit_at(text.data, *index, text.width);
    const uint32_t next =
        *index + 1 < text.length ? ovt_unit_at(text.data, *index + 1, text.width) : 0;
    if (profile->join_surrogates && is_high_surrogate(unit) && is_low_surrogate(next)) {
        *index += 2;
        return ovt_put_supplementary(out, joined(unit, next));
    }
    if (!profile->escape_surrogates) {
        return NULL;
    }
    *index += 1;
    return put_hex_escape(out, unit);
}

/* Writes the few units from *index on, before `piece_end`, at which the fast way has stopped; may
 * take one more to complete a pair. */
static OVT_NEVER_INLINE ovt_status put_left_units(ovt_buffer *buffer, const ovt_profile *profile,
                                                  ovt_text text, size_t *index, size_t piece_end) {
    char *out = buffer->end;
    const size_t stop = piece_end - *index < OVT_PUT_STEP ? piece_end : *index + OVT_PUT_STEP;
    while (*index < stop) {
        const uint32_t unit = ovt_unit_at(text.data, *index, text.width);
        if (ovt_is_surrogate(unit)) {
            out = put_surrogate(out, profile, text, index);
            if (out == NULL) {
                return OVT_SURROGATE;
            }
        } else {
            out = ovt_put_character(out, unit, ovt_ascii_texts[unit & 0x7F], 4);
            (*index)++;
        }
    }
    buffer->end = out;
    return OVT_OK;
}

/* Writes the units from *index up to `piece_end`; may take one more to complete a pair. Room was
 * made before. */
static inline ovt_status put_piece(ovt_buffer *out, const ovt_profile *profile, ovt_text text,
                                   size_t *index, size_t piece_end) {
    const ovt_units_variant *const units = ovt_units();
    for (;;) {
        const ovt_units_written written =
            units->escaped(out->end, text.data, *index, piece_end, text.width);
        out->end = written.end;
        *index = written.index;
        if (OVT_LIKELY(*index == piece_end)) {
            return OVT_OK;
        }
        const ovt_status status = put_left_units(out, profile, text, index, piece_end);
        if (status != OVT_OK || *index >= piece_end) {
            return status;
        }
    }
}

static ovt_status write_quoted_units(ovt_buffer *out, const ovt_profile *profile, ovt_text text) {
    if (!reserve_piece(out, 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    for (size_t index = 0; index < text.length;) {
        size_t piece;
        if (!reserve_next_piece(out, text.length - index, &piece)) {
            return OVT_NO_MEMORY;
        }
        const ovt_status status = put_piece(out, profile, text, &index, index + piece);
        if (status != OVT_OK) {
            return status;
        }
        ovt_buffer_offer(out, out->end);
    }
    if (!reserve_piece(out, 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    return OVT_OK;
}

/* ---- trimming -------------------------------------------------------------------------------- */

static bool is_wide_space(uint32_t code_point) {
    switch (code_point) {
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
        return true;
    default:
        return code_point >= 0x2000 && code_point <= 0x200A;
    }
}

static inline bool is_space(uint32_t code_point) {
    if (code_point < 0x80) {
        return code_point <= ' ' &&
               (code_point == ' ' || (code_point >= 0x09 && code_point <= 0x0D) ||
                code_point >= 0x1C);
    }
    return code_point <= 0x3000 && is_wide_space(code_point);
}

bool ovt_is_space(uint32_t code_point) {
    return is_space(code_point);
}

/* Whether a string begins or ends with a character that may be white space. */
static inline bool may_need_trimming(ovt_text text) {
    if (text.length == 0) {
        return false;
    }
    const uint32_t first = ovt_unit_at(text.data, 0, text.width);
    const uint32_t last = ovt_unit_at(text.data, text.length - 1, text.width);
    return is_space(first) || is_space(last);
}

static ovt_text trimmed(ovt_text text) {
    size_t start = 0, end = text.length;
    while (start < end && is_space(ovt_unit_at(text.data, start, text.width))) {
        start++;
    }
    while (end > start && is_space(ovt_unit_at(text.data, end - 1, text.width))) {
        end--;
    }
    text.data = (const char *)text.data + start * (size_t)text.width;
    text.length = end - start;
    return text;
}

/* ---- the unit's functions ----------------------------------------------------------------------
 */

ovt_status ovt_write_string(ovt_buffer *out, const ovt_profile *profile, ovt_text text) {
    if (OVT_LIKELY(text.is_ascii)) {
        const uint8_t *bytes = text.data;
        if (profile->trim_strings && text.length != 0 &&
            OVT_UNLIKELY(bytes[0] <= ' ' || bytes[text.length - 1] <= ' ')) {
            text = trimmed(text);
        }
        return write_quoted_bytes(out, text.data, text.length, 0);
    }
    if (profile->trim_strings && may_need_trimming(text)) {
        text = trimmed(text);
    }
    return write_quoted_units(out, profile, text);
}

/* Lone surrogates as escapes, everything else as by ovt_put_bytes. */
static ovt_status write_wtf8_key(ovt_buffer *out, const uint8_t *bytes, size_t count) {
    if (!reserve_piece(out, 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    for (size_t i = 0; i < count;) {
        if (!reserve_piece(out, 1)) {
            return OVT_NO_MEMORY;
        }
        if (bytes[i] == 0xED && bytes[i + 1] >= 0xA0) {
            const uint32_t unit = 0xD000u | (bytes[i + 1] & 0x3Fu) << 6 | (bytes[i + 2] & 0x3Fu);
            out->end = put_hex_escape(out->end, unit);
            i += 3;
        } else {
            out->end = ovt_put_bytes_singly(out->end, bytes + i, 1);
            i++;
        }
    }
    if (!reserve_piece(out, 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    ovt_buffer_put(out, ':');
    return OVT_OK;
}

ovt_status ovt_write_key(ovt_buffer *out, const char *text, size_t length, bool has_surrogates) {
    if (OVT_UNLIKELY(has_surrogates)) {
        return write_wtf8_key(out, (const uint8_t *)text, length);
    }
    return write_quoted_bytes(out, (const uint8_t *)text, length, ':');
}

ovt_status ovt_write_utf8(ovt_buffer *out, const char *text, size_t length) {
    return write_quoted_bytes(out, (const uint8_t *)text, length, 0);
}

/* Whether surrogates stand among `count` units: no branch in the loop, so that it can be made of
 * vector instructions. */
OVT_ALWAYS_INLINE bool are_there_surrogates(const void *data, size_t index, size_t count,
                                            int width) {
    uint32_t found = 0;
    for (size_t i = index; i < index + count; i++) {
        found |= ovt_is_surrogate(ovt_unit_at(data, i, width));
    }
    return found != 0;
}

bool ovt_has_surrogates(ovt_text text) {
    if (text.width == 1) {
        return false;
    }
    for (size_t i = 0; i < text.length; i += LEAST_PIECE) {
        const size_t count = text.length - i < LEAST_PIECE ? text.length - i : LEAST_PIECE;
        if (text.width == 2 ? are_there_surrogates(text.data, i, count, 2)
                            : are_there_surrogates(text.data, i, count, 4)) {
            return true;
        }
    }
    return false;
}

/* The code point at *index, a surrogate pair joined if asked; *index moves past it. */
static uint32_t next_code_point(ovt_text text, size_t *index, bool join_surrogates) {
    const uint32_t unit = ovt_unit_at(text.data, (*index)++, text.width);
    if (join_surrogates && is_high_surrogate(unit) && *index < text.length) {
        const uint32_t next = ovt_unit_at(text.data, *index, text.width);
        if (is_low_surrogate(next)) {
            (*index)++;
            return joined(unit, next);
        }
    }
    return unit;
}

ovt_status ovt_write_raw(ovt_buffer *out, ovt_text text) {
    if (text.is_ascii) {
        return ovt_buffer_append(out, text.data, text.length) ? OVT_OK : OVT_NO_MEMORY;
    }
    for (size_t index = 0; index < text.length;) {
        if (!reserve_piece(out, 1)) {
            return OVT_NO_MEMORY;
        }
        const uint32_t code_point = next_code_point(text, &index, true);
        out->end = put_utf8(out->end, ovt_is_surrogate(code_point) ? 0xFFFD : code_point);
    }
    return OVT_OK;
}

size_t ovt_encode_wtf8(char *out, ovt_text text, bool join_surrogates, bool *has_surrogates) {
    char *const start = out;
    *has_surrogates = false;
    for (size_t index = 0; index < text.length;) {
        const uint32_t code_point = next_code_point(text, &index, join_surrogates);
        *has_surrogates |= ovt_is_surrogate(code_point);
        out = put_utf8(out, code_point);
    }
    return (size_t)(out - start);
}

char *ovt_put_utf8(char *out, uint32_t code_point) {
    return put_utf8(out, code_point);
}

char *ovt_put_hex_escape(char *out, uint32_t unit) {
    return put_hex_escape(out, unit);
}
