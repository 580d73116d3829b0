/* Correctly rounded reading of JSON numbers. See number_read.h.
 *
 * A literal is taken as significand * 10^exponent. If the significand has at most 19 digits, one
 * 64 x 128 bit product with the table's power of ten gives the double's bits (after Eisel and
 * Lemire); longer ones are cut to 19 digits and rounded both as they are and one unit higher. Where
 * this does not settle the rounding, the literal is compared exactly with the midpoint of the two
 * doubles in question, in big integers of fixed size. */
#include "number_read.h"

#include "compiler.h"
#include "power_table.h"

#if OVT_X86_64
#include <emmintrin.h>
#endif

#define FRACTION_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << FRACTION_BITS)
#define INFINITY_BITS (UINT64_C(0x7FF) << FRACTION_BITS)
#define EXPONENT_BIAS 1023
#define SMALLEST_EXPONENT (-1074) /* of the last bit of a subnormal double */

#define ASCII_ZEROS UINT64_C(0x3030303030303030)
#define TEN_TO_8 UINT64_C(100000000)

/* 10^19 < 2^64: this many digits always fit. */
#define SIGNIFICAND_DIGITS 19

/* Literals shorter than this are scanned in one look; it may read WINDOW_READ bytes. */
#define WINDOW 32
#define WINDOW_READ 40
#define PAST_WINDOW (UINT64_C(0x1FF) << WINDOW)

/* Exponents are clamped here while they are read; far past any length of text. */
#define EXPONENT_LIMIT UINT64_C(1000000000000000000)
#define EXPONENT_DIGITS 18

/* ---- digits ---------------------------------------------------------------------------------- */

static const uint64_t small_powers[9] = {1,      10,      100,      1000,     10000,
                                         100000, 1000000, 10000000, 100000000};

static inline bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* The top bit set in each byte that is not 0 .. 9. */
OVT_ALWAYS_INLINE uint64_t mark_non_digits(uint64_t digits) {
    const uint64_t tops = UINT64_C(0x8080808080808080);
    return (((digits & ~tops) + UINT64_C(0x7676767676767676)) | digits) & tops;
}

/* The number that eight digits stand for, given their values one a byte. Each step merges
 * neighbouring lanes x (first) and y into x * base + y. */
OVT_ALWAYS_INLINE uint64_t merge_eight(uint64_t digits) {
    digits = (digits * (10 * 0x100 + 1) >> 8) & UINT64_C(0x00FF00FF00FF00FF);
    digits = (digits * (100 * 0x10000 + 1) >> 16) & UINT64_C(0x0000FFFF0000FFFF);
    return digits * (UINT64_C(10000) * 0x100000000 + 1) >> 32;
}

/* Appends the digits at `text` to *value (modulo 2^64) and returns where they end. */
static const char *read_digits(const char *text, const char *end, uint64_t *value) {
    uint64_t number = *value;
    for (; end - text >= 8; text += 8) {
        const uint64_t digits = ovt_load_le64(text) ^ ASCII_ZEROS;
        if (mark_non_digits(digits) != 0)
            break;
        number = number * 100000000 + merge_eight(digits);
    }
    for (; text < end && is_digit(*text); ++text)
        number = number * 10 + (uint64_t)(*text - '0');
    *value = number;
    return text;
}

/* The number that the first `count` digits at `text` stand for, 1 <= count <= 8; reads 8 bytes. */
OVT_ALWAYS_INLINE uint64_t first_digits(const char *text, unsigned int count) {
    const uint64_t digits = ovt_load_le64(text) ^ ASCII_ZEROS;
    return merge_eight(digits << (8 * (8 - count)));
}

/* Appends the first `count` digits at `text` to number (modulo 2^64); reads up to 7 bytes more. */
OVT_ALWAYS_INLINE uint64_t append_digits(uint64_t number, const char *text, unsigned int count) {
    for (; count > 8; count -= 8, text += 8)
        number = number * 100000000 + first_digits(text, 8);
    return number * small_powers[count] + first_digits(text, count);
}

