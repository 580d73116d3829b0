/* Code points to UTF-8 with AVX-512.
 *
 * Each code point gets a lane of four bytes, in which its sequence ends with the last byte: an
 * escape of two characters stands there like a sequence of two bytes. The bytes that belong to a
 * sequence are then pressed together by one instruction. Nothing branches on what the characters
 * are, but for escapes and for what is left to the caller.
 *
 * Eight lanes at a time: most strings are short, and wider vectors take twice as long. */
#include "string_units.h"

#include "character_put.h"
#include "string_put.h"

#if OVT_X86_64

#include <immintrin.h>

#define WIDE                                                                                       \
    __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,"        \
                          "popcnt")))
#define WIDE_INLINE WIDE OVT_ALWAYS_INLINE

enum {
    LANES = 8,
    BLOCK = 32,  /* units that are looked at together in a long text */
    FEW = 2,     /* characters of three bytes in a block of others */
    LONG = 0x80, /* no letter: the escape is a long one */
};

/* ---- constants ------------------------------------------------------------------------------- */

/* What is added to the four times six bits of a lane. The lowest byte is the first one. A byte
 * whose highest bit is set belongs to the sequence; so does the last one. */
#define TWO_BYTES 0x80C00000u
#define THREE_BYTES 0x8080E000u
#define FOUR_BYTES 0x808080F0u

/* The eight times four bytes for units of 1, 2 and 4 bytes: where in a text each comes from. The
 * text is padded with zeros, so that the last of 32 bytes is 0 for the first two. */
#define ZERO 31
#define LANE_1(i) i, ZERO, ZERO, ZERO
#define LANE_2(i) i, i + 1, ZERO, ZERO
#define LANE_4(i) i, i + 1, i + 2, i + 3

static const _Alignas(32) uint8_t places[3][32] = {
    {LANE_1(0), LANE_1(1), LANE_1(2), LANE_1(3), LANE_1(4), LANE_1(5), LANE_1(6), LANE_1(7)},
    {LANE_2(0), LANE_2(2), LANE_2(4), LANE_2(6), LANE_2(8), LANE_2(10), LANE_2(12), LANE_2(14)},
    {LANE_4(0), LANE_4(4), LANE_4(8), LANE_4(12), LANE_4(16), LANE_4(20), LANE_4(24), LANE_4(28)},
};

/* By the lower four bits of a character: the one of quote and backslash that has them, and for the
 * others a character that has not. All characters of which the first byte is that and the second
 * one 0, or that too, seem to be one. */
static const _Alignas(16) uint8_t marks[16] = {
    0, 0, '"', 0, 0, 0, 0, 0, 0, 0, 0, 0, '\\', 0, 0, 0,
};

/* The letters of the short escapes. */
static const _Alignas(16) uint8_t letters[16] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
};

static const uint32_t past_ascii = 0x7F, past_two = 0x7FF, past_three = 0xFFFF;
static const uint32_t two_bytes = TWO_BYTES, two_or_three = TWO_BYTES ^ THREE_BYTES,
                      three_or_four = THREE_BYTES ^ FOUR_BYTES;
static const uint32_t taken_of_ascii = 0x7F3F3F3F, not_of_others = 0x40000000;
static const uint32_t surrogate_bits = 0xFFFFF800, surrogates = 0xD800, space = ' ';

/* The letter after the backslash for every ASCII character, 0 for one that is not escaped. */
#define EIGHT_LONG LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG
static const _Alignas(64) uint8_t all_letters[128] = {
    EIGHT_LONG, 'b',  't',        'n',        LONG,        'f',           'r',
    LONG,       LONG, EIGHT_LONG, EIGHT_LONG, ['"'] = '"', ['\\'] = '\\',
};

/* A vector of one number, from memory: by way of a general register, which the compiler would
 * choose, it takes twice as long. */
WIDE_INLINE __m256i all(const uint32_t *number) {
    __m256i vector;
    __asm__("vpbroadcastd %1, %0" : "=v"(vector) : "m"(*number));
    return vector;
}

