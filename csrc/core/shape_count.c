#include "shape_count.h"

#include <stdlib.h>

#include "growth.h"

enum {
    INLINE_LEVELS = 16,
    INLINE_MEMBERS = 64,
};

/* A container of the outline that is being counted. */
typedef struct {
    uint32_t end; /* one past its last entry */
    uint32_t node;
    bool is_object;
} level;

typedef struct {
    ovt_shape_counter *counter;
    ovt_outline *outline;
    int64_t at;
    uint64_t times;
    level *levels;
    size_t depth;
    size_t level_capacity;
    uint32_t *members; /* of the object at hand: its nodes, ascending */
    size_t member_count;
    size_t member_capacity;
    level inline_levels[INLINE_LEVELS];
    uint32_t inline_members[INLINE_MEMBERS];
} counting;

/* ---- room ------------------------------------------------------------------------------------ */

static OVT_NEVER_INLINE bool grow_levels(counting *c) {
    level *const levels = ovt_grown(c->levels, c->inline_levels, c->depth, &c->level_capacity,
                                    c->depth + 1, sizeof *levels);
    if (levels != NULL) {
        c->levels = levels;
    }
    return levels != NULL;
}

static OVT_NEVER_INLINE bool grow_members(counting *c) {
    uint32_t *const members = ovt_grown(c->members, c->inline_members, c->member_count,
                                        &c->member_capacity, c->member_count + 1, sizeof *members);
    if (members != NULL) {
        c->members = members;
    }
    return members != NULL;
}

static bool grow_counts(ovt_shape_counter *counter) {
    ovt_node_counts *const counts = ovt_grown(counter->counts, NULL, 0, &counter->counts_capacity,
                                              counter->tree.count, sizeof *counts);
    if (counts != NULL) {
        counter->counts = counts;
    }
    return counts != NULL;
}

/* Gives the node that was just made its counts, and a key of its own if it has one. */
static OVT_NEVER_INLINE bool prepare_node(ovt_shape_counter *counter, uint32_t index) {
    if (counter->tree.count > counter->counts_capacity && !grow_counts(counter)) {
        return false;
    }
    ovt_node_counts *const counts = &counter->counts[index];
    *counts = (ovt_node_counts){.fewest = UINT32_MAX};
    for (int i = 0; i < OVT_COUNTED_TYPES; i++) {
        counts->first[i] = OVT_NO_TIME;
        counts->last[i] = OVT_NO_TIME;
    }
    ovt_shape_key *const key = &counter->tree.nodes[index].key;
    if (key->text != NULL) {
        char *const own = ovt_arena_take(&counter->arena, key->length);
        if (own == NULL) {
            return false;
        }
        memcpy(own, key->text, key->length);
        key->text = own;
    }
    return true;
}

bool ovt_counter_init(ovt_shape_counter *counter, size_t max_depth, uint64_t seed) {
    ovt_tree_init(&counter->tree, seed);
    counter->arena = (ovt_arena){0};
    counter->max_depth = max_depth;
    counter->counts = NULL;
    counter->counts_capacity = 0;
    counter->variants = NULL;
    counter->variant_count = 0;
    counter->variant_capacity = 0;
    counter->members = NULL;
    counter->member_count = 0;
    counter->member_capacity = 0;
    counter->table = NULL;
    counter->table_size = 0;
    counter->is_broken = false;
    return prepare_node(counter, 0);
}

void ovt_counter_release(ovt_shape_counter *counter) {
    ovt_tree_release(&counter->tree);
    ovt_arena_release(&counter->arena, (ovt_arena_mark){0});
    free(counter->counts);
    free(counter->variants);
    free(counter->members);
    free(counter->table);
}

/* ---- variants -------------------------------------------------------------------------------- */

static uint64_t hash_members(const counting *c, uint32_t node) {
    uint64_t state = c->counter->tree.seed ^ node;
    for (size_t i = 0; i < c->member_count; i++) {
        const ovt_u128 product = ovt_multiply(state ^ c->members[i], UINT64_C(0x9E3779B97F4A7C15));
        state = (product.high ^ product.low) + c->counter->tree.seed;
    }
    return state ^ state >> 32;
}

