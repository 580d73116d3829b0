/* The innermost loop of string writing: bytes copied while they are scanned for what to escape.
 *
 * For ASCII, and for UTF-8 that is known to be valid. Inline, because most strings are short: with
 * fewer than 16 bytes the whole job is a load or two, one comparison and a store. The caller has
 * made room for OVT_LONGEST_ESCAPE bytes a byte and OVT_PUT_SLACK more. */
#ifndef OVT_STRING_PUT_H
#define OVT_STRING_PUT_H

#include <stdbool.h>

#include "compiler.h"

#if OVT_X86_64
#include <emmintrin.h>
#elif OVT_AARCH64
#include <arm_neon.h>
#endif

enum {
    OVT_LONGEST_ESCAPE = 6, /* \u001f */
    OVT_PUT_STEP = 16,      /* bytes looked at together */
    OVT_PUT_SLACK = 48,     /* bytes that may be touched past the text: two steps, and quotes */
};

/* Writes the escape of a control character, a quote or a backslash; returns the end of it. */
char *ovt_put_escape(char *out, uint8_t byte);

static inline bool ovt_needs_escape(uint32_t unit) {
    return unit < 0x20 || unit == '"' || unit == '\\';
}

/* Where the first byte to escape stands among the eight of `word` (byte 0 lowest), or 8. */
static inline unsigned ovt_first_escape_of_8(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    const uint64_t quotes = word ^ (ones * '"'), slashes = word ^ (ones * '\\');
    /* Each term marks the lowest byte that fits exactly, and perhaps others above it. */
    const uint64_t marks = (((word - ones * 0x20) & ~word) | ((quotes - ones) & ~quotes) |
                            ((slashes - ones) & ~slashes)) &
                           tops;
    return marks == 0 ? 8 : (unsigned)ovt_trailing_zeros(marks) / 8;
}

/* Sixteen bytes in a register. */
#if OVT_X86_64
typedef __m128i ovt_block;
#elif OVT_AARCH64
typedef uint8x16_t ovt_block;
#else
typedef struct {
    uint64_t head;
    uint64_t tail;
} ovt_block;
#endif

static inline ovt_block ovt_block_load(const uint8_t *bytes) {
#if OVT_X86_64
    return _mm_loadu_si128((const __m128i *)(const void *)bytes);
#elif OVT_AARCH64
    return vld1q_u8(bytes);
#else
    return (ovt_block){ovt_load_le64(bytes), ovt_load_le64(bytes + 8)};
#endif
}

static inline void ovt_block_store(char *out, ovt_block block) {
#if OVT_X86_64
    _mm_storeu_si128((__m128i *)(void *)out, block);
#elif OVT_AARCH64
    vst1q_u8((uint8_t *)out, block);
#else
    ovt_store_le64(out, block.head);
    ovt_store_le64(out + 8, block.tail);
#endif
}

static inline ovt_block ovt_block_of_words(uint64_t head, uint64_t tail) {
#if OVT_X86_64
    return _mm_set_epi64x((long long)tail, (long long)head);
#elif OVT_AARCH64
    return vcombine_u8(vcreate_u8(head), vcreate_u8(tail));
#else
    return (ovt_block){head, tail};
#endif
}

/* Marks of the bytes to escape in a block: 0 if there are none. */
static inline uint64_t ovt_escape_marks(ovt_block block) {
#if OVT_X86_64
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block);
    const __m128i quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i slashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(controls, _mm_or_si128(quotes, slashes)));
#elif OVT_AARCH64
    const uint8x16_t marks =
        vorrq_u8(vcltq_u8(block, vdupq_n_u8(0x20)),
                 vorrq_u8(vceqq_u8(block, vdupq_n_u8('"')), vceqq_u8(block, vdupq_n_u8('\\'))));
    /* Four bits of every byte's mark, in order, as one number. */
    const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(marks), 4);
    return vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
#else
    const unsigned head = ovt_first_escape_of_8(block.head);
    const unsigned first = head < 8 ? head : 8 + ovt_first_escape_of_8(block.tail);
    return first < OVT_PUT_STEP ? UINT64_C(1) << first : 0;
#endif
}

/* Marks of the bytes that are not plain ASCII: those to escape, and those from 0x80 up. */
static inline uint64_t ovt_special_marks(ovt_block block) {
#if OVT_X86_64
    return ovt_escape_marks(block) | (unsigned)_mm_movemask_epi8(block);
#elif OVT_AARCH64
    const uint8x8_t narrow =
        vshrn_n_u16(vreinterpretq_u16_u8(vcgeq_u8(block, vdupq_n_u8(0x80))), 4);
    return ovt_escape_marks(block) | vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
#else
    const uint64_t tops = UINT64_C(0x8080808080808080);
    const uint64_t head = block.head & tops, tail = block.tail & tops;
    const unsigned first = head != 0   ? (unsigned)ovt_trailing_zeros(head) / 8
                           : tail != 0 ? 8 + (unsigned)ovt_trailing_zeros(tail) / 8
                                       : OVT_PUT_STEP;
    return ovt_escape_marks(block) | (first < OVT_PUT_STEP ? UINT64_C(1) << first : 0);
#endif
}

