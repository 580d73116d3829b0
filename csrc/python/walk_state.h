/* The state of a walk over Python objects, shared by the files that have a part in it.
 *
 * The walk is described in walker.h; walker.c has its loops. References are borrowed until Python
 * code may run, and strong from then on: whoever takes or drops one does it through the functions
 * below, which cost a test of a flag. Names without ovt_ are those of types, constants and inline
 * functions. */
#ifndef OVT_WALK_STATE_H
#define OVT_WALK_STATE_H

#include "arena.h"
#include "int_value.h"
#include "key_memory.h"
#include "key_order.h"
#include "walker.h"

typedef enum {
    KIND_STR,
    KIND_INT,
    KIND_FLOAT,
    KIND_TRUE,
    KIND_FALSE,
    KIND_VERBATIM, /* _convert.Verbatim: a str that is JSON text already */
    KIND_NONE,     /* the last that is no container */
    KIND_DICT,
    KIND_LIST,
    KIND_TUPLE,
    KIND_PAIRS,     /* _convert.Pairs: a list of (key, value) tuples */
    KIND_SET_ITEMS, /* _convert.SetItems: a list, written in the order of its items' texts */
    KIND_OTHER,     /* for the converter */
    KIND_DROPPED,   /* the converter's answer: left out */
    KIND_WIDE,      /* of a frame: a dict whose members are sorted as texts */
} value_kind;

typedef struct wide_object wide_object; /* see wide_object.c */

/* An open container. */
typedef struct {
    PyObject *source;       /* the value before any conversion: cycles are told by its identity */
    PyObject *container;    /* the list or tuple that is read; of an object, the dict or Pairs */
    size_t first;           /* object: its first member; set: the first mark of an item's text */
    size_t end;             /* object: one past its last member */
    size_t next;            /* object: the next member; else the index of the next item */
    ovt_arena_mark mark;    /* object: the arena before its key texts */
    ovt_key_layout *layout; /* object: what is remembered of its keys, or NULL */
    /* Object: where its members are read as long as no Python code has run, with a layout only; its
     * part of the walk's members is then not filled in yet. NULL: they are. */
    const ovt_dict_entry *entries;
    value_kind kind; /* KIND_DICT for every object but a KIND_WIDE one */
    bool is_first;   /* no member has been written yet */
} frame;

enum {
    INLINE_FRAMES = 12,
    INLINE_MEMBERS = 48,
    LARGEST_SAFE_BITS = 53, /* integers below 2**53 are exact doubles */
    PREFETCH_AHEAD = 16,    /* members that are asked of the memory before they are read */
};

static const int64_t LARGEST_SAFE_INTEGER = ((int64_t)1 << LARGEST_SAFE_BITS) - 1;

#ifdef Py_GIL_DISABLED
static const bool IS_FREE_THREADED = true;
#else
static const bool IS_FREE_THREADED = false;
#endif

typedef struct {
    ovt_buffer *out;
    const ovt_walk_options *options;
    const ovt_profile *profile;
    bool trims; /* as the profile says */

    /* Whether every reference held here is a strong one. Free-threaded Pythons start that way. */
    bool is_strong;
    PyObject *source; /* the value at hand, as found; NULL but for containers and conversions */
    PyObject *value;  /* the same, converted; often the same object */

    frame *frames;
    size_t depth;
    size_t frame_capacity;

    ovt_member *members; /* of all open objects, one after the other */
    uint32_t *order;     /* order[i]: which member of its object comes at position i */
    size_t member_count;
    size_t member_capacity;

    size_t *marks; /* of all open sets: where in `out` each item's text starts */
    size_t mark_count;
    size_t mark_capacity;

    wide_object *wide; /* the innermost of those that are open, or NULL */

    ovt_arena arena;
    ovt_key_memory *memory; /* of key sets, or NULL */

    frame inline_frames[INLINE_FRAMES];
    ovt_member inline_members[INLINE_MEMBERS];
    uint32_t inline_order[INLINE_MEMBERS];
} walk;

