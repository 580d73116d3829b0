/* Shortest decimal digits of a double, and integers to text. See number_write.h.
 *
 * Names used throughout: a double is significand * 2^binary_exponent; its digits are wanted as an
 * integer times 10^exponent, with exponent = floor(log10(2^binary_exponent)), so that the interval
 * of reals that round to the double has at least one multiple of 10^exponent in it and at most one
 * of ten times that. docs/numbers.md has the argument in full. */
#include "number_write.h"

#include <stdbool.h>

#include "compiler.h"
#include "power_table.h"

#if OVT_X86_64
#include <emmintrin.h>
#endif

#define FRACTION_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << FRACTION_BITS)
#define EXPONENT_MASK 0x7FF
#define EXPONENT_BIAS 1075 /* of the significand read as an integer */

#define TEN_TO_8 UINT64_C(100000000)
#define TEN_TO_14 UINT64_C(100000000000000)
#define TEN_TO_15 UINT64_C(1000000000000000)
#define HALF (UINT64_C(1) << 63)
#define ASCII_ZEROS UINT64_C(0x3030303030303030)

/* Hides from the compiler what `value` is made of, so that it is not merged into a double-width
 * shift: a single instruction, but a slow one on some processors. */
OVT_ALWAYS_INLINE uint64_t opaque(uint64_t value) {
    __asm__("" : "+r"(value));
    return value;
}

/* condition ? one : other, for a condition of 0 or 1 that no processor could predict. */
OVT_ALWAYS_INLINE uint64_t choose(uint64_t condition, uint64_t one, uint64_t other) {
    return other ^ ((one ^ other) & (0 - condition));
}

/* ---- digits ---------------------------------------------------------------------------------- */

/* The eight decimal digits of value < 10^8, one a byte, the first in the lowest byte.
 *
 * Each step splits every lane x into (x / d, x % d), the quotient in the lower half of the lane:
 * (x << half) - q * ((d << half) - 1) is q + ((x - q * d) << half). */
OVT_ALWAYS_INLINE uint64_t eight_digits(uint64_t value) {
    const uint64_t thousands = (value * 109951163u) >> 40;
    const uint64_t fours = (value << 32) - thousands * ((UINT64_C(10000) << 32) - 1);
    const uint64_t hundreds = ((fours * 10486u) >> 20) & 0x0000007F0000007Fu;
    const uint64_t twos = (fours << 16) - hundreds * ((UINT64_C(100) << 16) - 1);
    const uint64_t tens = ((twos * 103u) >> 10) & 0x000F000F000F000Fu;
    return (twos << 8) - tens * ((UINT64_C(10) << 8) - 1);
}

/* Writes value < 10^8 without leading zeros; stores eight bytes. */
OVT_ALWAYS_INLINE size_t write_up_to_eight(char *out, uint64_t value) {
    const uint64_t digits = eight_digits(value);
    /* The last digit is kept even if it is 0. */
    const unsigned int zeros =
        (unsigned int)ovt_trailing_zeros(digits | UINT64_C(0x0100000000000000)) / 8;
    ovt_store_le64(out, (digits | ASCII_ZEROS) >> (8 * zeros));
    return 8 - zeros;
}

OVT_ALWAYS_INLINE void write_eight(char *out, uint64_t value) {
    ovt_store_le64(out, eight_digits(value) | ASCII_ZEROS);
}

OVT_ALWAYS_INLINE size_t write_integer(char *out, uint64_t value) {
    if (OVT_LIKELY(value < TEN_TO_8))
        return write_up_to_eight(out, value);
    const uint64_t upper = value / TEN_TO_8;
    size_t length;
    if (OVT_LIKELY(upper < TEN_TO_8)) {
        length = write_up_to_eight(out, upper);
    } else {
        const uint64_t top = upper / TEN_TO_8;
        length = write_up_to_eight(out, top);
        write_eight(out + length, upper - top * TEN_TO_8);
        length += 8;
    }
    write_eight(out + length, value - upper * TEN_TO_8);
    return length + 8;
}

size_t ovt_write_u64(char *out, uint64_t value) {
    return write_integer(out, value);
}