/* A bit for each of sixteen bytes that is no digit: bit 0 for the first. */
OVT_ALWAYS_INLINE uint32_t non_digits(const char *text) {
#if OVT_X86_64
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    /* '0' .. '9' become the ten smallest signed bytes. */
    const __m128i moved = _mm_add_epi8(bytes, _mm_set1_epi8(0x80 - '0'));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(moved, _mm_set1_epi8(-128 + 9)));
#else
    const uint64_t first = mark_non_digits(ovt_load_le64(text) ^ ASCII_ZEROS) >> 7;
    const uint64_t second = mark_non_digits(ovt_load_le64(text + 8) ^ ASCII_ZEROS) >> 7;
    const uint64_t gather = UINT64_C(0x0102040810204080); /* bit 8i to bit 56 + i */
    return (uint32_t)(first * gather >> 56 | (second * gather >> 56) << 8);
#endif
}

/* ---- the fast path --------------------------------------------------------------------------- */

/* A rounded magnitude as the bits of a double. If `undecided`, the true value may lie on either
 * side of the midpoint between these bits and the next, or on it. */
typedef struct {
    uint64_t bits;
    bool undecided;
} rounding;

/* significand * 10^exponent, rounded; significand is not 0.
 *
 * The product of the normalised significand and the truncated power is kept to 128 bits, as
 * high + low / 2^64, and is too small by less than 2 units of low. */
OVT_ALWAYS_INLINE rounding round_product(uint64_t significand, int64_t exponent) {
    if (OVT_UNLIKELY(exponent < OVT_POWER_MIN))
        return (rounding){0, false}; /* below 2^64 * 10^-343, hence below 2^-1075 */
    if (OVT_UNLIKELY(exponent > OVT_POWER_MAX))
        return (rounding){INFINITY_BITS, false};
    const int zeros = ovt_leading_zeros(significand);
    const ovt_u128 power = ovt_power((int)exponent);
    const uint64_t scaled = significand << zeros;
    const ovt_u128 upper = ovt_multiply(scaled, power.high);
    const uint64_t low = upper.low + ovt_multiply_high(scaled, power.low);
    const uint64_t high = upper.high + (low < upper.low);

    /* The value is high * 2^(1 - zeros + floor(log2(10^exponent))). */
    const int top_bit = (int)(high >> 63); /* if 0, the next bit is 1 */
    int biased = ovt_floor_log2_power10((int)exponent) + 63 + top_bit - zeros + EXPONENT_BIAS;
    int drop = 10 + top_bit; /* bits of high past the double's last */
    if (OVT_UNLIKELY(biased < 1)) {
        drop += 1 - biased;
        biased = 1;
        if (drop > 64)
            return (rounding){0, drop == 65 && high == UINT64_MAX};
    }
    const uint64_t half = UINT64_C(1) << (drop - 1);
    const uint64_t kept = high >> (drop - 1) >> 1; /* two shifts: drop may be 64 */
    const uint64_t rest = high & (half | (half - 1));
    uint64_t up = rest >= half;
    bool undecided = false;
    if (OVT_UNLIKELY((rest == half && low == 0) || (rest == half - 1 && low >= UINT64_MAX - 1))) {
        /* A power that ends in 64 zero bits is exact, and so is the product. */
        undecided = power.low != 0;
        up &= kept & (power.low == 0);
    }
    /* The hidden bit, and a carry out of the significand, count the exponent up by one. */
    const uint64_t bits = ((uint64_t)(biased - 1) << FRACTION_BITS) + kept + up;
    if (OVT_UNLIKELY(bits >= INFINITY_BITS))
        return (rounding){INFINITY_BITS, false};
    return (rounding){bits, undecided};
}

/* ---- short decimals -------------------------------------------------------------------------- */

