/* The hexadecimal digits of a digest as a str. */
#ifndef OVT_HEX_STR_H
#define OVT_HEX_STR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "sha256.h"

/* The first `size` of them, as a new reference. */
static inline PyObject *ovt_hex_str(const uint8_t digest[OVT_SHA256_DIGEST_SIZE], size_t size) {
    PyObject *text = PyUnicode_New((Py_ssize_t)size, 127);
    if (text != NULL) {
        char hex[OVT_SHA256_HEX_SIZE];
        ovt_sha256_hex(digest, hex);
        memcpy(PyUnicode_DATA(text), hex, size);
    }
    return text;
}

#endif
