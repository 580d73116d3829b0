/* SHA-256 compression with the SHA extensions of x86-64 ("sha-ni").
 *
 * The instructions keep the eight working variables in two registers, {a, b, e, f} and {c, d, g, h}
 * from the highest lane down. SHA256RNDS2 makes two rounds: what it returns is the new {a, b, e,
 * f}, and the old one has become {c, d, g, h}. SHA256MSG1 and SHA256MSG2 extend the message
 * schedule by four words at a time. The rounds form one chain of 32 dependent instructions a block,
 * which is what the block costs; the schedule runs beside it. */
#include "sha256.h"

#if OVT_SHA256_HAS_X86

#include <cpuid.h>
#include <immintrin.h>

#define SHA_TARGET __attribute__((target("sha,sse4.1")))

typedef struct {
    __m128i abef;
    __m128i cdgh;
} working_variables;

bool ovt_sha256_x86_available(void) {
    const unsigned leaf1_ecx_needed = (1u << 9) | (1u << 19); /* SSSE3, SSE4.1 */
    const unsigned leaf7_ebx_needed = 1u << 29;               /* SHA */
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & leaf1_ecx_needed) != leaf1_ecx_needed)
        return false;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & leaf7_ebx_needed) != 0;
}

/* Four message words, the first in the lowest lane. */
SHA_TARGET OVT_ALWAYS_INLINE __m128i load_words(const uint8_t *bytes) {
    const __m128i swap_in_words = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)bytes), swap_in_words);
}

/* The four schedule words that follow the sixteen in w0 to w3. */
SHA_TARGET OVT_ALWAYS_INLINE __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
    const __m128i seven_back = _mm_alignr_epi8(w3, w2, 4);
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), seven_back), w3);
}

SHA_TARGET OVT_ALWAYS_INLINE working_variables four_rounds(working_variables v, __m128i words,
                                                           const uint32_t *constants) {
    const __m128i k = _mm_load_si128((const __m128i *)(const void *)constants);
    const __m128i sum = _mm_add_epi32(words, k);
    v.cdgh = _mm_sha256rnds2_epu32(v.cdgh, v.abef, sum);
    v.abef = _mm_sha256rnds2_epu32(v.abef, v.cdgh, _mm_shuffle_epi32(sum, 0x0E));
    return v;
}

SHA_TARGET OVT_ALWAYS_INLINE working_variables one_block(working_variables v,
                                                         const uint8_t *block) {
    const uint32_t *constants = ovt_sha256_constants;
    __m128i w0 = load_words(block);
    __m128i w1 = load_words(block + 16);
    __m128i w2 = load_words(block + 32);
    __m128i w3 = load_words(block + 48);
    for (int sixteen = 0; sixteen < 3; sixteen++, constants += 16) {
        v = four_rounds(v, w0, constants);
        w0 = next_words(w0, w1, w2, w3);
        v = four_rounds(v, w1, constants + 4);
        w1 = next_words(w1, w2, w3, w0);
        v = four_rounds(v, w2, constants + 8);
        w2 = next_words(w2, w3, w0, w1);
        v = four_rounds(v, w3, constants + 12);
        w3 = next_words(w3, w0, w1, w2);
    }
    v = four_rounds(v, w0, constants);
    v = four_rounds(v, w1, constants + 4);
    v = four_rounds(v, w2, constants + 8);
    return four_rounds(v, w3, constants + 12);
}

SHA_TARGET void ovt_sha256_x86_compress(uint32_t state[8], const uint8_t *blocks, size_t count) {
    __m128i *const halves = (__m128i *)(void *)state;
    /* Letters name the lanes from the highest down; in memory lie dcba and hgfe. */
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1B);
    working_variables v = {_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xF0)};
    for (; count > 0; count--, blocks += OVT_SHA256_BLOCK_SIZE) {
        const working_variables after = one_block(v, blocks);
        v.abef = _mm_add_epi32(v.abef, after.abef);
        v.cdgh = _mm_add_epi32(v.cdgh, after.cdgh);
    }
    const __m128i feba = _mm_shuffle_epi32(v.abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(v.cdgh, 0xB1);
    _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#endif
