#include "arguments.h"

const signature ovt_canonical_json_takes = {
    "canonical_json", {NAME_VALUE, NAME_ENCODER, NAME_MAX_DEPTH}, 3, 1, 1};

const signature ovt_hash_json_takes = {
    "hash_json", {NAME_VALUE, NAME_ENCODER, NAME_MAX_DEPTH}, 3, 1, 1};

const signature ovt_fingerprint_takes = {"fingerprint",
                                         {NAME_KIND, NAME_NAME, NAME_ARGS, NAME_MATCH_ON,
                                          NAME_IGNORE_ARGS, NAME_ENCODER, NAME_MAX_DEPTH},
                                         7,
                                         5,
                                         3};

const signature ovt_tool_fingerprint_takes = {
    "tool_fingerprint",
    {NAME_NAME, NAME_ARGS, NAME_MATCH_ON, NAME_IGNORE_ARGS, NAME_ENCODER, NAME_MAX_DEPTH},
    6,
    4,
    2};

static int name_index(const module_state *state, const signature *takes, PyObject *keyword) {
    for (int i = 0; i < takes->count; i++) {
        if (state->names[takes->names[i]] == keyword) {
            return i;
        }
    }
    for (int i = 0; i < takes->count; i++) {
        if (PyUnicode_Compare(state->names[takes->names[i]], keyword) == 0) {
            return i;
        }
    }
    return -1;
}

bool ovt_read_arguments(const module_state *state, const signature *takes, PyObject *const *args,
                        Py_ssize_t nargs, PyObject *keywords, PyObject **given) {
    if (nargs > takes->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)",
                     takes->function, takes->positional, nargs);
        return false;
    }
    for (int i = 0; i < takes->count; i++) {
        given[i] = i < nargs ? args[i] : NULL;
    }
    const Py_ssize_t keyword_count = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < keyword_count; i++) {
        PyObject *keyword = PyTuple_GET_ITEM(keywords, i);
        const int index = name_index(state, takes, keyword);
        if (index < 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                         takes->function, keyword);
            return false;
        }
        if (given[index] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                         takes->function, keyword);
            return false;
        }
        given[index] = args[nargs + i];
    }
    for (int i = 0; i < takes->required; i++) {
        if (given[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", takes->function,
                         ovt_argument_names[takes->names[i]]);
            return false;
        }
    }
    return true;
}

bool ovt_read_options(const module_state *state, int profile, PyObject *encoder,
                      PyObject *max_depth, ovt_walk_options *options) {
    *options = (ovt_walk_options){
        .python = &state->python,
        .profile = &ovt_profiles[profile],
        .converter = state->python.converters[profile],
        .encoder = Py_None,
        .max_depth = state->default_max_depth,
    };
    if (encoder != NULL && encoder != Py_None) {
        PyObject *checked = PyObject_CallOneArg(state->checked_encoder, encoder);
        if (checked == NULL) {
            return false;
        }
        options->encoder = encoder; /* the caller's arguments keep it alive */
        Py_DECREF(checked);
    }
    if (max_depth != NULL) {
        PyObject *checked = PyObject_CallOneArg(state->checked_depth, max_depth);
        if (checked == NULL) {
            return false;
        }
        options->max_depth = PyLong_AsSsize_t(checked);
        Py_DECREF(checked);
    }
    options->max_conversions = options->max_depth;
    return true;
}