#define SHORT_WHOLE_DIGITS 7
#define SHORT_DECIMALS 8
#define SHORT_WINDOW 16

/* Reads an unsigned decimal of one to seven digits, a point and one to eight digits, such as a
 * price or a coordinate, that ends within SHORT_WINDOW bytes. Returns its length and sets *number
 * to it in units of 10^-SHORT_DECIMALS: one power of ten, known beforehand. 0 for any other
 * literal. */
OVT_ALWAYS_INLINE unsigned int scan_short_decimal(const char *at, uint64_t *number) {
    const uint32_t others = non_digits(at) | UINT32_C(1) << SHORT_WINDOW;
    const unsigned int whole = (unsigned int)ovt_trailing_zeros(others);
    if (whole - 1 >= SHORT_WHOLE_DIGITS || at[whole] != '.' || (*at == '0' && whole != 1))
        return 0;
    const unsigned int count = (unsigned int)ovt_trailing_zeros(others >> (whole + 1));
    const unsigned int length = whole + 1 + count;
    if (count - 1 >= SHORT_DECIMALS || length >= SHORT_WINDOW || (at[length] | 0x20) == 'e')
        return 0;
    /* The digits from the point on, with zeros after them. */
    const uint64_t decimals = (ovt_load_le64(at + whole + 1) ^ ASCII_ZEROS)
                                  << (8 * (SHORT_DECIMALS - count)) >>
                              (8 * (SHORT_DECIMALS - count));
    *number = ovt_opaque(first_digits(at, whole) * TEN_TO_8 + merge_eight(decimals));
    return length;
}

/* ---- the exact path -------------------------------------------------------------------------- */

/* The digits of a literal: [first, last) with perhaps a point among them, starting at a digit that
 * is not 0. `count` digits, the last of which stands for 10^exponent. */
typedef struct {
    const char *first;
    const char *last;
    int64_t count;
    int64_t exponent;
} digit_run;

/* A midpoint of two doubles has at most 768 significant digits, so further digits of a literal
 * matter only by not being all 0. */
#define EXACT_DIGITS 800

/* Enough for 10^800 and for 2^54 * 5^1143, the largest numbers compared, with room to spare. */
#define BIG_LIMBS 64

typedef struct {
    int count;
    uint64_t limbs[BIG_LIMBS]; /* the lowest first */
} big;

static void big_multiply_add(big *number, uint64_t factor, uint64_t carry) {
    for (int i = 0; i < number->count; ++i) {
        const ovt_u128 product = ovt_multiply(number->limbs[i], factor);
        const uint64_t low = product.low + carry;
        carry = product.high + (low < carry);
        number->limbs[i] = low;
    }
    if (carry != 0)
        number->limbs[number->count++] = carry;
}

static void big_multiply_power5(big *number, int64_t exponent) {
    const uint64_t power27 = UINT64_C(7450580596923828125);
    for (; exponent >= 27; exponent -= 27)
        big_multiply_add(number, power27, 0);
    uint64_t rest = 1;
    while (exponent-- > 0)
        rest *= 5;
    big_multiply_add(number, rest, 0);
}

static void big_shift_left(big *number, int64_t bits) {
    const int whole = (int)(bits / 64);
    big_multiply_add(number, UINT64_C(1) << (bits % 64), 0);
    if (whole == 0 || number->count == 0)
        return;
    memmove(number->limbs + whole, number->limbs, (size_t)number->count * sizeof(uint64_t));
    memset(number->limbs, 0, (size_t)whole * sizeof(uint64_t));
    number->count += whole;
}

/* Negative, 0 or positive as a is below, equal to or above b. */
static int big_compare(const big *a, const big *b) {
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; --i)
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

static const char *skip_zeros(const char *text, const char *last) {
    while (text < last && (*text == '0' || *text == '.'))
        ++text;
    return text;
}

