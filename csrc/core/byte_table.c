#include "byte_table.h"

#include <stdlib.h>

#include "growth.h"

enum { FIRST_SLOTS = 64 };

void ovt_byte_table_init(ovt_byte_table *table, uint64_t seed, size_t limit) {
    *table = (ovt_byte_table){.seed = seed, .limit = limit};
}

void ovt_byte_table_release(ovt_byte_table *table) {
    free(table->entries);
    free(table->slots);
    ovt_arena_release(&table->arena, (ovt_arena_mark){0});
}

static inline uint64_t mixed(uint64_t state, uint64_t word) {
    const ovt_u128 product = ovt_multiply(state ^ word, UINT64_C(0xD6E8FEB86659FD93));
    return product.high ^ product.low;
}

static uint64_t hash_of(const ovt_byte_table *table, const char *bytes, size_t length) {
    uint64_t state = mixed(table->seed, length);
    for (; length >= 8; bytes += 8, length -= 8) {
        state = mixed(state, ovt_load64(bytes) ^ table->seed);
    }
    if (length != 0) {
        char rest[8] = {0};
        memcpy(rest, bytes, length);
        state = mixed(state, ovt_load64(rest) ^ table->seed);
    }
    return mixed(state, table->seed);
}

/* The slot of a string, which is 0 if it is not there. There is a free slot. */
static uint32_t *slot_of(const ovt_byte_table *table, const char *bytes, size_t length,
                         uint64_t hash) {
    const size_t mask = table->slot_count - 1;
    for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
        uint32_t *const slot = &table->slots[at];
        if (*slot == 0) {
            return slot;
        }
        const ovt_byte_entry *const entry = &table->entries[*slot - 1];
        if (entry->hash == hash && entry->length == length &&
            (length == 0 || memcmp(entry->bytes, bytes, length) == 0)) {
            return slot;
        }
    }
}

/* Makes room for one more entry; at least half of the slots stay free. False when memory runs out.
 */
static bool make_room(ovt_byte_table *table) {
    if (table->count == table->capacity) {
        ovt_byte_entry *const entries =
            ovt_grown(table->entries, NULL, 0, &table->capacity, table->count + 1, sizeof *entries);
        if (entries == NULL) {
            return false;
        }
        table->entries = entries;
    }
    if ((table->count + 1) * 2 <= table->slot_count) {
        return true;
    }
    const size_t slot_count = table->slot_count == 0 ? FIRST_SLOTS : table->slot_count * 2;
    uint32_t *const slots = calloc(slot_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    for (size_t i = 0; i < table->count; i++) {
        const ovt_byte_entry *const entry = &table->entries[i];
        *slot_of(table, entry->bytes, entry->length, entry->hash) = (uint32_t)i + 1;
    }
    return true;
}

ptrdiff_t ovt_byte_table_number(ovt_byte_table *table, const char *bytes, size_t length) {
    const uint64_t hash = hash_of(table, bytes, length);
    if (table->slot_count != 0) {
        const uint32_t known = *slot_of(table, bytes, length, hash);
        if (known != 0) {
            return (ptrdiff_t)known - 1;
        }
    }
    if (table->count >= table->limit) {
        return OVT_TABLE_FULL;
    }
    char *const own = make_room(table) ? ovt_arena_take(&table->arena, length + 1) : NULL;
    if (own == NULL) {
        return OVT_TABLE_NO_MEMORY;
    }
    if (length != 0) {
        memcpy(own, bytes, length);
    }
    *slot_of(table, own, length, hash) = (uint32_t)table->count + 1;
    table->entries[table->count] = (ovt_byte_entry){own, length, hash};
    return (ptrdiff_t)table->count++;
}
