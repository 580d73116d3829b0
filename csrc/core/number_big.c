/* Integers of any size to decimal text: ovt_write_big of number_write.h.
 *
 * The binary digits are cut into 2^levels equal chunks, each converted on its own; then neighbours
 * are merged, level by level, as upper * 2^(bits of a chunk) + lower, in groups of nine decimal
 * digits. The products are Karatsuba's, so that twice the digits take about three times as long:
 * some milliseconds for 100,000 digits. */
#include "number_write.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

/* A group of nine digits; numbers are arrays of them, the lowest first. */
#define GROUP_BASE 1000000000u
#define GROUP_DIGITS 9

/* Chunks of more limbs are cut in two, and products of more groups are split in three. */
#define CHUNK_LIMBS 32
#define CHUNK_GROUPS 70 /* ceil(32 * 64 * log10(2) / 9), and one more */
#define SCHOOL_GROUPS 48

/* Sixteen products of two groups fit into 64 bits: 16 * 10^18 < 2^64. */
#define PRODUCTS_PER_SUM 16

/* ---- arithmetic on groups -------------------------------------------------------------------- */

/* a += b, where a is long enough to take the carry. */
static void add(uint32_t *a, const uint32_t *b, size_t count) {
    uint32_t carry = 0;
    for (size_t i = 0; i < count || carry != 0; ++i) {
        const uint32_t sum = a[i] + (i < count ? b[i] : 0) + carry;
        carry = sum >= GROUP_BASE;
        a[i] = sum - (carry ? GROUP_BASE : 0);
    }
}

/* a -= b, where a >= b. */
static void subtract(uint32_t *a, const uint32_t *b, size_t count) {
    uint32_t borrow = 0;
    for (size_t i = 0; i < count || borrow != 0; ++i) {
        const uint32_t taken = (i < count ? b[i] : 0) + borrow;
        borrow = a[i] < taken;
        a[i] += (borrow ? GROUP_BASE : 0) - taken;
    }
}

/* difference = |a - b|; returns whether a < b. */
static bool subtract_absolute(uint32_t *difference, const uint32_t *a, const uint32_t *b,
                              size_t count) {
    size_t top = count;
    while (top > 0 && a[top - 1] == b[top - 1])
        --top;
    const bool less = top > 0 && a[top - 1] < b[top - 1];
    memcpy(difference, less ? b : a, count * sizeof *a);
    subtract(difference, less ? a : b, count);
    return less;
}

/* product = a * b column by column; all columns of `count` and 2 * `count` groups. */
static void multiply_school(uint32_t *product, const uint32_t *a, const uint32_t *b, size_t count) {
    uint64_t carry = 0;
    for (size_t column = 0; column + 1 < 2 * count; ++column) {
        const size_t last = column < count ? column : count - 1;
        size_t i = column - last;
        uint64_t rest = carry % GROUP_BASE;
        carry /= GROUP_BASE;
        while (i <= last) {
            const size_t stop = last - i < PRODUCTS_PER_SUM ? last + 1 : i + PRODUCTS_PER_SUM;
            uint64_t sum = 0;
            for (; i < stop; ++i)
                sum += (uint64_t)a[i] * b[column - i];
            carry += sum / GROUP_BASE;
            rest += sum % GROUP_BASE;
        }
        product[column] = (uint32_t)(rest % GROUP_BASE);
        carry += rest / GROUP_BASE;
    }
    product[2 * count - 1] = (uint32_t)carry;
}

/* Groups of scratch that multiply needs: the halves of the halves add up to less. */
static size_t multiply_scratch(size_t count) {
    return 4 * count + 64;
}