WIDE_INLINE __m256i twice(const uint8_t bytes[16]) {
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)bytes));
}

/* The first `count` bits, at most 32 of them. */
WIDE_INLINE uint32_t first_bits(size_t count) {
    return _bzhi_u32(UINT32_MAX, (unsigned)count);
}

/* ---- eight code points ----------------------------------------------------------------------- */

typedef struct {
    char *end;
    bool is_written;
    uint64_t first; /* eight bytes of what was written, zeros after the last */
} step;

/* a ^ (b & c) */
WIDE_INLINE __m256i changed(__m256i a, __m256i b, __m256i c) {
    return _mm256_ternarylogic_epi32(a, b, c, 0x78);
}

WIDE_INLINE uint32_t bits_of(__m256i v) {
    return (uint32_t)_mm256_movemask_epi8(v);
}

/* Replaces characters in their lanes by escapes; false if not all of them are short. */
WIDE_INLINE bool escape_lanes(__m256i c, uint32_t used, __m256i *bytes, uint32_t *kept) {
    const __m256i is_quote = _mm256_or_si256(_mm256_cmpeq_epi32(c, _mm256_set1_epi32('"')),
                                             _mm256_cmpeq_epi32(c, _mm256_set1_epi32('\\')));
    const __m256i is_control = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x20), c);
    const __m256i letter = _mm256_shuffle_epi8(twice(letters), c);
    const __m256i is_long = _mm256_or_si256(_mm256_cmpgt_epi32(c, _mm256_set1_epi32(0xF)),
                                            _mm256_cmpeq_epi32(letter, _mm256_setzero_si256()));
    if ((bits_of(_mm256_and_si256(is_control, is_long)) & used) != 0) {
        return false;
    }
    const __m256i second = _mm256_blendv_epi8(c, letter, is_control);
    const __m256i escape =
        _mm256_or_si256(_mm256_slli_epi32(second, 24), _mm256_set1_epi32('\\' << 16));
    const __m256i is_escaped = _mm256_or_si256(is_quote, is_control);
    *bytes = _mm256_blendv_epi8(*bytes, escape, is_escaped);
    *kept |= bits_of(is_escaped) & 0x44444444;
    return true;
}

/* Writes the first `count` of the code points in the lanes of `c`. */
WIDE_INLINE step put_lanes(char *out, __m256i c, size_t count, bool escapes) {
    const uint32_t used = first_bits(4 * count);
    const __m256i past_1 = _mm256_cmpgt_epi32(c, all(&past_ascii));
    const __m256i past_2 = _mm256_cmpgt_epi32(c, all(&past_two));
    const __m256i past_3 = _mm256_cmpgt_epi32(c, all(&past_three));
    __m256i tags = _mm256_and_si256(past_1, all(&two_bytes));
    tags = changed(tags, past_2, all(&two_or_three));
    tags = changed(tags, past_3, all(&three_or_four));
    /* Byte i of a lane: the six bits from bit 18 - 6 * i on, and two more, of which the last byte
     * of an ASCII character has one. */
    const __m256i sixes = _mm256_multishift_epi64_epi8(_mm256_set1_epi64x(0x20262C3200060C12), c);
    const __m256i taken = changed(all(&taken_of_ascii), past_1, all(&not_of_others));
    /* (sixes & taken) | tags */
    __m256i bytes = _mm256_ternarylogic_epi32(sixes, taken, tags, 0xEA);
    uint32_t kept = bits_of(tags) | 0x88888888;
    const __m256i is_surrogate =
        _mm256_cmpeq_epi32(_mm256_and_si256(c, all(&surrogate_bits)), all(&surrogates));
    __m256i is_special = is_surrogate;
    if (escapes) {
        const __m256i may_be_quote = _mm256_cmpeq_epi32(c, _mm256_shuffle_epi8(twice(marks), c));
        const __m256i is_control = _mm256_cmpgt_epi32(all(&space), c);
        is_special = _mm256_ternarylogic_epi32(is_surrogate, may_be_quote, is_control, 0xFE);
    }
    if (OVT_UNLIKELY((bits_of(is_special) & used) != 0)) {
        if ((bits_of(is_surrogate) & used) != 0 ||
            (escapes && !escape_lanes(c, used, &bytes, &kept))) {
            return (step){.end = out};
        }
    }
    kept &= used;
    const __m256i pressed = _mm256_maskz_compress_epi8(kept, bytes);
    _mm256_storeu_si256((__m256i *)(void *)out, pressed);
    const uint64_t first = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(pressed));
    return (step){out + _mm_popcnt_u32(kept), true, first};
}

