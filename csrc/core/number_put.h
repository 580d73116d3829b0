/* The innermost part of number writing, inline for the loops that write many; others call
 * number_write.h. Stores go anywhere in out[0 .. OVT_NUMBER_SIZE).
 *
 * Names used throughout: a double is significand * 2^binary_exponent; its digits are wanted as an
 * integer times 10^exponent, with exponent = floor(log10(2^binary_exponent)), so that the interval
 * of reals that round to the double has at least one multiple of 10^exponent in it and at most one
 * of ten times that. docs/numbers.md has the argument in full. */
#ifndef OVT_NUMBER_PUT_H
#define OVT_NUMBER_PUT_H

#include <stdbool.h>

#include "compiler.h"
#include "power_table.h"

#if OVT_X86_64
#include <emmintrin.h>
#endif

#define OVT_FRACTION_BITS 52
#define OVT_HIDDEN_BIT (UINT64_C(1) << OVT_FRACTION_BITS)
#define OVT_EXPONENT_MASK 0x7FF
#define OVT_EXPONENT_BIAS 1075 /* of the significand read as an integer */

#define OVT_TEN_TO_8 UINT64_C(100000000)
#define OVT_TEN_TO_14 UINT64_C(100000000000000)
#define OVT_TEN_TO_15 UINT64_C(1000000000000000)
#define OVT_TEN_TO_16 UINT64_C(10000000000000000)
#define OVT_HALF (UINT64_C(1) << 63)
#define OVT_ASCII_ZEROS UINT64_C(0x3030303030303030)

/* condition ? one : other, for a condition of 0 or 1 that no processor could predict. */
OVT_ALWAYS_INLINE uint64_t ovt_choose(uint64_t condition, uint64_t one, uint64_t other) {
    return other ^ ((one ^ other) & (0 - condition));
}

/* The place of the highest set bit; `bits` must not be 0. */
OVT_ALWAYS_INLINE unsigned int ovt_highest_bit(uint32_t bits) {
    return 31 ^ (unsigned int)__builtin_clz(bits);
}

/* ---- digits ---------------------------------------------------------------------------------- */

/* The eight decimal digits of value < 10^8, one a byte, the first in the lowest byte.
 *
 * Each step splits every lane x into (x / d, x % d), the quotient in the lower half of the lane:
 * (x << half) - q * ((d << half) - 1) is q + ((x - q * d) << half). */
OVT_ALWAYS_INLINE uint64_t ovt_eight_digits(uint64_t value) {
    const uint64_t thousands = (value * 109951163u) >> 40;
    const uint64_t fours = (value << 32) - thousands * ((UINT64_C(10000) << 32) - 1);
    const uint64_t hundreds = ((fours * 10486u) >> 20) & 0x0000007F0000007Fu;
    const uint64_t twos = (fours << 16) - hundreds * ((UINT64_C(100) << 16) - 1);
    const uint64_t tens = ((twos * 103u) >> 10) & 0x000F000F000F000Fu;
    return (twos << 8) - tens * ((UINT64_C(10) << 8) - 1);
}

OVT_ALWAYS_INLINE void ovt_put_eight(char *out, uint64_t value) {
    ovt_store_le64(out, ovt_eight_digits(value) | OVT_ASCII_ZEROS);
}

/* ---- sixteen digits at once ------------------------------------------------------------------ */

/* Sixteen ASCII digits, the first in the lowest byte of `upper`, and a bit for each that is not
 * '0': bit 0 for the first. */
typedef struct {
#if OVT_X86_64
    __m128i text;
#else
    uint64_t upper;
    uint64_t lower;
#endif
    uint32_t nonzero;
} ovt_sixteen_digits;

#if OVT_X86_64

/* The low halves of 16-bit products. The factor is hidden, as a constant one would be taken apart
 * into shifts and additions, which are more instructions. */
OVT_ALWAYS_INLINE __m128i ovt_multiply_lanes(__m128i lanes, short factor) {
    __m128i factors = _mm_set1_epi16(factor);
    __asm__("" : "+x"(factors));
    return _mm_mullo_epi16(lanes, factors);
}

/* The same three splits as ovt_eight_digits, on two groups of eight and with 16-bit products. The
 * first leaves the quotient in the upper half of the lane, which takes a smaller factor: x - q * d
 * + (q << 32). Then the halves change places. */
