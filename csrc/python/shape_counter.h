/* The type of counters of what values consist of: overturn_fast/_pure/shape_counter.py is its twin.
 *
 * A counter may be used from several threads; each waits until the other is done. Text is read and
 * counted with the interpreter's lock released, and objects are read before anything is counted. */
#ifndef OVT_SHAPE_COUNTER_H
#define OVT_SHAPE_COUNTER_H

#include "shape_walker.h"

enum { OVT_COUNTER_DEPTH = 64 }; /* levels that are entered unless the caller says otherwise */

extern PyType_Spec ovt_counter_spec;

/* An empty counter. Values nested deeper than `reading_depth` are refused, and only `max_depth`
 * levels of them entered. NULL with an exception set. */
PyObject *ovt_new_counter(const ovt_shape_side *shapes, const ovt_python_side *python,
                          Py_ssize_t max_depth, Py_ssize_t reading_depth);

#endif
