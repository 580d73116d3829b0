#include "value_kind.h"

#include "walk_error.h"

value_kind ovt_kind_of_subclass(const walk *w, PyObject *value) {
    PyTypeObject *const type = Py_TYPE(value);
    if ((PyObject *)type == w->options->python->pairs_type) {
        return KIND_PAIRS;
    }
    if ((PyObject *)type == w->options->python->set_items_type) {
        return KIND_SET_ITEMS;
    }
    if ((PyObject *)type == w->options->python->verbatim_type) {
        return KIND_VERBATIM;
    }
    if (w->profile->convert_subclasses) {
        return KIND_OTHER;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_UNICODE_SUBCLASS)) {
        return KIND_STR;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_LONG_SUBCLASS)) {
        return KIND_INT;
    }
    if (PyFloat_Check(value)) {
        return KIND_FLOAT;
    }
    return KIND_OTHER;
}

/* Converts the value at hand as often as it takes to be one that the walk writes itself. */
static OVT_NEVER_INLINE outcome convert_current(walk *w, value_kind *kind) {
    ovt_walk_make_strong(w);
    /* Brent's cycle detection along the chain of conversions: the anchor moves at powers of two. */
    PyObject *anchor = Py_NewRef(w->value);
    outcome result = DONE;
    for (Py_ssize_t conversions = 1; *kind == KIND_OTHER; conversions++) {
        PyObject *arguments[] = {w->value, w->options->encoder};
        int *const running = w->options->python->running_conversions;
        __atomic_fetch_add(running, 1, __ATOMIC_RELAXED);
        PyObject *converted = PyObject_Vectorcall(w->options->converter, arguments, 2, NULL);
        __atomic_fetch_sub(running, 1, __ATOMIC_RELAXED);
        if (converted == NULL) {
            result = ovt_walk_fail_conversion(w, w->value);
            break;
        }
        if (converted == w->options->python->unsupported || converted == anchor) {
            const bool is_cycle = converted == anchor;
            Py_DECREF(converted);
            result = ovt_walk_fail(w, is_cycle ? OVT_CIRCULAR_REFERENCE : OVT_UNSUPPORTED_TYPE,
                                   w->value);
            break;
        }
        Py_SETREF(w->value, converted);
        if (converted == w->options->python->dropped) {
            *kind = KIND_DROPPED;
            break;
        }
        if (conversions > w->options->max_conversions) {
            result = ovt_walk_fail_nesting(w, NULL);
            break;
        }
        if ((conversions & (conversions - 1)) == 0) {
            Py_SETREF(anchor, Py_NewRef(converted));
        }
        *kind = kind_of(w, converted);
    }
    Py_DECREF(anchor);
    return result;
}

outcome ovt_walk_convert(walk *w, PyObject **value, value_kind *kind) {
    if (w->value == NULL) {
        take_current(w, *value);
    }
    const outcome result = convert_current(w, kind);
    *value = w->value;
    return result;
}
