#include "walk_error.h"

#include "wide_object.h"

/* The step from an open container to the member at hand, as overturn_fast._errors.Segment. */
static PyObject *path_segment(const walk *w, const frame *open) {
    switch (open->kind) {
    case KIND_DICT: {
        const ovt_member *member = member_at(w, open, open->next - 1);
        if (open->layout != NULL) {
            return Py_NewRef((PyObject *)member->key);
        }
        return PyUnicode_DecodeUTF8(member->text, (Py_ssize_t)member->length, "surrogatepass");
    }
    case KIND_WIDE:
        return Py_NewRef(ovt_wide_key(w, open));
    case KIND_SET_ITEMS:
        return Py_NewRef(Py_None);
    default:
        return PyLong_FromSize_t(open->next - 1);
    }
}

static PyObject *current_path(const walk *w) {
    PyObject *path = PyList_New((Py_ssize_t)w->depth);
    for (size_t i = 0; path != NULL && i < w->depth; i++) {
        PyObject *segment = path_segment(w, &w->frames[i]);
        if (segment == NULL) {
            Py_CLEAR(path);
        } else {
            PyList_SET_ITEM(path, (Py_ssize_t)i, segment);
        }
    }
    return path;
}

outcome ovt_walk_fail(walk *w, ovt_status status, PyObject *value) {
    if (status == OVT_NO_MEMORY) {
        return no_memory();
    }
    ovt_walk_make_strong(w);
    Py_INCREF(value);
    PyObject *path = current_path(w);
    PyObject *made = path == NULL ? NULL
                                  : PyObject_CallFunction(w->options->python->failure, "iOO",
                                                          (int)status, path, value);
    Py_XDECREF(path);
    Py_DECREF(value);
    ovt_raise_made(made);
    return FAILED;
}

outcome ovt_walk_fail_nesting(walk *w, PyObject *source) {
    ovt_walk_make_strong(w);
    PyObject *path = current_path(w);
    PyObject *containers = PyList_New(0);
    int failed = path == NULL || containers == NULL;
    for (size_t i = 0; !failed && i <= w->depth; i++) {
        PyObject *container = i < w->depth ? w->frames[i].source : source;
        if (i < w->depth || source != NULL) {
            failed = PyList_Append(containers, container != NULL ? container : Py_None) < 0;
        }
    }
    PyObject *made = failed ? NULL
                            : PyObject_CallFunction(w->options->python->nesting_failure, "OOn",
                                                    path, containers, w->options->max_depth);
    Py_XDECREF(path);
    Py_XDECREF(containers);
    ovt_raise_made(made);
    return FAILED;
}

outcome ovt_walk_fail_conversion(walk *w, PyObject *value) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *path = current_path(w);
    PyObject *made = path == NULL
                         ? NULL
                         : PyObject_CallFunctionObjArgs(w->options->python->conversion_failure,
                                                        error, path, value, NULL);
    Py_XDECREF(path);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_DECREF(error);
    ovt_raise_made(made);
    return FAILED;
}