/* Reads up to `limit` digits of the run and returns where it stopped. */
static const char *big_read(big *number, digit_run run, int64_t limit) {
    const char *text = run.first;
    while (limit > 0 && text < run.last) {
        uint64_t chunk = 0, power = 1;
        int size = 0;
        for (; size < SIGNIFICAND_DIGITS && limit > 0 && text < run.last; ++text) {
            if (*text == '.')
                continue;
            chunk = chunk * 10 + (uint64_t)(*text - '0');
            power *= 10;
            ++size;
            --limit;
        }
        big_multiply_add(number, power, chunk);
    }
    return text;
}

/* Compares the literal with the midpoint between the double of these bits and the next. */
static int compare_with_midpoint(digit_run run, uint64_t bits) {
    const int biased = (int)(bits >> FRACTION_BITS);
    const uint64_t fraction = bits & (HIDDEN_BIT - 1);
    const uint64_t significand = biased != 0 ? fraction | HIDDEN_BIT : fraction;
    /* midpoint = (2 * significand + 1) * 2^binary */
    const int64_t binary = (biased != 0 ? biased - 1 : 0) + SMALLEST_EXPONENT - 1;

    big literal = {0}, midpoint = {.count = 1, .limbs = {2 * significand + 1}};
    const char *rest = big_read(&literal, run, EXACT_DIGITS);
    int64_t exponent = run.exponent;
    if (run.count > EXACT_DIGITS)
        exponent += run.count - EXACT_DIGITS;

    /* literal * 10^exponent against midpoint * 2^binary, both made integers */
    if (exponent >= 0)
        big_multiply_power5(&literal, exponent);
    else
        big_multiply_power5(&midpoint, -exponent);
    if (exponent >= binary)
        big_shift_left(&literal, exponent - binary);
    else
        big_shift_left(&midpoint, binary - exponent);
    const int order = big_compare(&literal, &midpoint);
    return order != 0 ? order : skip_zeros(rest, run.last) < run.last;
}

static OVT_NEVER_INLINE uint64_t round_exactly(digit_run run, uint64_t bits) {
    const int order = compare_with_midpoint(run, bits);
    return bits + (order > 0 || (order == 0 && (bits & 1)));
}

/* A literal of more than 19 digits. */
static OVT_NEVER_INLINE uint64_t round_long(digit_run run) {
    uint64_t significand = 0;
    int64_t kept = 0;
    const char *text = run.first;
    for (; kept < SIGNIFICAND_DIGITS; ++text)
        if (*text != '.') {
            significand = significand * 10 + (uint64_t)(*text - '0');
            ++kept;
        }
    const int64_t exponent = run.exponent + (run.count - kept);
    const rounding lower = round_product(significand, exponent);
    if (!lower.undecided) {
        if (skip_zeros(text, run.last) == run.last)
            return lower.bits;
        const rounding upper = round_product(significand + 1, exponent);
        if (!upper.undecided && upper.bits == lower.bits)
            return lower.bits;
    }
    return round_exactly(run, lower.bits);
}

/* ---- the grammar ----------------------------------------------------------------------------- */

/* The parts of a literal that decide its magnitude. */
typedef struct {
    const char *digits;     /* the first digit */
    const char *digits_end; /* past the last digit of the fraction, or of the integer */
    int64_t digit_count;    /* leading zeros included */
    int64_t exponent;       /* of the last digit */
    uint64_t significand;   /* all digits, modulo 2^64 */
    bool is_integer;        /* neither point nor exponent */
} literal;

static OVT_NEVER_INLINE uint64_t many_digits_magnitude(literal number) {
    const char *first = skip_zeros(number.digits, number.digits_end);
    int64_t skipped = 0;
    for (const char *text = number.digits; text < first; ++text)
        skipped += *text == '0';
    const digit_run run = {first, number.digits_end, number.digit_count - skipped, number.exponent};
    if (run.count == 0)
        return 0;
    if (run.count > SIGNIFICAND_DIGITS)
        return round_long(run);
    const rounding rounded = round_product(number.significand, number.exponent);
    return rounded.undecided ? round_exactly(run, rounded.bits) : rounded.bits;
}

