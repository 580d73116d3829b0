/* Which arguments of a call count.
 *
 * A few plain names that are declared are looked for here; any other declaration goes through
 * overturn_fast/_selection.py. */
#ifndef OVT_SELECTION_H
#define OVT_SELECTION_H

#include "module_state.h"

enum {
    FEW_NAMES = 16, /* compared one by one with each key; more go through a dict in Python */
};

/* The arguments that count: either all of `args`, or those of it that `selection` names. */
typedef struct {
    PyObject *args;
    PyObject *names; /* a tuple that holds the selection's names, or NULL */
    ovt_selection selection;
    /* Whether the kept keys and values are strong references; else they are borrowed from `args`
     * and the declaration. */
    bool holds_kept;
} selected_args;

/* Room for the members of a selection that keeps some. */
typedef struct {
    ovt_dict_entry members[FEW_NAMES];
} kept_members;

/* Drops what a selection holds; it may be empty. */
void ovt_release_selected(selected_args *selected);

/* The declared keys as a tuple: of a tuple or list as they stand, of anything else through
 * _selection.key_names. A new reference. */
PyObject *ovt_declared_names(const module_state *state, PyObject *names, argument_name parameter);

/* Whether a name can be compared with keys as it stands. */
bool ovt_is_plain_name(PyObject *name);

/* Decides which arguments count, perhaps with `room`, which must live as long as `selected`; false
 * with an exception set. What is kept may be borrowed: walk it at once, before any Python code can
 * run (a hook, a comparison of keys, before 3.12 also the making of an object that the collector
 * looks after). */
bool ovt_select(const module_state *state, PyObject *args, PyObject *match_on,
                PyObject *ignore_args, kept_members *room, selected_args *selected);

/* Whether a tuple has a few plain names in it, all different. */
bool ovt_are_few_names(PyObject *names);

/* As ovt_select, for an exact dict and names of which ovt_are_few_names is true, all to be kept:
 * the names are not looked at again. */
bool ovt_select_few(const module_state *state, PyObject *dict, PyObject *names, kept_members *room,
                    selected_args *selected);

/* Whether no names are given. */
static inline bool declares_none(PyObject *names) {
    return names == NULL || names == Py_None ||
           (PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) == 0) ||
           (PyList_CheckExact(names) && PyList_GET_SIZE(names) == 0);
}

#endif
