/* The texts of an object's keys as UTF-8, for the order and for the writing.
 *
 * An ASCII str is its own text; UTF-8 that CPython keeps with a str is used where it is. Any other
 * text is made in the walk's arena, those of non-ASCII keys several at a time. */
#ifndef OVT_KEY_TEXT_H
#define OVT_KEY_TEXT_H

#include "walk_state.h"

/* Fills in the texts of the members from `first` on. *may_collide is set if two of them may have
 * the same text, *is_ascii cleared if a key is no exact ASCII str. */
outcome ovt_read_keys(walk *w, size_t first, bool *may_collide, bool *is_ascii);

#endif