/* The first `count` units at `at` in eight lanes, zeros in the others. */
WIDE_INLINE __m256i load_lanes(const char *at, size_t count, int width, __m256i where) {
    const __m256i text = _mm256_maskz_loadu_epi8(first_bits(count * (size_t)width), at);
    return _mm256_permutexvar_epi8(where, text);
}

/* ---- thirty-two units ------------------------------------------------------------------------ */

/* Thirty-two units as bytes, those past 0xFF as 0xFF. */
WIDE_INLINE __m256i narrowed(const char *at, int width) {
    if (width == 1) {
        return _mm256_loadu_si256((const __m256i *)(const void *)at);
    }
    if (width == 2) {
        return _mm512_cvtusepi16_epi8(_mm512_loadu_si512(at));
    }
    return _mm256_set_m128i(_mm512_cvtusepi32_epi8(_mm512_loadu_si512(at + 64)),
                            _mm512_cvtusepi32_epi8(_mm512_loadu_si512(at)));
}

/* Whether all bytes are what they stand for: nothing to escape, and nothing past ASCII if it is to
 * be encoded. */
WIDE_INLINE bool are_plain(__m256i bytes, bool encodes, bool escapes) {
    __m256i special = encodes ? bytes : _mm256_setzero_si256();
    if (escapes) {
        const __m256i is_control =
            _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1F)), bytes);
        const __m256i is_quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
        const __m256i is_slash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
        special = _mm256_or_si256(special,
                                  _mm256_ternarylogic_epi32(is_control, is_quote, is_slash, 0xFE));
    }
    return bits_of(special) == 0;
}

/* Writes the first `count` units in the thirty-two lanes of `u`, of two bytes each: those past
 * ASCII as two bytes, or as they are if they are bytes of UTF-8. Not if one needs more than two. */
WIDE_INLINE step put_pairs(char *out, __m512i u, size_t count, bool encodes, bool escapes) {
    const __mmask32 past_1 = _mm512_cmpge_epu16_mask(u, _mm512_set1_epi16(0x80));
    const __m512i last = _mm512_slli_epi16(u, 8);
    __m512i pairs = last;
    __mmask32 has_two = 0, too_long = 0;
    if (encodes) {
        has_two = past_1;
        too_long = _mm512_cmpge_epu16_mask(u, _mm512_set1_epi16(0x800));
        /* (last & 0x3F00) | u >> 6 */
        const __m512i sixes = _mm512_ternarylogic_epi32(last, _mm512_set1_epi16(0x3F00),
                                                        _mm512_srli_epi16(u, 6), 0xEA);
        pairs = _mm512_mask_mov_epi16(pairs, past_1,
                                      _mm512_or_si512(sixes, _mm512_set1_epi16((short)0x80C0)));
    }
    if (escapes) {
        const __m512i letter = _mm512_permutex2var_epi8(_mm512_load_si512(all_letters), u,
                                                        _mm512_load_si512(all_letters + 64));
        const __mmask32 ascii = ~past_1 & first_bits(count);
        const __mmask32 is_escaped =
            _mm512_mask_test_epi16_mask(ascii, letter, _mm512_set1_epi16(0xFF));
        too_long |= _mm512_mask_test_epi16_mask(ascii, letter, _mm512_set1_epi16(LONG));
        pairs = _mm512_mask_mov_epi16(
            pairs, is_escaped,
            _mm512_or_si512(_mm512_slli_epi16(letter, 8), _mm512_set1_epi16('\\')));
        has_two |= is_escaped;
    }
    if (OVT_UNLIKELY(too_long != 0)) {
        return (step){.end = out};
    }
    uint64_t kept = UINT64_C(0xAAAAAAAAAAAAAAAA) | _pdep_u64(has_two, UINT64_C(0x5555555555555555));
    kept = _bzhi_u64(kept, 2 * (unsigned)count);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, pairs));
    return (step){.end = out + _mm_popcnt_u64(kept), .is_written = true};
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Up to thirty-two units, eight at a time. */
WIDE_INLINE ovt_units_written put_eights(char *out, const void *data, size_t index, size_t end,
                                         int width, bool escapes) {
    const __m256i where = _mm256_load_si256((const __m256i *)(const void *)places[width >> 1]);
    const char *at = (const char *)data + index * (size_t)width;
    while (index < end) {
        const size_t count = end - index < LANES ? end - index : LANES;
        const step done = put_lanes(out, load_lanes(at, count, width, where), count, escapes);
        if (OVT_UNLIKELY(!done.is_written)) {
            break;
        }
        out = done.end;
        index += count;
        at += LANES * width;
    }
    return (ovt_units_written){out, index};
}