static inline bool has_members(const counting *c, const ovt_variant *variant) {
    return variant->length == c->member_count &&
           (c->member_count == 0 || memcmp(c->counter->members + variant->first, c->members,
                                           c->member_count * sizeof *c->members) == 0);
}

static void put_in_table(ovt_shape_counter *counter, size_t index) {
    size_t at = (size_t)counter->variants[index].hash & (counter->table_size - 1);
    while (counter->table[at] != 0) {
        at = (at + 1) & (counter->table_size - 1);
    }
    counter->table[at] = (uint32_t)index + 1;
}

static bool reserve_table(ovt_shape_counter *counter) {
    if ((counter->variant_count + 1) * 2 <= counter->table_size) {
        return true;
    }
    const size_t size = counter->table_size == 0 ? 64 : counter->table_size * 2;
    uint32_t *const table = calloc(size, sizeof *table);
    if (table == NULL) {
        return false;
    }
    free(counter->table);
    counter->table = table;
    counter->table_size = size;
    for (size_t i = 0; i < counter->variant_count; i++) {
        put_in_table(counter, i);
    }
    return true;
}

/* The variant of that hash which the object at hand is, plus 1; 0 if there is none. */
static uint32_t find_variant(const counting *c, uint32_t node, uint64_t hash) {
    const ovt_shape_counter *const counter = c->counter;
    if (counter->table_size == 0) {
        return 0;
    }
    size_t at = (size_t)hash & (counter->table_size - 1);
    for (; counter->table[at] != 0; at = (at + 1) & (counter->table_size - 1)) {
        const ovt_variant *const variant = &counter->variants[counter->table[at] - 1];
        if (variant->hash == hash && variant->node == node && has_members(c, variant)) {
            return counter->table[at];
        }
    }
    return 0;
}

/* Makes the object at hand a new variant; plus 1, 0 when memory runs out. */
static uint32_t add_variant(counting *c, uint32_t node, uint64_t hash) {
    ovt_shape_counter *const counter = c->counter;
    const size_t count = counter->variant_count, used = counter->member_count;
    if (count >= UINT32_MAX / 4 || !reserve_table(counter)) {
        return 0;
    }
    if (count == counter->variant_capacity) {
        ovt_variant *const variants = ovt_grown(
            counter->variants, NULL, 0, &counter->variant_capacity, count + 1, sizeof *variants);
        if (variants == NULL) {
            return 0;
        }
        counter->variants = variants;
    }
    if (used + c->member_count > counter->member_capacity) {
        uint32_t *const members = ovt_grown(counter->members, NULL, 0, &counter->member_capacity,
                                            used + c->member_count, sizeof *members);
        if (members == NULL) {
            return 0;
        }
        counter->members = members;
    }
    if (c->member_count != 0) {
        memcpy(counter->members + used, c->members, c->member_count * sizeof *c->members);
    }
    ovt_node_counts *const counts = &counter->counts[node];
    counter->variants[count] = (ovt_variant){
        .hash = hash,
        .first = used,
        .length = (uint32_t)c->member_count,
        .node = node,
        .next = counts->variants,
    };
    counts->variants = (uint32_t)count + 1;
    counter->member_count = used + c->member_count;
    counter->variant_count++;
    put_in_table(counter, count);
    return (uint32_t)count + 1;
}

static bool count_variant(counting *c, uint32_t node) {
    ovt_shape_counter *const counter = c->counter;
    uint32_t found = counter->counts[node].latest;
    if (OVT_UNLIKELY(found == 0 || !has_members(c, &counter->variants[found - 1]))) {
        const uint64_t hash = hash_members(c, node);
        found = find_variant(c, node, hash);
        if (found == 0) {
            found = add_variant(c, node, hash);
        }
        if (found == 0) {
            return false;
        }
        counter->counts[node].latest = found;
    }
    counter->variants[found - 1].count += c->times;
    return true;
}

/* ---- objects --------------------------------------------------------------------------------- */