/* product = a * b, where both have `count` groups. Recursion is as deep as count is often even. */
static void multiply(uint32_t *product, const uint32_t *a, const uint32_t *b, size_t count,
                     uint32_t *scratch) {
    if (count <= SCHOOL_GROUPS || count % 2 != 0) {
        multiply_school(product, a, b, count);
        return;
    }
    const size_t half = count / 2;
    uint32_t *middle = scratch;            /* count + 1 groups, after the differences */
    uint32_t *cross = scratch + count + 1; /* count groups */
    uint32_t *deeper = scratch + 2 * count + 1;
    const bool a_less = subtract_absolute(middle, a + half, a, half);
    const bool b_less = subtract_absolute(middle + half, b + half, b, half);
    multiply(cross, middle, middle + half, half, deeper);
    multiply(product, a, b, half, deeper);
    multiply(product + count, a + half, b + half, half, deeper);

    /* a1*b0 + a0*b1 = a1*b1 + a0*b0 - (a1 - a0) * (b1 - b0) */
    memcpy(middle, product, count * sizeof *middle);
    middle[count] = 0;
    add(middle, product + count, count);
    if (a_less == b_less)
        subtract(middle, cross, count);
    else
        add(middle, cross, count);
    add(product + half, middle, count + 1);
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* groups = the integer of these limbs, padded with zero groups to `count`. */
static void convert_chunk(uint32_t *groups, size_t count, const uint64_t *limbs,
                          size_t limb_count) {
    size_t used = 0;
    memset(groups, 0, count * sizeof *groups);
    for (size_t i = 2 * limb_count; i-- > 0;) {
        uint64_t carry = limbs[i / 2] >> (i % 2 != 0 ? 32 : 0) & 0xFFFFFFFFu;
        for (size_t j = 0; j < used; ++j) {
            const uint64_t value = ((uint64_t)groups[j] << 32) + carry;
            groups[j] = (uint32_t)(value % GROUP_BASE);
            carry = value / GROUP_BASE;
        }
        for (; carry != 0; carry /= GROUP_BASE)
            groups[used++] = (uint32_t)(carry % GROUP_BASE);
    }
}

/* Groups that hold any integer of these limbs, and 2^(64 * limb_count) too: one limb has fewer
 * than 2.1408 groups' worth of digits. */
static size_t groups_for(size_t limb_count) {
    return limb_count * 21408 / 10000 + 1;
}

/* Merges the chunks in place, `chunks` (a power of two) of `count` groups each. `power` holds the
 * weight of the second chunk; it and `product` have room for chunks * count groups. */
static void merge_chunks(uint32_t *groups, size_t chunks, size_t count, uint32_t *power,
                         uint32_t *product, uint32_t *scratch) {
    for (; chunks > 1; chunks /= 2, count *= 2) {
        for (size_t i = 0; i < chunks; i += 2) {
            uint32_t *pair = groups + i * count;
            multiply(product, pair + count, power, count, scratch);
            add(product, pair, count);
            memcpy(pair, product, 2 * count * sizeof *pair);
        }
        if (chunks > 2) {
            multiply(product, power, power, count, scratch);
            memcpy(power, product, 2 * count * sizeof *power);
        }
    }
}

static size_t write_groups(char *out, const uint32_t *groups, size_t count) {
    while (count > 1 && groups[count - 1] == 0)
        --count;
    size_t length = ovt_write_u64(out, groups[--count]);
    while (count-- > 0) {
        /* Nine digits: a leading 1 keeps the zeros, and the next group's last digit is put back. */
        const char last = out[length - 1];
        ovt_write_u64(out + length - 1, GROUP_BASE + groups[count]);
        out[length - 1] = last;
        length += GROUP_DIGITS;
    }
    return length;
}

static size_t write_in_chunks(char *out, const uint64_t *limbs, size_t limb_count) {
    size_t chunks = 1;
    while ((limb_count + chunks - 1) / chunks > CHUNK_LIMBS)
        chunks *= 2;
    const size_t chunk_limbs = (limb_count + chunks - 1) / chunks;
    const size_t count = groups_for(chunk_limbs);
    const size_t total = chunks * count;

    uint32_t *groups = malloc((3 * total + multiply_scratch(total)) * sizeof *groups);
    if (groups == NULL)
        return 0;
    uint32_t *power = groups + total, *product = power + total, *scratch = product + total;
    for (size_t i = 0; i < chunks; ++i) {
        const size_t start = i * chunk_limbs < limb_count ? i * chunk_limbs : limb_count;
        const size_t rest = limb_count - start;
        convert_chunk(groups + i * count, count, limbs + start,
                      rest < chunk_limbs ? rest : chunk_limbs);
    }
    uint64_t weight[CHUNK_LIMBS + 1] = {0};
    weight[chunk_limbs] = 1;
    convert_chunk(power, count, weight, chunk_limbs + 1);
    merge_chunks(groups, chunks, count, power, product, scratch);
    const size_t length = write_groups(out, groups, total);
    free(groups);
    return length;
}

size_t ovt_big_decimal_bound(size_t limb_count) {
    /* 20 digits for a limb are more than log10(2^64), and the stores are longer than the text. */
    return limb_count * 20 + OVT_NUMBER_SIZE;
}

size_t ovt_write_big(char *out, const uint64_t *limbs, size_t limb_count) {
    if (limb_count <= 2)
        return ovt_write_u128(out, limb_count > 1 ? limbs[1] : 0, limb_count > 0 ? limbs[0] : 0);
    if (limb_count <= CHUNK_LIMBS) {
        uint32_t groups[CHUNK_GROUPS];
        convert_chunk(groups, CHUNK_GROUPS, limbs, limb_count);
        return write_groups(out, groups, CHUNK_GROUPS);
    }
    if (limb_count > SIZE_MAX / 128) /* the scratch's size would overflow */
        return 0;
    return write_in_chunks(out, limbs, limb_count);
}
