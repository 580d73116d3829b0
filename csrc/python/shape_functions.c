/* The shapes of Python objects, and counters of them. */

#include "arguments.h"
#include "module_functions.h"
#include "shape_counter.h"

/* Which profile of shapes an argument names; -1 with an exception set. */
static int shape_profile_of(const module_state *state, PyObject *profile) {
    if (profile == NULL || profile == state->shapes.profiles[OVT_SHAPE_SEED]) {
        return OVT_SHAPE_SEED;
    }
    if (profile == state->shapes.profiles[OVT_SHAPE_V2]) {
        return OVT_SHAPE_V2;
    }
    PyObject *checked = PyObject_CallOneArg(state->shapes.checked_profile, profile);
    if (checked == NULL) {
        return -1;
    }
    const int order = PyUnicode_Compare(checked, state->shapes.profiles[OVT_SHAPE_SEED]);
    Py_DECREF(checked);
    return order == 0 ? OVT_SHAPE_SEED : OVT_SHAPE_V2;
}

static PyObject *shape_call(const signature *takes, PyObject *module, PyObject *const *args,
                            Py_ssize_t nargs, PyObject *keywords, bool is_digest) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    if (!ovt_read_arguments(state, takes, args, nargs, keywords, given)) {
        return NULL;
    }
    const int profile = shape_profile_of(state, given[1]);
    ovt_walk_options walk_options;
    if (profile < 0 ||
        !ovt_read_options(state, OVT_PROFILE_OVERTURN, NULL, given[2], &walk_options)) {
        return NULL;
    }
    const ovt_shape_options options = {
        .python = &state->python,
        .profile = (ovt_shape_profile)profile,
        .view = state->shapes.views[profile],
        .max_depth = walk_options.max_depth,
    };
    return ovt_shape_of_value(given[0], is_digest, state->shapes.seed, &options);
}

PyObject *ovt_shape_function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *keywords) {
    static const signature takes = {"shape", {NAME_OBJ, NAME_PROFILE, NAME_MAX_DEPTH}, 3, 1, 1};
    return shape_call(&takes, module, args, nargs, keywords, false);
}

PyObject *ovt_shape_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *keywords) {
    static const signature takes = {
        "shape_fingerprint", {NAME_OBJ, NAME_PROFILE, NAME_MAX_DEPTH}, 3, 1, 1};
    return shape_call(&takes, module, args, nargs, keywords, true);
}

/* A counter of this kind; where strings are looked at, one of the twin's. */
PyObject *ovt_shape_counter(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *keywords) {
    static const signature takes = {
        "shape_counter", {NAME_MAX_DEPTH, NAME_FORMATS, NAME_ENUM_KEY}, 3, 1, 0};
    const module_state *state = state_of(module);
    PyObject *given[3];
    if (!ovt_read_arguments(state, &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    const int has_formats = given[1] == NULL ? 0 : PyObject_IsTrue(given[1]);
    if (has_formats < 0) {
        return NULL;
    }
    if (has_formats || (given[2] != NULL && given[2] != Py_None)) {
        return PyObject_Vectorcall(state->shapes.pure_counter, args, (size_t)nargs, keywords);
    }
    Py_ssize_t max_depth = OVT_COUNTER_DEPTH;
    if (given[0] != NULL) {
        PyObject *checked = PyObject_CallOneArg(state->checked_depth, given[0]);
        if (checked == NULL) {
            return NULL;
        }
        max_depth = PyLong_AsSsize_t(checked);
        Py_DECREF(checked);
    }
    return ovt_new_counter(&state->shapes, &state->python, max_depth, state->default_max_depth);
}