static int compare_nodes(const void *left, const void *right) {
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The node of a member; 0 when memory runs out. */
static inline uint32_t member_of(counting *c, uint32_t node, uint32_t latest,
                                 const ovt_shape_key *key) {
    ovt_shape_counter *const counter = c->counter;
    const size_t before = counter->tree.count;
    const uint32_t index = ovt_tree_member(&counter->tree, node, latest, key);
    const bool is_new = counter->tree.count != before;
    return OVT_LIKELY(!is_new) || (index != 0 && prepare_node(counter, index)) ? index : 0;
}

/* Finds the nodes of the members of an object: c->members has them once each. */
static bool find_members(counting *c, uint32_t node, uint32_t first, uint32_t end) {
    ovt_outline_entry *const entries = c->outline->entries;
    const uint64_t visit = ++c->counter->tree.visits;
    uint32_t latest = 0;
    bool is_ascending = true;
    c->member_count = 0;
    for (uint32_t i = first; i != end; i = entries[i].next) {
        const uint32_t index = member_of(c, node, latest, &entries[i].key);
        if (index == 0) {
            return false;
        }
        entries[i].node = index;
        ovt_shape_node *const found = &c->counter->tree.nodes[index];
        const bool is_repeated = found->visit == visit;
        if (OVT_UNLIKELY(is_repeated)) { /* the last of several members of one name counts */
            entries[found->visit_entry].is_replaced = true;
        }
        found->visit = visit;
        found->visit_entry = i;
        if (OVT_UNLIKELY(is_repeated)) {
            continue;
        }
        if (OVT_UNLIKELY(c->member_count == c->member_capacity) && !grow_members(c)) {
            return false;
        }
        is_ascending &= index > latest;
        latest = index;
        c->members[c->member_count++] = index;
    }
    if (OVT_UNLIKELY(!is_ascending)) {
        qsort(c->members, c->member_count, sizeof *c->members, compare_nodes);
    }
    return true;
}

/* ---- counting -------------------------------------------------------------------------------- */

static inline void count_time(ovt_node_counts *counts, unsigned type, int64_t at) {
    if (at == OVT_NO_TIME) {
        return;
    }
    if (counts->first[type] == OVT_NO_TIME || at < counts->first[type]) {
        counts->first[type] = at;
    }
    if (counts->last[type] == OVT_NO_TIME || at > counts->last[type]) {
        counts->last[type] = at;
    }
}

static inline void count_items(ovt_node_counts *counts, uint32_t items, uint64_t times) {
    counts->empty += items == 0 ? times : 0;
    counts->fewest = items < counts->fewest ? items : counts->fewest;
    counts->most = items > counts->most ? items : counts->most;
}

/* Enters a container. */
static bool enter(counting *c, uint32_t at, uint32_t index) {
    const ovt_outline_entry *const entry = &c->outline->entries[at];
    const bool is_object = entry->type == OVT_SHAPE_OBJECT;
    if (is_object && !(find_members(c, index, at + 1, entry->next) && count_variant(c, index))) {
        return false;
    }
    if (entry->next == at + 1) {
        return true;
    }
    if (OVT_UNLIKELY(c->depth == c->level_capacity) && !grow_levels(c)) {
        return false;
    }
    c->levels[c->depth++] = (level){entry->next, index, is_object};
    return true;
}

/* Counts an entry at its node; *next is the entry to go on with. */
static inline bool count_entry(counting *c, uint32_t at, uint32_t index, uint32_t *next) {
    const ovt_outline_entry *const entry = &c->outline->entries[at];
    ovt_node_counts *const counts = &c->counter->counts[index];
    const unsigned type = entry->type;
    count_time(counts, type, c->at);
    *next = at + 1;
    if (type != OVT_SHAPE_OBJECT && type != OVT_SHAPE_ARRAY) {
        const uint64_t times = type == OVT_SHAPE_OTHER ? c->times : c->times * entry->count;
        counts->counts[type] += times;
        counts->integers += entry->detail == OVT_DETAIL_INTEGER ? times : 0;
        return true;
    }
    counts->counts[type] += c->times;
    if (type == OVT_SHAPE_ARRAY) {
        count_items(counts, entry->count, c->times);
    }
    if (OVT_UNLIKELY(c->depth == c->counter->max_depth)) {
        counts->is_cut |= entry->next != at + 1;
        *next = entry->next;
        return true;
    }
    return enter(c, at, index);
}

/* The node of an entry of the container at hand; 0 when memory runs out. */
static inline uint32_t node_of(counting *c, const level *top, const ovt_outline_entry *entry) {
    if (top->is_object) {
        return entry->node;
    }
    ovt_shape_counter *const counter = c->counter;
    if (OVT_LIKELY(counter->tree.nodes[top->node].items != 0)) {
        return counter->tree.nodes[top->node].items;
    }
    const uint32_t index = ovt_tree_items(&counter->tree, top->node);
    return index != 0 && prepare_node(counter, index) ? index : 0;
}

static bool count_all(counting *c) {
    const uint32_t count = (uint32_t)c->outline->count;
    uint32_t i;
    bool is_fine = count_entry(c, 0, 0, &i);
    while (is_fine && i < count) {
        while (c->levels[c->depth - 1].end == i) {
            c->depth--;
        }
        const ovt_outline_entry *const entry = &c->outline->entries[i];
        if (OVT_UNLIKELY(entry->is_replaced)) {
            i = entry->next;
            continue;
        }
        const uint32_t index = node_of(c, &c->levels[c->depth - 1], entry);
        is_fine = index != 0 && count_entry(c, i, index, &i);
    }
    return is_fine;
}

ovt_status ovt_count_outline(ovt_shape_counter *counter, ovt_outline *outline, int64_t at,
                             uint64_t times) {
    if (counter->is_broken) {
        return OVT_NO_MEMORY;
    }
    counting c;
    c.counter = counter;
    c.outline = outline;
    c.at = at;
    c.times = times;
    c.levels = c.inline_levels;
    c.depth = 0;
    c.level_capacity = INLINE_LEVELS;
    c.members = c.inline_members;
    c.member_count = 0;
    c.member_capacity = INLINE_MEMBERS;
    const bool is_fine = count_all(&c);
    counter->is_broken = !is_fine;
    if (c.levels != c.inline_levels) {
        free(c.levels);
    }
    if (c.members != c.inline_members) {
        free(c.members);
    }
    return is_fine ? OVT_OK : OVT_NO_MEMORY;
}

/* ---- text ------------------------------------------------------------------------------------ */

ovt_status ovt_count_text(ovt_shape_counter *counter, ovt_outline *outline, const char *text,
                          size_t length, size_t max_depth, int64_t at, uint64_t times,
                          ovt_outline_notes *notes) {
    const ovt_outline_options options = {max_depth, SIZE_MAX};
    ovt_reader reader;
    ovt_outline_clear(outline);
    const ovt_status status = ovt_outline_text(outline, &reader, text, length, &options, notes);
    return status == OVT_OK ? ovt_count_outline(counter, outline, at, times) : status;
}

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') {
            return false;
        }
    }
    return true;
}

