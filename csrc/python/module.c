/* The module overturn_fast._walker: the public functions over Python objects.
 *
 * It lives in the same shared library as the cffi binding and is loaded from there
 * (overturn_fast/_backend.py). The functions over one value are here, the others in the files that
 * module_functions.h names. */
#include "arguments.h"
#include "docstrings.h"
#include "module_functions.h"
#include "output.h"
#include "overturn.h"

/* ---- fingerprints and canonical text ------------------------------------------------------------
 */

static PyObject *canonical_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_canonical_json_takes, args, nargs, keywords, given) ||
        !ovt_read_options(state, OVT_PROFILE_OVERTURN, given[1], given[2], &options)) {
        return NULL;
    }
    return canonical_str(given[0], &options);
}

static PyObject *hash_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_hash_json_takes, args, nargs, keywords, given) ||
        !ovt_read_options(state, OVT_PROFILE_OVERTURN, given[1], given[2], &options)) {
        return NULL;
    }
    const selected_args whole = {.args = given[0]};
    return digest_str(NULL, 0, &whole, &options);
}

static PyObject *fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[7];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_fingerprint_takes, args, nargs, keywords, given) ||
        !ovt_read_options(state, OVT_PROFILE_OVERTURN, given[5], given[6], &options)) {
        return NULL;
    }
    const call_parts call = {state, given[0], given[1], given[2], given[3], given[4]};
    return fingerprint_of(&call, &options);
}

static PyObject *tool_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[6];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &ovt_tool_fingerprint_takes, args, nargs, keywords, given) ||
        !ovt_read_options(state, OVT_PROFILE_OVERTURN, given[4], given[5], &options)) {
        return NULL;
    }
    const call_parts call = {state, state->tool_call, given[0], given[1], given[2], given[3]};
    return fingerprint_of(&call, &options);
}

/* ---- any profile
 * --------------------------------------------------------------------------------- */

/* Reads the arguments of a function over any profile: its name, a value, an encoder, a depth. */
static bool read_profile_arguments(const module_state *state, const char *function,
                                   PyObject *const *args, Py_ssize_t nargs,
                                   ovt_walk_options *options) {
    if (nargs < 2 || nargs > 4 || !PyUnicode_Check(args[0])) {
        PyErr_Format(PyExc_TypeError, "%s() takes a profile's name, a value, an encoder, a depth",
                     function);
        return false;
    }
    for (int i = 0; i < OVT_PROFILE_COUNT; i++) {
        if (PyUnicode_CompareWithASCIIString(args[0], ovt_profiles[i].name) == 0) {
            return ovt_read_options(state, i, nargs > 2 ? args[2] : NULL,
                                    nargs > 3 ? args[3] : NULL, options);
        }
    }
    PyErr_SetObject(PyExc_KeyError, args[0]);
    return false;
}

/* canonical_with(profile, value, encoder=None, max_depth=default): any profile, by its name. */
static PyObject *canonical_with(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    ovt_walk_options options;
    return read_profile_arguments(state_of(module), "canonical_with", args, nargs, &options)
               ? canonical_str(args[1], &options)
               : NULL;
}

/* hash_with(profile, value, encoder=None, max_depth=default): the digest of that text. */
static PyObject *hash_with(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    ovt_walk_options options;
    if (!read_profile_arguments(state_of(module), "hash_with", args, nargs, &options)) {
        return NULL;
    }
    const selected_args whole = {.args = args[1]};
    return digest_str(NULL, 0, &whole, &options);
}

/* call_fingerprint(kinds, call, version, precision, max_depth): see
 * overturn_fast/_pure/call_key.py. All but the call has been checked. */
static PyObject *call_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    const module_state *state = state_of(module);
    ovt_walk_options options;
    if (nargs < 4 || nargs > 5 || !PyTuple_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError,
                        "call_fingerprint() takes kinds, a call, a version, a precision, a depth");
        return NULL;
    }
    if (PyTuple_GET_SIZE(args[0]) != 7) {
        Py_RETURN_NONE;
    }
    if (!ovt_read_options(state, OVT_PROFILE_PLEACH, NULL, NULL, &options)) {
        return NULL;
    }
    if (nargs == 5) {
        options.max_depth = PyLong_AsSsize_t(args[4]);
        options.max_conversions = options.max_depth;
    }
    const ovt_llm_parts parts = {
        .kinds =
            {
                .fingerprint_type = (PyTypeObject *)PyTuple_GET_ITEM(args[0], 0),
                .catalog_type = (PyTypeObject *)PyTuple_GET_ITEM(args[0], 1),
                .prompt_type = (PyTypeObject *)PyTuple_GET_ITEM(args[0], 2),
                .modes = PyTuple_GET_ITEM(args[0], 3),
                .positions = PyTuple_GET_ITEM(args[0], 4),
                .policies_digest = PyTuple_GET_ITEM(args[0], 5),
                .locate = PyTuple_GET_ITEM(args[0], 6),
            },
        .call = args[1],
        .version = args[2],
        .precision = PyLong_AsSsize_t(args[3]),
    };
    return PyErr_Occurred() ? NULL : ovt_call_fingerprint(&state->calls, &parts, &options);
}

/* ---- RFC 8785
 * ------------------------------------------------------------------------------------ */

