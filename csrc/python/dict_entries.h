/* The entries of a dict, read in place where CPython's layout of it is known.
 *
 * PyDict_Next costs some 50 instructions a member, as much as writing one takes. A dict all of
 * whose keys are exact str objects, and from which nothing was deleted, has its entries in one
 * array, in iteration order; CPython 3.11 to 3.13 keep it in the same place. ovt_dict_layout_holds
 * tries that on a dict when the module is loaded: where it does not hold, and in every other
 * Python, there are no entries to be had and the members are asked for one by one. */
#ifndef OVT_DICT_ENTRIES_H
#define OVT_DICT_ENTRIES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    PyObject *key;
    PyObject *value;
} ovt_dict_entry;

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)

/* The start of CPython's table of keys; after it come 2**log2_index_bytes bytes, and the entries.
 */
typedef struct {
    Py_ssize_t reference_count;
    uint8_t log2_size;
    uint8_t log2_index_bytes;
    uint8_t kind;
    uint32_t version;
    Py_ssize_t usable;
    Py_ssize_t entry_count;
    char indices[];
} ovt_dict_keys;

enum { OVT_DICT_KEYS_UNICODE = 1 }; /* of exact str objects, with their values in the entries */

/* The entries of an exact dict, as many as it has members, until it changes; NULL where they cannot
 * be read. An empty dict may have no table of its own, and what it has then is no place for any. */
static inline const ovt_dict_entry *ovt_dict_entries(PyObject *dict) {
    const PyDictObject *const object = (const PyDictObject *)dict;
    const ovt_dict_keys *const keys = (const ovt_dict_keys *)(const void *)object->ma_keys;
    if (keys->kind != OVT_DICT_KEYS_UNICODE || keys->entry_count != object->ma_used ||
        object->ma_values != NULL || object->ma_used == 0) {
        return NULL;
    }
    /* A multiple of eight, but in the table that all empty dicts share, which has no entries: a
     * pointer to them has to be aligned even so. */
    const size_t index_bytes = ((size_t)1 << keys->log2_index_bytes | 7) & ~(size_t)7;
    return (const ovt_dict_entry *)(const void *)(keys->indices + index_bytes);
}

/* Whether dicts are what is assumed above: what is read of one agrees with what PyDict_Next says,
 * and one with another key, or with fewer members than it had, is known for that. */
static inline bool ovt_dict_layout_holds(void) {
    bool holds = false;
    PyObject *dict = Py_BuildValue("{s:i,s:i,s:i}", "a", 1, "b", 2, "c", 3);
    PyObject *other = Py_BuildValue("{s:i,i:i}", "a", 1, 2, 3);
    if (dict != NULL && other != NULL) {
        const ovt_dict_entry *const entries = ovt_dict_entries(dict);
        holds = entries != NULL && ovt_dict_entries(other) == NULL;
        PyObject *key, *value;
        Py_ssize_t position = 0;
        for (int i = 0; holds && PyDict_Next(dict, &position, &key, &value); i++) {
            holds = entries[i].key == key && entries[i].value == value;
        }
        holds = holds && PyDict_DelItemString(dict, "b") == 0 && ovt_dict_entries(dict) == NULL;
    }
    Py_XDECREF(dict);
    Py_XDECREF(other);
    PyErr_Clear();
    return holds;
}

#else

static inline bool ovt_dict_layout_holds(void) {
    return false;
}

static inline const ovt_dict_entry *ovt_dict_entries(PyObject *dict) {
    (void)dict;
    return NULL;
}

#endif

#endif
