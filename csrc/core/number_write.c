/* Shortest decimal digits of a double, and integers to text. See number_write.h.
 *
 * What is written most often is in number_put.h; here are the exact decision and the long
 * integers. */
#include "number_write.h"

#include "number_put.h"

/* ---- integers -------------------------------------------------------------------------------- */

size_t ovt_write_u64(char *out, uint64_t value) {
    return ovt_put_integer(out, value);
}

size_t ovt_write_i64(char *out, int64_t value) {
    const bool negative = value < 0;
    *out = '-';
    return negative +
           ovt_put_integer(out + negative, negative ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Divides high * 2^64 + low by 10^8 in 32-bit steps and returns the remainder. */
static uint64_t divide_by_ten_to_8(uint64_t *high, uint64_t *low) {
    const uint64_t a = *high / OVT_TEN_TO_8;
    const uint64_t b = ((*high - a * OVT_TEN_TO_8) << 32) | (*low >> 32);
    const uint64_t c = ((b % OVT_TEN_TO_8) << 32) | (*low & 0xFFFFFFFFu);
    *high = a;
    *low = ((b / OVT_TEN_TO_8) << 32) | (c / OVT_TEN_TO_8);
    return c % OVT_TEN_TO_8;
}

size_t ovt_write_u128(char *out, uint64_t high, uint64_t low) {
    uint64_t groups[3];
    size_t count = 0;
    while (high != 0)
        groups[count++] = divide_by_ten_to_8(&high, &low);
    size_t length = ovt_put_integer(out, low);
    while (count > 0) {
        ovt_put_eight(out + length, groups[--count]);
        length += 8;
    }
    return length;
}

/* ---- the exact decision ---------------------------------------------------------------------- */

/* floor(multiple * power / 2^128), with the lowest bit set when the true product is not that
 * integer (rounding to odd).
 *
 * power is too large by at most one unit, so the product's fraction is too large by less than
 * 2^-68. A true fraction that is not 0 lies between 2^-66 and 1 - 2^-62 for every double (see
 * docs/numbers.md; tests/boundary_doubles.py computes it), so below 2^-67 it is 0. */
static uint64_t scale_to_odd(uint64_t multiple, ovt_u128 power) {
    const ovt_u128 upper = ovt_multiply(multiple, power.high);
    const ovt_u128 lower = ovt_multiply(multiple, power.low);
    const uint64_t fraction = upper.low + lower.high;
    const uint64_t integer = upper.high + (fraction < lower.high);
    return integer | ((fraction | (lower.low >> 61)) != 0);
}

/* The exact decision, after Schubfach: the rounding interval's ends and the value itself are
 * scaled by 4 * 10^-exponent and compared with multiples of 4. Used where the fast path cannot
 * decide and for powers of two, whose lower neighbour is only half as far away. */
static OVT_NEVER_INLINE ovt_decimal shortest_exact(uint64_t significand, int binary_exponent,
                                                   bool power_of_two) {
    /* The interval is 2^e wide, or 3/4 of that: 524031 = -log10(3/4) * 2^22. */
    const int exponent = power_of_two ? (binary_exponent * 1262611 - 524031) >> 22
                                      : ovt_floor_log10_power2(binary_exponent);
    const int shift = binary_exponent + ovt_floor_log2_power10(-exponent) + 1;
    ovt_u128 power = ovt_power(-exponent);
    power.low += 1;
    power.high += power.low == 0;

    const uint64_t center = 4 * significand;
    const uint64_t odd = significand & 1; /* the ends of the interval round to the even neighbour */
    const uint64_t middle = scale_to_odd(center << shift, power);
    const uint64_t low = scale_to_odd((center - 2 + power_of_two) << shift, power) + odd;
    const uint64_t high = scale_to_odd((center + 2) << shift, power) - odd;

    const uint64_t floor = middle / 4;
    const uint64_t tens = floor / 10;
    if (low <= 40 * tens)
        return (ovt_decimal){tens, 0, exponent};
    if (40 * tens + 40 <= high)
        return (ovt_decimal){tens + 1, 0, exponent};

    const bool floor_inside = low <= 4 * floor;
    const bool next_inside = 4 * floor + 4 <= high;
    bool up = next_inside;
    if (floor_inside && next_inside) {
        const uint64_t half = 4 * floor + 2;
        up = middle > half || (middle == half && (floor & 1));
    }
    return (ovt_decimal){tens, floor - 10 * tens + up, exponent};
}

OVT_NEVER_INLINE size_t ovt_write_exact(char *out, size_t negative, uint64_t fraction, int biased) {
    if (biased == 0 && fraction == 0) {
        *(out - negative) = '0'; /* no sign */
        return 1;
    }
    ovt_decimal number = biased == 0
                             ? shortest_exact(fraction, 1 - OVT_EXPONENT_BIAS, false)
                             : shortest_exact(fraction | OVT_HIDDEN_BIT, biased - OVT_EXPONENT_BIAS,
                                              fraction == 0 && biased > 1);
    while (number.tens < OVT_TEN_TO_14) {
        number.tens = 10 * number.tens + number.last;
        number.last = 0;
        --number.exponent;
    }
    return negative + ovt_put_decimal(out, number);
}

/* ---- doubles --------------------------------------------------------------------------------- */

size_t ovt_write_double(char *out, double value) {
    return ovt_put_double(out, value);
}

size_t ovt_write_double_integral_exact(char *out, double value) {
    const uint64_t bits = ovt_bits_of_double(value);
    const int shift = ((int)(bits >> OVT_FRACTION_BITS) & OVT_EXPONENT_MASK) - OVT_EXPONENT_BIAS;
    /* From 2^53 a double is integral, and 1e21 is below 2^70; smaller ones need no care. */
    const uint64_t magnitude = bits & (UINT64_MAX >> 1);
    if (OVT_LIKELY(shift <= 0 || magnitude >= ovt_bits_of_double(1e21)))
        return ovt_write_double(out, value);
    const uint64_t significand = (bits & (OVT_HIDDEN_BIT - 1)) | OVT_HIDDEN_BIT;
    const size_t negative = bits >> 63;
    *out = '-';
    return negative +
           ovt_write_u128(out + negative, significand >> (64 - shift), significand << shift);
}
