/* The module overturn_fast._walker: the public functions over Python objects.
 *
 * It lives in the same shared library as the cffi binding and is loaded from there
 * (overturn_fast/_backend.py). Everything it keeps is in the module's state, so it may be loaded
 * into several interpreters. Arguments with their default values are read here; any other goes
 * through the checks of overturn_fast/_arguments.py, which words the errors for both backends. */
#include "call_key.h"
#include "dict_value.h"
#include "docstrings.h"
#include "hex_str.h"
#include "json_size.h"
#include "number_write.h"
#include "overturn.h"
#include "shape_counter.h"
#include "utf16_length.h"
#include "walker.h"

#include <structmember.h>

/* ---- the module's state --------------------------------------------------------------------- */

/* The names that keyword arguments may have. */
typedef enum {
    NAME_VALUE,
    NAME_ENCODER,
    NAME_MAX_DEPTH,
    NAME_KIND,
    NAME_NAME,
    NAME_ARGS,
    NAME_MATCH_ON,
    NAME_IGNORE_ARGS,
    NAME_CALLS,
    NAME_TEXT,
    NAME_INTEGERS,
    NAME_OBJ,
    NAME_PROFILE,
    NAME_FORMATS,
    NAME_ENUM_KEY,
    NAME_COUNT,
} argument_name;

static const char *const argument_names[NAME_COUNT] = {
    [NAME_VALUE] = "value",         [NAME_ENCODER] = "encoder",
    [NAME_MAX_DEPTH] = "max_depth", [NAME_KIND] = "kind",
    [NAME_NAME] = "name",           [NAME_ARGS] = "args",
    [NAME_MATCH_ON] = "match_on",   [NAME_IGNORE_ARGS] = "ignore_args",
    [NAME_CALLS] = "calls",         [NAME_TEXT] = "text",
    [NAME_INTEGERS] = "integers",   [NAME_OBJ] = "obj",
    [NAME_PROFILE] = "profile",     [NAME_FORMATS] = "formats",
    [NAME_ENUM_KEY] = "enum_key",
};

typedef struct {
    ovt_python_side python;
    PyObject *checked_encoder;  /* _arguments.checked_encoder */
    PyObject *checked_depth;    /* _arguments.checked_depth */
    PyObject *checked_integers; /* _arguments.checked_integers */
    PyObject *checked_kind;     /* _arguments.checked_kind */
    PyObject *checked_text;     /* _arguments.checked_text */
    PyObject *call_parts;       /* _arguments.call_parts */
    PyObject *key_names;        /* _selection.key_names */
    PyObject *select_args;      /* _selection.select_args */
    PyObject *select_as_sdk;    /* _selection.select_as_sdk */
    PyObject *pure_compat;      /* _pure.compat.FUNCTIONS */
    PyObject *canonicalization_error;
    PyObject *in_call;   /* _errors.in_call */
    PyObject *tool_call; /* the kind of a tool call */
    PyObject *fingerprinter_type;
    PyObject *names[NAME_COUNT];
    ovt_shape_side shapes;
    ovt_llm_side calls;
    Py_ssize_t default_max_depth;
    int running_conversions; /* these two: see ovt_python_side */
    ovt_spare spare;
    size_t dumped[2];
    ovt_key_memory key_memory;
} module_state;

static inline module_state *state_of(PyObject *module) {
    return PyModule_GetState(module);
}

static int visit_state(PyObject *module, visitproc visit, void *arg) {
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

static int clear_state(PyObject *module) {
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

static void free_state(void *module) {
    clear_state(module);
    ovt_spare_release(&state_of(module)->spare);
}

/* ---- arguments ----------------------------------------------------------------------------------
 */

/* What a function takes: the first `positional` names in order, the rest by keyword only. */
typedef struct {
    const char *function;
    argument_name names[8];
    int count;
    int positional;
    int required;
} signature;

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

/* Sorts a vectorcall's arguments into `given`, in the order of the signature; NULL if not given. */
static bool read_arguments(const module_state *state, const signature *takes, PyObject *const *args,
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
                         argument_names[takes->names[i]]);
            return false;
        }
    }
    return true;
}

/* How to walk; `encoder` and `max_depth` are NULL where they are not given. */
static bool read_options(const module_state *state, int profile, PyObject *encoder,
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

/* ---- selection ----------------------------------------------------------------------------------
 */

enum {
    FEW_NAMES = 16, /* compared one by one with each key; more go through a dict in Python */
};

/* The declared keys as a tuple: of a tuple or list as they stand, of anything else through
 * _selection.key_names. A new reference. */
static PyObject *declared_names(const module_state *state, PyObject *names,
                                argument_name parameter) {
    if (names == NULL || names == Py_None) {
        return PyTuple_New(0);
    }
    if (PyTuple_CheckExact(names)) {
        return Py_NewRef(names);
    }
    if (PyList_CheckExact(names)) {
        return PyList_AsTuple(names);
    }
    return PyObject_CallFunction(state->key_names, "Os", names, argument_names[parameter]);
}

/* Whether a name can be compared with keys as it stands. Surrogates cannot: two keys that hold them
 * may have one text, and then it counts in which order they are declared. */
static bool is_plain_str(PyObject *name) {
    if (!PyUnicode_CheckExact(name)) {
        return false;
    }
    ovt_text text;
    return PyUnicode_IS_COMPACT_ASCII(name) ||
           (ovt_read_str(name, &text) && !ovt_has_surrogates(text));
}

/* Whether the name at `index` has come before. */
static bool is_repeated(PyObject *const *names, Py_ssize_t index) {
    PyObject *const name = names[index];
    for (Py_ssize_t i = 0; i < index; i++) {
        PyObject *const other = names[i];
        if (other == name || (PyUnicode_GET_LENGTH(other) == PyUnicode_GET_LENGTH(name) &&
                              PyUnicode_Compare(other, name) == 0)) {
            return true;
        }
    }
    return false;
}

/* Whether names are so many, and such, that they are looked at one by one. */
static bool are_few_plain_str(PyObject *const *names, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && count <= FEW_NAMES; i++) {
        if (!is_plain_str(names[i]) || is_repeated(names, i)) {
            return false;
        }
    }
    return count <= FEW_NAMES;
}