size_t ovt_write_i64(char *out, int64_t value) {
    const bool negative = value < 0;
    *out = '-';
    return negative +
           write_integer(out + negative, negative ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Divides high * 2^64 + low by 10^8 in 32-bit steps and returns the remainder. */
static uint64_t divide_by_ten_to_8(uint64_t *high, uint64_t *low) {
    const uint64_t a = *high / TEN_TO_8;
    const uint64_t b = ((*high - a * TEN_TO_8) << 32) | (*low >> 32);
    const uint64_t c = ((b % TEN_TO_8) << 32) | (*low & 0xFFFFFFFFu);
    *high = a;
    *low = ((b / TEN_TO_8) << 32) | (c / TEN_TO_8);
    return c % TEN_TO_8;
}

size_t ovt_write_u128(char *out, uint64_t high, uint64_t low) {
    uint64_t groups[3];
    size_t count = 0;
    while (high != 0)
        groups[count++] = divide_by_ten_to_8(&high, &low);
    size_t length = write_integer(out, low);
    while (count > 0) {
        write_eight(out + length, groups[--count]);
        length += 8;
    }
    return length;
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
} sixteen_digits;

#if OVT_X86_64

/* The same three splits as eight_digits, on two groups of eight and with 16-bit products. */
OVT_ALWAYS_INLINE sixteen_digits make_sixteen_digits(uint64_t upper, uint64_t lower) {
    const __m128i eights =
        _mm_unpacklo_epi64(_mm_cvtsi64_si128((int64_t)upper), _mm_cvtsi64_si128((int64_t)lower));
    const __m128i thousands = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(109951163)), 40);
    const __m128i fours = _mm_or_si128(
        thousands,
        _mm_slli_epi64(_mm_sub_epi64(eights, _mm_mul_epu32(thousands, _mm_set1_epi64x(10000))),
                       32));
    const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi16(5243)), 3);
    const __m128i twos = _mm_or_si128(
        hundreds,
        _mm_slli_epi32(_mm_sub_epi16(fours, _mm_mullo_epi16(hundreds, _mm_set1_epi16(100))), 16));
    const __m128i tens = _mm_mulhi_epu16(twos, _mm_set1_epi16(6554));
    const __m128i digits = _mm_or_si128(
        tens, _mm_slli_epi16(_mm_sub_epi16(twos, _mm_mullo_epi16(tens, _mm_set1_epi16(10))), 8));
    const int zero = _mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
    return (sixteen_digits){_mm_or_si128(digits, _mm_set1_epi8('0')), (uint32_t)zero ^ 0xFFFF};
}

OVT_ALWAYS_INLINE void store_sixteen(char *out, sixteen_digits digits) {
    _mm_storeu_si128((__m128i *)(void *)out, digits.text);
}

OVT_ALWAYS_INLINE uint64_t upper_eight(sixteen_digits digits) {
    return (uint64_t)_mm_cvtsi128_si64(digits.text);
}

OVT_ALWAYS_INLINE uint64_t lower_eight(sixteen_digits digits) {
    return (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(digits.text, digits.text));
}

#else

