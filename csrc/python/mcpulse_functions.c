/* What producers of the MCPulse wire format need: functions that never fail with an Exception. */

#include "arguments.h"
#include "json_size.h"
#include "module_functions.h"
#include "output.h"
#include "utf16_length.h"

enum { ARGS_HASH_SIZE = 12 };

static const char UNHASHABLE[ARGS_HASH_SIZE + 1] = "000000000000";

/* Forgets an Exception that is set. Whether it was one: what stops a program is passed on. */
static bool swallow_exception(void) {
    const bool is_exception = PyErr_ExceptionMatches(PyExc_Exception);
    if (is_exception) {
        PyErr_Clear();
    }
    return is_exception;
}

PyObject *ovt_args_hash(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *keywords) {
    static const signature takes = {"args_hash", {NAME_ARGS, NAME_MAX_DEPTH}, 2, 1, 1};
    const module_state *state = state_of(module);
    PyObject *given[2];
    if (!ovt_read_arguments(state, &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    ovt_walk_options options;
    PyObject *hash = NULL;
    selected_args whole = {.args = given[0] == Py_None ? PyDict_New() : Py_NewRef(given[0])};
    if (whole.args != NULL &&
        ovt_read_options(state, OVT_PROFILE_MCPULSE, NULL, given[1], &options)) {
        hash = digest_start(ARGS_HASH_SIZE, NULL, 0, &whole, &options);
    }
    ovt_release_selected(&whole);
    if (hash == NULL && swallow_exception()) {
        hash = PyUnicode_FromStringAndSize(UNHASHABLE, ARGS_HASH_SIZE);
    }
    return hash;
}

PyObject *ovt_json_size_function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *keywords) {
    static const signature takes = {"json_size", {NAME_VALUE, NAME_MAX_DEPTH}, 2, 1, 1};
    const module_state *state = state_of(module);
    PyObject *given[2];
    if (!ovt_read_arguments(state, &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    ovt_walk_options options;
    Py_ssize_t size = -1;
    if (ovt_read_options(state, OVT_PROFILE_MCPULSE, NULL, given[1], &options)) {
        size = ovt_json_size(given[0], options.converter, options.max_depth);
    }
    if (size < 0) {
        if (!swallow_exception()) {
            return NULL;
        }
        size = 0;
    }
    return PyLong_FromSsize_t(size);
}

PyObject *ovt_utf16_length_function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *keywords) {
    static const signature takes = {"utf16_length", {NAME_TEXT}, 1, 1, 1};
    PyObject *given[1];
    if (!ovt_read_arguments(state_of(module), &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    ovt_text text = {0};
    if (PyUnicode_Check(given[0]) && !ovt_read_str(given[0], &text) && !swallow_exception()) {
        return NULL;
    }
    return PyLong_FromSize_t(ovt_utf16_length(text));
}