static bool has_plain_keys_locked(PyObject *dict) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict, &position, &key, &value)) {
        if (!PyUnicode_CheckExact(key) && !PyLong_CheckExact(key) && !PyFloat_CheckExact(key) &&
            !PyBool_Check(key) && key != Py_None) {
            return false;
        }
    }
    return true;
}

/* Whether finding an exact str in a dict compares with nothing but built-in types. */
static bool has_plain_keys(PyObject *dict) {
    bool is_plain;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(dict);
#endif
    is_plain = has_plain_keys_locked(dict);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return is_plain;
}

/* The arguments that count: either all of `args`, or those of it that `selection` names. */
typedef struct {
    PyObject *args;
    PyObject *names; /* a tuple that holds the selection's names, or NULL */
    ovt_selection selection;
} selected_args;

/* Room for the members of a selection that keeps some. */
typedef struct {
    ovt_dict_entry members[FEW_NAMES];
} kept_members;

static void release_selected(selected_args *selected) {
    const ovt_selection *selection = &selected->selection;
    for (Py_ssize_t i = 0; selection->kept != NULL && i < selection->count; i++) {
        Py_DECREF(selection->kept[i].key);
        Py_DECREF(selection->kept[i].value);
    }
    selected->selection = (ovt_selection){0};
    Py_CLEAR(selected->args);
    Py_CLEAR(selected->names);
}

/* Looks names up in an exact dict; false with an exception set. The names are held before, as an
 * odd key may run Python code. */
static bool select_kept(const module_state *state, PyObject *dict, PyObject *const *names,
                        Py_ssize_t count, kept_members *room, selected_args *selected) {
    /* Where there are any, finding a str runs no Python code, and they stay where they are. */
    const ovt_dict_entry *const entries =
        state->python.reads_entries ? ovt_dict_entries(dict) : NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        room->members[i].key = Py_NewRef(names[i]);
    }
    Py_ssize_t kept = 0;
    bool is_well = true;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *const name = room->members[i].key;
        PyObject *const value = is_well ? ovt_dict_value_among(dict, entries, name) : NULL;
        if (value != NULL) {
            room->members[kept++] = (ovt_dict_entry){name, value};
        } else {
            is_well = is_well && PyErr_Occurred() == NULL;
            Py_DECREF(name);
        }
    }
    selected->args = Py_NewRef(dict);
    selected->selection = (ovt_selection){.kept = room->members, .count = kept, .is_partial = true};
    return is_well;
}

static bool select_declared(const module_state *state, PyObject *args, PyObject *kept,
                            PyObject *dropped, kept_members *room, selected_args *selected) {
    const bool keeps = PyTuple_GET_SIZE(kept) != 0;
    PyObject *const tuple = keeps ? kept : dropped;
    PyObject *const *const names = ((PyTupleObject *)tuple)->ob_item;
    const Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    if (count == 0) {
        selected->args = Py_NewRef(args);
        return true;
    }
    if (!PyDict_CheckExact(args) || !are_few_plain_str(names, count) ||
        (!keeps && !has_plain_keys(args))) {
        selected->args =
            PyObject_CallFunctionObjArgs(state->select_args, args, kept, dropped, NULL);
        return selected->args != NULL;
    }
    if (keeps) {
        return select_kept(state, args, names, count, room, selected);
    }
    selected->args = Py_NewRef(args);
    selected->names = Py_NewRef(tuple);
    selected->selection = (ovt_selection){.dropped = names, .count = count, .is_partial = true};
    return true;
}

/* Whether no names are given. */
static inline bool declares_none(PyObject *names) {
    return names == NULL || names == Py_None ||
           (PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) == 0) ||
           (PyList_CheckExact(names) && PyList_GET_SIZE(names) == 0);
}

/* Whether select_from has the usual case: nothing declared at all, or a few plain names of members
 * of a dict to keep. */
static inline bool is_usual_selection(PyObject *args, PyObject *match_on, PyObject *ignore_args) {
    if (!declares_none(ignore_args)) {
        return false;
    }
    if (declares_none(match_on)) {
        return true;
    }
#ifdef Py_GIL_DISABLED /* another thread may change a list meanwhile */
    const bool is_sequence = PyTuple_CheckExact(match_on);
#else
    const bool is_sequence = PyTuple_CheckExact(match_on) || PyList_CheckExact(match_on);
#endif
    return is_sequence && PyDict_CheckExact(args) && Py_SIZE(match_on) != 0 &&
           are_few_plain_str(PySequence_Fast_ITEMS(match_on), Py_SIZE(match_on));
}

static bool select_by_names(const module_state *state, PyObject *args, PyObject *match_on,
                            PyObject *ignore_args, kept_members *room, selected_args *selected) {
    PyObject *kept = declared_names(state, match_on, NAME_MATCH_ON);
    PyObject *dropped = kept == NULL ? NULL : declared_names(state, ignore_args, NAME_IGNORE_ARGS);
    const bool is_selected =
        dropped != NULL && select_declared(state, args, kept, dropped, room, selected);
    Py_XDECREF(kept);
    Py_XDECREF(dropped);
    return is_selected;
}

/* Decides which arguments count, perhaps with `room`, which must live as long as `selected`; false
 * with an exception set. */
