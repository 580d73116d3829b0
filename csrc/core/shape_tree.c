#include "shape_tree.h"

#include <stdlib.h>

#include "growth.h"

enum {
    FEW_MEMBERS = 8, /* looked at one by one; more are found by hash */
    INLINE_LEVELS = 16,
};

/* A container of the outline that is being added. */
typedef struct {
    uint32_t end; /* one past its last entry */
    uint32_t node;
    uint32_t latest; /* the member that was found last, or 0 */
    bool is_object;
    bool is_fresh;  /* its node had no members before, and none of its keys comes twice */
    bool is_merged; /* it lies below an array, or everything is merged */
    bool is_found;  /* the nodes of its members are known */
} level;

typedef struct {
    ovt_shape_tree *tree;
    ovt_outline *outline;
    bool may_repeat;
    level *levels;
    size_t depth;
    size_t capacity;
    level inline_levels[INLINE_LEVELS];
} adding;

/* ---- room ------------------------------------------------------------------------------------ */

/* Nodes are told by 32 bits. */
static OVT_NEVER_INLINE bool grow_nodes(ovt_shape_tree *tree) {
    if (tree->count > UINT32_MAX / 4) {
        return false;
    }
    ovt_shape_node *const nodes = ovt_grown(tree->nodes, tree->inline_nodes, tree->count,
                                            &tree->capacity, tree->count + 1, sizeof *nodes);
    if (nodes != NULL) {
        tree->nodes = nodes;
    }
    return nodes != NULL;
}

static OVT_NEVER_INLINE bool grow_levels(adding *a) {
    level *const levels = ovt_grown(a->levels, a->inline_levels, a->depth, &a->capacity,
                                    a->depth + 1, sizeof *levels);
    if (levels != NULL) {
        a->levels = levels;
    }
    return levels != NULL;
}

void ovt_tree_init(ovt_shape_tree *tree, uint64_t seed) {
    tree->seed = seed;
    tree->visits = 0;
    tree->nodes = tree->inline_nodes;
    tree->capacity = OVT_TREE_INLINE;
    tree->count = 1;
    tree->nodes[0] = (ovt_shape_node){0};
    tree->others = NULL;
    tree->other_count = 0;
    tree->other_capacity = 0;
    tree->table = NULL;
    tree->table_size = 0;
    tree->table_used = 0;
}

void ovt_tree_release(ovt_shape_tree *tree) {
    if (tree->nodes != tree->inline_nodes) {
        free(tree->nodes);
    }
    free(tree->others);
    free(tree->table);
}

/* ---- the table of members -------------------------------------------------------------------- */

static inline uint64_t mixed(uint64_t state, uint64_t word) {
    const ovt_u128 product = ovt_multiply(state ^ word, UINT64_C(0x9E3779B97F4A7C15));
    return product.high ^ product.low;
}

static uint64_t hash_of(const ovt_shape_tree *tree, uint32_t parent, const ovt_shape_key *key) {
    uint64_t state = mixed(tree->seed, (uint64_t)parent << 32 | key->length);
    state = mixed(state, key->prefix ^ tree->seed);
    if (key->length > 8) {
        size_t at = 8;
        for (; key->length - at > 8; at += 8) {
            state = mixed(state, ovt_load64(key->text + at));
        }
        state = mixed(state, ovt_load64(key->text + key->length - 8));
    }
    return mixed(state, tree->seed);
}

static inline bool is_same_key(const ovt_shape_key *a, const ovt_shape_key *b) {
    return a->length == b->length && a->prefix == b->prefix &&
           (a->length <= 8 || a->text == b->text ||
            memcmp(a->text + 8, b->text + 8, a->length - 8) == 0);
}

static void put_in_table(ovt_shape_tree *tree, uint32_t index) {
    const ovt_shape_node *const node = &tree->nodes[index];
    size_t at = (size_t)hash_of(tree, node->parent, &node->key) & (tree->table_size - 1);
    while (tree->table[at] != 0) {
        at = (at + 1) & (tree->table_size - 1);
    }
    tree->table[at] = index;
    tree->table_used++;
}

