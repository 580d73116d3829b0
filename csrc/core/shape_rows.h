/* A tree of shapes to rows of a path and a type, and to the digest over them.
 *
 * Two profiles. `v2`: keys that are no plain words are quoted, so a path has one reading; rows come
 * key by key, items after the keys. `seed` writes keys as they are, sorts the rows from each array
 * upward as text, and has each of those once. Two ways through the tree may then have one path, and
 * a path may come between two others that share more of the tree; so what is walked below an array
 * is not the tree itself but the text of its paths: a step is taken by all nodes that it fits.
 *
 * Nothing recurses. Memory is linear in the size of the tree, time in the number of bytes of all
 * rows; the rows themselves are handed to the hash, or all held if the caller wants them. Every row
 * spells its path from the root, so that a small value with long keys far up, or one nested deeply,
 * has rows without measure: there may only be so many bytes of them. */
#ifndef OVT_SHAPE_ROWS_H
#define OVT_SHAPE_ROWS_H

#include "buffer.h"
#include "shape_tree.h"
#include "status.h"

/* overturn_fast/_shape_values.py has the same order. */
typedef enum { OVT_SHAPE_SEED = 0, OVT_SHAPE_V2 = 1, OVT_SHAPE_PROFILES = 2 } ovt_shape_profile;

enum {
    OVT_SEED_ITEMS = 5,          /* of an array count under `seed` */
    OVT_SHAPE_DIGEST = 71,       /* bytes of the longest digest: "shape2:" and 64 digits */
    OVT_END_OF_PART = 0xFF,      /* behind each path and each type; a byte that UTF-8 never has */
    OVT_MAX_ROW_BYTES = 1 << 28, /* of all rows, with a byte behind each path and each type;
                                  * overturn_fast/_errors.py has the same number */
};

/* Appends all rows, each path and each type with OVT_END_OF_PART behind it. OVT_OK, OVT_NO_MEMORY
 * or OVT_SHAPE_SIZE. */
ovt_status ovt_shape_rows(ovt_buffer *out, const ovt_shape_tree *tree, ovt_shape_profile profile);

/* Writes the digest and its length. OVT_OK, OVT_NO_MEMORY, OVT_SHAPE_SIZE, or OVT_KEY_SURROGATE
 * where a path holds a lone surrogate under `seed`: then the first such path is in `unwritable`. */
ovt_status ovt_shape_digest(char digest[OVT_SHAPE_DIGEST], size_t *length,
                            const ovt_shape_tree *tree, ovt_shape_profile profile,
                            ovt_buffer *unwritable);

#endif
