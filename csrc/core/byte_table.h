/* A bounded set of byte strings, each with the number under which it came in: 0, 1, 2, ...
 *
 * What it holds is a copy. Keys are hashed under a seed that the caller keeps to itself, and there
 * are never more than the limit, so that nobody makes it slow or large. Cost: one hash, about a
 * comparison. */
#ifndef OVT_BYTE_TABLE_H
#define OVT_BYTE_TABLE_H

#include <stdbool.h>

#include "arena.h"
#include "compiler.h"

typedef struct {
    const char *bytes;
    size_t length;
    uint64_t hash;
} ovt_byte_entry;

typedef struct {
    ovt_byte_entry *entries;
    size_t count;
    size_t capacity;
    size_t limit;    /* of the count, below 2^31 */
    uint32_t *slots; /* each 0, or one more than the number of an entry */
    size_t slot_count;
    ovt_arena arena;
    uint64_t seed;
} ovt_byte_table;

/* What ovt_byte_table_number returns when that is no number. */
enum { OVT_TABLE_FULL = -1, OVT_TABLE_NO_MEMORY = -2 };

void ovt_byte_table_init(ovt_byte_table *table, uint64_t seed, size_t limit);
void ovt_byte_table_release(ovt_byte_table *table);

/* The number of a string, which comes in if it is new: then its number is the count before.
 * OVT_TABLE_FULL if there is no room for it. */
ptrdiff_t ovt_byte_table_number(ovt_byte_table *table, const char *bytes, size_t length);

#endif
