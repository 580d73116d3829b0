#include "module_state.h"

const char *const ovt_argument_names[NAME_COUNT] = {
    [NAME_VALUE] = "value",         [NAME_ENCODER] = "encoder",
    [NAME_MAX_DEPTH] = "max_depth", [NAME_KIND] = "kind",
    [NAME_NAME] = "name",           [NAME_ARGS] = "args",
    [NAME_MATCH_ON] = "match_on",   [NAME_IGNORE_ARGS] = "ignore_args",
    [NAME_CALLS] = "calls",         [NAME_TEXT] = "text",
    [NAME_INTEGERS] = "integers",   [NAME_OBJ] = "obj",
    [NAME_PROFILE] = "profile",     [NAME_FORMATS] = "formats",
    [NAME_ENUM_KEY] = "enum_key",
};

int ovt_module_visit(PyObject *module, visitproc visit, void *arg) {
    module_state *state = state_of(module);
    PyObject **const objects[] = {
        &state->python.pairs_type,
        &state->python.set_items_type,
        &state->python.verbatim_type,
        &state->python.null_text,
        &state->python.dropped,
        &state->python.unsupported,
        &state->python.failure,
        &state->python.nesting_failure,
        &state->python.conversion_failure,
        &state->python.key_surrogate_failure,
        &state->shapes.checked_profile,
        &state->shapes.text_failure,
        &state->shapes.counter_type,
        &state->shapes.pure_counter,
        &state->checked_encoder,
        &state->checked_depth,
        &state->checked_integers,
        &state->checked_kind,
        &state->checked_text,
        &state->call_parts,
        &state->key_names,
        &state->select_args,
        &state->select_as_sdk,
        &state->pure_compat,
        &state->canonicalization_error,
        &state->in_call,
        &state->tool_call,
        &state->fingerprinter_type,
    };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        Py_VISIT(*objects[i]);
    }
    for (int i = 0; i < OVT_PROFILE_COUNT; i++) {
        Py_VISIT(state->python.converters[i]);
    }
    for (int i = 0; i < OVT_SHAPE_PROFILES; i++) {
        Py_VISIT(state->shapes.views[i]);
    }
    return 0;
}

int ovt_module_clear(PyObject *module) {
    module_state *state = state_of(module);
    Py_CLEAR(state->python.pairs_type);
    Py_CLEAR(state->python.set_items_type);
    Py_CLEAR(state->python.verbatim_type);
    Py_CLEAR(state->python.null_text);
    Py_CLEAR(state->python.dropped);
    Py_CLEAR(state->python.unsupported);
    Py_CLEAR(state->python.failure);
    Py_CLEAR(state->python.nesting_failure);
    Py_CLEAR(state->python.conversion_failure);
    Py_CLEAR(state->python.key_surrogate_failure);
    Py_CLEAR(state->shapes.checked_profile);
    Py_CLEAR(state->shapes.text_failure);
    Py_CLEAR(state->shapes.counter_type);
    Py_CLEAR(state->shapes.pure_counter);
    Py_CLEAR(state->checked_encoder);
    Py_CLEAR(state->checked_depth);
    Py_CLEAR(state->checked_integers);
    Py_CLEAR(state->checked_kind);
    Py_CLEAR(state->checked_text);
    Py_CLEAR(state->call_parts);
    Py_CLEAR(state->key_names);
    Py_CLEAR(state->select_args);
    Py_CLEAR(state->select_as_sdk);
    Py_CLEAR(state->pure_compat);
    Py_CLEAR(state->canonicalization_error);
    Py_CLEAR(state->in_call);
    Py_CLEAR(state->tool_call);
    Py_CLEAR(state->fingerprinter_type);
    for (int i = 0; i < OVT_PROFILE_COUNT; i++) {
        Py_CLEAR(state->python.converters[i]);
    }
    for (int i = 0; i < OVT_SHAPE_PROFILES; i++) {
        Py_CLEAR(state->shapes.profiles[i]);
        Py_CLEAR(state->shapes.views[i]);
    }
    for (int i = 0; i < NAME_COUNT; i++) {
        Py_CLEAR(state->names[i]);
    }
    ovt_llm_side_clear(&state->calls);
    ovt_key_memory_clear(&state->key_memory);
    return 0;
}

void ovt_module_free(void *module) {
    ovt_module_clear(module);
    ovt_spare_release(&state_of(module)->spare);
}

/* ---- the package's Python side --------------------------------------------------------------- */

/* Puts one attribute of a module of the package into the state. */
static bool import_into(PyObject **slot, const char *module_name, const char *attribute) {
    PyObject *module = PyImport_ImportModule(module_name);
    *slot = module == NULL ? NULL : PyObject_GetAttrString(module, attribute);
    Py_XDECREF(module);
    return *slot != NULL;
}

