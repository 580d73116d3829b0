#include "string_write.h"

#if OVT_X86_64
#include <emmintrin.h>
#elif OVT_AARCH64
#include <arm_neon.h>
#endif

enum {
    PIECE = 2048,       /* code points written between two checks for room */
    LONGEST_ESCAPE = 6, /* \u001f */
    STEP = 16,          /* bytes looked at together */
    SLACK = 2 * STEP,   /* bytes that may be touched past the text: a whole step, and quotes */
};

/* The letter after the backslash, for the bytes that have a short escape. */
static const char short_escapes[0x60] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',  ['\f'] = 'f',
    ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\',
};

static const char hex_digits[] = "0123456789abcdef";

/* ---- one character --------------------------------------------------------------------- */

static inline bool needs_escape(uint32_t unit) {
    return unit < 0x20 || unit == '"' || unit == '\\';
}

static inline bool is_high_surrogate(uint32_t unit) {
    return (unit & 0xFFFFFC00u) == 0xD800;
}

static inline bool is_low_surrogate(uint32_t unit) {
    return (unit & 0xFFFFFC00u) == 0xDC00;
}

static inline bool is_surrogate(uint32_t unit) {
    return (unit & 0xFFFFF800u) == 0xD800;
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
    return out + LONGEST_ESCAPE;
}

static char *put_escaped_byte(char *out, uint8_t byte) {
    const char letter = short_escapes[byte];
    if (letter == 0) {
        return put_hex_escape(out, byte);
    }
    out[0] = '\\';
    out[1] = letter;
    return out + 2;
}

/* A code point from U+0080 up as UTF-8 (a surrogate as WTF-8). */
static inline char *put_multibyte(char *out, uint32_t code_point) {
    if (code_point < 0x800) {
        out[0] = (char)(0xC0 | (code_point >> 6));
        out[1] = (char)(0x80 | (code_point & 0x3F));
        return out + 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xE0 | (code_point >> 12));
        out[1] = (char)(0x80 | ((code_point >> 6) & 0x3F));
        out[2] = (char)(0x80 | (code_point & 0x3F));
        return out + 3;
    }
    out[0] = (char)(0xF0 | (code_point >> 18));
    out[1] = (char)(0x80 | ((code_point >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((code_point >> 6) & 0x3F));
    out[3] = (char)(0x80 | (code_point & 0x3F));
    return out + 4;
}

static inline char *put_utf8(char *out, uint32_t code_point) {
    if (code_point < 0x80) {
        *out = (char)code_point;
        return out + 1;
    }
    return put_multibyte(out, code_point);
}

/* ---- bytes: ASCII, and UTF-8 that needs no checks ---------------------------------------- */

/* Where the first byte to escape stands among the eight of `word` (byte 0 lowest), or 8. */
static inline unsigned first_escape_of_8(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    const uint64_t quotes = word ^ (ones * '"'), slashes = word ^ (ones * '\\');
    /* Each term marks the lowest byte that fits exactly, and perhaps others above it. */
    const uint64_t marks = (((word - ones * 0x20) & ~word) | ((quotes - ones) & ~quotes) |
                            ((slashes - ones) & ~slashes)) &
                           tops;
    return marks == 0 ? 8 : (unsigned)ovt_trailing_zeros(marks) / 8;
}

/* Copies 16 bytes and says where the first one to escape stands among them, or 16. */
static inline unsigned copy_step(char *out, const uint8_t *bytes) {
#if OVT_X86_64
    const __m128i block = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    _mm_storeu_si128((__m128i *)(void *)out, block);
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block);
    const __m128i quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i slashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    const int marks = _mm_movemask_epi8(_mm_or_si128(controls, _mm_or_si128(quotes, slashes)));
    return marks == 0 ? STEP : (unsigned)ovt_trailing_zeros((uint64_t)(unsigned)marks);
#elif OVT_AARCH64
    const uint8x16_t block = vld1q_u8(bytes);
    vst1q_u8((uint8_t *)out, block);
    const uint8x16_t marks =
        vorrq_u8(vcltq_u8(block, vdupq_n_u8(0x20)),
                 vorrq_u8(vceqq_u8(block, vdupq_n_u8('"')), vceqq_u8(block, vdupq_n_u8('\\'))));
    /* Four bits of every byte's mark, in order, as one number. */
    const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(marks), 4);
    const uint64_t nibbles = vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
    return nibbles == 0 ? STEP : (unsigned)ovt_trailing_zeros(nibbles) / 4;
