/* Counts of what values consist of, by path: overturn_fast/_pure/shape_counter.py says what is
 * counted.
 *
 * A counter only ever adds, so the order of what it is given does not matter, and it has no limit
 * but one of depth: its owner empties it when it has grown. Adding an outline costs a few
 * operations for each of its entries, and a comparison of the members of each object with a set of
 * keys that its path has had before. */
#ifndef OVT_SHAPE_COUNT_H
#define OVT_SHAPE_COUNT_H

#include "shape_text.h"
#include "shape_tree.h"

enum { OVT_COUNTED_TYPES = OVT_SHAPE_TYPES + 1 }; /* the last stands for all that JSON lacks */

/* What stands for an unknown time, in milliseconds since 1970. */
#define OVT_NO_TIME INT64_MIN

/* What was counted at one node of the tree. */
typedef struct {
    uint64_t counts[OVT_COUNTED_TYPES];
    int64_t first[OVT_COUNTED_TYPES]; /* OVT_NO_TIME where no time was given */
    int64_t last[OVT_COUNTED_TYPES];
    uint64_t integers; /* of the numbers */
    uint64_t empty;    /* of the arrays */
    uint32_t fewest;   /* items of an array, if there was one */
    uint32_t most;
    uint32_t variants; /* the first of them, plus 1 */
    uint32_t latest;   /* the one that the last object was, plus 1 */
    bool is_cut;       /* a container was nested too deep to be entered */
} ovt_node_counts;

/* Objects at one node that have the same set of keys. */
typedef struct {
    uint64_t count;
    uint64_t hash;
    size_t first; /* of its members among the counter's */
    uint32_t length;
    uint32_t node;
    uint32_t next; /* plus 1 */
} ovt_variant;

typedef struct {
    ovt_shape_tree tree;
    ovt_arena arena; /* the keys of the tree */
    size_t max_depth;
    ovt_node_counts *counts; /* of each node of the tree */
    size_t counts_capacity;
    ovt_variant *variants;
    size_t variant_count;
    size_t variant_capacity;
    uint32_t *members; /* of all variants: nodes, ascending for each */
    size_t member_count;
    size_t member_capacity;
    uint32_t *table; /* of variants, plus 1: open addressing, 0 is free */
    size_t table_size;
    bool is_broken; /* memory has run out half way: it can only be released */
} ovt_shape_counter;

/* A line that is no JSON. */
typedef struct {
    size_t line;  /* its index */
    size_t start; /* in the buffer */
    size_t end;
    size_t offset; /* in the line, of what is wrong */
    int reason;    /* an ovt_text_reason */
} ovt_refused_line;

typedef struct {
    ovt_refused_line *lines;
    size_t count;
    size_t capacity;
} ovt_refused_lines;

/* Makes a counter ready; false when memory runs out. `seed` is that of the tree. */
bool ovt_counter_init(ovt_shape_counter *counter, size_t max_depth, uint64_t seed);
void ovt_counter_release(ovt_shape_counter *counter);

/* Counts an outline, as often as `times` says. OVT_OK, or OVT_NO_MEMORY: then the counter is
 * broken.
 */
ovt_status ovt_count_outline(ovt_shape_counter *counter, ovt_outline *outline, int64_t at,
                             uint64_t times);

/* Counts the value of a text, or nothing if it is no JSON. `outline` is what it works on. */
ovt_status ovt_count_text(ovt_shape_counter *counter, ovt_outline *outline, const char *text,
                          size_t length, size_t max_depth, int64_t at, uint64_t times,
                          ovt_outline_notes *notes);

/* Counts the values of the lines of a buffer and collects those that are no JSON; white space alone
 * is no value. OVT_OK or OVT_NO_MEMORY; the caller frees refused->lines. */
ovt_status ovt_count_lines(ovt_shape_counter *counter, ovt_outline *outline, const char *buffer,
                           size_t length, size_t max_depth, int64_t at, ovt_refused_lines *refused);

#endif