/* The bits of the double nearest to a literal's magnitude. */
OVT_ALWAYS_INLINE uint64_t magnitude_bits(literal number) {
    if (OVT_LIKELY(number.digit_count <= SIGNIFICAND_DIGITS)) {
        if (number.significand == 0)
            return 0;
        const rounding rounded = round_product(number.significand, number.exponent);
        if (OVT_LIKELY(!rounded.undecided))
            return rounded.bits;
    }
    return many_digits_magnitude(number);
}

/* Reads [0-9]* after an exponent letter and a sign, clamped to EXPONENT_LIMIT. */
static const char *read_exponent(const char *text, const char *end, int64_t *exponent) {
    uint64_t value = 0;
    const char *last = read_digits(text, end, &value);
    if (OVT_UNLIKELY(last - text > EXPONENT_DIGITS)) {
        value = 0;
        for (const char *at = text; at < last; ++at)
            if (value < EXPONENT_LIMIT / 10)
                value = value * 10 + (uint64_t)(*at - '0');
    }
    *exponent = (int64_t)value;
    return last;
}

/* Whether the 20 digits at `digits`, read modulo 2^64 as `wrapped`, stand for a number below
 * 2^64. Only numbers from 10^19 on have 20 digits; those past 2^64 either start with a digit above
 * 1 or wrap to something smaller than 10^19. */
static inline bool twenty_digits_fit(const char *digits, uint64_t wrapped) {
    return *digits == '1' && wrapped >= UINT64_C(10000000000000000000);
}

static inline double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The scan functions take a literal's parts from `at` on and return where they end. Where a digit
 * is missing they return NULL and set *missing. */

/* A whole literal that ends within WINDOW bytes: one look at them gives the lengths of all parts,
 * so that the next literal is found before this one is computed. NULL for anything else, well
 * formed or not. WINDOW_READ bytes are readable at `at`. */
OVT_ALWAYS_INLINE const char *scan_window(const char *at, literal *number) {
    const uint64_t others = non_digits(at) | (uint64_t)non_digits(at + 16) << 16 | PAST_WINDOW;
    const unsigned int whole = (unsigned int)ovt_trailing_zeros(others);
    if (whole == 0 || whole >= WINDOW || (*at == '0' && whole != 1))
        return NULL;
    number->significand = append_digits(0, at, whole);
    number->digit_count = whole;
    unsigned int length = whole;
    if (at[length] == '.') {
        const char *fraction = at + length + 1;
        const unsigned int count = (unsigned int)ovt_trailing_zeros(others >> (length + 1));
        length += 1 + count;
        if (count == 0 || length >= WINDOW)
            return NULL;
        number->significand = append_digits(number->significand, fraction, count);
        number->digit_count += count;
        number->exponent = -(int64_t)count;
        number->is_integer = false;
    }
    number->digits = at;
    number->digits_end = at + length;
    if ((at[length] | 0x20) == 'e') {
        const char sign = at[length + 1];
        const bool below = sign == '-'; /* no branch on signs: either is as likely */
        length += 1 + (unsigned int)(below | (sign == '+'));
        const unsigned int count = (unsigned int)ovt_trailing_zeros(others >> length);
        if (count == 0 || count > 8)
            return NULL;
        const int64_t exponent = (int64_t)first_digits(at + length, count);
        length += count;
        number->exponent += (exponent ^ -(int64_t)below) + below;
        number->is_integer = false;
    }
    return length < WINDOW ? at + length : NULL;
}

