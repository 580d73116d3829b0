#include "selection.h"

#include "dict_value.h"
#include "string_write.h"

PyObject *ovt_declared_names(const module_state *state, PyObject *names, argument_name parameter) {
    if (names == NULL || names == Py_None) {
        return PyTuple_New(0);
    }
    if (PyTuple_CheckExact(names)) {
        return Py_NewRef(names);
    }
    if (PyList_CheckExact(names)) {
        return PyList_AsTuple(names);
    }
    return PyObject_CallFunction(state->key_names, "Os", names, ovt_argument_names[parameter]);
}

/* Surrogates cannot be compared: two keys that hold them
 * may have one text, and then it counts in which order they are declared. */
bool ovt_is_plain_name(PyObject *name) {
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
        if (!ovt_is_plain_name(names[i]) || is_repeated(names, i)) {
            return false;
        }
    }
    return count <= FEW_NAMES;
}

bool ovt_are_few_names(PyObject *names) {
    return PyTuple_GET_SIZE(names) != 0 &&
           are_few_plain_str(((PyTupleObject *)names)->ob_item, PyTuple_GET_SIZE(names));
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

void ovt_release_selected(selected_args *selected) {
    const ovt_selection *selection = &selected->selection;
    for (Py_ssize_t i = 0; selected->holds_kept && i < selection->count; i++) {
        Py_DECREF(selection->kept[i].key);
        Py_DECREF(selection->kept[i].value);
    }
    selected->selection = (ovt_selection){0};
    selected->holds_kept = false;
    Py_CLEAR(selected->args);
    Py_CLEAR(selected->names);
}

/* Looks names up in an exact dict; false with an exception set. The names are held before, as an
 * odd key may run Python code. */
static bool look_up_kept(PyObject *dict, PyObject *const *names, Py_ssize_t count,
                         kept_members *room, selected_args *selected) {
    for (Py_ssize_t i = 0; i < count; i++) {
        room->members[i].key = Py_NewRef(names[i]);
    }
    Py_ssize_t kept = 0;
    bool is_well = true;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *const name = room->members[i].key;
        PyObject *const value = is_well ? ovt_dict_value(dict, name) : NULL;
        if (value != NULL) {
            room->members[kept++] = (ovt_dict_entry){name, value};
        } else {
            is_well = is_well && PyErr_Occurred() == NULL;
            Py_DECREF(name);
        }
    }
    selected->selection = (ovt_selection){.kept = room->members, .count = kept, .is_partial = true};
    selected->holds_kept = true;
    return is_well;
}

/* The same in the entries of a dict, which no free-threaded build has: finding a str there runs no
 * Python code, so that nothing need be held; a walk takes hold of what it has before any can run.
 * False where a name has not kept its hash. */
static bool find_kept(PyObject *dict, const ovt_dict_entry *entries, PyObject *const *names,
                      Py_ssize_t count, kept_members *room, selected_args *selected) {
    const Py_ssize_t size = PyDict_GET_SIZE(dict);
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (ovt_kept_hash(names[i]) == -1) {
            return false;
        }
        const ovt_dict_entry *const found = ovt_find_entry(entries, size, names[i]);
        if (found != NULL) {
            room->members[kept++] = (ovt_dict_entry){names[i], found->value};
        }
    }
    selected->selection = (ovt_selection){.kept = room->members, .count = kept, .is_partial = true};
    return true;
}

/* Selects the members of an exact dict with these names; false with an exception set. */
static bool select_kept(const module_state *state, PyObject *dict, PyObject *const *names,
                        Py_ssize_t count, kept_members *room, selected_args *selected) {
    const ovt_dict_entry *const entries =
        state->python.reads_entries ? ovt_dict_entries(dict) : NULL;
    selected->args = Py_NewRef(dict);
    return (entries != NULL && PyDict_GET_SIZE(dict) <= OVT_FEW_ENTRIES &&
            find_kept(dict, entries, names, count, room, selected)) ||
           look_up_kept(dict, names, count, room, selected);
}

bool ovt_select_few(const module_state *state, PyObject *dict, PyObject *names, kept_members *room,
                    selected_args *selected) {
    *selected = (selected_args){0};
    const bool is_selected = select_kept(state, dict, ((PyTupleObject *)names)->ob_item,
                                         PyTuple_GET_SIZE(names), room, selected);
    if (!is_selected) {
        ovt_release_selected(selected);
    }
    return is_selected;
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
    selected->names = Py_NewRef(tuple);
    if (keeps) {
        return select_kept(state, args, names, count, room, selected);
    }
    selected->args = Py_NewRef(args);
    selected->selection = (ovt_selection){.dropped = names, .count = count, .is_partial = true};
    return true;
}

/* Whether ovt_select has the usual case: nothing declared at all, or a few plain names of members
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
    PyObject *kept = ovt_declared_names(state, match_on, NAME_MATCH_ON);
    PyObject *dropped =
        kept == NULL ? NULL : ovt_declared_names(state, ignore_args, NAME_IGNORE_ARGS);
    const bool is_selected =
        dropped != NULL && select_declared(state, args, kept, dropped, room, selected);
    Py_XDECREF(kept);
    Py_XDECREF(dropped);
    return is_selected;
}

bool ovt_select(const module_state *state, PyObject *args, PyObject *match_on,
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
        ovt_release_selected(selected);
    }
    return is_selected;
}
