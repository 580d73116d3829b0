/* What the module overturn_fast._walker keeps: all of it, so that it may be loaded into several
 * interpreters. */
#ifndef OVT_MODULE_STATE_H
#define OVT_MODULE_STATE_H

#include "call_key.h"
#include "key_memory.h"
#include "shape_counter.h"
#include "walker.h"

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

extern const char *const ovt_argument_names[NAME_COUNT];

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
    /* What ovt_python_side points to. */
    int running_conversions;
    ovt_spare spare;
    size_t dumped[2];
    ovt_key_memory key_memory;
} module_state;

static inline module_state *state_of(PyObject *module) {
    return PyModule_GetState(module);
}

/* Fills the state, which is all zero: imports what is needed of the package's Python side. False
 * with an exception set. */
bool ovt_module_fill(module_state *state);

/* What the collector asks for: see m_traverse, m_clear and m_free of PyModuleDef. */
int ovt_module_visit(PyObject *module, visitproc visit, void *arg);
int ovt_module_clear(PyObject *module);
void ovt_module_free(void *module);

#endif