static bool import_converters(ovt_python_side *python) {
    PyObject *converters;
    if (!import_into(&converters, "overturn_fast._convert", "CONVERTERS")) {
        return false;
    }
    bool found = true;
    for (int i = 0; found && i < OVT_PROFILE_COUNT; i++) {
        python->converters[i] = PyMapping_GetItemString(converters, ovt_profiles[i].name);
        found = python->converters[i] != NULL;
    }
    Py_DECREF(converters);
    return found;
}

static bool import_python_side(module_state *state) {
    const struct {
        PyObject **slot;
        const char *module;
        const char *attribute;
    } imports[] = {
        {&state->python.pairs_type, "overturn_fast._convert", "Pairs"},
        {&state->python.set_items_type, "overturn_fast._convert", "SetItems"},
        {&state->python.verbatim_type, "overturn_fast._convert", "Verbatim"},
        {&state->python.null_text, "overturn_fast._convert", "NULL"},
        {&state->python.dropped, "overturn_fast._convert", "DROPPED"},
        {&state->python.unsupported, "overturn_fast._convert", "UNSUPPORTED"},
        {&state->python.failure, "overturn_fast._errors", "failure"},
        {&state->python.nesting_failure, "overturn_fast._errors", "nesting_failure"},
        {&state->python.conversion_failure, "overturn_fast._errors", "conversion_failure"},
        {&state->python.key_surrogate_failure, "overturn_fast._errors", "key_surrogate_failure"},
        {&state->shapes.checked_profile, "overturn_fast._arguments", "checked_shape_profile"},
        {&state->shapes.text_failure, "overturn_fast._errors", "text_failure"},
        {&state->shapes.pure_counter, "overturn_fast._pure.shape_counter", "shape_counter"},
        {&state->in_call, "overturn_fast._errors", "in_call"},
        {&state->checked_encoder, "overturn_fast._arguments", "checked_encoder"},
        {&state->checked_depth, "overturn_fast._arguments", "checked_depth"},
        {&state->checked_integers, "overturn_fast._arguments", "checked_integers"},
        {&state->checked_kind, "overturn_fast._arguments", "checked_kind"},
        {&state->checked_text, "overturn_fast._arguments", "checked_text"},
        {&state->call_parts, "overturn_fast._arguments", "call_parts"},
        {&state->tool_call, "overturn_fast._arguments", "TOOL_CALL"},
        {&state->key_names, "overturn_fast._selection", "key_names"},
        {&state->select_args, "overturn_fast._selection", "select_args"},
        {&state->select_as_sdk, "overturn_fast._selection", "select_as_sdk"},
        {&state->pure_compat, "overturn_fast._pure.compat", "FUNCTIONS"},
        {&state->canonicalization_error, "overturn_fast._errors", "CanonicalizationError"},
    };
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
        if (!import_into(imports[i].slot, imports[i].module, imports[i].attribute)) {
            return false;
        }
    }
    PyObject *depth;
    if (!import_into(&depth, "overturn_fast._arguments", "DEFAULT_MAX_DEPTH")) {
        return false;
    }
    state->default_max_depth = PyLong_AsSsize_t(depth);
    Py_DECREF(depth);
    return import_converters(&state->python);
}

/* The names of the profiles, their views, and a number that nobody outside this process knows. */
static bool prepare_shapes(module_state *state) {
    static const char *const names[OVT_SHAPE_PROFILES] = {
        [OVT_SHAPE_SEED] = "seed",
        [OVT_SHAPE_V2] = "v2",
    };
    PyObject *views;
    if (!import_into(&views, "overturn_fast._shape_values", "VIEWS")) {
        return false;
    }
    bool found = true;
    for (int i = 0; found && i < OVT_SHAPE_PROFILES; i++) {
        state->shapes.profiles[i] = PyUnicode_InternFromString(names[i]);
        state->shapes.views[i] = PyMapping_GetItemString(views, names[i]);
        found = state->shapes.profiles[i] != NULL && state->shapes.views[i] != NULL;
    }
    Py_DECREF(views);
    if (found) {
        state->shapes.seed = (uint64_t)PyObject_Hash(state->shapes.profiles[OVT_SHAPE_SEED]);
    }
    return found;
}

bool ovt_module_fill(module_state *state) {
    state->python.running_conversions = &state->running_conversions;
    state->python.spare = &state->spare;
    state->python.dumped = state->dumped;
    state->python.key_memory = &state->key_memory;
    state->python.reads_entries = ovt_dict_layout_holds();
    for (int i = 0; i < NAME_COUNT; i++) {
        state->names[i] = PyUnicode_InternFromString(ovt_argument_names[i]);
        if (state->names[i] == NULL) {
            return false;
        }
    }
    return import_python_side(state) && prepare_shapes(state) && ovt_llm_side_init(&state->calls);
}
