/* Python objects to the outline of their shape, and to its rows or their digest.
 *
 * The walk is iterative, and works like the one for canonical text (walker.h): types that JSON has
 * are told by pointer, any other single value goes through the profile's view
 * (overturn_fast/_shape_values.py), the only place where Python code runs. Until the first such
 * call everything is borrowed, the texts of keys too; before it, the walk takes references to the
 * containers that are open and copies the keys. */
#ifndef OVT_SHAPE_WALKER_H
#define OVT_SHAPE_WALKER_H

#include "shape_rows.h"
#include "walker.h"

/* What shapes need of the package's Python side, held by the module's state. */
typedef struct {
    PyObject *profiles[OVT_SHAPE_PROFILES]; /* their names */
    PyObject *views[OVT_SHAPE_PROFILES];    /* _shape_values.VIEWS of them */
    PyObject *checked_profile;              /* _arguments.checked_shape_profile */
    PyObject *text_failure;                 /* _errors.text_failure */
    PyObject *counter_type;                 /* see shape_counter.h */
    PyObject *pure_counter;                 /* _pure.shape_counter.shape_counter */
    uint64_t seed;                          /* of trees */
} ovt_shape_side;

typedef struct {
    const ovt_python_side *python;
    ovt_shape_profile profile;
    PyObject *view; /* of the profile */
    Py_ssize_t max_depth;
} ovt_shape_options;

/* Adds the outline of a value to an empty one. It refers to keys of the value, which must not be
 * changed before the outline is read. Returns 0, or -1 with an exception set. */
int ovt_outline_value(ovt_outline *outline, PyObject *value, const ovt_shape_options *options);

/* The rows of a value as a list of pairs of str, or the digest over them as a str. NULL with an
 * exception set. `seed` is that of a tree. */
PyObject *ovt_shape_of_value(PyObject *value, bool is_digest, uint64_t seed,
                             const ovt_shape_options *options);

#endif