OVT_ALWAYS_INLINE ovt_sixteen_digits ovt_make_sixteen_digits(uint64_t upper, uint64_t lower) {
    const __m128i eights =
        _mm_unpacklo_epi64(_mm_cvtsi64_si128((int64_t)upper), _mm_cvtsi64_si128((int64_t)lower));
    const __m128i thousands = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(109951163)), 40);
    const __m128i swapped = _mm_add_epi64(
        eights, _mm_mul_epu32(thousands, _mm_set1_epi64x((INT64_C(1) << 32) - 10000)));
    const __m128i fours = _mm_shuffle_epi32(swapped, _MM_SHUFFLE(2, 3, 0, 1));
    const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi16(5243)), 3);
    const __m128i twos = _mm_or_si128(
        hundreds, _mm_slli_epi32(_mm_sub_epi16(fours, ovt_multiply_lanes(hundreds, 100)), 16));
    const __m128i tens = _mm_mulhi_epu16(twos, _mm_set1_epi16(6554));
    const __m128i digits =
        _mm_sub_epi16(_mm_slli_epi16(twos, 8), ovt_multiply_lanes(tens, (10 << 8) - 1));
    const int nonzero = _mm_movemask_epi8(_mm_cmpgt_epi8(digits, _mm_setzero_si128()));
    return (ovt_sixteen_digits){_mm_or_si128(digits, _mm_set1_epi8('0')), (uint32_t)nonzero};
}

OVT_ALWAYS_INLINE void ovt_store_sixteen(char *out, ovt_sixteen_digits digits) {
    _mm_storeu_si128((__m128i *)(void *)out, digits.text);
}

OVT_ALWAYS_INLINE uint64_t ovt_upper_eight(ovt_sixteen_digits digits) {
    return (uint64_t)_mm_cvtsi128_si64(digits.text);
}

OVT_ALWAYS_INLINE uint64_t ovt_lower_eight(ovt_sixteen_digits digits) {
    return (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(digits.text, digits.text));
}

#else

