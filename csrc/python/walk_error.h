/* The exceptions of a walk, with the path to the value at fault.
 *
 * They are made by overturn_fast/_errors.py, which words them for both backends; all that is open
 * is held from then on. Each function sets an exception and returns FAILED. */
#ifndef OVT_WALK_ERROR_H
#define OVT_WALK_ERROR_H

#include "walk_state.h"

/* `value`, which is at hand, or a key of the container that is about to be opened, is at fault. */
outcome ovt_walk_fail(walk *w, ovt_status status, PyObject *value);

/* Nesting went too deep or never ends; `source` is the container that was about to be opened, or
 * NULL after conversions that never end. */
outcome ovt_walk_fail_nesting(walk *w, PyObject *source);

/* The converter raised: the exception as overturn_fast._errors words it. */
outcome ovt_walk_fail_conversion(walk *w, PyObject *value);

#endif