#else
    memcpy(out, bytes, STEP);
    const unsigned first = first_escape_of_8(ovt_load_le64(bytes));
    return first < 8 ? first : 8 + first_escape_of_8(ovt_load_le64(bytes + 8));
#endif
}

static char *put_bytes_singly(char *out, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (OVT_UNLIKELY(needs_escape(bytes[i]))) {
            out = put_escaped_byte(out, bytes[i]);
        } else {
            *out++ = (char)bytes[i];
        }
    }
    return out;
}

/* Fewer than 16 bytes, read as two overlapping halves: never a byte outside the text. */
static inline char *put_short_bytes(char *out, const uint8_t *bytes, size_t count) {
    if (count >= 8) {
        const uint64_t head = ovt_load_le64(bytes), tail = ovt_load_le64(bytes + count - 8);
        if (OVT_LIKELY(first_escape_of_8(head) + first_escape_of_8(tail) == 16)) {
            ovt_store_le64(out, head);
            ovt_store_le64(out + count - 8, tail);
            return out + count;
        }
    } else if (count >= 4) {
        uint32_t head, tail;
        memcpy(&head, bytes, sizeof head);
        memcpy(&tail, bytes + count - 4, sizeof tail);
        if (OVT_LIKELY(first_escape_of_8((uint64_t)tail << 32 | head) == 8)) {
            memcpy(out, &head, sizeof head);
            memcpy(out + count - 4, &tail, sizeof tail);
            return out + count;
        }
    }
    return put_bytes_singly(out, bytes, count);
}

/* At most a piece of bytes, escaped; the room was made before. */
static inline char *put_bytes(char *out, const uint8_t *bytes, size_t count) {
    const uint8_t *const end = bytes + count;
    while (end - bytes >= STEP) {
        const unsigned plain = copy_step(out, bytes);
        out += plain;
        bytes += plain;
        if (OVT_UNLIKELY(plain < STEP)) {
            out = put_escaped_byte(out, *bytes++);
        }
    }
    return put_short_bytes(out, bytes, (size_t)(end - bytes));
}

static inline bool reserve_piece(ovt_buffer *out, size_t count) {
    return ovt_buffer_reserve(out, count * LONGEST_ESCAPE + SLACK);
}

static ovt_status write_long_bytes(ovt_buffer *out, const uint8_t *bytes, size_t count) {
    while (count != 0) {
        const size_t piece = count < PIECE ? count : PIECE;
        if (!reserve_piece(out, piece)) {
            return OVT_NO_MEMORY;
        }
        out->end = put_bytes(out->end, bytes, piece);
        bytes += piece;
        count -= piece;
    }
    return OVT_OK;
}