static bool select_from(const module_state *state, PyObject *args, PyObject *match_on,
                        PyObject *ignore_args, kept_members *room, selected_args *selected) {
    *selected = (selected_args){0};
    bool is_selected = true;
    if (!is_usual_selection(args, match_on, ignore_args)) {
        is_selected = select_by_names(state, args, match_on, ignore_args, room, selected);
    } else if (declares_none(match_on)) {
        selected->args = Py_NewRef(args);
    } else {
        is_selected = select_kept(state, args, PySequence_Fast_ITEMS(match_on), Py_SIZE(match_on),
                                  room, selected);
    }
    if (!is_selected) {
        release_selected(selected);
    }
    return is_selected;
}

/* ---- the work
 * --------------------------------------------------------------------------------------- */

enum {
    STACK_BUFFER = 16384, /* bytes of text held on the C stack before they are hashed or moved */
    NESTED_BUFFER = 64,   /* the same for a call that may be inside another */
    MANY_NUMBERS = 1000,  /* in a list whose length is told by them */
    NUMBER_IN_LIST = 25,  /* bytes: the longest double has 24, and there is a comma */
    LONG_TEXT = 4096,     /* bytes, from which on a text is written in place */
    LONGEST_IN_PLACE = 126000, /* with the room beside it less than 128 KB */
};

/* A call of a tool or a model, as it is given. */
typedef struct {
    const module_state *state;
    PyObject *kind;
    PyObject *name;
    PyObject *args;
    PyObject *match_on;    /* NULL: not given */
    PyObject *ignore_args; /* likewise */
} call_parts;

/* What is on the way to a digest or a text. */
typedef struct {
    const call_parts *call; /* a call, of which the rest is made here; else NULL */
    const char *prefix;     /* hashed before the canonical text */
    size_t prefix_size;
    const selected_args *selected;
    size_t digits; /* of the hexadecimal digest that are wanted; 0 for the text itself */
    bool as_bytes; /* the text as bytes, else as a str */
    const ovt_walk_options *options;
} output_job;

/* How long a text may become, if that can be told beforehand, else 0: it looks like a long list of
 * numbers, as of an embedding, or the last two were as long. */
static size_t expected_length(PyObject *value, const size_t *dumped) {
#ifndef Py_GIL_DISABLED /* another thread could change the list meanwhile */
    if (PyList_CheckExact(value)) {
        const size_t count = (size_t)PyList_GET_SIZE(value);
        if (count >= MANY_NUMBERS && PyFloat_CheckExact(PyList_GET_ITEM(value, 0))) {
            return count * NUMBER_IN_LIST;
        }
    }
#else
    (void)value;
#endif
    const size_t last = __atomic_load_n(&dumped[0], __ATOMIC_RELAXED);
    const size_t before = __atomic_load_n(&dumped[1], __ATOMIC_RELAXED);
    const size_t shorter = last < before ? last : before;
    return shorter < LONG_TEXT ? 0 : shorter + shorter / 8;
}

/* A new bytes object with room for a long text: written in place, it need not be copied. NULL for
 * any other, or without memory for it.
 *
 * For a larger object malloc may ask the system for pages of its own, every time, as what is freed
 * in the end is smaller than what was asked for; new pages cost more than a copy from a block that
 * is kept. */
static PyObject *room_for(PyObject *value, const size_t *dumped) {
    const size_t length = expected_length(value, dumped);
    if (length == 0 || length > LONGEST_IN_PLACE) {
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(length + OVT_WALK_ROOM));
    PyErr_Clear();
    return bytes;
}

/* The text in `out` as bytes: in `room` itself, whose reference this takes, if it still stands
 * there and fills most of it. */
