/* Decimal text to the nearest double.
 *
 * The grammar is JSON's (RFC 8259 section 6). The result is the double nearest to the exact value
 * of the literal, of two as near the even one, for any number of digits and any exponent, in time
 * linear in the length of the literal. Integer arithmetic only: nothing depends on the locale or
 * the floating-point environment. docs/numbers.md explains the algorithm. */
#ifndef OVT_NUMBER_READ_H
#define OVT_NUMBER_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length stands beside the value so that it is stored alone: in loops the next literal waits
 * for it. */
typedef struct {
    size_t length;      /* bytes of the literal; 0 if there is no number */
    double value;       /* signed; +-infinity past the range, +-0 below it */
    size_t error_at;    /* if length is 0: offset of the first byte that does not fit */
    uint64_t magnitude; /* if fits_u64 */
    bool is_integer;    /* neither fraction nor exponent */
    bool negative;      /* starts with a minus sign, "-0" too */
    bool fits_u64;      /* is_integer, and the magnitude is below 2^64 */
} ovt_number;

/* Reads the JSON number that starts at text: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
 * What follows it is for the caller to judge ("01" reads as 0, of length 1), but a point or an
 * exponent letter that no digit follows is an error ("1.", "1e+"). Reads no byte at or past end. */
void ovt_read_number(const char *text, const char *end, ovt_number *out);

#endif
