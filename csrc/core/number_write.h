/* Numbers to decimal text.
 *
 * Integers are written with all their digits. A double is written as ECMAScript's
 * Number::toString does (ECMA-262, RFC 8785 section 3.2.2.3): the shortest digits that read back
 * as the same double, of those the closest to it, of two as close the even one; -0 is "0".
 *
 * Every function but ovt_write_big may store anywhere in out[0 .. OVT_NUMBER_SIZE) and returns
 * the length of the text, which has no terminating zero. Nothing is allocated, nothing depends on
 * the locale or the floating-point environment. docs/numbers.md explains the algorithm. */
#ifndef OVT_NUMBER_WRITE_H
#define OVT_NUMBER_WRITE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that any function of fixed size may touch. */
enum { OVT_NUMBER_SIZE = 40 };

size_t ovt_write_u64(char *out, uint64_t value);
size_t ovt_write_i64(char *out, int64_t value);

/* The integer high * 2^64 + low. */
size_t ovt_write_u128(char *out, uint64_t high, uint64_t low);

/* A finite double. */
size_t ovt_write_double(char *out, double value);

/* A finite double; an integral one below 1e21 in magnitude gets every digit of its exact value:
 * 123456789012345680000.0 is 123456789012345683968. */
size_t ovt_write_double_integral_exact(char *out, double value);

/* Bytes that ovt_write_big needs for limb_count limbs. */
size_t ovt_big_decimal_bound(size_t limb_count);

/* The integer limbs[0] + limbs[1] * 2^64 + ..., of any size; none is 0. Returns 0 when out of
 * memory, and writes within ovt_big_decimal_bound(limb_count) bytes. In number_big.c. */
size_t ovt_write_big(char *out, const uint64_t *limbs, size_t limb_count);

#endif
