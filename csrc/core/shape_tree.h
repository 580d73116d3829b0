/* Outlines merged by path: one node for each path, and what has been found there.
 *
 * The members of a node are found by looking where the last one was found, since objects of one
 * kind have their keys in one order; then among the first few of them; then, where there are more,
 * in a table by hash. So adding an outline costs a comparison of a few bytes for each of its
 * entries. The hash is seeded by the caller, with a number that whoever wrote the keys cannot know.
 */
#ifndef OVT_SHAPE_TREE_H
#define OVT_SHAPE_TREE_H

#include "shape_outline.h"
#include "status.h"

/* A node is told by its index. The root's is 0; where another node is meant, 0 is none. */
typedef struct {
    ovt_shape_key key; /* its text is NULL for the root and for items */
    uint64_t visit;    /* of the object that has last had it as a member */
    uint32_t visit_entry;
    uint32_t parent;
    uint32_t first; /* of the members, in the order in which they were found */
    uint32_t last;
    uint32_t sibling; /* the member of its parent that was found next */
    uint32_t member_count;
    uint32_t items;  /* the node of the items */
    uint32_t others; /* the first of its types that JSON does not have, plus 1 */
    uint8_t types;   /* a bit for each ovt_shape_type that JSON has */
    bool is_ordered; /* its members stay in the order in which they were found */
} ovt_shape_node;

/* A type that JSON does not have, of a node. */
typedef struct {
    ovt_shape_name name;
    uint32_t next; /* plus 1 */
} ovt_other_type;

enum { OVT_TREE_INLINE = 48 };

typedef struct {
    uint64_t seed;
    uint64_t visits; /* of objects so far */
    ovt_shape_node *nodes;
    size_t count;
    size_t capacity;
    ovt_other_type *others;
    size_t other_count;
    size_t other_capacity;
    uint32_t *table; /* of the members of large nodes: open addressing, 0 is free */
    size_t table_size;
    size_t table_used;
    ovt_shape_node inline_nodes[OVT_TREE_INLINE];
} ovt_shape_tree;

/* How an outline is added. */
typedef enum {
    OVT_MERGE_ALL,   /* what has one path has one node */
    OVT_MERGE_ITEMS, /* only below arrays; elsewhere every entry has a node of its own */
} ovt_shape_merging;

void ovt_tree_init(ovt_shape_tree *tree, uint64_t seed);
void ovt_tree_release(ovt_shape_tree *tree);

/* Adds an outline, whose keys and names must outlive the tree. Where `may_repeat` is set, the last
 * of several members of one name counts, and the others are marked. False when memory runs out. */
bool ovt_tree_add(ovt_shape_tree *tree, ovt_outline *outline, ovt_shape_merging merging,
                  bool may_repeat);

/* The node of the member of `parent` that has that key, and of its items; it is made if there is
 * none. `latest` is the member that was found before, or 0. 0 when memory runs out. */
uint32_t ovt_tree_member(ovt_shape_tree *tree, uint32_t parent, uint32_t latest,
                         const ovt_shape_key *key);
uint32_t ovt_tree_items(ovt_shape_tree *tree, uint32_t parent);

#endif
