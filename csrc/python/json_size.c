#include "json_size.h"

#include "int_value.h"
#include "utf16_length.h"
#include "walker.h"

/* An open container. References are strong: a converter may change what holds them. */
typedef struct {
    PyObject *source;    /* before any conversion: cycles are told by its identity */
    PyObject *container; /* an exact dict or tuple; or a list, of items or of (key, value) pairs */
    Py_ssize_t next;     /* where the next member is, as PyDict_Next or an index has it */
    bool is_object;
    bool is_first; /* no member has been counted yet */
} level;

typedef struct {
    PyObject *converter;
    Py_ssize_t max_depth;
    Py_ssize_t units;
    level *levels;
    Py_ssize_t depth;
    Py_ssize_t capacity;
} counting;

typedef enum { FAILED = -1, UNSERIALISABLE = 0, DONE = 1 } outcome;

/* ---- scalars ------------------------------------------------------------------------------- */

static outcome count_str(counting *c, PyObject *value) {
    ovt_text text;
    if (!ovt_read_str(value, &text)) {
        return FAILED;
    }
    c->units += (Py_ssize_t)ovt_utf16_length_quoted(text);
    return DONE;
}

/* A number in the words of its own type, never of a subclass. */
static outcome count_repr(counting *c, PyTypeObject *type, PyObject *value) {
    PyObject *text = type->tp_repr(value);
    if (text == NULL) { /* an int past sys.get_int_max_str_digits() */
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) {
            return FAILED;
        }
        PyErr_Clear();
        return UNSERIALISABLE;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (type == &PyFloat_Type) {
        /* What JSON calls them in Python: NaN, Infinity, -Infinity for nan, inf, -inf. */
        const double number = PyFloat_AS_DOUBLE(value);
        length += Py_IS_INFINITY(number) ? (Py_ssize_t)(sizeof "Infinity" - sizeof "inf") : 0;
    }
    Py_DECREF(text);
    c->units += length;
    return DONE;
}

static outcome count_int(counting *c, PyObject *value) {
    int64_t number;
    if (!ovt_small_int(value, &number)) {
        return count_repr(c, &PyLong_Type, value);
    }
    c->units += number < 0;
    do {
        c->units++;
        number /= 10;
    } while (number != 0);
    return DONE;
}

/* Counts a value that is no container; UNSERIALISABLE for any other, with nothing counted. */
static outcome count_scalar(counting *c, PyObject *value) {
    if (PyUnicode_Check(value)) {
        return count_str(c, value);
    }
    if (value == Py_None || value == Py_True) {
        c->units += 4;
        return DONE;
    }
    if (value == Py_False) {
        c->units += 5;
        return DONE;
    }
    if (PyLong_Check(value)) {
        return count_int(c, value);
    }
    if (PyFloat_Check(value)) {
        return count_repr(c, &PyFloat_Type, value);
    }
    return UNSERIALISABLE;
}

/* A key in quotes and a colon. */
static outcome count_key(counting *c, PyObject *key) {
    c->units += PyUnicode_Check(key) ? 1 : 3;
    return count_scalar(c, key);
}

/* ---- containers ---------------------------------------------------------------------------- */

static bool reserve_level(counting *c) {
    if (c->depth < c->capacity) {
        return true;
    }
    const Py_ssize_t capacity = c->capacity == 0 ? 16 : 2 * c->capacity;
    level *levels = PyMem_RawRealloc(c->levels, (size_t)capacity * sizeof *levels);
    if (levels == NULL) {
        PyErr_NoMemory();
        return false;
    }
    c->levels = levels;
    c->capacity = capacity;
    return true;
}

/* Brent's cycle detection along the path: a container is compared with its ancestor at the last
 * power of two, which meets any cycle within a few rounds of it. */
static bool closes_cycle(const counting *c, const PyObject *source) {
    if (c->depth == 0) {
        return false;
    }
    const int power = 63 - ovt_leading_zeros((uint64_t)c->depth);
    return c->levels[((size_t)1 << power) - 1].source == source;
}