/* One bit for each byte that is not 0, of bytes below 128. */
OVT_ALWAYS_INLINE uint32_t nonzero_bytes(uint64_t bytes) {
    const uint64_t tops = (bytes + UINT64_C(0x7F7F7F7F7F7F7F7F)) & UINT64_C(0x8080808080808080);
    return (uint32_t)((tops >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

OVT_ALWAYS_INLINE sixteen_digits make_sixteen_digits(uint64_t upper, uint64_t lower) {
    const uint64_t first = eight_digits(upper), second = eight_digits(lower);
    return (sixteen_digits){first | ASCII_ZEROS, second | ASCII_ZEROS,
                            nonzero_bytes(first) | nonzero_bytes(second) << 8};
}

OVT_ALWAYS_INLINE void store_sixteen(char *out, sixteen_digits digits) {
    ovt_store_le64(out, digits.upper);
    ovt_store_le64(out + 8, digits.lower);
}

OVT_ALWAYS_INLINE uint64_t upper_eight(sixteen_digits digits) {
    return digits.upper;
}

OVT_ALWAYS_INLINE uint64_t lower_eight(sixteen_digits digits) {
    return digits.lower;
}

#endif

/* ---- short decimals --------------------------------------------------------------------------- */

#define SHORT_POINT_MIN 30 /* below 2^23, so that eight decimals make 15 digits */
#define SHORT_POINT_MAX 63 /* from 2^-11 on */

/* Prices, coordinates and rates: significand * 2^-point as a decimal of at most seven digits before
 * the point and eight after it. Returns its length, or 0 if it is none.
 *
 * One product gives the value in units of 10^-8 as high + low / 2^64, exactly. The nearest integer
 * stands for at most 15 digits. It reads back as this double if it lies within half the spacing of
 * doubles, which is 10^8 * 2^-point / 2 in these units; and since no two decimals of up to 15 digits
 * read as one double, it is then the only one, and its digits without the last zeros the shortest.
 * Below a power of two doubles lie half as far apart. Takes points of SHORT_POINT_MIN to
 * SHORT_POINT_MAX, and no integer. */
OVT_ALWAYS_INLINE size_t write_short_decimal(char *out, uint64_t significand, unsigned int point) {
    const uint64_t unit = TEN_TO_8 << (64 - point);
    const ovt_u128 product = ovt_multiply(significand, unit);
    const uint64_t half_spacing = unit >> (1 + (significand == HIDDEN_BIT));
    if (product.low + half_spacing - 1 >= 2 * half_spacing - 1)
        return 0;
    const uint64_t decimal = product.high + (product.low >> 63);
    const uint64_t whole = decimal / TEN_TO_8;
    const sixteen_digits digits = make_sixteen_digits(whole, decimal - whole * TEN_TO_8);
    /* The last digit before the point is kept even if it is 0. */
    const unsigned int zeros = (unsigned int)ovt_trailing_zeros(digits.nonzero | 1 << 7);
    const unsigned int last = 31 - (unsigned int)__builtin_clz(digits.nonzero);
    const size_t whole_digits = 8 - zeros;
    ovt_store_le64(out, upper_eight(digits) >> (8 * zeros));
    out[whole_digits] = '.';
    ovt_store_le64(out + whole_digits + 1, lower_eight(digits));
    return whole_digits + 1 + (last - 7);
}

/* ---- shortest digits ------------------------------------------------------------------------- */

/* (10 * tens + last) * 10^exponent. The last digit is kept apart because it is known later and
 * never carries. */
typedef struct {
    uint64_t tens;
    uint64_t last;
    int exponent;
} decimal;

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
static OVT_NEVER_INLINE decimal shortest_exact(uint64_t significand, int binary_exponent,
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
        return (decimal){tens, 0, exponent};
    if (40 * tens + 40 <= high)
        return (decimal){tens + 1, 0, exponent};

    const bool floor_inside = low <= 4 * floor;
    const bool next_inside = 4 * floor + 4 <= high;
    bool up = next_inside;
    if (floor_inside && next_inside) {
        const uint64_t half = 4 * floor + 2;
        up = middle > half || (middle == half && (floor & 1));
    }
    return (decimal){tens, floor - 10 * tens + up, exponent};
}

/* The table entry through a plain pointer: loads from base + index wait for the previous number's
 * last store on some processors, which halves the speed. */
OVT_ALWAYS_INLINE const ovt_u128 *opaque_entry(int exponent) {
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
OVT_ALWAYS_INLINE bool shortest(uint64_t significand, int binary_exponent, decimal *result) {
    const int exponent = ovt_floor_log10_power2(binary_exponent);
    const ovt_u128 power = *opaque_entry(-exponent - 1);
    const int shift = -binary_exponent - ovt_floor_log2_power10(-exponent - 1); /* 1 .. 4 */

    const uint64_t scaled = significand << (5 - shift);
    const ovt_u128 upper = ovt_multiply(scaled, power.high);
    const uint64_t low = upper.low + ovt_multiply_high(scaled, power.low);
    const uint64_t high = upper.high + (low < upper.low);
    const uint64_t tens = high >> 4;
    const uint64_t fraction = opaque(high << 60) | low >> 4;

    const uint64_t half_width = power.high >> shift;
    const ovt_u128 digit = ovt_multiply(fraction, 10);
    if (OVT_UNLIKELY(fraction - half_width + 1 <= 1 || fraction + half_width + 2 <= 2 ||
                     digit.low - HALF + 10 <= 10))
        return false;

    const uint64_t above = fraction > 0 - half_width;
    const uint64_t ends_in_zero = (fraction < half_width) | above;
    const uint64_t last = digit.high + (digit.low >> 63);
    *result = (decimal){tens + above, last & (ends_in_zero - 1), exponent};
    return true;
}

/* ---- ECMAScript layout ----------------------------------------------------------------------- */

/* Seventeen digits, of which the first may be one leading zero and the second is then none. The
 * value they stand for is d.ddd * 10^exponent, where d is the first digit that is not 0. */
typedef struct {
    sixteen_digits digits;
    uint64_t last;
    unsigned int leading_zero;
    unsigned int fraction_digits; /* significant digits after the first */
    int exponent;
} layout;

/* Takes tens of 15 or 16 digits. */
OVT_ALWAYS_INLINE layout lay_out(decimal number) {
    const uint64_t upper = number.tens / TEN_TO_8;
    const sixteen_digits digits = make_sixteen_digits(upper, number.tens - upper * TEN_TO_8);
    const unsigned int leading_zero = number.tens < TEN_TO_15;
    const uint32_t nonzero = digits.nonzero | (uint32_t)(number.last != 0) << 16;
    const unsigned int highest = 31 - (unsigned int)__builtin_clz(nonzero);
    return (layout){digits, number.last | '0', leading_zero, highest - leading_zero,
                    number.exponent + 16 - (int)leading_zero};
}

/* Writes the digits from out[1] on; a leading zero falls on out[0]. */
OVT_ALWAYS_INLINE void store_digits(char *out, layout number) {
    char *start = out + 1 - number.leading_zero;
    store_sixteen(start, number.digits);
    start[16] = (char)number.last;
}

/* "e+21", "e-7": stores eight bytes. */
OVT_ALWAYS_INLINE size_t write_exponent(char *out, int exponent) {
    const uint64_t text = ovt_exponent_text[exponent - OVT_EXPONENT_MIN];
    ovt_store_le64(out, text);
    return (size_t)(text >> 56);
}

OVT_ALWAYS_INLINE size_t write_scientific(char *out, layout number) {
    store_digits(out, number);
    out[0] = (char)(upper_eight(number.digits) >> (8 * number.leading_zero));
    out[1] = '.';
    const size_t length = number.fraction_digits + 1 + (number.fraction_digits != 0);
    return length + write_exponent(out + length, number.exponent);
}

/* Digits after "0.": exponent is -6 .. -1. */
OVT_ALWAYS_INLINE size_t write_below_one(char *out, layout number) {
    const size_t first = (size_t)(1 - number.exponent);
    ovt_store_le64(out, ASCII_ZEROS);
    store_digits(out + first - 1, number); /* a leading zero may fall on the point */
    out[0] = '0';
    out[1] = '.';
    return first + 1 + number.fraction_digits;
}

/* Puts a point after the first `count` bytes of `text` (count <= 7); `moved` has the bytes that
 * follow it, each one place up. */
OVT_ALWAYS_INLINE uint64_t insert_point(uint64_t text, uint64_t moved, unsigned int count) {
    const uint64_t below = (UINT64_C(1) << (8 * count)) - 1;
    const uint64_t point_and_below = below << 8 | 0xFF;
    return (text & below) | ((uint64_t)'.' << (8 * count)) | (moved & ~point_and_below);
}

/* Digits with the point inside or after them: exponent is 0 .. 20. */
OVT_ALWAYS_INLINE size_t write_plain(char *out, layout number) {
    const unsigned int whole = (unsigned int)number.exponent + 1;
    const unsigned int zero_bits = 8 * number.leading_zero;
    const uint64_t zero_mask = 0 - (uint64_t)number.leading_zero;
    uint64_t head = upper_eight(number.digits) >> zero_bits; /* seven digits at least */
    store_digits(out, number);
    if (OVT_LIKELY(whole < 8 && number.fraction_digits >= whole)) {
        ovt_store_le64(out, insert_point(head, head << 8, whole));
        return (size_t)number.fraction_digits + 2;
    }
    head |= lower_eight(number.digits) << 56 & zero_mask;
    const uint64_t tail = lower_eight(number.digits) >> zero_bits | (number.last << 56 & zero_mask);
    ovt_store_le64(out, head);
    if (number.fraction_digits < whole) {
        ovt_store_le64(out + 8, tail);
        ovt_store_le64(out + 16, choose(number.leading_zero, '0', number.last) | ASCII_ZEROS << 8);
        return whole;
    }
    if (whole < 16) {
        ovt_store_le64(out + 8, insert_point(tail, head >> 56 | tail << 8, whole - 8));
    } else {
        ovt_store_le64(out + 8, tail);
        out[16] = '.';
    }
    return (size_t)number.fraction_digits + 2;
}

OVT_ALWAYS_INLINE size_t write_decimal(char *out, decimal digits) {
    const layout number = lay_out(digits);
    if (number.exponent < -6 || number.exponent > 20)
        return write_scientific(out, number);
    if (number.exponent < 0)
        return write_below_one(out, number);
    return write_plain(out, number);
}

/* Whatever the fast path leaves: fractions that are a power of two, subnormal numbers, zero, and
 * close calls. */
static OVT_NEVER_INLINE size_t write_exact(char *out, size_t negative, uint64_t fraction,
                                           int biased) {
    if (biased == 0 && fraction == 0) {
        *(out - negative) = '0'; /* no sign */
        return 1;
    }
    decimal number = biased == 0 ? shortest_exact(fraction, 1 - EXPONENT_BIAS, false)
                                 : shortest_exact(fraction | HIDDEN_BIT, biased - EXPONENT_BIAS,
                                                  fraction == 0 && biased > 1);
    while (number.tens < TEN_TO_14) {
        number.tens = 10 * number.tens + number.last;
        number.last = 0;
        --number.exponent;
    }
    return negative + write_decimal(out, number);
}

static inline uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

size_t ovt_write_double(char *out, double value) {
    const uint64_t bits = bits_of(value);
    const uint64_t fraction = bits & (HIDDEN_BIT - 1);
    const int biased = (int)(bits >> FRACTION_BITS) & EXPONENT_MASK;
    const uint64_t significand = fraction | HIDDEN_BIT;
    const size_t negative = bits >> 63;
    *out = '-';
    out += negative;

    const unsigned int point = (unsigned int)(EXPONENT_BIAS - biased); /* bits after the point */
    if (point <= FRACTION_BITS && (significand & ((UINT64_C(1) << point) - 1)) == 0)
        return negative + write_integer(out, significand >> point);
    if (point - SHORT_POINT_MIN <= SHORT_POINT_MAX - SHORT_POINT_MIN) {
        const size_t length = write_short_decimal(out, significand, point);
        if (OVT_LIKELY(length != 0))
            return negative + length;
    }
    decimal number;
    if (OVT_UNLIKELY(fraction == 0 || biased == 0 ||
                     !shortest(significand, biased - EXPONENT_BIAS, &number)))
        return write_exact(out, negative, fraction, biased);
    return negative + write_decimal(out, number);
}

size_t ovt_write_double_integral_exact(char *out, double value) {
    const uint64_t bits = bits_of(value);
    const int shift = ((int)(bits >> FRACTION_BITS) & EXPONENT_MASK) - EXPONENT_BIAS;
    /* From 2^53 a double is integral, and 1e21 is below 2^70; smaller ones need no care. */
    const uint64_t magnitude = bits & (UINT64_MAX >> 1);
    if (OVT_LIKELY(shift <= 0 || magnitude >= bits_of(1e21)))
        return ovt_write_double(out, value);
    const uint64_t significand = (bits & (HIDDEN_BIT - 1)) | HIDDEN_BIT;
    const size_t negative = bits >> 63;
    *out = '-';
    return negative +
           ovt_write_u128(out + negative, significand >> (64 - shift), significand << shift);
}
