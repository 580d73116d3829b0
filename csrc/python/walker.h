/* Python objects to canonical text.
 *
 * The walk is iterative: a frame for each open container, so nesting costs memory and no stack.
 * Exact built-in types are told by pointer, subclasses of str, int and float by flag, and any other
 * single value goes through the profile's converter (overturn_fast/_convert.py), which is the only
 * place where Python code runs during a walk. Until the first such call nothing can change under
 * the walk, and it borrows every reference; before the call it takes strong references to all that
 * is open. walker.c has the loops of the walk, and walk_state.h what its other files share. */
#ifndef OVT_WALKER_H
#define OVT_WALKER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "buffer.h"
#include "dict_entries.h"
#include "key_memory.h"
#include "profile.h"
#include "status.h"
#include "string_write.h"

/* What the walker needs of the package's Python side, held by the module's state. */
typedef struct {
    PyObject *pairs_type;            /* _convert.Pairs */
    PyObject *set_items_type;        /* _convert.SetItems */
    PyObject *verbatim_type;         /* _convert.Verbatim */
    PyObject *null_text;             /* _convert.NULL, a Verbatim */
    PyObject *dropped;               /* _convert.DROPPED */
    PyObject *unsupported;           /* _convert.UNSUPPORTED */
    PyObject *failure;               /* _errors.failure */
    PyObject *nesting_failure;       /* _errors.nesting_failure */
    PyObject *conversion_failure;    /* _errors.conversion_failure */
    PyObject *key_surrogate_failure; /* _errors.key_surrogate_failure */
    PyObject *converters[OVT_PROFILE_COUNT];
    /* How many walks are calling a converter now, in any thread: one that starts meanwhile may be
     * inside another, and keeps off the C stack what it can, so that a hook which calls itself
     * runs into Python's limit and not into the stack's. */
    int *running_conversions;
    ovt_spare *spare;           /* for texts that outgrow the C stack */
    size_t *dumped;             /* the lengths of the last two texts that became bytes */
    ovt_key_memory *key_memory; /* of all walks */
    bool reads_entries;         /* of dicts, in place */
} ovt_python_side;

/* Whether a walk that starts now may be inside another. */
static inline bool ovt_may_be_nested(const ovt_python_side *python) {
    return __atomic_load_n(python->running_conversions, __ATOMIC_RELAXED) != 0;
}

/* What of an exact dict takes part, at the top level. All zero: everything. */
typedef struct {
    const ovt_dict_entry *kept; /* what alone takes part, or NULL; the keys are exact str objects */
    PyObject *const *dropped;   /* the keys that are left out, likewise, or NULL */
    Py_ssize_t count;           /* of one or the other, all different */
    bool is_partial;            /* else everything takes part */
} ovt_selection;

/* How to walk. */
typedef struct {
    const ovt_python_side *python;
    const ovt_profile *profile;
    PyObject *converter; /* of the profile */
    PyObject *encoder;   /* the caller's hook, or None */
    Py_ssize_t max_depth;
    Py_ssize_t max_conversions; /* of one value, one after the other */
} ovt_walk_options;

/* Bytes of room past the end of a text without which a walk would enlarge the buffer. */
enum { OVT_WALK_ROOM = 2048 };

/* Appends the canonical text of `value` to `out`. `selection` applies to an exact dict only and
 * may be NULL. Returns 0, or -1 with an exception set. */
int ovt_walk(ovt_buffer *out, PyObject *value, const ovt_selection *selection,
             const ovt_walk_options *options);

/* Raises the exception object that a function of _errors made; steals it. NULL: one is set. */
static inline void ovt_raise_made(PyObject *exception) {
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
}

/* Tells where a str (or an object of a subclass) keeps its code points, which the core reads in
 * place. False with an exception set: only for a str of the legacy kind (before Python 3.12) that
 * there is no memory to make ready. */
static inline bool ovt_read_str(PyObject *str, ovt_text *text) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(str) < 0) {
        return false;
    }
#endif
    *text = (ovt_text){
        .data = PyUnicode_DATA(str),
        .length = (size_t)PyUnicode_GET_LENGTH(str),
        .width = (int)PyUnicode_KIND(str),
        .is_ascii = PyUnicode_IS_ASCII(str),
    };
    return true;
}

/* The UTF-8 of a str without surrogates, kept with the str from then on; NULL with an exception
 * set when memory runs out. */
static inline const char *ovt_utf8_of(PyObject *str, size_t *length) {
    Py_ssize_t size = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(str, &size);
    *length = (size_t)size;
    return utf8;
}

/* The UTF-8 that a non-ASCII str keeps after somebody has asked for it, or NULL: nothing is made.
 * A str that has it holds no surrogates. */
static inline const char *ovt_cached_utf8(PyObject *str, size_t *length) {
#ifdef Py_GIL_DISABLED
    (void)str; /* another thread may be making it */
    (void)length;
    return NULL;
#else
    const PyCompactUnicodeObject *const object = (const PyCompactUnicodeObject *)str;
    *length = (size_t)object->utf8_length;
    return object->utf8;
#endif
}

#endif