/* Reads the arguments of a function of RFC 8785: a value, and how to walk it. */
static bool read_jcs_arguments(const module_state *state, const char *function,
                               PyObject *const *args, Py_ssize_t nargs, PyObject *keywords,
                               PyObject **value, ovt_walk_options *options) {
    const signature takes = {
        function, {NAME_VALUE, NAME_INTEGERS, NAME_ENCODER, NAME_MAX_DEPTH}, 4, 1, 1};
    PyObject *given[4];
    if (!ovt_read_arguments(state, &takes, args, nargs, keywords, given)) {
        return false;
    }
    *value = given[0];
    int is_double = 0;
    if (given[1] != NULL) {
        PyObject *checked = PyObject_CallOneArg(state->checked_integers, given[1]);
        if (checked == NULL) {
            return false;
        }
        is_double = checked == Py_True;
        Py_DECREF(checked);
    }
    return ovt_read_options(state, is_double ? OVT_PROFILE_JCS_DOUBLE : OVT_PROFILE_JCS, given[2],
                            given[3], options);
}

static PyObject *jcs_dumps(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *keywords) {
    PyObject *value;
    ovt_walk_options options;
    return read_jcs_arguments(state_of(module), "dumps", args, nargs, keywords, &value, &options)
               ? canonical_bytes(value, &options)
               : NULL;
}

static PyObject *jcs_sha256(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *keywords) {
    selected_args whole = {0};
    ovt_walk_options options;
    return read_jcs_arguments(state_of(module), "sha256", args, nargs, keywords, &whole.args,
                              &options)
               ? digest_str(NULL, 0, &whole, &options)
               : NULL;
}

/* ---- the module
 * ---------------------------------------------------------------------------------- */

static int execute_module(PyObject *module) {
    const char *rejected = ovt_sha256_rejected();
    if (rejected != NULL) {
        PyErr_Format(PyExc_ImportError, "OVERTURN_FAST_SHA256 is '%s'; this machine can run: %s",
                     rejected, ovt_sha256_variants());
        return -1;
    }
    module_state *state = state_of(module);
    if (!ovt_module_fill(state)) {
        return -1;
    }
    state->fingerprinter_type = PyType_FromModuleAndSpec(module, &ovt_fingerprinter_spec, NULL);
    if (state->fingerprinter_type == NULL ||
        PyModule_AddType(module, (PyTypeObject *)state->fingerprinter_type) < 0) {
        return -1;
    }
    state->shapes.counter_type = PyType_FromModuleAndSpec(module, &ovt_counter_spec, NULL);
    if (state->shapes.counter_type == NULL) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "VERSION", ovt_version());
}

#define OVT_FASTCALL(function) (PyCFunction)(void (*)(void)) function

static PyMethodDef walker_functions[] = {
    {"canonical_json", OVT_FASTCALL(canonical_json), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_CANONICAL_JSON},
    {"hash_json", OVT_FASTCALL(hash_json), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_HASH_JSON},
    {"fingerprint", OVT_FASTCALL(fingerprint), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_FINGERPRINT},
    {"tool_fingerprint", OVT_FASTCALL(tool_fingerprint), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_TOOL_FINGERPRINT},
    {"fingerprint_many", OVT_FASTCALL(ovt_fingerprint_many), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_FINGERPRINT_MANY},
    {"args_hash", OVT_FASTCALL(ovt_args_hash), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_ARGS_HASH},
    {"json_size", OVT_FASTCALL(ovt_json_size_function), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_JSON_SIZE},
    {"utf16_length", OVT_FASTCALL(ovt_utf16_length_function), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_UTF16_LENGTH},
    {"dumps", OVT_FASTCALL(jcs_dumps), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_DUMPS},
    {"sha256", OVT_FASTCALL(jcs_sha256), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_SHA256},
    {"shape", OVT_FASTCALL(ovt_shape_function), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_SHAPE},
    {"shape_fingerprint", OVT_FASTCALL(ovt_shape_fingerprint), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_SHAPE_FINGERPRINT},
    {"shape_counter", OVT_FASTCALL(ovt_shape_counter), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_SHAPE_COUNTER},
    {"compat_canonical_json", OVT_FASTCALL(ovt_compat_canonical_json),
     METH_FASTCALL | METH_KEYWORDS, OVT_DOC_COMPAT_CANONICAL_JSON},
    {"compat_hash_json", OVT_FASTCALL(ovt_compat_hash_json), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_COMPAT_HASH_JSON},
    {"compat_fingerprint", OVT_FASTCALL(ovt_compat_fingerprint), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_COMPAT_FINGERPRINT},
    {"compat_tool_fingerprint", OVT_FASTCALL(ovt_compat_tool_fingerprint),
     METH_FASTCALL | METH_KEYWORDS, OVT_DOC_COMPAT_TOOL_FINGERPRINT},
    {"canonical_with", OVT_FASTCALL(canonical_with), METH_FASTCALL, OVT_DOC_CANONICAL_WITH},
    {"hash_with", OVT_FASTCALL(hash_with), METH_FASTCALL, OVT_DOC_HASH_WITH},
    {"call_fingerprint", OVT_FASTCALL(call_fingerprint), METH_FASTCALL, OVT_DOC_CALL_FINGERPRINT},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot walker_slots[] = {
    {Py_mod_exec, execute_module},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef walker_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "overturn_fast._walker",
    .m_doc = "The functions of overturn_fast over Python objects, on the C core.",
    .m_size = sizeof(module_state),
    .m_methods = walker_functions,
    .m_slots = walker_slots,
    .m_traverse = ovt_module_visit,
    .m_clear = ovt_module_clear,
    .m_free = ovt_module_free,
};

PyMODINIT_FUNC PyInit__walker(void) {
    return PyModuleDef_Init(&walker_module);
}