/* Writes the start of a block of units of two bytes, up to the end of the block or past the first
 * of a few characters of three bytes; *count is how many units that is. */
WIDE_INLINE step put_start(char *out, __m512i units, size_t *count, bool escapes) {
    const __mmask32 wide = _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(0x800));
    *count = BLOCK;
    if (OVT_LIKELY(wide == 0)) {
        return put_pairs(out, units, BLOCK, true, escapes);
    }
    const size_t before = _tzcnt_u32(wide);
    const uint32_t unit = (uint16_t)_mm_cvtsi128_si32(
        _mm512_castsi512_si128(_mm512_permutexvar_epi16(_mm512_set1_epi16((short)before), units)));
    if (_mm_popcnt_u32(wide) > FEW || ovt_is_surrogate(unit)) {
        return (step){.end = out};
    }
    step done =
        put_pairs(out, _mm512_maskz_mov_epi16(first_bits(before), units), before, true, escapes);
    if (done.is_written) {
        done.end = ovt_put_character(done.end, unit, 0, 2);
    }
    *count = before + 1;
    return done;
}

/* Whole blocks, up to one that has more than ASCII and characters of two bytes. */
WIDE_INLINE ovt_units_written put_blocks(char *out, const void *data, size_t index, size_t end,
                                         int width, bool encodes, bool escapes) {
    const char *at = (const char *)data + index * (size_t)width;
    while (end - index >= BLOCK) {
        const __m256i bytes = narrowed(at, width);
        size_t count = BLOCK;
        if (OVT_LIKELY(are_plain(bytes, encodes, escapes))) {
            _mm256_storeu_si256((__m256i *)(void *)out, bytes);
            out += BLOCK;
        } else if (width == 4) {
            break;
        } else {
            const step done =
                width == 1 ? put_pairs(out, _mm512_cvtepu8_epi16(bytes), BLOCK, encodes, escapes)
                           : put_start(out, _mm512_loadu_si512(at), &count, escapes);
            if (!done.is_written) {
                break;
            }
            out = done.end;
        }
        index += count;
        at += count * (size_t)width;
    }
    return (ovt_units_written){out, index};
}

/* Fewer than a block: like one, if that can be, else eight at a time. */
WIDE_INLINE ovt_units_written put_rest(char *out, const void *data, size_t index, size_t end,
                                       int width, bool escapes) {
    const size_t count = end - index;
    const char *const at = (const char *)data + index * (size_t)width;
    if (width < 4) {
        const __mmask32 used = first_bits(count);
        const __m512i units = width == 1 ? _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(used, at))
                                         : _mm512_maskz_loadu_epi16(used, at);
        const step done = put_pairs(out, units, count, true, escapes);
        if (OVT_LIKELY(done.is_written)) {
            return (ovt_units_written){done.end, end};
        }
    }
    return put_eights(out, data, index, end, width, escapes);
}

