/* The values of the Overturn SDK, where it has some; the twin knows what to do where it raises. */

#include "arguments.h"
#include "module_functions.h"
#include "output.h"

enum {
    FEW_LEVELS = 100,  /* the SDK reaches them under any limit of recursion worth having */
    MANY_LEVELS = 300, /* what it reaches under the usual one, from a shallow stack */
#if PY_VERSION_HEX >= 0x030C0000
    CALLS_A_LEVEL = 3, /* at most: a function, its generator, and a function for an object */
#else
    CALLS_A_LEVEL = 4, /* functions of C count too: the str.join between the two */
#endif
    CALLS_FOR_A_VALUE = 8, /* at the end of the way down */
    MOST_CONVERSIONS = 100 /* as the twin has it, which decides past that */
};

/* How many levels of nesting the SDK, which recurses, certainly reaches from here. Deeper values
 * are left to the twin, which finds out how far the SDK would get. */
static Py_ssize_t levels_in_reach(void) {
    Py_ssize_t calls;
#if PY_VERSION_HEX >= 0x030F0000
    return FEW_LEVELS;
#elif PY_VERSION_HEX >= 0x030C0000
    const PyThreadState *const thread = PyThreadState_Get();
    calls = thread->py_recursion_remaining;
#if PY_VERSION_HEX < 0x030E0000 /* those of C, of which a level takes as many, are counted too */
    if (thread->c_recursion_remaining < calls) {
        calls = thread->c_recursion_remaining;
    }
#endif
#elif PY_VERSION_HEX >= 0x030B0000
    calls = PyThreadState_Get()->recursion_remaining;
#else
    calls = Py_GetRecursionLimit() - PyThreadState_Get()->recursion_depth;
#endif
    if (OVT_LIKELY(calls >= CALLS_FOR_A_VALUE + CALLS_A_LEVEL * MANY_LEVELS)) {
        return MANY_LEVELS;
    }
    const Py_ssize_t levels = (calls - CALLS_FOR_A_VALUE) / CALLS_A_LEVEL;
    return levels < 1 ? 1 : levels;
}

static bool read_compat_options(const module_state *state, PyObject *encoder, PyObject *max_depth,
                                ovt_walk_options *options) {
    if (!ovt_read_options(state, OVT_PROFILE_COMPAT, encoder, max_depth, options)) {
        return false;
    }
    const Py_ssize_t levels = levels_in_reach();
    if (options->max_depth > levels) {
        options->max_depth = levels;
    }
    options->max_conversions =
        options->max_depth < MOST_CONVERSIONS ? options->max_depth : MOST_CONVERSIONS;
    return true;
}

/* What was computed here, or what the twin answers: it knows what to do where the SDK would have
 * raised. `result` is NULL with an exception set, or without one if nothing was tried. */
static PyObject *compat_answer(const module_state *state, const char *function, PyObject *result,
                               PyObject *const *args, Py_ssize_t nargs, PyObject *keywords) {
    if (OVT_LIKELY(result != NULL)) {
        return result;
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(state->canonicalization_error)) {
            return NULL; /* a hook's, and so final; or it stops the program */
        }
        PyErr_Clear();
    }
    PyObject *twin = PyMapping_GetItemString(state->pure_compat, function);
    if (twin != NULL) {
        result = PyObject_Vectorcall(twin, args, (size_t)nargs, keywords);
        Py_DECREF(twin);
    }
    return result;
}

PyObject *ovt_compat_canonical_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_canonical_json_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[1], given[2], &options)) {
        return NULL;
    }
    return compat_answer(state, ovt_canonical_json_takes.function,
                         canonical_str(given[0], &options), args, nargs, keywords);
}

PyObject *ovt_compat_hash_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_hash_json_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[1], given[2], &options)) {
        return NULL;
    }
    const selected_args whole = {.args = given[0]};
    return compat_answer(state, ovt_hash_json_takes.function, digest_str(NULL, 0, &whole, &options),
                         args, nargs, keywords);
}

static bool is_list_or_none(PyObject *names) {
    return names == NULL || names == Py_None || PyTuple_CheckExact(names) ||
           PyList_CheckExact(names);
}

/* Whether reading the declared names once more gives the same ones. */
static bool can_be_read_again(PyObject *names) {
    return is_list_or_none(names) || PyAnySet_CheckExact(names) || PyUnicode_CheckExact(names);
}

/* As ovt_select, by the rules of the SDK: they are the same for an exact dict and names that are
 * declared in a list. */
static bool select_for_compat(const module_state *state, PyObject *args, PyObject *match_on,
                              PyObject *ignore_args, kept_members *room, selected_args *selected) {
    if (PyDict_CheckExact(args) && is_list_or_none(match_on) && is_list_or_none(ignore_args)) {
        return ovt_select(state, args, match_on, ignore_args, room, selected);
    }
    *selected = (selected_args){0};
    selected->args = PyObject_CallFunctionObjArgs(
        state->select_as_sdk, args, match_on != NULL ? match_on : Py_None,
        ignore_args != NULL ? ignore_args : Py_None, NULL);
    return selected->args != NULL;
}

/* The fingerprint of a call whose parts have the usual types; NULL otherwise or on failure. */
static PyObject *compat_digest(const module_state *state, PyObject *kind, PyObject *name,
                               PyObject *args, PyObject *match_on, PyObject *ignore_args,
                               const ovt_walk_options *options) {
    if ((kind != state->tool_call && !ovt_is_plain_name(kind)) || !ovt_is_plain_name(name) ||
        !can_be_read_again(match_on) || !can_be_read_again(ignore_args)) {
        return NULL;
    }
    PyObject *digest = NULL;
    kept_members room;
    selected_args selected;
    char storage[256];
    ovt_buffer prefix;
    ovt_buffer_init(&prefix, storage, sizeof storage, NULL);
    if (ovt_write_prefix(&prefix, kind, name)) {
        if (select_for_compat(state, args, match_on, ignore_args, &room, &selected)) {
            digest = digest_str(prefix.data, ovt_buffer_length(&prefix), &selected, options);
            ovt_release_selected(&selected);
        } else if (PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear(); /* the arguments' own code has raised: the twin knows what then */
        }
    }
    ovt_buffer_release(&prefix);
    return digest;
}

PyObject *ovt_compat_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[7];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_fingerprint_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[5], given[6], &options)) {
        return NULL;
    }
    PyObject *digest =
        compat_digest(state, given[0], given[1], given[2], given[3], given[4], &options);
    return compat_answer(state, ovt_fingerprint_takes.function, digest, args, nargs, keywords);
}

PyObject *ovt_compat_tool_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                      PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[6];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_tool_fingerprint_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[4], given[5], &options)) {
        return NULL;
    }
    PyObject *digest =
        compat_digest(state, state->tool_call, given[0], given[1], given[2], given[3], &options);
    return compat_answer(state, ovt_tool_fingerprint_takes.function, digest, args, nargs, keywords);
}
