/* The members of an object that is about to be opened: read, ordered, and rid of repeated keys.
 *
 * A dict whose keys the key memory knows is read in place and costs nothing more here; of any other
 * the keys are read and sorted. */
#ifndef OVT_OBJECT_MEMBERS_H
#define OVT_OBJECT_MEMBERS_H

#include "walk_state.h"

/* Collects and orders the members of a dict or Pairs for a frame that is not yet open. `selection`,
 * which may be NULL, is of a dict. */
outcome ovt_collect_object(walk *w, frame *open, bool is_dict, const ovt_selection *selection);

#endif
