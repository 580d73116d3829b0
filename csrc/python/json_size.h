/* The size of a value as compact JSON text, counted without making the text.
 *
 * The text is that of Python's json.dumps with the separators "," and ":" and ensure_ascii=False:
 * `1.0` has three units, members keep their order, which is of no account here, and int, float,
 * bool and None keys are texts. Iterative, so nesting costs memory and no stack. */
#ifndef OVT_JSON_SIZE_H
#define OVT_JSON_SIZE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The UTF-16 code units of the text of `value`; 0 if it has none: a type that JSON lacks, nesting
 * past `max_depth`, an int of more digits than Python writes. -1 with an exception set if
 * `converter`, which reads subclasses of dict, list and tuple, raised it, or memory ran out. */
Py_ssize_t ovt_json_size(PyObject *value, PyObject *converter, Py_ssize_t max_depth);

#endif