/* One bit for each byte that is not 0, of bytes below 128. */
OVT_ALWAYS_INLINE uint32_t ovt_nonzero_bytes(uint64_t bytes) {
    const uint64_t tops = (bytes + UINT64_C(0x7F7F7F7F7F7F7F7F)) & UINT64_C(0x8080808080808080);
    return (uint32_t)((tops >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

OVT_ALWAYS_INLINE ovt_sixteen_digits ovt_make_sixteen_digits(uint64_t upper, uint64_t lower) {
    const uint64_t first = ovt_eight_digits(upper), second = ovt_eight_digits(lower);
    return (ovt_sixteen_digits){first | OVT_ASCII_ZEROS, second | OVT_ASCII_ZEROS,
                                ovt_nonzero_bytes(first) | ovt_nonzero_bytes(second) << 8};
}

OVT_ALWAYS_INLINE void ovt_store_sixteen(char *out, ovt_sixteen_digits digits) {
    ovt_store_le64(out, digits.upper);
    ovt_store_le64(out + 8, digits.lower);
}

OVT_ALWAYS_INLINE uint64_t ovt_upper_eight(ovt_sixteen_digits digits) {
    return digits.upper;
}

OVT_ALWAYS_INLINE uint64_t ovt_lower_eight(ovt_sixteen_digits digits) {
    return digits.lower;
}

#endif

/* ---- integers -------------------------------------------------------------------------------- */

/* Sixteen digits, zeros in front included. */
OVT_ALWAYS_INLINE ovt_sixteen_digits ovt_split_sixteen_digits(uint64_t value) {
    const uint64_t upper = value / OVT_TEN_TO_8;
    return ovt_make_sixteen_digits(upper, value - upper * OVT_TEN_TO_8);
}

/* Writes value < 10^16 without zeros in front; stores sixteen bytes.
 *
 * It is made a number of sixteen digits, whose last ones nobody looks at. So nothing depends on the
 * length but one addition: lengths come in no order that a processor could predict. */
OVT_ALWAYS_INLINE size_t ovt_put_up_to_sixteen(char *out, uint64_t value) {
    const uint64_t length = ovt_integer_length(value);
    ovt_store_sixteen(out, ovt_split_sixteen_digits(value * ovt_sixteen_places[length]));
    return length;
}

OVT_ALWAYS_INLINE size_t ovt_put_integer(char *out, uint64_t value) {
    if (OVT_LIKELY(value < OVT_TEN_TO_16))
        return ovt_put_up_to_sixteen(out, value);
    const uint64_t top = value / OVT_TEN_TO_16;
    const size_t length = ovt_put_up_to_sixteen(out, top);
    ovt_store_sixteen(out + length, ovt_split_sixteen_digits(value - top * OVT_TEN_TO_16));
    return length + 16;
}

/* ---- short decimals ---------------------------------------------------------------------------
 */

#define OVT_SHORT_POINT_MIN 30 /* below 2^23, so that eight decimals make 15 digits */
#define OVT_SHORT_POINT_MAX 63 /* from 2^-11 on */

/* Prices, coordinates and rates: significand * 2^-point as a decimal of at most seven digits before
 * the point and eight after it. Returns its length, or 0 if it is none.
 *
 * One product gives the value in units of 10^-8 as high + low / 2^64, exactly. The nearest integer
 * stands for at most 15 digits. It reads back as this double if it lies within half the spacing of
 * doubles, which is 10^8 * 2^-point / 2 in these units; and since no two decimals of up to 15
 * digits read as one double, it is then the only one, and its digits without the last zeros the
 * shortest. Below a power of two doubles lie half as far apart. Takes points of OVT_SHORT_POINT_MIN
 * to OVT_SHORT_POINT_MAX, and no integer. */
OVT_ALWAYS_INLINE size_t ovt_put_short_decimal(char *out, uint64_t significand,
                                               unsigned int point) {
    const uint64_t unit = OVT_TEN_TO_8 << (64 - point);
    const ovt_u128 product = ovt_multiply(significand, unit);
    const uint64_t half_spacing = unit >> (1 + (significand == OVT_HIDDEN_BIT));
    if (product.low + half_spacing - 1 >= 2 * half_spacing - 1)
        return 0;
    const uint64_t rounded = product.high + (product.low >> 63);
    const ovt_sixteen_digits digits = ovt_split_sixteen_digits(rounded);
    /* The last digit before the point is kept even if it is 0. */
    const unsigned int zeros = (unsigned int)ovt_trailing_zeros(digits.nonzero | 1 << 7);
    const unsigned int last = ovt_highest_bit(digits.nonzero);
    const size_t whole_digits = 8 - zeros;
    ovt_store_le64(out, ovt_upper_eight(digits) >> (8 * zeros));
    out[whole_digits] = '.';
    ovt_store_le64(out + whole_digits + 1, ovt_lower_eight(digits));
    return whole_digits + 1 + (last - 7);
}

/* ---- shortest digits ------------------------------------------------------------------------- */

/* (10 * tens + last) * 10^exponent. The last digit is kept apart because it is known later and
 * never carries. */
typedef struct {
    uint64_t tens;
    uint64_t last;
    int exponent;
} ovt_decimal;

/* The table entry through a plain pointer: loads from base + index wait for the previous number's
 * last store on some processors, which halves the speed. */
OVT_ALWAYS_INLINE const ovt_u128 *ovt_opaque_entry(int exponent) {
    const ovt_u128 *entry = ovt_power_table + (exponent - OVT_POWER_MIN);
    __asm__("" : "+r"(entry));
    return entry;
}

/* The shortest digits of significand * 2^binary_exponent where the spacing of doubles is the same
 * on both sides; false if that takes shortest_exact.
 *
 * One product gives value / 10 = tens + fraction / 2^64 in units of 10^exponent, with the fraction
 * too small by less than 1 + 2^-11. Half the width of the rounding interval is below 1/2 in the
 * same units, and too small by less than 1. So the multiple of ten below the value lies in the
 * interval if fraction < half_width, the one above if fraction > 2^64 - half_width, and otherwise
 * the last digit is 10 * fraction / 2^64, rounded. A comparison that these errors could turn
 * over is not made here. */
OVT_ALWAYS_INLINE bool ovt_shortest(uint64_t significand, int binary_exponent,
                                    ovt_decimal *result) {
    const int exponent = ovt_floor_log10_power2(binary_exponent);
    const ovt_u128 power = *ovt_opaque_entry(-exponent - 1);
    const int shift = -binary_exponent - ovt_floor_log2_power10(-exponent - 1); /* 1 .. 4 */

    const uint64_t scaled = significand << (5 - shift);
    const ovt_u128 upper = ovt_multiply(scaled, power.high);
    const uint64_t low = upper.low + ovt_multiply_high(scaled, power.low);
    const uint64_t high = upper.high + (low < upper.low);
    const uint64_t tens = high >> 4;
    /* Not opaque, it is one double-width shift: a slow instruction on some processors. */
    const uint64_t fraction = ovt_opaque(high << 60) | low >> 4;

    const uint64_t half_width = power.high >> shift;
    const ovt_u128 digit = ovt_multiply(fraction, 10);
    if (OVT_UNLIKELY(fraction - half_width + 1 <= 1 || fraction + half_width + 2 <= 2 ||
                     digit.low - OVT_HALF + 10 <= 10))
        return false;

    const uint64_t above = fraction > 0 - half_width;
    const uint64_t ends_in_zero = (fraction < half_width) | above;
    const uint64_t last = digit.high + (digit.low >> 63);
    *result = (ovt_decimal){tens + above, last & (ends_in_zero - 1), exponent};
    return true;
}

/* ---- ECMAScript layout ----------------------------------------------------------------------- */

/* Seventeen digits, of which the first may be one leading zero and the second is then none. The
 * value they stand for is d.ddd * 10^exponent, where d is the first digit that is not 0. */
typedef struct {
    ovt_sixteen_digits digits;
    uint64_t last;
    unsigned int leading_zero;
    unsigned int fraction_digits; /* significant digits after the first */
    int exponent;
} ovt_layout;

/* Takes tens of 15 or 16 digits. */
OVT_ALWAYS_INLINE ovt_layout ovt_lay_out(ovt_decimal number) {
    const ovt_sixteen_digits digits = ovt_split_sixteen_digits(number.tens);
    /* The sign of the difference, hidden, as a comparison would be made anew at every use. */
    const unsigned int leading_zero = (unsigned int)ovt_opaque((number.tens - OVT_TEN_TO_15) >> 63);
    const uint32_t nonzero = digits.nonzero | (uint32_t)(number.last != 0) << 16;
    const unsigned int highest = ovt_highest_bit(nonzero);
    return (ovt_layout){digits, number.last | '0', leading_zero, highest - leading_zero,
                        number.exponent + 16 - (int)leading_zero};
}

/* Writes the digits from out[1] on; a leading zero falls on out[0]. */
OVT_ALWAYS_INLINE void ovt_store_digits(char *out, ovt_layout number) {
    char *start = out + 1 - number.leading_zero;
    ovt_store_sixteen(start, number.digits);
    start[16] = (char)number.last;
}

/* "e+21", "e-7": stores eight bytes. */
OVT_ALWAYS_INLINE size_t ovt_put_exponent(char *out, int exponent) {
    const uint64_t text = ovt_exponent_text[exponent - OVT_EXPONENT_MIN];
    ovt_store_le64(out, text);
    return (size_t)(text >> 56);
}

OVT_ALWAYS_INLINE size_t ovt_put_scientific(char *out, ovt_layout number) {
    ovt_store_digits(out, number);
    out[0] = (char)(ovt_upper_eight(number.digits) >> (8 * number.leading_zero));
    out[1] = '.';
    const size_t length = number.fraction_digits + 1 + (number.fraction_digits != 0);
    return length + ovt_put_exponent(out + length, number.exponent);
}

/* Digits after "0.": exponent is -6 .. -1. */
OVT_ALWAYS_INLINE size_t ovt_put_below_one(char *out, ovt_layout number) {
    const size_t first = (size_t)(1 - number.exponent);
    ovt_store_le64(out, OVT_ASCII_ZEROS);
    ovt_store_digits(out + first - 1, number); /* a leading zero may fall on the point */
    out[0] = '0';
    out[1] = '.';
    return first + 1 + number.fraction_digits;
}

/* Puts a point after the first `count` bytes of `text` (count <= 7); `moved` has the bytes that
 * follow it, each one place up. */
OVT_ALWAYS_INLINE uint64_t ovt_insert_point(uint64_t text, uint64_t moved, unsigned int count) {
    const uint64_t below = (UINT64_C(1) << (8 * count)) - 1;
    const uint64_t point_and_below = below << 8 | 0xFF;
    return (text & below) | ((uint64_t)'.' << (8 * count)) | (moved & ~point_and_below);
}

/* Digits with the point inside or after them: exponent is 0 .. 20. */
OVT_ALWAYS_INLINE size_t ovt_put_plain(char *out, ovt_layout number) {
    const unsigned int whole = (unsigned int)number.exponent + 1;
    const unsigned int zero_bits = 8 * number.leading_zero;
    const uint64_t zero_mask = 0 - (uint64_t)number.leading_zero;
    uint64_t head = ovt_upper_eight(number.digits) >> zero_bits; /* seven digits at least */
    ovt_store_digits(out, number);
    if (OVT_LIKELY(whole < 8 && number.fraction_digits >= whole)) {
        ovt_store_le64(out, ovt_insert_point(head, head << 8, whole));
        return (size_t)number.fraction_digits + 2;
    }
    head |= ovt_lower_eight(number.digits) << 56 & zero_mask;
    const uint64_t tail =
        ovt_lower_eight(number.digits) >> zero_bits | (number.last << 56 & zero_mask);
    ovt_store_le64(out, head);
    if (number.fraction_digits < whole) {
        ovt_store_le64(out + 8, tail);
        ovt_store_le64(out + 16,
                       ovt_choose(number.leading_zero, '0', number.last) | OVT_ASCII_ZEROS << 8);
        return whole;
    }
    if (whole < 16) {
        ovt_store_le64(out + 8, ovt_insert_point(tail, head >> 56 | tail << 8, whole - 8));
    } else {
        ovt_store_le64(out + 8, tail);
        out[16] = '.';
    }
    return (size_t)number.fraction_digits + 2;
}

OVT_ALWAYS_INLINE size_t ovt_put_decimal(char *out, ovt_decimal digits) {
    const ovt_layout number = ovt_lay_out(digits);
    if (number.exponent < -6 || number.exponent > 20)
        return ovt_put_scientific(out, number);
    if (number.exponent < 0)
        return ovt_put_below_one(out, number);
    return ovt_put_plain(out, number);
}

/* ---- any double ------------------------------------------------------------------------------ */

/* Whatever the fast paths leave, of a magnitude with these bits: fractions that are a power of two,
 * subnormal numbers, zero, and close calls. A sign, if `negative` is 1, stands before `out`; the
 * length counts it. In number_write.c. */
size_t ovt_write_exact(char *out, size_t negative, uint64_t fraction, int biased);

/* A finite double: ovt_write_double, inline. */
OVT_ALWAYS_INLINE size_t ovt_put_double(char *out, double value) {
    const uint64_t bits = ovt_bits_of_double(value);
    const uint64_t fraction = bits & (OVT_HIDDEN_BIT - 1);
    const int biased = (int)(bits >> OVT_FRACTION_BITS) & OVT_EXPONENT_MASK;
    const uint64_t significand = fraction | OVT_HIDDEN_BIT;
    const size_t negative = bits >> 63;
    *out = '-';
    out += negative;

    const unsigned int point =
        (unsigned int)(OVT_EXPONENT_BIAS - biased); /* bits after the point */
    if (point <= OVT_SHORT_POINT_MAX) {
        if (point <= OVT_FRACTION_BITS && (significand & ((UINT64_C(1) << point) - 1)) == 0)
            return negative + ovt_put_up_to_sixteen(out, significand >> point);
        if (OVT_LIKELY(point >= OVT_SHORT_POINT_MIN)) {
            const size_t length = ovt_put_short_decimal(out, significand, point);
            if (OVT_LIKELY(length != 0))
                return negative + length;
        }
    }
    ovt_decimal number;
    if (OVT_UNLIKELY(fraction == 0 || biased == 0 ||
                     !ovt_shortest(significand, biased - OVT_EXPONENT_BIAS, &number)))
        return ovt_write_exact(out, negative, fraction, biased);
    return negative + ovt_put_decimal(out, number);
}

#endif
