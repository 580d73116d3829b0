/* Fingerprints of many calls: two are written, and their digests are made together. */

#include "arguments.h"
#include "hex_str.h"
#include "module_functions.h"
#include "output.h"

enum {
    BATCH_CALLS = 2, /* whose digests are made together, two at a time */
    /* Bytes of each, a longer one moves to the heap. Not a multiple of 4,096: addresses that agree
     * in their last bits are taken for the same one by the processor at first. */
    CALL_ROOM = 4096 + 5 * OVT_SHA256_BLOCK_SIZE,
};

/* Calls that are written and whose digests are not made yet. */
typedef struct {
    _Alignas(OVT_SHA256_BLOCK_SIZE) char storage[BATCH_CALLS][CALL_ROOM];
    ovt_buffer texts[BATCH_CALLS];
    ovt_sha256 hashes[BATCH_CALLS];
    size_t count;
} call_batch;

/* The first batch in a block that is larger by the size of a block of SHA-256. */
static call_batch *aligned_batch(void *block) {
    const uintptr_t size = OVT_SHA256_BLOCK_SIZE;
    return (call_batch *)(((uintptr_t)block + size - 1) / size * size);
}

static bool add_parts(call_batch *batch, const call_parts *call, const ovt_walk_options *options) {
    ovt_buffer *const text = &batch->texts[batch->count];
    ovt_buffer_init(text, batch->storage[batch->count], CALL_ROOM, &batch->hashes[batch->count]);
    text->spare = options->python->spare;
    ovt_buffer_hash_late(text);
    batch->count++;
    return ovt_write_call(text, call, options);
}

/* Adds one of the calls that ovt_fingerprint_many() takes; false with an exception set. */
static bool add_call(call_batch *batch, const module_state *state, PyObject *call,
                     const ovt_walk_options *options) {
    if (PyTuple_CheckExact(call) && PyTuple_GET_SIZE(call) >= 2 && PyTuple_GET_SIZE(call) <= 4) {
        const Py_ssize_t size = PyTuple_GET_SIZE(call);
        const call_parts given = {state,
                                  state->tool_call,
                                  PyTuple_GET_ITEM(call, 0),
                                  PyTuple_GET_ITEM(call, 1),
                                  size > 2 ? PyTuple_GET_ITEM(call, 2) : NULL,
                                  size > 3 ? PyTuple_GET_ITEM(call, 3) : NULL};
        return add_parts(batch, &given, options);
    }
    PyObject *parts = PyObject_CallOneArg(state->call_parts, call);
    if (parts == NULL) {
        return false;
    }
    const call_parts given = {state,
                              PyTuple_GET_ITEM(parts, 0),
                              PyTuple_GET_ITEM(parts, 1),
                              PyTuple_GET_ITEM(parts, 2),
                              PyTuple_GET_ITEM(parts, 3),
                              PyTuple_GET_ITEM(parts, 4)};
    const bool is_added = add_parts(batch, &given, options);
    Py_DECREF(parts);
    return is_added;
}

static void clear_batch(call_batch *batch) {
    while (batch->count > 0) {
        ovt_buffer_release(&batch->texts[--batch->count]);
    }
}

/* Appends the digests of the calls in the batch to a list, and empties it; false with an exception
 * set. */
static bool finish_batch(call_batch *batch, PyObject *digests) {
    uint8_t bytes[BATCH_CALLS][OVT_SHA256_DIGEST_SIZE];
    ovt_sha256_message messages[BATCH_CALLS];
    for (size_t i = 0; i < batch->count; i++) {
        const ovt_buffer *const text = &batch->texts[i];
        messages[i] =
            (ovt_sha256_message){.hash = text->hash,
                                 .bytes = text->hashed,
                                 .count = (size_t)(text->end - text->hashed),
                                 .digest = bytes[i],
                                 .has_room = text->limit - text->end >= OVT_SHA256_PAD_ROOM};
    }
    ovt_sha256_finish_all(messages, batch->count);
    bool is_well = true;
    for (size_t i = 0; is_well && i < batch->count; i++) {
        PyObject *const digest = ovt_hex_str(bytes[i], OVT_SHA256_HEX_SIZE);
        is_well = digest != NULL && PyList_Append(digests, digest) == 0;
        Py_XDECREF(digest);
    }
    clear_batch(batch);
    return is_well;
}

/* Puts the call's position before the message of the exception that is set. */
static void locate_error(const module_state *state, Py_ssize_t index) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *located = PyObject_CallFunction(state->in_call, "On", error, index);
    if (located == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(located);
    PyErr_Restore(type, error, traceback);
}

/* A list of the digests of the calls that an iterator gives. */
static PyObject *digests_of(const module_state *state, PyObject *calls,
                            const ovt_walk_options *options, call_batch *batch) {
    PyObject *digests = PyList_New(0);
    bool is_well = digests != NULL;
    PyObject *call;
    for (Py_ssize_t index = 0; is_well && (call = PyIter_Next(calls)) != NULL; index++) {
        is_well = add_call(batch, state, call, options);
        Py_DECREF(call);
        if (!is_well) {
            locate_error(state, index);
        } else if (batch->count == BATCH_CALLS) {
            is_well = finish_batch(batch, digests);
        }
    }
    if (!is_well || PyErr_Occurred() != NULL || !finish_batch(batch, digests)) {
        Py_CLEAR(digests);
    }
    return digests;
}

PyObject *ovt_fingerprint_many(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *keywords) {
    static const signature takes = {
        "fingerprint_many", {NAME_CALLS, NAME_ENCODER, NAME_MAX_DEPTH}, 3, 1, 1};
    const module_state *state = state_of(module);
    PyObject *given[3];
    ovt_walk_options options;
    if (!ovt_read_arguments(state, &takes, args, nargs, keywords, given) ||
        !ovt_read_options(state, OVT_PROFILE_OVERTURN, given[1], given[2], &options)) {
        return NULL;
    }
    PyObject *digests = NULL;
    PyObject *const calls = PyObject_GetIter(given[0]);
    void *const block =
        calls == NULL ? NULL : PyMem_RawMalloc(sizeof(call_batch) + OVT_SHA256_BLOCK_SIZE);
    if (block != NULL) {
        call_batch *const batch = aligned_batch(block);
        batch->count = 0;
        digests = digests_of(state, calls, &options, batch);
        clear_batch(batch);
    } else if (calls != NULL) {
        PyErr_NoMemory();
    }
    PyMem_RawFree(block);
    Py_XDECREF(calls);
    return digests;
}