static PyObject *bytes_of(const ovt_buffer *out, PyObject *room, size_t *dumped) {
    const size_t length = ovt_buffer_length(out);
    __atomic_store_n(&dumped[1], __atomic_load_n(&dumped[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&dumped[0], length, __ATOMIC_RELAXED);
    if (room != NULL && out->data == PyBytes_AS_STRING(room) &&
        length > (size_t)PyBytes_GET_SIZE(room) / 2) {
        _PyBytes_Resize(&room, (Py_ssize_t)length);
        return room;
    }
    PyObject *const bytes = PyBytes_FromStringAndSize(out->data, (Py_ssize_t)length);
    Py_XDECREF(room);
    return bytes;
}

/* Appends an exact str and a newline. */
static bool write_prefix_line(ovt_buffer *out, PyObject *str) {
    ovt_text text;
    if (OVT_LIKELY(PyUnicode_IS_COMPACT_ASCII(str))) {
        const size_t length = (size_t)PyUnicode_GET_LENGTH(str);
        if (OVT_LIKELY(ovt_buffer_reserve(out, length + 1))) {
            memcpy(out->end, (PyASCIIObject *)str + 1, length);
            out->end[length] = '\n';
            out->end += length + 1;
            return true;
        }
    } else if (!ovt_read_str(str, &text)) {
        return false;
    } else if (ovt_write_raw(out, text) == OVT_OK && ovt_buffer_append(out, "\n", 1)) {
        return true;
    }
    PyErr_NoMemory();
    return false;
}

/* Appends kind, newline, name, newline: what is hashed before the arguments. */
static bool write_prefix(ovt_buffer *out, PyObject *kind, PyObject *name) {
    return write_prefix_line(out, kind) && write_prefix_line(out, name);
}

/* An exact str as it is; anything else through one of _arguments' checks. A new reference. */
static PyObject *exact_name(const module_state *state, PyObject *name) {
    if (PyUnicode_CheckExact(name)) {
        return Py_NewRef(name);
    }
    return PyObject_CallFunction(state->checked_text, "Os", name, argument_names[NAME_NAME]);
}

static PyObject *exact_kind(const module_state *state, PyObject *kind) {
    return kind == state->tool_call ? Py_NewRef(kind)
                                    : PyObject_CallOneArg(state->checked_kind, kind);
}

/* Appends the arguments of a call that count. */
static bool write_arguments(ovt_buffer *out, const call_parts *call,
                            const ovt_walk_options *options) {
    if (declares_none(call->match_on) && declares_none(call->ignore_args)) {
        return ovt_walk(out, call->args, NULL, options) == 0;
    }
    kept_members room;
    selected_args selected;
    if (!select_from(call->state, call->args, call->match_on, call->ignore_args, &room,
                     &selected)) {
        return false;
    }
    const bool is_written = ovt_walk(out, selected.args, &selected.selection, options) == 0;
    release_selected(&selected);
    return is_written;
}

/* Appends what is hashed of a call; false with an exception set. */
static bool write_call(ovt_buffer *out, const call_parts *call, const ovt_walk_options *options) {
    PyObject *const kind = exact_kind(call->state, call->kind);
    PyObject *const name = kind == NULL ? NULL : exact_name(call->state, call->name);
    const bool is_written =
        name != NULL && write_prefix(out, kind, name) && write_arguments(out, call, options);
    Py_XDECREF(name);
    Py_XDECREF(kind);
    return is_written;
}

/* Appends what a job is about; false with an exception set. */
static bool write_job(ovt_buffer *out, const output_job *job) {
    if (job->call != NULL) {
        return write_call(out, job->call, job->options);
    }
    if (!ovt_buffer_append(out, job->prefix, job->prefix_size)) {
        PyErr_NoMemory();
        return false;
    }
    return ovt_walk(out, job->selected->args, &job->selected->selection, job->options) == 0;
}

static PyObject *output_through(char *storage, size_t capacity, const output_job *job) {
    PyObject *room =
        job->as_bytes ? room_for(job->selected->args, job->options->python->dumped) : NULL;
    if (room != NULL) {
        storage = PyBytes_AS_STRING(room);
        capacity = (size_t)PyBytes_GET_SIZE(room);
    }
    ovt_sha256 hash;
    ovt_buffer out;
    ovt_buffer_init(&out, storage, capacity, job->digits != 0 ? &hash : NULL);
    out.spare = job->options->python->spare;
    PyObject *result = NULL;
    if (!write_job(&out, job)) {
        Py_CLEAR(room);
    } else if (job->digits != 0) {
        uint8_t digest[OVT_SHA256_DIGEST_SIZE];
        ovt_buffer_finish_hash(&out, digest);
        result = ovt_hex_str(digest, job->digits);
    } else if (job->as_bytes) {
        result = bytes_of(&out, room, job->options->python->dumped);
    } else {
        result = PyUnicode_DecodeUTF8(out.data, (Py_ssize_t)ovt_buffer_length(&out), NULL);
    }
    ovt_buffer_release(&out);
    return result;
}

static OVT_NEVER_INLINE PyObject *output_on_stack(const output_job *job) {
    /* Aligned, so that no vector load of a block of SHA-256 crosses a line of the cache. */
    _Alignas(OVT_SHA256_BLOCK_SIZE) char storage[STACK_BUFFER];
    return output_through(storage, sizeof storage, job);
}

static OVT_NEVER_INLINE PyObject *output_nested(const output_job *job) {
    char storage[NESTED_BUFFER];
    return output_through(storage, sizeof storage, job);
}

static PyObject *output_of(const output_job *job) {
    return OVT_UNLIKELY(ovt_may_be_nested(job->options->python)) ? output_nested(job)
                                                                 : output_on_stack(job);
}

static PyObject *canonical_str(PyObject *value, const ovt_walk_options *options) {
    const selected_args whole = {.args = value};
    const output_job job = {.selected = &whole, .options = options};
    return output_of(&job);
}

/* The first `size` hexadecimal digits of the digest of `prefix` and the canonical text of what is
 * selected. */
static PyObject *digest_start(size_t size, const char *prefix, size_t prefix_size,
                              const selected_args *selected, const ovt_walk_options *options) {
    const output_job job = {
        .prefix = prefix,
        .prefix_size = prefix_size,
        .selected = selected,
        .digits = size,
        .options = options,
    };
    return output_of(&job);
}

/* All of them. */
static PyObject *digest_str(const char *prefix, size_t prefix_size, const selected_args *selected,
                            const ovt_walk_options *options) {
    return digest_start(OVT_SHA256_HEX_SIZE, prefix, prefix_size, selected, options);
}

/* fingerprint() with its arguments read. */
static PyObject *fingerprint_of(const call_parts *call, const ovt_walk_options *options) {
    const output_job job = {.call = call, .digits = OVT_SHA256_HEX_SIZE, .options = options};
    return output_of(&job);
}

/* ---- the functions
 * -------------------------------------------------------------------------------- */

/* What these take, and those of compat under the same names. */
static const signature canonical_json_takes = {
    "canonical_json", {NAME_VALUE, NAME_ENCODER, NAME_MAX_DEPTH}, 3, 1, 1};

static const signature hash_json_takes = {
    "hash_json", {NAME_VALUE, NAME_ENCODER, NAME_MAX_DEPTH}, 3, 1, 1};

static const signature fingerprint_takes = {"fingerprint",
                                            {NAME_KIND, NAME_NAME, NAME_ARGS, NAME_MATCH_ON,
                                             NAME_IGNORE_ARGS, NAME_ENCODER, NAME_MAX_DEPTH},
                                            7,
                                            5,
                                            3};

static const signature tool_fingerprint_takes = {
    "tool_fingerprint",
    {NAME_NAME, NAME_ARGS, NAME_MATCH_ON, NAME_IGNORE_ARGS, NAME_ENCODER, NAME_MAX_DEPTH},
    6,
    4,
    2};

static PyObject *canonical_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!read_arguments(state, &canonical_json_takes, args, nargs, keywords, given) ||
        !read_options(state, OVT_PROFILE_OVERTURN, given[1], given[2], &options)) {
        return NULL;
    }
    return canonical_str(given[0], &options);
}