static bool refuse(ovt_refused_lines *refused, ovt_refused_line line) {
    if (refused->count == refused->capacity) {
        ovt_refused_line *const lines = ovt_grown(refused->lines, NULL, 0, &refused->capacity,
                                                  refused->count + 1, sizeof *lines);
        if (lines == NULL) {
            return false;
        }
        refused->lines = lines;
    }
    refused->lines[refused->count++] = line;
    return true;
}

ovt_status ovt_count_lines(ovt_shape_counter *counter, ovt_outline *outline, const char *buffer,
                           size_t length, size_t max_depth, int64_t at,
                           ovt_refused_lines *refused) {
    size_t start = 0;
    for (size_t index = 0; start < length; index++) {
        const char *const line = buffer + start;
        const char *const feed = memchr(line, '\n', length - start);
        const size_t size = feed != NULL ? (size_t)(feed - line) : length - start;
        if (!is_blank(line, size)) {
            ovt_outline_notes notes;
            const ovt_status status =
                ovt_count_text(counter, outline, line, size, max_depth, at, 1, &notes);
            if (status == OVT_NO_MEMORY) {
                return status;
            }
            if (status != OVT_OK &&
                !refuse(refused, (ovt_refused_line){index, start, start + size, notes.offset,
                                                    (int)notes.reason})) {
                return OVT_NO_MEMORY;
            }
        }
        start += size + 1;
    }
    return OVT_OK;
}