WIDE_INLINE ovt_units_written put_long(char *out, const void *data, size_t index, size_t end,
                                       int width, bool escapes) {
    ovt_units_written at = {out, index};
    while (at.index < end) {
        at = put_blocks(at.end, data, at.index, end, width, true, escapes);
        const size_t left = end - at.index;
        if (left < BLOCK) {
            return put_rest(at.end, data, at.index, end, width, escapes);
        }
        const size_t stop = at.index + BLOCK;
        at = put_eights(at.end, data, at.index, stop, width, escapes);
        if (at.index != stop) {
            return at;
        }
    }
    return at;
}

WIDE static OVT_NEVER_INLINE ovt_units_written put_long_escaped(char *out, const void *data,
                                                                size_t index, size_t end,
                                                                int width) {
    switch (width) {
    case 1:
        return put_long(out, data, index, end, 1, true);
    case 2:
        return put_long(out, data, index, end, 2, true);
    default:
        return put_long(out, data, index, end, 4, true);
    }
}

WIDE static ovt_units_written put_escaped(char *out, const void *data, size_t index, size_t end,
                                          int width) {
    if (end - index >= BLOCK || width == 1) {
        return put_long_escaped(out, data, index, end, width);
    }
    return put_eights(out, data, index, end, width, true);
}

WIDE static OVT_NEVER_INLINE char *put_more(char *out, const void *data, size_t count, int width) {
    *out = '"';
    const ovt_units_written written = put_escaped(out + 1, data, 0, count, width);
    *written.end = '"';
    return OVT_LIKELY(written.index == count) ? written.end + 1 : NULL;
}

/* Most strings are short: for them there is no loop. */
WIDE static char *put_few(char *out, const void *data, size_t count, int width) {
    if (OVT_UNLIKELY(count > 2 * LANES)) {
        return put_more(out, data, count, width);
    }
    const __m256i where = _mm256_load_si256((const __m256i *)(const void *)places[width >> 1]);
    const size_t first = count < LANES ? count : LANES;
    *out = '"';
    step done = put_lanes(out + 1, load_lanes(data, first, width, where), first, true);
    if (count > LANES && done.is_written) {
        const char *const rest = (const char *)data + LANES * width;
        done =
            put_lanes(done.end, load_lanes(rest, count - LANES, width, where), count - LANES, true);
    }
    *done.end = '"';
    return OVT_LIKELY(done.is_written) ? done.end + 1 : NULL;
}

WIDE static ovt_units_written put_bytes(char *out, const void *data, size_t index, size_t end,
                                        int width) {
    (void)width;
    const ovt_units_written at = put_blocks(out, data, index, end, 1, false, true);
    const size_t stop = end - at.index < BLOCK ? end : at.index;
    const uint8_t *const rest = (const uint8_t *)data + at.index;
    return (ovt_units_written){ovt_put_bytes(at.end, rest, stop - at.index, false), stop};
}

WIDE static char *put_keys(char *out, ovt_units_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ovt_units_key *const key = &keys[i];
        const __m256i where =
            _mm256_load_si256((const __m256i *)(const void *)places[key->width >> 1]);
        const size_t first = key->length < LANES ? key->length : LANES;
        const step done =
            put_lanes(out, load_lanes(key->data, first, key->width, where), first, false);
        ovt_units_written written = {done.end, done.is_written ? first : 0};
        if (done.is_written && key->length > LANES) {
            written = put_eights(done.end, key->data, first, key->length, key->width, false);
        }
        key->is_written = written.index == key->length;
        key->size = key->is_written ? (size_t)(written.end - out) : 0;
        key->prefix = __builtin_bswap64(done.first);
        out += key->size;
    }
    return out;
}

static bool available(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

const ovt_units_variant ovt_units_avx512 = {"avx512",  available, put_escaped,
                                            put_bytes, put_keys,  put_few};

#endif