static PyObject *hash_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!read_arguments(state, &hash_json_takes, args, nargs, keywords, given) ||
        !read_options(state, OVT_PROFILE_OVERTURN, given[1], given[2], &options)) {
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
    if (!read_arguments(state, &fingerprint_takes, args, nargs, keywords, given) ||
        !read_options(state, OVT_PROFILE_OVERTURN, given[5], given[6], &options)) {
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
    if (!read_arguments(state, &tool_fingerprint_takes, args, nargs, keywords, given) ||
        !read_options(state, OVT_PROFILE_OVERTURN, given[4], given[5], &options)) {
        return NULL;
    }
    const call_parts call = {state, state->tool_call, given[0], given[1], given[2], given[3]};
    return fingerprint_of(&call, &options);
}

/* ---- many calls ------------------------------------------------------------------------------ */

enum {
    BATCH_CALLS = 2, /* whose digests are made together, two at a time */
    /* Bytes of each, a longer one moves to the heap. Not a multiple of 4,096: addresses that agree
     * in their last bits are taken for the same one by the processor at first. */
    CALL_ROOM = 4096 + 5 * OVT_SHA256_BLOCK_SIZE,
};

/* Calls that are written and whose digests are not made yet. */
typedef struct {
    _Alignas(OVT_SHA256_BLOCK_SIZE) char storage[BATCH_CALLS][CALL_ROOM];
    ovt_buffer texts[BATCH_CALLS];
    ovt_sha256 hashes[BATCH_CALLS];
    size_t count;
} call_batch;

/* The first batch in a block that is larger by the size of a block of SHA-256. */
static call_batch *aligned_batch(void *block) {
    const uintptr_t size = OVT_SHA256_BLOCK_SIZE;
    return (call_batch *)(((uintptr_t)block + size - 1) / size * size);
}

static bool add_parts(call_batch *batch, const call_parts *call, const ovt_walk_options *options) {
    ovt_buffer *const text = &batch->texts[batch->count];
    ovt_buffer_init(text, batch->storage[batch->count], CALL_ROOM, &batch->hashes[batch->count]);
    text->spare = options->python->spare;
    ovt_buffer_hash_late(text);
    batch->count++;
    return write_call(text, call, options);
}

/* Adds one of the calls that fingerprint_many() takes; false with an exception set. */
static bool add_call(call_batch *batch, const module_state *state, PyObject *call,
                     const ovt_walk_options *options) {
    if (PyTuple_CheckExact(call) && PyTuple_GET_SIZE(call) >= 2 && PyTuple_GET_SIZE(call) <= 4) {
        const Py_ssize_t size = PyTuple_GET_SIZE(call);
        const call_parts given = {state,
                                  state->tool_call,
                                  PyTuple_GET_ITEM(call, 0),
                                  PyTuple_GET_ITEM(call, 1),
                                  size > 2 ? PyTuple_GET_ITEM(call, 2) : NULL,
                                  size > 3 ? PyTuple_GET_ITEM(call, 3) : NULL};
        return add_parts(batch, &given, options);
    }
    PyObject *parts = PyObject_CallOneArg(state->call_parts, call);
    if (parts == NULL) {
        return false;
    }
    const call_parts given = {state,
                              PyTuple_GET_ITEM(parts, 0),
                              PyTuple_GET_ITEM(parts, 1),
                              PyTuple_GET_ITEM(parts, 2),
                              PyTuple_GET_ITEM(parts, 3),
                              PyTuple_GET_ITEM(parts, 4)};
    const bool is_added = add_parts(batch, &given, options);
    Py_DECREF(parts);
    return is_added;
}

static void clear_batch(call_batch *batch) {
    while (batch->count > 0) {
        ovt_buffer_release(&batch->texts[--batch->count]);
    }
}

/* Appends the digests of the calls in the batch to a list, and empties it; false with an exception
 * set. */
static bool finish_batch(call_batch *batch, PyObject *digests) {
    uint8_t bytes[BATCH_CALLS][OVT_SHA256_DIGEST_SIZE];
    ovt_sha256_message messages[BATCH_CALLS];
    for (size_t i = 0; i < batch->count; i++) {
        const ovt_buffer *const text = &batch->texts[i];
        messages[i] =
            (ovt_sha256_message){.hash = text->hash,
                                 .bytes = text->hashed,
                                 .count = (size_t)(text->end - text->hashed),
                                 .digest = bytes[i],
                                 .has_room = text->limit - text->end >= OVT_SHA256_PAD_ROOM};
    }
    ovt_sha256_finish_all(messages, batch->count);
    bool is_well = true;
    for (size_t i = 0; is_well && i < batch->count; i++) {
        PyObject *const digest = ovt_hex_str(bytes[i], OVT_SHA256_HEX_SIZE);
        is_well = digest != NULL && PyList_Append(digests, digest) == 0;
        Py_XDECREF(digest);
    }
    clear_batch(batch);
    return is_well;
}

/* Puts the call's position before the message of the exception that is set. */
static void locate_error(const module_state *state, Py_ssize_t index) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *located = PyObject_CallFunction(state->in_call, "On", error, index);
    if (located == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(located);
    PyErr_Restore(type, error, traceback);
}

/* A list of the digests of the calls that an iterator gives. */
static PyObject *digests_of(const module_state *state, PyObject *calls,
                            const ovt_walk_options *options, call_batch *batch) {
    PyObject *digests = PyList_New(0);
    bool is_well = digests != NULL;
    PyObject *call;
    for (Py_ssize_t index = 0; is_well && (call = PyIter_Next(calls)) != NULL; index++) {
        is_well = add_call(batch, state, call, options);
        Py_DECREF(call);
        if (!is_well) {
            locate_error(state, index);
        } else if (batch->count == BATCH_CALLS) {
            is_well = finish_batch(batch, digests);
        }
    }
    if (!is_well || PyErr_Occurred() != NULL || !finish_batch(batch, digests)) {
        Py_CLEAR(digests);
    }
    return digests;
}

static PyObject *fingerprint_many(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *keywords) {
    static const signature takes = {
        "fingerprint_many", {NAME_CALLS, NAME_ENCODER, NAME_MAX_DEPTH}, 3, 1, 1};
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!read_arguments(state, &takes, args, nargs, keywords, given) ||
        !read_options(state, OVT_PROFILE_OVERTURN, given[1], given[2], &options)) {
        return NULL;
    }
    PyObject *digests = NULL;
    PyObject *const calls = PyObject_GetIter(given[0]);
    void *const block =
        calls == NULL ? NULL : PyMem_RawMalloc(sizeof(call_batch) + OVT_SHA256_BLOCK_SIZE);
    if (block != NULL) {
        call_batch *const batch = aligned_batch(block);
        batch->count = 0;
        digests = digests_of(state, calls, &options, batch);
        clear_batch(batch);
    } else if (calls != NULL) {
        PyErr_NoMemory();
    }
    PyMem_RawFree(block);
    Py_XDECREF(calls);
    return digests;
}

