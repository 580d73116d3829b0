/* Code points to UTF-8, and bytes to be escaped, by the widest instructions the processor has.
 *
 * Promise: the same bytes from every variant. A variant may stop early, before a unit that it
 * leaves to its caller: a surrogate, or a control character that is written \u00xx. No allocation,
 * no locks.
 *
 * Cost: "avx512" (x86-64 with AVX-512 VBMI2) takes about 9 cycles for eight code points, whatever
 * they are, and 4 more a text; in a long text about 5 for thirty-two plain ones, and about 20 where
 * one of them is not. "baseline" copies plain ASCII by sixteen and writes every other character by
 * itself, in 5 to 6 cycles.
 *
 * The best variant that the processor can run is chosen once, when the library is loaded. */
#ifndef OVT_STRING_UNITS_H
#define OVT_STRING_UNITS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "compiler.h"

/* Bytes that may be touched past what is written. */
enum { OVT_UNITS_SLACK = 64 };

/* Units of a text that is written in one go. */
enum { OVT_UNITS_FEW = 64 };

/* Where the writing ended, and the index of the first unit that is not written. */
typedef struct {
    char *end;
    size_t index;
} ovt_units_written;

/* Writes units from `index` up to `end` at `out`, where there is room for them and
 * OVT_UNITS_SLACK bytes more. */
typedef ovt_units_written ovt_units_function(char *out, const void *data, size_t index, size_t end,
                                             int width);

/* Writes a whole text of at most OVT_UNITS_FEW units between quotes, escaped; returns the end, or
 * NULL where something in it is left to the caller. Room is as above, and for the quotes. */
typedef char *ovt_units_few_function(char *out, const void *data, size_t count, int width);

/* A key: what is given of it, and what becomes of it. */
typedef struct {
    const void *data;
    size_t length; /* units */
    int width;
    bool is_written; /* false: surrogates stand in it, and it takes no bytes */
    size_t size;     /* bytes of its UTF-8 */
    uint64_t prefix; /* ovt_key_prefix of that */
} ovt_units_key;

/* The most bytes of UTF-8 that a unit of so many bytes becomes. */
static inline size_t ovt_units_growth(int width) {
    return width == 1 ? 2 : width == 2 ? 3 : 4;
}

/* Writes keys one after the other as UTF-8 at `out`, where there is room for ovt_units_growth bytes
 * a unit and OVT_UNITS_SLACK bytes more; returns the end. */
typedef char *ovt_units_keys_function(char *out, ovt_units_key *keys, size_t count);

typedef struct {
    const char *name;
    bool (*available)(void);
    ovt_units_function *escaped; /* what JSON escapes, escaped: up to six bytes a unit */
    ovt_units_function *bytes;   /* ASCII or valid UTF-8, escaped; `width` is 1 */
    ovt_units_keys_function *keys;
    ovt_units_few_function *few;
} ovt_units_variant;

#pragma GCC visibility push(hidden)
/* The variant in use. A relaxed load costs what a plain one does. */
extern _Atomic(const ovt_units_variant *) ovt_units_chosen;
#pragma GCC visibility pop

static inline const ovt_units_variant *ovt_units(void) {
    return atomic_load_explicit(&ovt_units_chosen, memory_order_relaxed);
}

/* The name of the variant in use. */
const char *ovt_units_variant_name(void);

/* The name of the variant at a place in the list of this build, the best one first; NULL past its
 * end. Not every one can run on every processor. */
const char *ovt_units_name_at(size_t place);

/* Uses the named variant from now on. False, with nothing changed, if this processor or this build
 * lacks it. */
bool ovt_units_select(const char *name);

/* The rest is between string_units.c and the file of the x86-64 variants. */

#pragma GCC visibility push(hidden)
#if OVT_X86_64
extern const ovt_units_variant ovt_units_avx512;
#endif
#pragma GCC visibility pop

#endif
