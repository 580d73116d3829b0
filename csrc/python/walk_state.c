#include "walk_state.h"

/* ---- references ---------------------------------------------------------------------------- */

/* Fills in what has been read from the entries of dicts up to now. */
static void fill_members(walk *w) {
    for (size_t i = 0; i < w->depth; i++) {
        frame *const open = &w->frames[i];
        if (open->entries == NULL) {
            continue;
        }
        for (size_t at = 0; at < open->layout->count; at++) {
            w->members[open->first + at].key = open->entries[at].key;
            w->members[open->first + at].value = open->entries[at].value;
        }
        open->entries = NULL;
    }
}

void ovt_walk_make_strong(walk *w) {
    if (w->is_strong) {
        return;
    }
    w->is_strong = true;
    fill_members(w);
    Py_XINCREF(w->source);
    Py_XINCREF(w->value);
    for (size_t i = 0; i < w->depth; i++) {
        Py_XINCREF(w->frames[i].source);
        Py_INCREF(w->frames[i].container);
    }
    for (size_t i = 0; i < w->member_count; i++) {
        Py_INCREF((PyObject *)w->members[i].key);
        Py_INCREF((PyObject *)w->members[i].value);
    }
}

/* ---- room ---------------------------------------------------------------------------------- */

enum {
    FIRST_FRAMES = 256, /* on the heap */
    FIRST_MEMBERS = 512,
    FIRST_MARKS = 16,
};

/* Moves `used` elements to a larger block; `block` is freed unless it is the inline one. */
static void *enlarged(void *block, const void *inline_block, size_t used, size_t capacity,
                      size_t element) {
    if (capacity > SIZE_MAX / 2 / element) {
        return NULL;
    }
    if (block != inline_block) {
        return PyMem_RawRealloc(block, capacity * element);
    }
    void *larger = PyMem_RawMalloc(capacity * element);
    if (larger != NULL && used != 0) {
        memcpy(larger, block, used * element);
    }
    return larger;
}

bool ovt_walk_grow_frames(walk *w) {
    const size_t capacity =
        w->frame_capacity == INLINE_FRAMES ? FIRST_FRAMES : w->frame_capacity * 2;
    frame *frames = enlarged(w->frames, w->inline_frames, w->depth, capacity, sizeof *frames);
    if (frames == NULL) {
        return false;
    }
    w->frames = frames;
    w->frame_capacity = capacity;
    return true;
}

bool ovt_walk_grow_members(walk *w, size_t count) {
    size_t capacity = w->member_capacity == INLINE_MEMBERS ? FIRST_MEMBERS : w->member_capacity * 2;
    if (count > SIZE_MAX / 2) {
        return false;
    }
    if (capacity < w->member_count + count) {
        capacity = w->member_count + count;
    }
    ovt_member *members =
        enlarged(w->members, w->inline_members, w->member_count, capacity, sizeof *members);
    if (members == NULL) {
        return false;
    }
    const bool was_inline = w->members == w->inline_members;
    w->members = members;
    uint32_t *order = enlarged(w->order, w->inline_order, w->member_count, capacity, sizeof *order);
    if (order == NULL) {
        if (was_inline) { /* members and order move to the heap together or not at all */
            PyMem_RawFree(members);
            w->members = w->inline_members;
        }
        return false;
    }
    w->order = order;
    w->member_capacity = capacity;
    return true;
}

bool ovt_walk_push_mark(walk *w, size_t mark) {
    if (w->mark_count == w->mark_capacity) {
        const size_t capacity = w->mark_capacity == 0 ? FIRST_MARKS : w->mark_capacity * 2;
        size_t *marks = enlarged(w->marks, NULL, w->mark_count, capacity, sizeof *marks);
        if (marks == NULL) {
            return false;
        }
        w->marks = marks;
        w->mark_capacity = capacity;
    }
    w->marks[w->mark_count++] = mark;
    return true;
}
