/* The arguments of the module's functions.
 *
 * Those of the usual types are read here; any other goes through the checks of
 * overturn_fast/_arguments.py, which words the errors for both backends. */
#ifndef OVT_ARGUMENTS_H
#define OVT_ARGUMENTS_H

#include "module_state.h"

/* What a function takes: the first `positional` names in order, the rest by keyword only. */
typedef struct {
    const char *function;
    argument_name names[8];
    int count;
    int positional;
    int required;
} signature;

/* Sorts a vectorcall's arguments into `given`, in the order of the signature; NULL if not given.
 * False with an exception set. */
bool ovt_read_arguments(const module_state *state, const signature *takes, PyObject *const *args,
                        Py_ssize_t nargs, PyObject *keywords, PyObject **given);

/* How to walk; `encoder` and `max_depth` are NULL where they are not given. False with an exception
 * set. */
bool ovt_read_options(const module_state *state, int profile, PyObject *encoder,
                      PyObject *max_depth, ovt_walk_options *options);

/* What the functions of these names take, and those of compat under the same names. */
extern const signature ovt_canonical_json_takes;
extern const signature ovt_hash_json_takes;
extern const signature ovt_fingerprint_takes;
extern const signature ovt_tool_fingerprint_takes;

#endif
