/* Powers of ten to 128 bits, shared by the number writer and the number reader, exponents, and
 * lengths of integers.
 *
 * ovt_power(k) is G with 10^k = (G + e) * 2^(floor(log2(10^k)) - 127) and 0 <= e < 1: the top bit
 * of G is set, and e is 0 for 0 <= k <= 55. The data is in power_table.c, which
 * tools/generate_power_table.py writes and a test regenerates. */
#ifndef OVT_POWER_TABLE_H
#define OVT_POWER_TABLE_H

#include "compiler.h"

enum { OVT_POWER_MIN = -342, OVT_POWER_MAX = 324, OVT_EXPONENT_MIN = -324, OVT_EXPONENT_MAX = 308 };

/* Hidden, so that position-independent code reads it without an indirection. */
extern const ovt_u128 ovt_power_table[OVT_POWER_MAX - OVT_POWER_MIN + 1]
    __attribute__((visibility("hidden")));

/* The text of a double's decimal exponent as ECMAScript writes it, from "e-324" to "e+308": the
 * first character in the lowest byte, the length in the highest. */
extern const uint64_t ovt_exponent_text[OVT_EXPONENT_MAX - OVT_EXPONENT_MIN + 1]
    __attribute__((visibility("hidden")));

/* For the length of an integer below 10^16, by its highest bit: added to the integer, the entry has
 * the length in its upper ten bits. */
enum { OVT_LENGTH_BITS = 54, OVT_LENGTH_SHIFT = 54, OVT_PLACES = 16 };
extern const uint64_t ovt_length_table[OVT_LENGTH_BITS] __attribute__((visibility("hidden")));

/* 10^(16 - length): what makes an integer of this length one of sixteen digits. */
extern const uint64_t ovt_sixteen_places[OVT_PLACES + 1] __attribute__((visibility("hidden")));

/* The significand of 10^exponent, for OVT_POWER_MIN <= exponent <= OVT_POWER_MAX. */
static inline ovt_u128 ovt_power(int exponent) {
    return ovt_power_table[exponent - OVT_POWER_MIN];
}

/* floor(log2(10^exponent)), right for |exponent| <= 1233. */
static inline int ovt_floor_log2_power10(int exponent) {
    return (exponent * 1741647) >> 19;
}

/* floor(log10(2^exponent)), right for |exponent| <= 1650. */
static inline int ovt_floor_log10_power2(int exponent) {
    return (exponent * 1262611) >> 22;
}

/* How many digits an integer below 10^16 has; 0 has one. */
static inline uint64_t ovt_integer_length(uint64_t value) {
    const unsigned int highest_bit = 63 ^ (unsigned int)ovt_leading_zeros(value | 1);
    return (value + ovt_length_table[highest_bit]) >> OVT_LENGTH_SHIFT;
}

#endif