/* What the functions below answer. */
typedef enum { FAILED = -1, DONE = 0 } outcome;

/* ---- references ---------------------------------------------------------------------------- */

/* From here on Python code may run: hold everything that is open. */
void ovt_walk_make_strong(walk *w);

/* Makes `value` the one at hand, borrowed or held twice (as found, and converted). */
static inline void take_current(walk *w, PyObject *value) {
    w->source = value;
    w->value = value;
    if (w->is_strong) {
        Py_INCREF(value);
        Py_INCREF(value);
    }
}

static inline void drop_current(walk *w) {
    if (OVT_LIKELY(w->value == NULL)) {
        return;
    }
    if (w->is_strong) {
        Py_DECREF(w->source);
        Py_DECREF(w->value);
    }
    w->source = NULL;
    w->value = NULL;
}

/* Counts in the members up to `end`, which have been filled in. */
static inline void hold_members(walk *w, size_t end) {
    if (w->is_strong) {
        for (size_t i = w->member_count; i < end; i++) {
            Py_INCREF((PyObject *)w->members[i].key);
            Py_INCREF((PyObject *)w->members[i].value);
        }
    }
    w->member_count = end;
}

static inline void drop_members(walk *w, size_t first) {
    if (w->is_strong) {
        for (size_t i = first; i < w->member_count; i++) {
            Py_DECREF((PyObject *)w->members[i].key);
            Py_DECREF((PyObject *)w->members[i].value);
        }
    }
    w->member_count = first;
}

/* An int past the double range is told by an exception, which is an object that the collector
 * looks after: making it may run Python code before 3.12. */
static inline void hold_for_exceptions(walk *w, PyObject *value) {
    if (ovt_may_exceed_double(value)) {
        ovt_walk_make_strong(w);
    }
}

/* ---- room and members ------------------------------------------------------------------------ */

/* These make room on the heap; false when memory runs out. */
bool ovt_walk_grow_frames(walk *w);
bool ovt_walk_grow_members(walk *w, size_t count);

/* Remembers where in the output the text of a set's item starts; false when memory runs out. */
bool ovt_walk_push_mark(walk *w, size_t mark);

static inline bool reserve_members(walk *w, size_t count) {
    return w->member_capacity - w->member_count >= count || ovt_walk_grow_members(w, count);
}

/* The remembered key of an open object that comes at a position, counted like the members; NULL if
 * nothing is remembered of it. */
static inline const ovt_layout_key *known_key_at(const frame *open, size_t position) {
    return open->layout == NULL ? NULL : &open->layout->in_order[position - open->first];
}

static inline const ovt_member *member_at(const walk *w, const frame *open, size_t position) {
    const ovt_layout_key *known = known_key_at(open, position);
    return &w->members[open->first + (known != NULL ? known->index : w->order[position])];
}

/* What can be read in place of a dict, as long as the walk holds nothing: sets `count`, or returns
 * NULL. */
static inline const ovt_dict_entry *entries_of(const walk *w, PyObject *dict,
                                               const ovt_selection *selection, size_t *count) {
    if (w->is_strong || !w->options->python->reads_entries) {
        return NULL;
    }
    if (OVT_UNLIKELY(selection != NULL)) {
        *count = (size_t)selection->count;
        return selection->kept;
    }
    *count = (size_t)PyDict_GET_SIZE(dict);
    return ovt_dict_entries(dict);
}

/* ---- values ---------------------------------------------------------------------------------- */

static inline outcome no_memory(void) {
    PyErr_NoMemory();
    return FAILED;
}

static inline bool is_safe_integer(int64_t value) {
    return value <= LARGEST_SAFE_INTEGER && value >= -LARGEST_SAFE_INTEGER;
}

static inline bool is_left_out(const walk *w, value_kind kind) {
    return kind == KIND_DROPPED || (kind == KIND_NONE && w->profile->drop_none);
}

#endif
