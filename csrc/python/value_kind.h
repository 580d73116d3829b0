/* What kind of value an object is to a walk, and the conversion of those that are of none.
 *
 * Exact built-in types cost a few comparisons of pointers, the others a call. */
#ifndef OVT_VALUE_KIND_H
#define OVT_VALUE_KIND_H

#include "walk_state.h"

/* The same for an object of none of the exact built-in types. */
value_kind ovt_kind_of_subclass(const walk *w, PyObject *value);

static inline value_kind kind_of(const walk *w, PyObject *value) {
    PyTypeObject *const type = Py_TYPE(value);
    if (type == &PyUnicode_Type) {
        return KIND_STR;
    }
    if (type == &PyLong_Type) {
        return KIND_INT;
    }
    if (type == &PyFloat_Type) {
        return KIND_FLOAT;
    }
    if (type == &PyDict_Type) {
        return KIND_DICT;
    }
    if (type == &PyList_Type) {
        return KIND_LIST;
    }
    if (value == Py_None) {
        return KIND_NONE;
    }
    if (value == Py_True) {
        return KIND_TRUE;
    }
    if (value == Py_False) {
        return KIND_FALSE;
    }
    if (type == &PyTuple_Type) {
        return KIND_TUPLE;
    }
    return ovt_kind_of_subclass(w, value);
}

/* Converts a value of no kind that is written here as often as it takes; it is then the one at
 * hand. This is where Python code runs. */
outcome ovt_walk_convert(walk *w, PyObject **value, value_kind *kind);

#endif
