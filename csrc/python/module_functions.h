/* The functions of the module overturn_fast._walker that have files of their own. What they take
 * and give is said in docstrings.h. */
#ifndef OVT_MODULE_FUNCTIONS_H
#define OVT_MODULE_FUNCTIONS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* fingerprint_many.c */
PyObject *ovt_fingerprint_many(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *keywords);

/* compat_functions.c: the values of the SDK */
PyObject *ovt_compat_canonical_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *keywords);
PyObject *ovt_compat_hash_json(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *keywords);
PyObject *ovt_compat_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *keywords);
PyObject *ovt_compat_tool_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                      PyObject *keywords);

/* mcpulse_functions.c: none of these fails with an Exception */
PyObject *ovt_args_hash(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *keywords);
PyObject *ovt_json_size_function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *keywords);
PyObject *ovt_utf16_length_function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *keywords);

/* shape_functions.c */
PyObject *ovt_shape_function(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *keywords);
PyObject *ovt_shape_fingerprint(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *keywords);
PyObject *ovt_shape_counter(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *keywords);

/* fingerprinter.c: the type ToolFingerprinter */
extern PyType_Spec ovt_fingerprinter_spec;

#endif
