/* Objects of many members.
 *
 * The members of a large dict lie all over the memory once they are in order. So their texts are
 * written in the order of the dict, one after the other, and it is the texts that are brought into
 * order: one place in memory for each instead of three. A value that is no short scalar stays a
 * member of the walk, pending, until its turn comes. A dict with keys of another kind, or with many
 * values that would be pending, is left to object_members.c.
 *
 * Cost: 32 bytes a member, and its text with at most 15 bytes more, until the object is closed. */
#ifndef OVT_WIDE_OBJECT_H
#define OVT_WIDE_OBJECT_H

#include "walk_state.h"

enum {
    WIDE_MEMBERS = 128,            /* members of a dict whose texts are sorted */
    WIDE_MEMBERS_WITH_HASH = 2048, /* the same where the hash runs beside the writing */
};

/* Collects and orders the members of a dict as texts for a frame that is not yet open, which
 * becomes a KIND_WIDE one. If that cannot be done, *is_taken is false and nothing has changed. */
outcome ovt_wide_collect(walk *w, frame *open, bool *is_taken);

/* Writes the members of the innermost container, a wide object, up to the next pending one, which
 * it gives; NULL when there are no more. False when memory runs out. */
bool ovt_wide_write(walk *w, frame *top, const ovt_key_record **pending);

/* Writes what is there of a pending member, its key; false when memory runs out. */
bool ovt_wide_put_text(walk *w, frame *top, const ovt_key_record *record);

/* The key of the pending member of an open wide object that was given last. */
PyObject *ovt_wide_key(const walk *w, const frame *open);

/* Releases the innermost one. */
void ovt_wide_release(walk *w);

#endif
