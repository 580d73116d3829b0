/* The value of a key in a dict as a new reference, which nothing that happens meanwhile takes away:
 * an odd key runs Python code when it is compared. It costs one look-up. */
#ifndef OVT_DICT_VALUE_H
#define OVT_DICT_VALUE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* NULL where there is no such key, or with an exception set where one could not be compared. */
static inline PyObject *ovt_dict_value(PyObject *dict, PyObject *key) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *value = NULL;
    return PyDict_GetItemRef(dict, key, &value) < 0 ? NULL : value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

#endif
