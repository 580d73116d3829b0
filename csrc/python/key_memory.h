/* What is known of key sets that come again: in a list of records, and from call to call.
 *
 * The second object with the same keys in the same iteration order has its key order and its quoted
 * key texts remembered; those after it skip the sorting, the escaping and the reading of the keys.
 * Keys are compared by identity and else by text, so that parsed documents, whose keys are new
 * objects each time, are recognised too; the keys of a document that come a second time are held
 * instead of the ones before them. What comes next is expected to be what came next before, and a
 * key set that is unknown costs a few reads of memory.
 *
 * A memory holds OVT_LAYOUTS layouts, 220 KB, and strong references to their keys until it is
 * cleared. It is guarded by the GIL; a layout that an open frame reads is in use, and stays as it
 * is. */
#ifndef OVT_KEY_MEMORY_H
#define OVT_KEY_MEMORY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "key_order.h"
#include "profile.h"

enum {
    OVT_LAYOUT_KEYS = 16,   /* of an object that is remembered, at most */
    OVT_LAYOUT_QUOTED = 32, /* bytes of a quoted key and its colon, at most */
    OVT_LAYOUTS = 256,
    OVT_LAYOUT_CHOICES = 4, /* places that a key set may be at */
    OVT_LAYOUT_MOST_CREDIT = 16,
    OVT_SIGHTINGS = 1024, /* key sets that were seen once, at most */
};

/* A key in the order of writing. */
typedef struct {
    char quoted[OVT_LAYOUT_QUOTED]; /* "key": */
    uint32_t size;                  /* of that, in bytes */
    uint32_t index;                 /* of the key in iteration order */
} ovt_layout_key;

typedef struct ovt_key_layout {
    const ovt_profile *profile;       /* which orders the keys */
    uint32_t count;                   /* 0: nothing is here */
    uint32_t in_use;                  /* open frames that read it */
    uint32_t credit;                  /* misses it survives before another takes its place */
    struct ovt_key_layout *successor; /* the one that was found after it, or NULL */
    const void
        *stranger; /* the address of the first of keys that had the text of these, not held */
    PyObject *keys[OVT_LAYOUT_KEYS]; /* in iteration order */
    ovt_layout_key in_order[OVT_LAYOUT_KEYS];
} ovt_key_layout;

typedef struct {
    ovt_key_layout *layouts;         /* NULL until something is worth remembering */
    ovt_key_layout *latest;          /* the one that was found last, or NULL */
    ovt_key_layout *expected;        /* its successor, or NULL */
    uint64_t sightings[OVT_LAYOUTS]; /* the hash of each layout's key set; 0: no layout is there */
    uint64_t seen[OVT_SIGHTINGS];    /* the hashes of key sets that came once */
    bool is_taken;                   /* by a walk of a free-threaded Python */
} ovt_key_memory;

/* Forgets everything. No walk may be using the memory. */
void ovt_key_memory_clear(ovt_key_memory *memory);

/* The memory, or NULL if it cannot be had now: only in free-threaded Pythons, where one walk at a
 * time uses it. */
static inline ovt_key_memory *ovt_key_memory_take(ovt_key_memory *memory) {
#ifdef Py_GIL_DISABLED
    return __atomic_exchange_n(&memory->is_taken, true, __ATOMIC_ACQUIRE) ? NULL : memory;
#else
    return memory;
#endif
}

/* Ends the use of a memory that was taken, or of none. */
static inline void ovt_key_memory_give_back(ovt_key_memory *memory) {
#ifdef Py_GIL_DISABLED
    if (memory != NULL) {
        __atomic_store_n(&memory->is_taken, false, __ATOMIC_RELEASE);
    }
#else
    (void)memory;
#endif
}

/* The keys of a dict in iteration order: the first, and how many pointers lie from one to the next.
 */
typedef struct {
    PyObject *const *first;
    size_t step;
} ovt_key_row;

/* The keys of members. */
static inline ovt_key_row ovt_keys_of(const ovt_member *members) {
    return (ovt_key_row){(PyObject *const *)(const void *)&members->key,
                         sizeof *members / sizeof(PyObject *)};
}

/* The layout of a dict with these keys; NULL if there is none, or no memory. Then *is_worth, which
 * is false before, says whether to remember it once the texts and the order are known. */
ovt_key_layout *ovt_key_memory_find(ovt_key_memory *memory, const ovt_profile *profile,
                                    ovt_key_row keys, size_t count, bool *is_worth);

/* Makes a layout the one that was found last. */
static inline void ovt_key_memory_found(ovt_key_memory *memory, ovt_key_layout *layout) {
    layout->credit += layout->credit < OVT_LAYOUT_MOST_CREDIT;
    memory->latest = layout;
    memory->expected = layout->successor;
}

/* The layout that came after the latest one before, if these are its very keys, which then is the
 * latest; else NULL, and another may be found. */
static inline ovt_key_layout *ovt_key_memory_next(ovt_key_memory *memory,
                                                  const ovt_profile *profile, ovt_key_row keys,
                                                  size_t count) {
    ovt_key_layout *const layout = memory == NULL ? NULL : memory->expected;
    if (layout == NULL || layout->count != count || layout->profile != profile) {
        return NULL;
    }
    PyObject *const *key = keys.first;
    for (size_t i = 0; i < count; i++, key += keys.step) {
        if (layout->keys[i] != *key) {
            return NULL;
        }
    }
    ovt_key_memory_found(memory, layout);
    return layout;
}

/* Remembers the layout of members whose keys are all exact str objects without surrogates. */
void ovt_key_memory_learn(ovt_key_memory *memory, const ovt_profile *profile,
                          const ovt_member *members, const uint32_t *order, size_t count);

#endif
