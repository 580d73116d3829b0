/* The value of a key in a dict: by look-up, or, in one of few members whose entries can be read in
 * place, by looking at them, which takes less time. */
#ifndef OVT_DICT_VALUE_H
#define OVT_DICT_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dict_entries.h"
#include "same_str.h"

/* A new reference, which nothing that happens meanwhile takes away: an odd key runs Python code
 * when it is compared. NULL where there is no such key, or with an exception set where one could
 * not be compared. */
static inline PyObject *ovt_dict_value(PyObject *dict, PyObject *key) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *value = NULL;
    return PyDict_GetItemRef(dict, key, &value) < 0 ? NULL : value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

enum { OVT_FEW_ENTRIES = 16 }; /* one of which is found faster by looking at them one by one */

/* The entry with this key, NULL where there is none. For an exact str that keeps its hash. */
static inline const ovt_dict_entry *ovt_find_entry(const ovt_dict_entry *entries, Py_ssize_t count,
                                                   PyObject *key) {
    for (Py_ssize_t i = 0; i < count; i++) {
        if (entries[i].key == key || ovt_same_str(entries[i].key, key)) {
            return &entries[i];
        }
    }
    return NULL;
}

#endif
