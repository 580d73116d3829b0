/* Whether two keys have the same text, told without a call of the API.
 *
 * For exact str objects whose hashes have been computed, as those of all keys of dicts are. A few
 * instructions for most pairs that differ, and for equal ones of up to eight characters. */
#ifndef OVT_SAME_STR_H
#define OVT_SAME_STR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include "compiler.h"

/* The hash that a str keeps, or -1 if it was never asked for. */
static inline Py_hash_t ovt_kept_hash(PyObject *str) {
    return ((PyASCIIObject *)str)->hash;
}

/* Whether two texts, before which eight bytes may be read, are the same. */
static inline bool ovt_same_bytes(const char *a, const char *b, size_t size) {
    for (; size > 8; size -= 8, a += 8, b += 8) {
        if (ovt_load64(a) != ovt_load64(b)) {
            return false;
        }
    }
    /* The last eight bytes or fewer, moved down so that what comes before them falls out. */
    return size == 0 ||
           (ovt_load_le64(a + size - 8) ^ ovt_load_le64(b + size - 8)) >> (8 * (8 - size)) == 0;
}

static inline bool ovt_same_str(PyObject *a, PyObject *b) {
    if (ovt_kept_hash(a) != ovt_kept_hash(b) ||
        PyUnicode_GET_LENGTH(a) != PyUnicode_GET_LENGTH(b)) {
        return false;
    }
    const size_t length = (size_t)PyUnicode_GET_LENGTH(a);
    if (OVT_LIKELY(PyUnicode_IS_COMPACT_ASCII(a) && PyUnicode_IS_COMPACT_ASCII(b))) {
        return ovt_same_bytes((const char *)((PyASCIIObject *)a + 1),
                              (const char *)((PyASCIIObject *)b + 1), length);
    }
    /* A str of the legacy kind may not have its characters yet. */
    return PyUnicode_IS_COMPACT(a) && PyUnicode_IS_COMPACT(b) &&
           PyUnicode_KIND(a) == PyUnicode_KIND(b) &&
           ovt_same_bytes(PyUnicode_DATA(a), PyUnicode_DATA(b), length * (size_t)PyUnicode_KIND(a));
}

#endif
