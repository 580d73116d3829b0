#include "output.h"

#include "hex_str.h"

enum {
    STACK_BUFFER = 16384, /* bytes of text held on the C stack before they are hashed or moved */
    NESTED_BUFFER = 64,   /* the same for a call that may be inside another */
    MANY_NUMBERS = 1000,  /* in a list whose length is told by them */
    NUMBER_IN_LIST = 25,  /* bytes: the longest double has 24, and there is a comma */
    LONG_TEXT = 4096,     /* bytes, from which on a text is written in place */
    LONGEST_IN_PLACE = 126000, /* with the room beside it less than 128 KB */
};

/* How long a text may become, if that can be told beforehand, else 0: it looks like a long list of
 * numbers, as of an embedding, or the last two were as long. */
static size_t expected_length(PyObject *value, const size_t *dumped) {
#ifndef Py_GIL_DISABLED /* another thread could change the list meanwhile */
    if (PyList_CheckExact(value)) {
        const size_t count = (size_t)PyList_GET_SIZE(value);
        if (count >= MANY_NUMBERS && PyFloat_CheckExact(PyList_GET_ITEM(value, 0))) {
            return count * NUMBER_IN_LIST;
        }
    }
#else
    (void)value;
#endif
    const size_t last = __atomic_load_n(&dumped[0], __ATOMIC_RELAXED);
    const size_t before = __atomic_load_n(&dumped[1], __ATOMIC_RELAXED);
    const size_t shorter = last < before ? last : before;
    return shorter < LONG_TEXT ? 0 : shorter + shorter / 8;
}

/* A new bytes object with room for a long text: written in place, it need not be copied. NULL for
 * any other, or without memory for it.
 *
 * For a larger object malloc may ask the system for pages of its own, every time, as what is freed
 * in the end is smaller than what was asked for; new pages cost more than a copy from a block that
 * is kept. */
static PyObject *room_for(PyObject *value, const size_t *dumped) {
    const size_t length = expected_length(value, dumped);
    if (length == 0 || length > LONGEST_IN_PLACE) {
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(length + OVT_WALK_ROOM));
    PyErr_Clear();
    return bytes;
}

/* The text in `out` as bytes: in `room` itself, whose reference this takes, if it still stands
 * there and fills most of it. */
