/* Code points to UTF-8 with AVX-512.
 *
 * Each code point gets a lane of two or four bytes, in which its sequence ends with the last byte:
 * an escape of two characters stands there like a sequence of two bytes. The bytes of all lanes
 * that belong to a sequence are then pressed together by one instruction. Nothing branches on
 * what the characters are, but for those that are left to the caller. */
#include "string_units.h"

#if OVT_X86_64

#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")))
#define WIDE_INLINE WIDE OVT_ALWAYS_INLINE

enum {
    LONG = 0x80, /* no letter: the control character has no short escape */
    LANES = 16,  /* of four bytes */
};

/* The letter after the backslash for every ASCII character, 0 for one that is not escaped. */
static const _Alignas(64) uint8_t escape_letters[128] = {
    LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, 'b',  't',         'n',          LONG,
    'f',  'r',  LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG,        LONG,         LONG,
    LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, ['"'] = '"', ['\\'] = '\\',
};

#define LANE(at, b1, b2, b3) at, b1, b2, b3
#define NARROW(i) LANE(i, 0, 0, 0), LANE(i + 1, 0, 0, 0), LANE(i + 2, 0, 0, 0), LANE(i + 3, 0, 0, 0)
#define MIDDLE(i)                                                                                  \
    LANE(i, i + 1, 0, 0), LANE(i + 2, i + 3, 0, 0), LANE(i + 4, i + 5, 0, 0),                      \
        LANE(i + 6, i + 7, 0, 0)
#define WHOLE(i)                                                                                   \
    LANE(i, i + 1, i + 2, i + 3), LANE(i + 4, i + 5, i + 6, i + 7),                                \
        LANE(i + 8, i + 9, i + 10, i + 11), LANE(i + 12, i + 13, i + 14, i + 15)

/* Which byte of the text goes to each byte of sixteen lanes, for units of 1, 2 and 4 bytes, and
 * which bytes of a lane come from the text at all. */
static const _Alignas(64) uint8_t spread_places[3][64] = {
    {NARROW(0), NARROW(4), NARROW(8), NARROW(12)},
    {MIDDLE(0), MIDDLE(8), MIDDLE(16), MIDDLE(24)},
    {WHOLE(0), WHOLE(16), WHOLE(32), WHOLE(48)},
};
static const uint64_t spread_masks[3] = {
    UINT64_C(0x1111111111111111),
    UINT64_C(0x3333333333333333),
    UINT64_MAX,
};

WIDE_INLINE __m512i table_of(const void *bytes) {
    return _mm512_load_si512(bytes);
}

/* The first `count` bits, at most 64 of them. */
WIDE_INLINE uint64_t first_bits(size_t count) {
    return _bzhi_u64(UINT64_MAX, (unsigned)count);
}

typedef struct {
    char *end;
    bool is_written;
} step;

/* Writes the first `count` of the sixteen code points in `c`; the others are 0. */
WIDE_INLINE step put_lanes(char *out, __m512i c, size_t count, bool escapes) {
    const __mmask16 past_1 = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x80));
    const __mmask16 past_2 = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x800));
    const __mmask16 past_3 = _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(0x10000));
    const __mmask16 surrogates = _mm512_cmpeq_epi32_mask(
        _mm512_and_si512(c, _mm512_set1_epi32((int)0xFFFFF800)), _mm512_set1_epi32(0xD800));
    if (OVT_UNLIKELY(surrogates != 0)) {
        return (step){out, false};
    }
    /* Byte i of a lane: the six bits from bit 18 - 6 * i on. */
    const __m512i places = _mm512_set1_epi64(0x20262C3200060C12);
    const __m512i sixes = _mm512_multishift_epi64_epi8(places, c);
    __m512i tags = _mm512_maskz_set1_epi32(past_1, (int)0x80C00000);
    tags = _mm512_mask_mov_epi32(tags, past_2, _mm512_set1_epi32((int)0x8080E000));
    tags = _mm512_mask_mov_epi32(tags, past_3, _mm512_set1_epi32((int)0x808080F0));
    /* (sixes & 0x3F) | tags */
    __m512i bytes =
        _mm512_ternarylogic_epi32(sixes, _mm512_set1_epi8(0x3F), tags, 0xEA);
    const __mmask16 ascii = _knot_mask16(past_1);
    bytes = _mm512_mask_slli_epi32(bytes, ascii, c, 24);
    uint64_t kept = _mm512_movepi8_mask(tags) | UINT64_C(0x8888888888888888);
    if (escapes) {
        const __m512i letters = _mm512_permutex2var_epi8(
            table_of(escape_letters), c, table_of(escape_letters + 64));
        const __mmask16 escaped =
            _mm512_mask_test_epi32_mask(ascii, letters, _mm512_set1_epi32(0xFF));
        const __mmask16 too_long =
            _mm512_mask_test_epi32_mask(ascii, letters, _mm512_set1_epi32(LONG));
        if (OVT_UNLIKELY((too_long & first_bits(count)) != 0)) {
            return (step){out, false};
        }
        bytes = _mm512_mask_or_epi32(bytes, escaped, _mm512_slli_epi32(letters, 24),
                                     _mm512_set1_epi32('\\' << 16));
        kept |= _pdep_u64(escaped, UINT64_C(0x4444444444444444));
    }
    kept &= first_bits(4 * count);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, bytes));
    return (step){out + _mm_popcnt_u64(kept), true};
}

WIDE_INLINE ovt_units_written put_units(char *out, const void *data, size_t index, size_t end,
                                        int width, bool escapes) {
    const __m512i places = table_of(spread_places[width >> 1]);
    const uint64_t mask = spread_masks[width >> 1];
    const char *at = (const char *)data + index * (size_t)width;
    while (index < end) {
        const size_t count = end - index < LANES ? end - index : LANES;
        const __m512i text = _mm512_maskz_loadu_epi8(first_bits(count * (size_t)width), at);
        const __m512i c = _mm512_maskz_permutexvar_epi8(mask, places, text);
        const step done = put_lanes(out, c, count, escapes);
        if (OVT_UNLIKELY(!done.is_written)) {
            break;
        }
        out = done.end;
        index += count;
        at += LANES * width;
    }
    return (ovt_units_written){out, index};
}

WIDE static ovt_units_written put_escaped(char *out, const void *data, size_t index, size_t end,
                                          int width) {
    return put_units(out, data, index, end, width, true);
}

WIDE static ovt_units_written put_plain(char *out, const void *data, size_t index, size_t end,
                                        int width) {
    return put_units(out, data, index, end, width, false);
}

static bool available(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

const ovt_units_variant ovt_units_avx512 = {"avx512", available, put_escaped, put_plain,
                                            put_escaped};

#endif
