/* What differs between compilers and processors, in one place.
 *
 * Branch hints, byte order, bit patterns, bit counts and the 64 x 64 -> 128 bit product. Everything
 * else in the core is plain C11. Define OVT_PORTABLE_128 to build the product from 64-bit
 * operations, and OVT_PORTABLE_SIMD to build every vector loop from them, as a processor without
 * either would; the tests compile both ways and compare the results. */
#ifndef OVT_COMPILER_H
#define OVT_COMPILER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__GNUC__)
#error "overturn_fast's C core needs gcc or clang; the pure-Python backend works without it"
#endif

#if defined(__x86_64__) && !defined(OVT_PORTABLE_SIMD)
#define OVT_X86_64 1
#else
#define OVT_X86_64 0
#endif

#if defined(__aarch64__) && !defined(OVT_PORTABLE_SIMD)
#define OVT_AARCH64 1
#else
#define OVT_AARCH64 0
#endif

#define OVT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define OVT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define OVT_ALWAYS_INLINE static inline __attribute__((always_inline))
#define OVT_NEVER_INLINE __attribute__((noinline))

/* Number of zero bits above the highest set bit. `word` must not be 0. */
static inline int ovt_leading_zeros(uint64_t word) {
    return __builtin_clzll(word);
}

/* Number of zero bits below the lowest set bit. `word` must not be 0. */
static inline int ovt_trailing_zeros(uint64_t word) {
    return __builtin_ctzll(word);
}

/* The eight bytes at `bytes` (no alignment needed), in the order of this machine. */
static inline uint64_t ovt_load64(const void *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline void ovt_store64(void *bytes, uint64_t word) {
    memcpy(bytes, &word, sizeof word);
}

/* The same eight bytes as a big-endian number: comparing two such numbers compares the bytes. */
static inline uint64_t ovt_load_be64(const void *bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(ovt_load64(bytes));
#else
    return ovt_load64(bytes);
#endif
}

/* The same eight bytes as a little-endian number: byte 0 is the lowest. */
static inline uint64_t ovt_load_le64(const void *bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return ovt_load64(bytes);
#else
    return __builtin_bswap64(ovt_load64(bytes));
#endif
}

static inline void ovt_store_le64(void *bytes, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    ovt_store64(bytes, word);
#else
    ovt_store64(bytes, __builtin_bswap64(word));
#endif
}

static inline uint64_t ovt_bits_of_double(double value) {
    return ovt_load64(&value);
}

/* Hides from the compiler what `value` is made of, where what it would make of that is slow. */
OVT_ALWAYS_INLINE uint64_t ovt_opaque(uint64_t value) {
    __asm__("" : "+r"(value));
    return value;
}

/* A 128-bit unsigned number in two halves. */
typedef struct {
    uint64_t high;
    uint64_t low;
} ovt_u128;

/* The full product of two 64-bit numbers. */
static inline ovt_u128 ovt_multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(OVT_PORTABLE_128)
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)a * b;
    return (ovt_u128){(uint64_t)(product >> 64), (uint64_t)product};
#else
    const uint64_t a_low = a & 0xFFFFFFFFu, a_high = a >> 32;
    const uint64_t b_low = b & 0xFFFFFFFFu, b_high = b >> 32;
    const uint64_t low = a_low * b_low;
    const uint64_t cross = a_high * b_low + (low >> 32);
    const uint64_t middle = a_low * b_high + (cross & 0xFFFFFFFFu);
    return (ovt_u128){a_high * b_high + (cross >> 32) + (middle >> 32),
                      (middle << 32) | (low & 0xFFFFFFFFu)};
#endif
}

/* The upper half of the product of two 64-bit numbers. */
static inline uint64_t ovt_multiply_high(uint64_t a, uint64_t b) {
    return ovt_multiply(a, b).high;
}

#endif
