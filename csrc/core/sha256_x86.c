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

SHA_TARGET OVT_ALWAYS_INLINE working_variables load_state(const uint32_t state[8]) {
    const __m128i *const halves = (const __m128i *)(const void *)state;
    return (working_variables){_mm_loadu_si128(halves), _mm_loadu_si128(halves + 1)};
}

SHA_TARGET OVT_ALWAYS_INLINE void store_state(uint32_t state[8], working_variables v) {
    __m128i *const halves = (__m128i *)(void *)state;
    _mm_storeu_si128(halves, v.abef);
    _mm_storeu_si128(halves + 1, v.cdgh);
}

SHA_TARGET OVT_ALWAYS_INLINE working_variables sum_of(working_variables a, working_variables b) {
    return (working_variables){_mm_add_epi32(a.abef, b.abef), _mm_add_epi32(a.cdgh, b.cdgh)};
}

SHA_TARGET void ovt_sha256_x86_compress(uint32_t state[8], const uint8_t *blocks, size_t count) {
    working_variables v = load_state(state);
    for (; count > 0; count--, blocks += OVT_SHA256_BLOCK_SIZE)
        v = sum_of(v, one_block(v, blocks));
    store_state(state, v);
}

/* Sixteen words of a message, which the schedule replaces four at a time. */
typedef struct {
    __m128i w[4];
} schedule;

SHA_TARGET OVT_ALWAYS_INLINE schedule load_block(const uint8_t *block) {
    return (schedule){{load_words(block), load_words(block + 16), load_words(block + 32),
                       load_words(block + 48)}};
}

/* Four rounds on the words at `i`, in whose place come those that follow the other twelve. */
SHA_TARGET OVT_ALWAYS_INLINE void four_rounds_at(working_variables *v, schedule *words, int i,
                                                 const uint32_t *constants) {
    __m128i *const w = words->w;
    *v = four_rounds(*v, w[i], constants);
    w[i] = next_words(w[i], w[(i + 1) & 3], w[(i + 2) & 3], w[(i + 3) & 3]);
}

/* The chain of rounds leaves the unit that makes them idle half of the time; another message's
 * rounds go there. */
SHA_TARGET void ovt_sha256_x86_compress_two(uint32_t *const states[2],
                                            const uint8_t *const blocks[2], size_t count,
                                            const size_t strides[2]) {
    uint32_t *next_state[2] = {states[0], states[1]};
    working_variables v[2] = {load_state(states[0]), load_state(states[1])};
    for (size_t at = 0; at < count * OVT_SHA256_BLOCK_SIZE; at += OVT_SHA256_BLOCK_SIZE) {
        const uint32_t *constants = ovt_sha256_constants;
        working_variables a = v[0], b = v[1];
        schedule words_a = load_block(blocks[0] + at), words_b = load_block(blocks[1] + at);
        for (int sixteen = 0; sixteen < 3; sixteen++, constants += 16) {
            for (int i = 0; i < 4; i++) {
                four_rounds_at(&a, &words_a, i, constants + 4 * i);
                four_rounds_at(&b, &words_b, i, constants + 4 * i);
            }
        }
        for (int i = 0; i < 4; i++) {
            a = four_rounds(a, words_a.w[i], constants + 4 * i);
            b = four_rounds(b, words_b.w[i], constants + 4 * i);
        }
        v[0] = sum_of(v[0], a);
        v[1] = sum_of(v[1], b);
        /* With a stride of 0 the last store is the one that counts. */
        next_state[0] += strides[0];
        next_state[1] += strides[1];
        store_state(next_state[0], v[0]);
        store_state(next_state[1], v[1]);
    }
}

#endif