/* Bytes between quotes, with `suffix` after the closing one (nothing when it is 0). */
static inline ovt_status write_quoted_bytes(ovt_buffer *out, const uint8_t *bytes, size_t count,
                                            char suffix) {
    const bool is_short = count <= PIECE;
    if (!reserve_piece(out, is_short ? count : 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    if (OVT_LIKELY(is_short)) {
        out->end = put_bytes(out->end, bytes, count);
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

static inline uint32_t unit_at(const void *data, size_t index, int width) {
    switch (width) {
    case 1:
        return ((const uint8_t *)data)[index];
    case 2:
        return ((const uint16_t *)data)[index];
    default:
        return ((const uint32_t *)data)[index];
    }
}

/* Copies units while they are plain ASCII, eight at a time; returns how many were copied. */
static inline size_t copy_plain_units(char *out, const void *data, size_t count, int width) {
    size_t done = 0;
#if OVT_X86_64
    if (width <= 2) {
        for (; count - done >= 8; done += 8) {
            __m128i block;
            if (width == 2) {
                const uint16_t *units = (const uint16_t *)data + done;
                block = _mm_loadu_si128((const __m128i *)(const void *)units);
            } else {
                const uint8_t *units = (const uint8_t *)data + done;
                block = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(const void *)units),
                                          _mm_setzero_si128());
            }
            const __m128i high_bits = _mm_and_si128(block, _mm_set1_epi16((short)0xFF80));
            const __m128i packed = _mm_packus_epi16(block, block);
            uint64_t word;
            _mm_storel_epi64((__m128i *)(void *)&word, packed);
            const __m128i ascii = _mm_cmpeq_epi16(high_bits, _mm_setzero_si128());
            if (_mm_movemask_epi8(ascii) != 0xFFFF || first_escape_of_8(word) != 8) {
                break;
            }
            ovt_store64(out + done, word);
        }
        return done;
    }
#endif
    for (; done < count; done++) {
        const uint32_t unit = unit_at(data, done, width);
        if (unit >= 0x80 || needs_escape(unit)) {
            break;
        }
        out[done] = (char)unit;
    }
    return done;
}

/* Writes the units from *index up to `piece_end`; may read one more to complete a pair. */
static inline ovt_status put_units(ovt_buffer *buffer, const ovt_profile *profile, ovt_text text,
                                   size_t *index, size_t piece_end, int width) {
    char *out = buffer->end;
    size_t i = *index;
    while (i < piece_end) {
        const uint32_t unit = unit_at(text.data, i, width);
        if (unit < 0x80) {
            if (OVT_UNLIKELY(needs_escape(unit))) {
                out = put_escaped_byte(out, (uint8_t)unit);
                i++;
                continue;
            }
            *out++ = (char)unit;
            i++;
            const void *rest = (const char *)text.data + i * (size_t)width;
            const size_t plain = copy_plain_units(out, rest, piece_end - i, width);
            out += plain;
            i += plain;
        } else if (width > 1 && OVT_UNLIKELY(is_surrogate(unit))) {
            if (profile->join_surrogates && is_high_surrogate(unit) && i + 1 < text.length &&
                is_low_surrogate(unit_at(text.data, i + 1, width))) {
                out = put_multibyte(out, joined(unit, unit_at(text.data, i + 1, width)));
                i += 2;
            } else if (profile->escape_surrogates) {
                out = put_hex_escape(out, unit);
                i++;
            } else {
                return OVT_SURROGATE;
            }
        } else {
            out = put_multibyte(out, unit);
            i++;
        }
    }
    buffer->end = out;
    *index = i;
    return OVT_OK;
}

static ovt_status write_quoted_units(ovt_buffer *out, const ovt_profile *profile, ovt_text text) {
    if (!reserve_piece(out, 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    for (size_t index = 0; index < text.length;) {
        const size_t left = text.length - index;
        const size_t piece_end = index + (left < PIECE ? left : PIECE);
        if (!reserve_piece(out, piece_end - index)) {
            return OVT_NO_MEMORY;
        }
        ovt_status status;
        if (text.width == 1) {
            status = put_units(out, profile, text, &index, piece_end, 1);
        } else if (text.width == 2) {
            status = put_units(out, profile, text, &index, piece_end, 2);
        } else {
            status = put_units(out, profile, text, &index, piece_end, 4);
        }
        if (status != OVT_OK) {
            return status;
        }
    }
    if (!reserve_piece(out, 0)) {
        return OVT_NO_MEMORY;
    }
    ovt_buffer_put(out, '"');
    return OVT_OK;
}

/* ---- trimming -------------------------------------------------------------------------------- */

bool ovt_is_space(uint32_t code_point) {
    if (code_point < 0x80) {
        return code_point == ' ' || (code_point >= 0x09 && code_point <= 0x0D) ||
               (code_point >= 0x1C && code_point <= 0x1F);
    }
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

static ovt_text trimmed(ovt_text text) {
    size_t start = 0, end = text.length;
    while (start < end && ovt_is_space(unit_at(text.data, start, text.width))) {
        start++;
    }
    while (end > start && ovt_is_space(unit_at(text.data, end - 1, text.width))) {
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
    if (profile->trim_strings) {
        text = trimmed(text);
    }
    return write_quoted_units(out, profile, text);
}

/* Lone surrogates as escapes, everything else as by put_bytes. */
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
            out->end = put_bytes_singly(out->end, bytes + i, 1);
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

bool ovt_has_surrogates(ovt_text text) {
    if (text.width == 1) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        if (is_surrogate(unit_at(text.data, i, text.width))) {
            return true;
        }
    }
    return false;
}

/* The code point at *index, a surrogate pair joined if asked; *index moves past it. */
static uint32_t next_code_point(ovt_text text, size_t *index, bool join_surrogates) {
    const uint32_t unit = unit_at(text.data, (*index)++, text.width);
    if (join_surrogates && is_high_surrogate(unit) && *index < text.length) {
        const uint32_t next = unit_at(text.data, *index, text.width);
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
        out->end = put_utf8(out->end, is_surrogate(code_point) ? 0xFFFD : code_point);
    }
    return OVT_OK;
}

size_t ovt_encode_wtf8(char *out, ovt_text text, bool join_surrogates, bool *has_surrogates) {
    char *const start = out;
    *has_surrogates = false;
    for (size_t index = 0; index < text.length;) {
        const uint32_t code_point = next_code_point(text, &index, join_surrogates);
        *has_surrogates |= is_surrogate(code_point);
        out = put_utf8(out, code_point);
    }
    return (size_t)(out - start);
}