/* Where the first marked byte stands; there is one. */
static inline unsigned ovt_first_mark(uint64_t marks) {
    const unsigned bit = (unsigned)ovt_trailing_zeros(marks);
#if OVT_AARCH64
    return bit / 4;
#else
    return bit;
#endif
}

/* Whether two blocks hold nothing to escape. */
static inline bool ovt_are_plain(ovt_block a, ovt_block b) {
#if OVT_X86_64
    const __m128i lower = _mm_min_epu8(a, b);
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(lower, _mm_set1_epi8(0x1F)), lower);
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i quotes = _mm_or_si128(_mm_cmpeq_epi8(a, quote), _mm_cmpeq_epi8(b, quote));
    const __m128i slashes = _mm_or_si128(_mm_cmpeq_epi8(a, slash), _mm_cmpeq_epi8(b, slash));
    return _mm_movemask_epi8(_mm_or_si128(controls, _mm_or_si128(quotes, slashes))) == 0;
#else
    return ovt_escape_marks(a) == 0 && ovt_escape_marks(b) == 0;
#endif
}

static inline char *ovt_put_bytes_singly(char *out, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (OVT_UNLIKELY(ovt_needs_escape(bytes[i]))) {
            out = ovt_put_escape(out, bytes[i]);
        } else {
            *out++ = (char)bytes[i];
        }
    }
    return out;
}

/* Fewer than 16 bytes. Where `has_header` is set, the eight bytes before them may be read too (a
 * compact str has its header there); otherwise not a byte outside the text is. */
OVT_ALWAYS_INLINE char *ovt_put_short_bytes(char *out, const uint8_t *bytes, size_t count,
                                            bool has_header) {
    if (count >= 8) {
        const uint64_t head = ovt_load_le64(bytes), tail = ovt_load_le64(bytes + count - 8);
        if (OVT_LIKELY(ovt_escape_marks(ovt_block_of_words(head, tail)) == 0)) {
            ovt_store_le64(out, head);
            ovt_store_le64(out + count - 8, tail);
            return out + count;
        }
    } else if (has_header) {
        if (count == 0) {
            return out;
        }
        const uint64_t word = ovt_load_le64(bytes + count - 8) >> (8 * (8 - count));
        /* The unused upper bytes are made spaces for the scan. */
        const uint64_t spaces = UINT64_C(0x2020202020202020);
        const uint64_t scanned = word | spaces << (8 * count);
        if (OVT_LIKELY(ovt_escape_marks(ovt_block_of_words(scanned, spaces)) == 0)) {
            ovt_store_le64(out, word);
            return out + count;
        }
    } else if (count >= 4) {
        uint32_t head, tail;
        memcpy(&head, bytes, sizeof head);
        memcpy(&tail, bytes + count - 4, sizeof tail);
        if (OVT_LIKELY(ovt_first_escape_of_8((uint64_t)tail << 32 | head) == 8)) {
            memcpy(out, &head, sizeof head);
            memcpy(out + count - 4, &tail, sizeof tail);
            return out + count;
        }
    }
    return ovt_put_bytes_singly(out, bytes, count);
}

/* Bytes of any number, escaped. */
OVT_ALWAYS_INLINE char *ovt_put_bytes(char *out, const uint8_t *bytes, size_t count,
                                      bool has_header) {
    if (count < OVT_PUT_STEP) {
        return ovt_put_short_bytes(out, bytes, count, has_header);
    }
    const uint8_t *const last_step = bytes + count - OVT_PUT_STEP;
    bool is_plain = true;
    while (bytes <= last_step) {
        if (last_step - bytes >= OVT_PUT_STEP) {
            const ovt_block first = ovt_block_load(bytes);
            const ovt_block second = ovt_block_load(bytes + OVT_PUT_STEP);
            ovt_block_store(out, first);
            ovt_block_store(out + OVT_PUT_STEP, second);
            if (OVT_LIKELY(ovt_are_plain(first, second))) {
                out += 2 * OVT_PUT_STEP;
                bytes += 2 * OVT_PUT_STEP;
                continue;
            }
        }
        const ovt_block block = ovt_block_load(bytes);
        ovt_block_store(out, block);
        const uint64_t marks = ovt_escape_marks(block);
        if (OVT_LIKELY(marks == 0)) {
            out += OVT_PUT_STEP;
            bytes += OVT_PUT_STEP;
        } else {
            const unsigned plain = ovt_first_mark(marks);
            out = ovt_put_escape(out + plain, bytes[plain]);
            bytes += plain + 1;
            is_plain = false;
        }
    }
    const size_t left = (size_t)(last_step + OVT_PUT_STEP - bytes);
    if (left == 0) {
        return out;
    }
    if (OVT_LIKELY(is_plain)) {
        /* The last 16 bytes again: what is written twice is written alike. */
        const ovt_block block = ovt_block_load(last_step);
        if (OVT_LIKELY(ovt_escape_marks(block) == 0)) {
            ovt_block_store(out + left - OVT_PUT_STEP, block);
            return out + left;
        }
    }
    return ovt_put_short_bytes(out, bytes, left, false);
}

#endif
