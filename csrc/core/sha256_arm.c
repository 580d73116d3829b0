/* SHA-256 compression with the cryptographic extension of ARMv8-A ("armv8").
 *
 * The instructions keep the eight working variables in two registers, {a, b, c, d} and {e, f, g, h}
 * from the lowest lane up. SHA256H and SHA256H2 make four rounds for one of them each; SHA256SU0
 * and SHA256SU1 extend the message schedule by four words. They are written as assembly, one
 * instruction to a function, because some releases of clang declare their intrinsics only when the
 * whole file is compiled for processors that have them. */
#include "sha256.h"

#if OVT_SHA256_HAS_ARM

#include <arm_neon.h>

#if defined(__linux__)
#include <sys/auxv.h>
#endif

#if defined(__clang__)
#define SHA_TARGET __attribute__((target("sha2")))
#else
#define SHA_TARGET __attribute__((target("+sha2")))
#endif

typedef struct {
    uint32x4_t abcd;
    uint32x4_t efgh;
} working_variables;

bool ovt_sha256_arm_available(void) {
#if defined(__linux__)
    const unsigned long sha2 = 1ul << 6; /* HWCAP_SHA2 */
    return (getauxval(AT_HWCAP) & sha2) != 0;
#elif defined(__APPLE__) || defined(__ARM_FEATURE_SHA2) || defined(__ARM_FEATURE_CRYPTO)
    return true;
#else
    return false;
#endif
}

SHA_TARGET OVT_ALWAYS_INLINE uint32x4_t sha256h(uint32x4_t abcd, uint32x4_t efgh, uint32x4_t sum) {
    __asm__("sha256h %q0, %q1, %2.4s" : "+w"(abcd) : "w"(efgh), "w"(sum));
    return abcd;
}

SHA_TARGET OVT_ALWAYS_INLINE uint32x4_t sha256h2(uint32x4_t efgh, uint32x4_t abcd, uint32x4_t sum) {
    __asm__("sha256h2 %q0, %q1, %2.4s" : "+w"(efgh) : "w"(abcd), "w"(sum));
    return efgh;
}

SHA_TARGET OVT_ALWAYS_INLINE uint32x4_t sha256su0(uint32x4_t w0, uint32x4_t w1) {
    __asm__("sha256su0 %0.4s, %1.4s" : "+w"(w0) : "w"(w1));
    return w0;
}

SHA_TARGET OVT_ALWAYS_INLINE uint32x4_t sha256su1(uint32x4_t part, uint32x4_t w2, uint32x4_t w3) {
    __asm__("sha256su1 %0.4s, %1.4s, %2.4s" : "+w"(part) : "w"(w2), "w"(w3));
    return part;
}

/* Four message words, the first in the lowest lane. */
SHA_TARGET OVT_ALWAYS_INLINE uint32x4_t load_words(const uint8_t *bytes) {
    return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes)));
}

/* The four schedule words that follow the sixteen in w0 to w3. */
SHA_TARGET OVT_ALWAYS_INLINE uint32x4_t next_words(uint32x4_t w0, uint32x4_t w1, uint32x4_t w2,
                                                   uint32x4_t w3) {
    return sha256su1(sha256su0(w0, w1), w2, w3);
}

SHA_TARGET OVT_ALWAYS_INLINE working_variables four_rounds(working_variables v, uint32x4_t words,
                                                           const uint32_t *constants) {
    const uint32x4_t sum = vaddq_u32(words, vld1q_u32(constants));
    return (working_variables){sha256h(v.abcd, v.efgh, sum), sha256h2(v.efgh, v.abcd, sum)};
}

SHA_TARGET OVT_ALWAYS_INLINE working_variables one_block(working_variables v,
                                                         const uint8_t *block) {
    const uint32_t *constants = ovt_sha256_constants;
    uint32x4_t w0 = load_words(block);
    uint32x4_t w1 = load_words(block + 16);
    uint32x4_t w2 = load_words(block + 32);
    uint32x4_t w3 = load_words(block + 48);
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

SHA_TARGET void ovt_sha256_arm_compress(uint32_t state[8], const uint8_t *blocks, size_t count) {
    working_variables v = {vld1q_u32(state), vld1q_u32(state + 4)};
    for (; count > 0; count--, blocks += OVT_SHA256_BLOCK_SIZE) {
        const working_variables after = one_block(v, blocks);
        v.abcd = vaddq_u32(v.abcd, after.abcd);
        v.efgh = vaddq_u32(v.efgh, after.efgh);
    }
    vst1q_u32(state, v.abcd);
    vst1q_u32(state + 4, v.efgh);
}

#endif