/* Makes room for `count` more nodes in the table, which is at most half full. */
static bool reserve_table(ovt_shape_tree *tree, size_t count) {
    if ((tree->table_used + count) * 2 <= tree->table_size) {
        return true;
    }
    uint32_t *const old = tree->table;
    const size_t old_size = tree->table_size;
    size_t size = old_size == 0 ? 64 : old_size;
    while ((tree->table_used + count) * 2 > size) {
        size *= 2;
    }
    uint32_t *const table = calloc(size, sizeof *table);
    if (table == NULL) {
        return false;
    }
    tree->table = table;
    tree->table_size = size;
    tree->table_used = 0;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] != 0) {
            put_in_table(tree, old[i]);
        }
    }
    free(old);
    return true;
}

/* Puts a new member into the table, if its node has many. */
static bool index_member(ovt_shape_tree *tree, uint32_t parent, uint32_t index) {
    const uint32_t count = tree->nodes[parent].member_count;
    if (count <= FEW_MEMBERS) {
        return true;
    }
    if (!reserve_table(tree, count == FEW_MEMBERS + 1 ? count : 1)) {
        return false;
    }
    if (count > FEW_MEMBERS + 1) {
        put_in_table(tree, index);
        return true;
    }
    for (uint32_t i = tree->nodes[parent].first; i != 0; i = tree->nodes[i].sibling) {
        put_in_table(tree, i);
    }
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

/* The member of that key, 0 if there is none. */
static OVT_NEVER_INLINE uint32_t find_member(const ovt_shape_tree *tree, uint32_t parent,
                                             const ovt_shape_key *key) {
    const ovt_shape_node *const nodes = tree->nodes;
    if (nodes[parent].member_count <= FEW_MEMBERS) {
        uint32_t index = nodes[parent].first;
        while (index != 0 && !is_same_key(&nodes[index].key, key)) {
            index = nodes[index].sibling;
        }
        return index;
    }
    size_t at = (size_t)hash_of(tree, parent, key) & (tree->table_size - 1);
    for (; tree->table[at] != 0; at = (at + 1) & (tree->table_size - 1)) {
        const ovt_shape_node *const node = &nodes[tree->table[at]];
        if (node->parent == parent && is_same_key(&node->key, key)) {
            return tree->table[at];
        }
    }
    return 0;
}

/* A new node below another one; 0 when memory runs out. */
static uint32_t add_node(ovt_shape_tree *tree, uint32_t parent) {
    if (OVT_UNLIKELY(tree->count == tree->capacity) && !grow_nodes(tree)) {
        return 0;
    }
    const uint32_t index = (uint32_t)tree->count++;
    tree->nodes[index] = (ovt_shape_node){.parent = parent};
    return index;
}

static uint32_t add_member(ovt_shape_tree *tree, uint32_t parent, const ovt_shape_key *key,
                           bool is_indexed) {
    const uint32_t index = add_node(tree, parent);
    if (index == 0) {
        return 0;
    }
    tree->nodes[index].key = *key;
    ovt_shape_node *const above = &tree->nodes[parent];
    if (above->first == 0) {
        above->first = index;
    } else {
        tree->nodes[above->last].sibling = index;
    }
    above->last = index;
    above->member_count++;
    return !is_indexed || index_member(tree, parent, index) ? index : 0;
}

/* The member of that key, looked for first behind the one that was found before; 0 if there is
 * none.
 */
static inline uint32_t look_up(const ovt_shape_tree *tree, uint32_t parent, uint32_t latest,
                               const ovt_shape_key *key) {
    const ovt_shape_node *const nodes = tree->nodes;
    const uint32_t index = latest != 0 ? nodes[latest].sibling : nodes[parent].first;
    return OVT_LIKELY(index != 0 && is_same_key(&nodes[index].key, key))
               ? index
               : find_member(tree, parent, key);
}

uint32_t ovt_tree_member(ovt_shape_tree *tree, uint32_t parent, uint32_t latest,
                         const ovt_shape_key *key) {
    const uint32_t index = look_up(tree, parent, latest, key);
    return index != 0 ? index : add_member(tree, parent, key, true);
}

uint32_t ovt_tree_items(ovt_shape_tree *tree, uint32_t parent) {
    uint32_t index = tree->nodes[parent].items;
    if (OVT_UNLIKELY(index == 0)) {
        index = add_node(tree, parent);
        tree->nodes[parent].items = index;
    }
    return index;
}

/* The node of a member of the object at hand; 0 when memory runs out. */
static inline uint32_t member_of(adding *a, level *top, const ovt_shape_key *key) {
    uint32_t index = top->is_fresh ? 0 : look_up(a->tree, top->node, top->latest, key);
    if (index == 0) {
        index = add_member(a->tree, top->node, key, top->is_merged || a->may_repeat);
    }
    top->latest = index;
    return index;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool is_same_name(ovt_shape_name a, ovt_shape_name b) {
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool add_other_type(ovt_shape_tree *tree, uint32_t node, ovt_shape_name name) {
    for (uint32_t i = tree->nodes[node].others; i != 0; i = tree->others[i - 1].next) {
        if (is_same_name(tree->others[i - 1].name, name)) {
            return true;
        }
    }
    if (tree->other_count == tree->other_capacity) {
        ovt_other_type *const larger = ovt_grown(tree->others, NULL, 0, &tree->other_capacity,
                                                 tree->other_count + 1, sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        tree->others = larger;
    }
    tree->others[tree->other_count++] = (ovt_other_type){name, tree->nodes[node].others};
    tree->nodes[node].others = (uint32_t)tree->other_count;
    return true;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Finds the nodes of all members of an object, before any of their values is looked at: of several
 * of one name the last one counts. */
static bool find_members(adding *a, level *top, uint32_t first) {
    ovt_outline_entry *const entries = a->outline->entries;
    const uint64_t visit = ++a->tree->visits;
    for (uint32_t i = first; i != top->end; i = entries[i].next) {
        const uint32_t index = member_of(a, top, &entries[i].key);
        if (index == 0) {
            return false;
        }
        ovt_shape_node *const node = &a->tree->nodes[index];
        if (OVT_UNLIKELY(node->visit == visit)) {
            entries[node->visit_entry].is_replaced = true;
        }
        node->visit = visit;
        node->visit_entry = i;
        entries[i].node = index;
    }
    return true;
}

/* Records the type of an entry in its node, and opens it if it contains others. */
static inline bool add_entry(adding *a, uint32_t at, uint32_t index, bool is_merged) {
    const ovt_outline_entry *const entry = &a->outline->entries[at];
    ovt_shape_node *const node = &a->tree->nodes[index];
    if (OVT_UNLIKELY(entry->type == OVT_SHAPE_OTHER)) {
        return add_other_type(a->tree, index, a->outline->names[entry->count]);
    }
    node->types |= (uint8_t)(1u << entry->type);
    if (entry->next == at + 1) {
        return true;
    }
    if (OVT_UNLIKELY(a->depth == a->capacity) && !grow_levels(a)) {
        return false;
    }
    const bool is_object = entry->type == OVT_SHAPE_OBJECT;
    node->is_ordered |= entry->is_ordered && !is_merged;
    level *const top = &a->levels[a->depth++];
    *top = (level){
        .end = entry->next,
        .node = index,
        .is_object = is_object,
        .is_fresh = node->first == 0 && !a->may_repeat,
        .is_merged = is_merged || !is_object,
        .is_found = is_object && a->may_repeat,
    };
    return !top->is_found || find_members(a, top, at + 1);
}

/* The node of an entry of the container at hand; 0 when memory runs out. */
static inline uint32_t node_of(adding *a, level *top, const ovt_outline_entry *entry) {
    if (top->is_found) {
        return entry->node;
    }
    if (top->is_object) {
        return member_of(a, top, &entry->key);
    }
    return ovt_tree_items(a->tree, top->node);
}

static bool add_all(adding *a, bool merges_all) {
    const uint32_t count = (uint32_t)a->outline->count;
    bool is_fine = add_entry(a, 0, 0, merges_all);
    for (uint32_t i = 1; is_fine && i < count;) {
        while (a->levels[a->depth - 1].end == i) {
            a->depth--;
        }
        const ovt_outline_entry *const entry = &a->outline->entries[i];
        level *const top = &a->levels[a->depth - 1];
        if (OVT_UNLIKELY(entry->is_replaced)) {
            i = entry->next;
            continue;
        }
        const uint32_t index = node_of(a, top, entry);
        is_fine = index != 0 && add_entry(a, i, index, top->is_merged);
        i++;
    }
    return is_fine;
}

bool ovt_tree_add(ovt_shape_tree *tree, ovt_outline *outline, ovt_shape_merging merging,
                  bool may_repeat) {
    adding a;
    a.tree = tree;
    a.outline = outline;
    a.may_repeat = may_repeat;
    a.levels = a.inline_levels;
    a.depth = 0;
    a.capacity = INLINE_LEVELS;
    const bool is_fine = add_all(&a, merging == OVT_MERGE_ALL);
    if (a.levels != a.inline_levels) {
        free(a.levels);
    }
    return is_fine;
}