static PyObject *bytes_of(const ovt_buffer *out, PyObject *room, size_t *dumped) {
    const size_t length = ovt_buffer_length(out);
    __atomic_store_n(&dumped[1], __atomic_load_n(&dumped[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&dumped[0], length, __ATOMIC_RELAXED);
    if (room != NULL && out->data == PyBytes_AS_STRING(room) &&
        length > (size_t)PyBytes_GET_SIZE(room) / 2) {
        _PyBytes_Resize(&room, (Py_ssize_t)length);
        return room;
    }
    PyObject *const bytes = PyBytes_FromStringAndSize(out->data, (Py_ssize_t)length);
    Py_XDECREF(room);
    return bytes;
}

/* Copies a few bytes, most often 8 to 32, without a call. */
static inline void copy_few(char *out, const char *text, size_t length) {
    if (OVT_LIKELY(length >= 8 && length <= 16)) {
        ovt_store64(out, ovt_load64(text));
        ovt_store64(out + length - 8, ovt_load64(text + length - 8));
    } else if (OVT_LIKELY(length > 16 && length <= 32)) {
        memcpy(out, text, 16);
        memcpy(out + length - 16, text + length - 16, 16);
    } else {
        memcpy(out, text, length);
    }
}

/* Appends an exact str and a newline. */
static bool write_prefix_line(ovt_buffer *out, PyObject *str) {
    ovt_text text;
    if (OVT_LIKELY(PyUnicode_IS_COMPACT_ASCII(str))) {
        const size_t length = (size_t)PyUnicode_GET_LENGTH(str);
        if (OVT_LIKELY(ovt_buffer_reserve(out, length + 1))) {
            copy_few(out->end, (const char *)((PyASCIIObject *)str + 1), length);
            out->end[length] = '\n';
            out->end += length + 1;
            return true;
        }
    } else if (!ovt_read_str(str, &text)) {
        return false;
    } else if (ovt_write_raw(out, text) == OVT_OK && ovt_buffer_append(out, "\n", 1)) {
        return true;
    }
    PyErr_NoMemory();
    return false;
}

bool ovt_write_prefix(ovt_buffer *out, PyObject *kind, PyObject *name) {
    return write_prefix_line(out, kind) && write_prefix_line(out, name);
}

PyObject *ovt_exact_name(const module_state *state, PyObject *name) {
    if (PyUnicode_CheckExact(name)) {
        return Py_NewRef(name);
    }
    return PyObject_CallFunction(state->checked_text, "Os", name, ovt_argument_names[NAME_NAME]);
}

PyObject *ovt_exact_kind(const module_state *state, PyObject *kind) {
    return kind == state->tool_call ? Py_NewRef(kind)
                                    : PyObject_CallOneArg(state->checked_kind, kind);
}

/* Appends the arguments of a call that count. */
static bool write_arguments(ovt_buffer *out, const call_parts *call,
                            const ovt_walk_options *options) {
    if (declares_none(call->match_on) && declares_none(call->ignore_args)) {
        return ovt_walk(out, call->args, NULL, options) == 0;
    }
    kept_members room;
    selected_args selected;
    if (!ovt_select(call->state, call->args, call->match_on, call->ignore_args, &room, &selected)) {
        return false;
    }
    const bool is_written = ovt_walk(out, selected.args, &selected.selection, options) == 0;
    ovt_release_selected(&selected);
    return is_written;
}

bool ovt_write_call(ovt_buffer *out, const call_parts *call, const ovt_walk_options *options) {
    if (OVT_LIKELY(call->kind == call->state->tool_call && PyUnicode_CheckExact(call->name))) {
        return ovt_write_prefix(out, call->kind, call->name) && write_arguments(out, call, options);
    }
    PyObject *const kind = ovt_exact_kind(call->state, call->kind);
    PyObject *const name = kind == NULL ? NULL : ovt_exact_name(call->state, call->name);
    const bool is_written =
        name != NULL && ovt_write_prefix(out, kind, name) && write_arguments(out, call, options);
    Py_XDECREF(name);
    Py_XDECREF(kind);
    return is_written;
}

/* Appends what a job is about; false with an exception set. */
static bool write_job(ovt_buffer *out, const output_job *job) {
    if (job->call != NULL) {
        return ovt_write_call(out, job->call, job->options);
    }
    if (job->prefix_size != 0) {
        if (!ovt_buffer_reserve(out, job->prefix_size)) {
            PyErr_NoMemory();
            return false;
        }
        copy_few(out->end, job->prefix, job->prefix_size);
        out->end += job->prefix_size;
    }
    return ovt_walk(out, job->selected->args, &job->selected->selection, job->options) == 0;
}

static PyObject *output_through(char *storage, size_t capacity, const output_job *job) {
    PyObject *room =
        job->as_bytes ? room_for(job->selected->args, job->options->python->dumped) : NULL;
    if (room != NULL) {
        storage = PyBytes_AS_STRING(room);
        capacity = (size_t)PyBytes_GET_SIZE(room);
    }
    ovt_sha256 hash;
    ovt_buffer out;
    ovt_buffer_init(&out, storage, capacity, job->digits != 0 ? &hash : NULL);
    out.spare = job->options->python->spare;
    PyObject *result = NULL;
    if (!write_job(&out, job)) {
        Py_CLEAR(room);
    } else if (job->digits != 0) {
        uint8_t digest[OVT_SHA256_DIGEST_SIZE];
        ovt_buffer_finish_hash(&out, digest);
        result = ovt_hex_str(digest, job->digits);
    } else if (job->as_bytes) {
        result = bytes_of(&out, room, job->options->python->dumped);
    } else {
        result = PyUnicode_DecodeUTF8(out.data, (Py_ssize_t)ovt_buffer_length(&out), NULL);
    }
    ovt_buffer_release(&out);
    return result;
}

PyObject *ovt_output_on_stack(const output_job *job) {
    /* Aligned, so that no vector load of a block of SHA-256 crosses a line of the cache. */
    _Alignas(OVT_SHA256_BLOCK_SIZE) char storage[STACK_BUFFER];
    return output_through(storage, sizeof storage, job);
}

PyObject *ovt_output_nested(const output_job *job) {
    char storage[NESTED_BUFFER];
    return output_through(storage, sizeof storage, job);
}