/* ---- compat: the values of the SDK
 * -------------------------------------------------------------------------------------------- */

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
    if (!read_options(state, OVT_PROFILE_COMPAT, encoder, max_depth, options)) {
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

static PyObject *compat_canonical_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!read_arguments(state, &canonical_json_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[1], given[2], &options)) {
        return NULL;
    }
    return compat_answer(state, canonical_json_takes.function, canonical_str(given[0], &options),
                         args, nargs, keywords);
}

static PyObject *compat_hash_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                  PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!read_arguments(state, &hash_json_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[1], given[2], &options)) {
        return NULL;
    }
    const selected_args whole = {.args = given[0]};
    return compat_answer(state, hash_json_takes.function, digest_str(NULL, 0, &whole, &options),
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

/* As select_from, by the rules of the SDK: they are the same for an exact dict and names that are
 * declared in a list. */
static bool select_for_compat(const module_state *state, PyObject *args, PyObject *match_on,
                              PyObject *ignore_args, kept_members *room, selected_args *selected) {
    if (PyDict_CheckExact(args) && is_list_or_none(match_on) && is_list_or_none(ignore_args)) {
        return select_from(state, args, match_on, ignore_args, room, selected);
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
    if ((kind != state->tool_call && !is_plain_str(kind)) || !is_plain_str(name) ||
        !can_be_read_again(match_on) || !can_be_read_again(ignore_args)) {
        return NULL;
    }
    PyObject *digest = NULL;
    kept_members room;
    selected_args selected;
    char storage[256];
    ovt_buffer prefix;
    ovt_buffer_init(&prefix, storage, sizeof storage, NULL);
    if (write_prefix(&prefix, kind, name)) {
        if (select_for_compat(state, args, match_on, ignore_args, &room, &selected)) {
            digest = digest_str(prefix.data, ovt_buffer_length(&prefix), &selected, options);
            release_selected(&selected);
        } else if (PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear(); /* the arguments' own code has raised: the twin knows what then */
        }
    }
    ovt_buffer_release(&prefix);
    return digest;
}

static PyObject *compat_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[7];
    ovt_walk_options options;
    if (!read_arguments(state, &fingerprint_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[5], given[6], &options)) {
        return NULL;
    }
    PyObject *digest =
        compat_digest(state, given[0], given[1], given[2], given[3], given[4], &options);
    return compat_answer(state, fingerprint_takes.function, digest, args, nargs, keywords);
}

static PyObject *compat_tool_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                         PyObject *keywords) {
    const module_state *state = state_of(module);
    PyObject *given[6];
    ovt_walk_options options;
    if (!read_arguments(state, &tool_fingerprint_takes, args, nargs, keywords, given) ||
        !read_compat_options(state, given[4], given[5], &options)) {
        return NULL;
    }
    PyObject *digest =
        compat_digest(state, state->tool_call, given[0], given[1], given[2], given[3], &options);
    return compat_answer(state, tool_fingerprint_takes.function, digest, args, nargs, keywords);
}

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
            return read_options(state, i, nargs > 2 ? args[2] : NULL, nargs > 3 ? args[3] : NULL,
                                options);
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
    if (!read_options(state, OVT_PROFILE_PLEACH, NULL, NULL, &options)) {
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

static PyObject *canonical_bytes(PyObject *value, const ovt_walk_options *options) {
    const selected_args whole = {.args = value};
    const output_job job = {.selected = &whole, .as_bytes = true, .options = options};
    return output_of(&job);
}

/* Reads the arguments of a function of RFC 8785: a value, and how to walk it. */
static bool read_jcs_arguments(const module_state *state, const char *function,
                               PyObject *const *args, Py_ssize_t nargs, PyObject *keywords,
                               PyObject **value, ovt_walk_options *options) {
    const signature takes = {
        function, {NAME_VALUE, NAME_INTEGERS, NAME_ENCODER, NAME_MAX_DEPTH}, 4, 1, 1};
    PyObject *given[4];
    if (!read_arguments(state, &takes, args, nargs, keywords, given)) {
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
    return read_options(state, is_double ? OVT_PROFILE_JCS_DOUBLE : OVT_PROFILE_JCS, given[2],
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

/* ---- MCPulse: functions that never fail with an Exception
 * -------------------------------------------------------------------------------------------- */

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

static PyObject *args_hash(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *keywords) {
    static const signature takes = {"args_hash", {NAME_ARGS, NAME_MAX_DEPTH}, 2, 1, 1};
    const module_state *state = state_of(module);
    PyObject *given[2];
    if (!read_arguments(state, &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    ovt_walk_options options;
    PyObject *hash = NULL;
    selected_args whole = {.args = given[0] == Py_None ? PyDict_New() : Py_NewRef(given[0])};
    if (whole.args != NULL && read_options(state, OVT_PROFILE_MCPULSE, NULL, given[1], &options)) {
        hash = digest_start(ARGS_HASH_SIZE, NULL, 0, &whole, &options);
    }
    release_selected(&whole);
    if (hash == NULL && swallow_exception()) {
        hash = PyUnicode_FromStringAndSize(UNHASHABLE, ARGS_HASH_SIZE);
    }
    return hash;
}

static PyObject *json_size(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *keywords) {
    static const signature takes = {"json_size", {NAME_VALUE, NAME_MAX_DEPTH}, 2, 1, 1};
    const module_state *state = state_of(module);
    PyObject *given[2];
    if (!read_arguments(state, &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    ovt_walk_options options;
    Py_ssize_t size = -1;
    if (read_options(state, OVT_PROFILE_MCPULSE, NULL, given[1], &options)) {
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

static PyObject *utf16_length(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *keywords) {
    static const signature takes = {"utf16_length", {NAME_TEXT}, 1, 1, 1};
    PyObject *given[1];
    if (!read_arguments(state_of(module), &takes, args, nargs, keywords, given)) {
        return NULL;
    }
    ovt_text text = {0};
    if (PyUnicode_Check(given[0]) && !ovt_read_str(given[0], &text) && !swallow_exception()) {
        return NULL;
    }
    return PyLong_FromSize_t(ovt_utf16_length(text));
}

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
    if (!read_arguments(state, takes, args, nargs, keywords, given)) {
        return NULL;
    }
    const int profile = shape_profile_of(state, given[1]);
    ovt_walk_options walk_options;
    if (profile < 0 || !read_options(state, OVT_PROFILE_OVERTURN, NULL, given[2], &walk_options)) {
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

static PyObject *shape(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *keywords) {
    static const signature takes = {"shape", {NAME_OBJ, NAME_PROFILE, NAME_MAX_DEPTH}, 3, 1, 1};
    return shape_call(&takes, module, args, nargs, keywords, false);
}

static PyObject *shape_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                   PyObject *keywords) {
    static const signature takes = {
        "shape_fingerprint", {NAME_OBJ, NAME_PROFILE, NAME_MAX_DEPTH}, 3, 1, 1};
    return shape_call(&takes, module, args, nargs, keywords, true);
}

/* A counter of this kind; where strings are looked at, one of the twin's. */
static PyObject *shape_counter(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *keywords) {
    static const signature takes = {
        "shape_counter", {NAME_MAX_DEPTH, NAME_FORMATS, NAME_ENUM_KEY}, 3, 1, 0};
    const module_state *state = state_of(module);
    PyObject *given[3];
    if (!read_arguments(state, &takes, args, nargs, keywords, given)) {
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

/* ---- ToolFingerprinter
 * ------------------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *module;
    PyObject *kind;
    PyObject *name;
    PyObject *match_on;    /* a tuple, perhaps empty */
    PyObject *ignore_args; /* likewise */
    PyObject *prefix;      /* bytes: what is hashed before the arguments */
    PyObject *encoder;     /* or None */
    ovt_walk_options options;
} fingerprinter;

static PyObject *fingerprinter_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                                    PyObject *keywords) {
    static const signature takes = {"ToolFingerprinter", {NAME_ARGS}, 1, 1, 1};
    const fingerprinter *self = (fingerprinter *)callable;
    const module_state *state = state_of(self->module);
    PyObject *given[1];
    if (!read_arguments(state, &takes, args, PyVectorcall_NARGS(nargsf), keywords, given)) {
        return NULL;
    }
    kept_members room;
    selected_args selected;
    if (!select_from(state, given[0], self->match_on, self->ignore_args, &room, &selected)) {
        return NULL;
    }
    PyObject *digest =
        digest_str(PyBytes_AS_STRING(self->prefix), (size_t)PyBytes_GET_SIZE(self->prefix),
                   &selected, &self->options);
    release_selected(&selected);
    return digest;
}

static int fingerprinter_traverse(PyObject *object, visitproc visit, void *arg) {
    fingerprinter *self = (fingerprinter *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->module);
    Py_VISIT(self->match_on);
    Py_VISIT(self->ignore_args);
    Py_VISIT(self->encoder);
    return 0;
}

static int fingerprinter_clear(PyObject *object) {
    fingerprinter *self = (fingerprinter *)object;
    self->options.encoder = Py_None;
    Py_CLEAR(self->encoder);
    return 0;
}

static void fingerprinter_dealloc(PyObject *object) {
    fingerprinter *self = (fingerprinter *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_CLEAR(self->module);
    Py_CLEAR(self->kind);
    Py_CLEAR(self->name);
    Py_CLEAR(self->match_on);
    Py_CLEAR(self->ignore_args);
    Py_CLEAR(self->prefix);
    Py_CLEAR(self->encoder);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *fingerprinter_prefix(const fingerprinter *self) {
    char storage[256];
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, NULL);
    PyObject *prefix = NULL;
    if (write_prefix(&out, self->kind, self->name)) {
        prefix = PyBytes_FromStringAndSize(out.data, (Py_ssize_t)ovt_buffer_length(&out));
    }
    ovt_buffer_release(&out);
    return prefix;
}

static int fingerprinter_fill(fingerprinter *self, const module_state *state,
                              PyObject *const *given) {
    PyObject *encoder = given[4], *max_depth = given[5];
    if (!read_options(state, OVT_PROFILE_OVERTURN, encoder, max_depth, &self->options)) {
        return -1;
    }
    self->encoder = Py_NewRef(self->options.encoder);
    self->kind = exact_kind(state, given[3] != NULL ? given[3] : state->tool_call);
    self->name = self->kind == NULL ? NULL : exact_name(state, given[0]);
    self->match_on = self->name == NULL ? NULL : declared_names(state, given[1], NAME_MATCH_ON);
    self->ignore_args =
        self->match_on == NULL ? NULL : declared_names(state, given[2], NAME_IGNORE_ARGS);
    self->prefix = self->ignore_args == NULL ? NULL : fingerprinter_prefix(self);
    return self->prefix == NULL ? -1 : 0;
}

static PyObject *fingerprinter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"name",    "match_on",  "ignore_args", "kind",
                            "encoder", "max_depth", NULL};
    PyObject *given[6] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO$OOO:ToolFingerprinter", names, &given[0],
                                     &given[1], &given[2], &given[3], &given[4], &given[5])) {
        return NULL;
    }
    PyObject *module = PyType_GetModule(type); /* the type is final */
    if (module == NULL) {
        return NULL;
    }
    fingerprinter *self = (fingerprinter *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = fingerprinter_call;
    self->module = Py_NewRef(module);
    if (fingerprinter_fill(self, state_of(module), given) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *fingerprinter_repr(PyObject *object) {
    return PyUnicode_FromFormat("<ToolFingerprinter %R>", ((fingerprinter *)object)->name);
}

/* What to make an equal one from, for pickle and copy. */
static PyObject *fingerprinter_new_arguments(PyObject *object, PyObject *Py_UNUSED(unused)) {
    const fingerprinter *self = (fingerprinter *)object;
    return Py_BuildValue("(OOO){sOsOsn}", self->name, self->match_on, self->ignore_args, "kind",
                         self->kind, "encoder", self->encoder, "max_depth",
                         self->options.max_depth);
}

static PyMethodDef fingerprinter_methods[] = {
    {"__getnewargs_ex__", fingerprinter_new_arguments, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef fingerprinter_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(fingerprinter, vectorcall), READONLY, NULL},
    {"kind", T_OBJECT, offsetof(fingerprinter, kind), READONLY, PyDoc_STR("What is called.")},
    {"name", T_OBJECT, offsetof(fingerprinter, name), READONLY, PyDoc_STR("The name of the tool.")},
    {"match_on", T_OBJECT, offsetof(fingerprinter, match_on), READONLY,
     PyDoc_STR("The top-level arguments that count; empty if all do.")},
    {"ignore_args", T_OBJECT, offsetof(fingerprinter, ignore_args), READONLY,
     PyDoc_STR("The top-level arguments that do not count.")},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot fingerprinter_slots[] = {
    {Py_tp_doc, (void *)OVT_DOC_TOOL_FINGERPRINTER},
    {Py_tp_new, fingerprinter_new},
    {Py_tp_dealloc, fingerprinter_dealloc},
    {Py_tp_traverse, fingerprinter_traverse},
    {Py_tp_clear, fingerprinter_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, fingerprinter_repr},
    {Py_tp_members, fingerprinter_members},
    {Py_tp_methods, fingerprinter_methods},
    {0, NULL},
};

static PyType_Spec fingerprinter_spec = {
    .name = "overturn_fast.ToolFingerprinter",
    .basicsize = sizeof(fingerprinter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = fingerprinter_slots,
};

/* ---- the module
 * --------------------------------------------------------------------------------------- */

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

static int execute_module(PyObject *module) {
    const char *rejected = ovt_sha256_rejected();
    if (rejected != NULL) {
        PyErr_Format(PyExc_ImportError, "OVERTURN_FAST_SHA256 is '%s'; this machine can run: %s",
                     rejected, ovt_sha256_variants());
        return -1;
    }
    module_state *state = state_of(module);
    state->python.running_conversions = &state->running_conversions;
    state->python.spare = &state->spare;
    state->python.dumped = state->dumped;
    state->python.key_memory = &state->key_memory;
    state->python.reads_entries = ovt_dict_layout_holds();
    for (int i = 0; i < NAME_COUNT; i++) {
        state->names[i] = PyUnicode_InternFromString(argument_names[i]);
        if (state->names[i] == NULL) {
            return -1;
        }
    }
    if (!import_python_side(state) || !prepare_shapes(state) || !ovt_llm_side_init(&state->calls)) {
        return -1;
    }
    state->fingerprinter_type = PyType_FromModuleAndSpec(module, &fingerprinter_spec, NULL);
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
    {"fingerprint_many", OVT_FASTCALL(fingerprint_many), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_FINGERPRINT_MANY},
    {"args_hash", OVT_FASTCALL(args_hash), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_ARGS_HASH},
    {"json_size", OVT_FASTCALL(json_size), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_JSON_SIZE},
    {"utf16_length", OVT_FASTCALL(utf16_length), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_UTF16_LENGTH},
    {"dumps", OVT_FASTCALL(jcs_dumps), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_DUMPS},
    {"sha256", OVT_FASTCALL(jcs_sha256), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_SHA256},
    {"shape", OVT_FASTCALL(shape), METH_FASTCALL | METH_KEYWORDS, OVT_DOC_SHAPE},
    {"shape_fingerprint", OVT_FASTCALL(shape_fingerprint), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_SHAPE_FINGERPRINT},
    {"shape_counter", OVT_FASTCALL(shape_counter), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_SHAPE_COUNTER},
    {"compat_canonical_json", OVT_FASTCALL(compat_canonical_json), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_COMPAT_CANONICAL_JSON},
    {"compat_hash_json", OVT_FASTCALL(compat_hash_json), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_COMPAT_HASH_JSON},
    {"compat_fingerprint", OVT_FASTCALL(compat_fingerprint), METH_FASTCALL | METH_KEYWORDS,
     OVT_DOC_COMPAT_FINGERPRINT},
    {"compat_tool_fingerprint", OVT_FASTCALL(compat_tool_fingerprint),
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
    .m_traverse = visit_state,
    .m_clear = clear_state,
    .m_free = free_state,
};

PyMODINIT_FUNC PyInit__walker(void) {
    return PyModuleDef_Init(&walker_module);
}
