/* Numbers that follow one another in a list or tuple, as in an embedding.
 *
 * Nothing is looked at between them but the type of the next, and nothing that changes from number
 * to number at random is branched on. */
#ifndef OVT_NUMBER_RUN_H
#define OVT_NUMBER_RUN_H

#include "walk_state.h"

/* Writes the numbers that come next in the innermost container, if that is a list or a tuple that
 * no other thread can change. False when memory runs out. */
bool ovt_write_numbers(walk *w, frame *top);

#endif