/* Opens the container that `source` is or was converted to. */
static outcome open_level(counting *c, PyObject *source, PyObject *container, bool is_object) {
    if (c->depth >= c->max_depth || closes_cycle(c, source)) {
        return UNSERIALISABLE;
    }
    if (!reserve_level(c)) {
        return FAILED;
    }
    c->levels[c->depth++] =
        (level){Py_NewRef(source), Py_NewRef(container), 0, is_object, .is_first = true};
    c->units += 2;
    return DONE;
}

static void close_level(counting *c) {
    const level *top = &c->levels[--c->depth];
    Py_DECREF(top->source);
    Py_DECREF(top->container);
}

static outcome open_subclass(counting *c, PyObject *value) {
    PyObject *arguments[] = {value, Py_None};
    PyObject *converted = PyObject_Vectorcall(c->converter, arguments, 2, NULL);
    if (converted == NULL) {
        return FAILED;
    }
    const outcome result = PyList_Check(converted)
                               ? open_level(c, value, converted, PyDict_Check(value))
                               : UNSERIALISABLE;
    Py_DECREF(converted);
    return result;
}

static outcome count_value(counting *c, PyObject *value) {
    if (PyDict_CheckExact(value)) {
        return open_level(c, value, value, true);
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
        return open_level(c, value, value, false);
    }
    const outcome result = count_scalar(c, value);
    return result == UNSERIALISABLE ? open_subclass(c, value) : result;
}

/* The next member of a dict, with references of its own. */
static bool next_of_dict(level *top, PyObject **key, PyObject **value) {
    bool found;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(top->container);
#endif
    found = PyDict_Next(top->container, &top->next, key, value);
    if (found) {
        Py_INCREF(*key);
        Py_INCREF(*value);
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return found;
}

/* The next item of a list or tuple, a new reference; NULL when there is none. */
static PyObject *next_item(level *top) {
    PyObject *const container = top->container;
    const Py_ssize_t at = top->next++;
    if (PyTuple_CheckExact(container)) {
        return at < PyTuple_GET_SIZE(container) ? Py_NewRef(PyTuple_GET_ITEM(container, at)) : NULL;
    }
#ifdef Py_GIL_DISABLED
    PyObject *item = PyList_GetItemRef(container, at);
    if (item == NULL) {
        PyErr_Clear(); /* the end */
    }
    return item;
#else
    return at < PyList_GET_SIZE(container) ? Py_NewRef(PyList_GET_ITEM(container, at)) : NULL;
#endif
}

/* The next member of the innermost container, with references of its own; the key is NULL in an
 * array. */
static bool next_member(level *top, PyObject **key, PyObject **value) {
    *key = NULL;
    if (PyDict_CheckExact(top->container)) {
        return next_of_dict(top, key, value);
    }
    *value = next_item(top);
    if (*value != NULL && top->is_object) {
        PyObject *pair = *value;
        *key = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
        *value = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
        Py_DECREF(pair);
    }
    return *value != NULL;
}

static outcome count_members(counting *c) {
    while (c->depth != 0) {
        level *top = &c->levels[c->depth - 1];
        PyObject *key, *value;
        if (!next_member(top, &key, &value)) {
            close_level(c);
            continue;
        }
        c->units += !top->is_first;
        top->is_first = false;
        outcome result = key == NULL ? DONE : count_key(c, key);
        if (result == DONE) {
            result = count_value(c, value);
        }
        Py_XDECREF(key);
        Py_DECREF(value);
        if (result != DONE) {
            return result;
        }
    }
    return DONE;
}

Py_ssize_t ovt_json_size(PyObject *value, PyObject *converter, Py_ssize_t max_depth) {
    counting c = {.converter = converter, .max_depth = max_depth};
    outcome result = count_value(&c, value);
    if (result == DONE) {
        result = count_members(&c);
    }
    while (c.depth != 0) {
        close_level(&c);
    }
    PyMem_RawFree(c.levels);
    return result == DONE ? c.units : (Py_ssize_t)result;
}