/* Integer and fraction of any length. */
static const char *scan_digits(const char *at, const char *end, literal *number,
                               const char **missing) {
    number->digits = at;
    if (at < end && *at == '0')
        ++at; /* no digit may follow */
    else
        at = read_digits(at, end, &number->significand);
    number->digits_end = at;
    number->digit_count = at - number->digits;
    *missing = at;
    if (number->digit_count == 0)
        return NULL;
    if (at == end || *at != '.')
        return at;

    const char *fraction = at + 1;
    at = read_digits(fraction, end, &number->significand);
    number->digits_end = at;
    number->digit_count += at - fraction;
    number->exponent = fraction - at;
    number->is_integer = false;
    *missing = at;
    return at != fraction ? at : NULL;
}

static const char *scan_exponent(const char *at, const char *end, literal *number,
                                 const char **missing) {
    if (at == end || (*at | 0x20) != 'e')
        return at;
    ++at;
    const char sign = at < end ? *at : '0';
    const bool below = sign == '-'; /* no branch on signs: either is as likely */
    at += below | (sign == '+');
    int64_t exponent;
    const char *last = read_exponent(at, end, &exponent);
    number->exponent += (exponent ^ -(int64_t)below) + below;
    number->is_integer = false;
    *missing = last;
    return last != at ? last : NULL;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The literal is passed by value here and above: were its address taken, it would live in memory.
 */
OVT_ALWAYS_INLINE void fill(ovt_number *out, size_t length, bool negative, literal number) {
    out->length = length;
    out->error_at = 0;
    out->is_integer = number.is_integer;
    out->negative = negative;
    out->fits_u64 = number.is_integer && (number.digit_count <= SIGNIFICAND_DIGITS ||
                                          (number.digit_count == SIGNIFICAND_DIGITS + 1 &&
                                           twenty_digits_fit(number.digits, number.significand)));
    out->magnitude = out->fits_u64 ? number.significand : 0;
    const uint64_t sign = (uint64_t)negative << 63;
    if (number.is_integer && number.digit_count <= 15) /* below 2^53: exact */
        out->value = double_of(ovt_bits_of_double((double)(int64_t)number.significand) | sign);
    else
        out->value = double_of(magnitude_bits(number) | sign);
}

/* Any text. */
static OVT_NEVER_INLINE void read_any(const char *text, const char *end, ovt_number *out) {
    const bool negative = text < end && *text == '-';
    literal number = {.is_integer = true};
    const char *missing;
    const char *at = scan_digits(text + negative, end, &number, &missing);
    if (at != NULL)
        at = scan_exponent(at, end, &number, &missing);
    if (at != NULL)
        fill(out, (size_t)(at - text), negative, number);
    else
        *out = (ovt_number){.error_at = (size_t)(missing - text)};
}

/* Any text that a window of bytes can be read of. */
static OVT_NEVER_INLINE void read_windowed(const char *text, const char *end, ovt_number *out) {
    const bool negative = *text == '-';
    literal number = {.is_integer = true};
    const char *at = scan_window(text + negative, &number);
    if (OVT_LIKELY(at != NULL))
        fill(out, (size_t)(at - text), negative, number);
    else
        read_any(text, end, out);
}

void ovt_read_number(const char *text, const char *end, ovt_number *out) {
    if (OVT_UNLIKELY(end - text <= WINDOW_READ)) {
        read_any(text, end, out);
        return;
    }
    const bool negative = *text == '-';
    uint64_t decimal;
    const unsigned int length = scan_short_decimal(text + negative, &decimal);
    if (length == 0) {
        read_windowed(text, end, out);
        return;
    }
    rounding rounded = {0, false};
    if (OVT_LIKELY(decimal != 0))
        rounded = round_product(decimal, -SHORT_DECIMALS);
    if (OVT_UNLIKELY(rounded.undecided)) { /* a call: the next literal need not wait for this */
        read_any(text, end, out);
        return;
    }
    *out = (ovt_number){.length = length + negative,
                        .negative = negative,
                        .value = double_of(rounded.bits | (uint64_t)negative << 63)};
}
