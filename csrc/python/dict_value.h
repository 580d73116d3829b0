/* The value of a key in a dict as a new reference, which nothing that happens meanwhile takes away:
 * an odd key runs Python code when it is compared. It costs one look-up, and less in a dict of few
 * members whose entries can be read in place. */
#ifndef OVT_DICT_VALUE_H
#define OVT_DICT_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dict_entries.h"
#include "same_str.h"

/* NULL where there is no such key, or with an exception set where one could not be compared. */
static inline PyObject *ovt_dict_value(PyObject *dict, PyObject *key) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *value = NULL;
    return PyDict_GetItemRef(dict, key, &value) < 0 ? NULL : value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

/* The same for an exact str. `entries` are those of the dict, or NULL: a few are looked at one by
 * one, which takes less time than a look-up. */
static inline PyObject *ovt_dict_value_among(PyObject *dict, const ovt_dict_entry *entries,
                                             PyObject *key) {
    enum { FEW_MEMBERS = 16 };
    const Py_ssize_t count = PyDict_GET_SIZE(dict);
    if (entries != NULL && count <= FEW_MEMBERS && ovt_kept_hash(key) != -1) {
        for (Py_ssize_t i = 0; i < count; i++) {
            if (entries[i].key == key || ovt_same_str(entries[i].key, key)) {
                return Py_NewRef(entries[i].value);
            }
        }
    }
    return ovt_dict_value(dict, key);
}

#endif
