/* What is known of key sets that come again within one walk, as in a list of records.
 *
 * The second object with the same key objects in the same iteration order has its key order and
 * its quoted key texts remembered; those after it skip the sorting, the escaping and the reading
 * of the keys. Looking up costs a comparison of pointers for each key; an object whose key set
 * comes only once costs one word. Pointers say enough because the walk keeps the keys alive. */
#ifndef OVT_KEY_LAYOUT_H
#define OVT_KEY_LAYOUT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "key_order.h"

enum {
    OVT_LAYOUT_KEYS = 16,   /* of an object that is remembered, at most */
    OVT_LAYOUT_QUOTED = 32, /* bytes of a quoted key and its colon, at most */
    OVT_LAYOUTS = 8,        /* remembered in one walk */
    OVT_LAYOUT_SIGHTINGS = 16,
};

typedef struct {
    uint32_t sighting; /* what the key set looks like at first glance */
    uint32_t count;
    PyObject *keys[OVT_LAYOUT_KEYS]; /* in iteration order, like all that follows */
    uint8_t sizes[OVT_LAYOUT_KEYS];
    char quoted[OVT_LAYOUT_KEYS][OVT_LAYOUT_QUOTED]; /* "key": */
    uint32_t order[OVT_LAYOUT_KEYS];
} ovt_key_layout;

typedef struct {
    ovt_key_layout *layouts; /* NULL until something is worth remembering */
    uint32_t count;
    uint32_t sightings[OVT_LAYOUT_SIGHTINGS]; /* of key sets seen once */
} ovt_key_layouts;

void ovt_layouts_init(ovt_key_layouts *layouts);
void ovt_layouts_release(ovt_key_layouts *layouts);

/* The layout of these members, of which only `key` has been filled in; NULL if there is none. Then
 * *is_worth says whether to remember it once the texts and the order are known. */
const ovt_key_layout *ovt_layouts_find(ovt_key_layouts *layouts, const ovt_member *members,
                                       size_t count, bool *is_worth);

/* Remembers the layout of members whose keys are all exact str objects without surrogates. */
void ovt_layouts_learn(ovt_key_layouts *layouts, const ovt_member *members, const uint32_t *order,
                       size_t count);

#endif
