/* Fingerprints of many calls: two are written, and their digests are made together.
 *
 * Calls that come one after the other are often those of one tool, with some arguments alike. The
 * blocks that a text begins with like the last text of the pair before are not hashed again. A text
 * that outgrows its storage is hashed by itself. */

#include "arguments.h"
#include "hex_str.h"
#include "module_functions.h"
#include "output.h"

enum {
    PAIR = 2,
    CALL_BLOCKS = 69, /* of SHA-256 of a text; a longer one moves to the heap */
    CALL_ROOM = CALL_BLOCKS * OVT_SHA256_BLOCK_SIZE,
};

/* A call that is written. */
typedef struct {
    _Alignas(OVT_SHA256_BLOCK_SIZE) char storage[CALL_ROOM];
    ovt_buffer text;
    ovt_sha256 hash; /* of a text that has left the storage */
} call_slot;

_Static_assert(sizeof(call_slot) % 4096 != 0,
               "the processor takes addresses that agree in their last twelve bits for the same");

/* Calls whose digests are made together, and the last one before them. */
typedef struct {
    call_slot slots[PAIR + 1];
    call_slot *open[PAIR];
    size_t count; /* of the open ones that are written, and have no digest yet */
    call_slot *last;
    ovt_sha256_trail trail; /* its last message is the text in `last`, or none */
    uint32_t states[CALL_BLOCKS + 1][8];
} call_batch;

/* The first batch in a block that is larger by the size of a block of SHA-256. */
static call_batch *aligned_batch(void *block) {
    const uintptr_t size = OVT_SHA256_BLOCK_SIZE;
    return (call_batch *)(((uintptr_t)block + size - 1) / size * size);
}

static void start_batch(call_batch *batch) {
    batch->open[0] = &batch->slots[0];
    batch->open[1] = &batch->slots[1];
    batch->last = &batch->slots[2];
    batch->count = 0;
    ovt_sha256_trail_init(&batch->trail, batch->states);
}

/* Whether all arguments of a tool's call count, and its name needs no check: the usual case. */
static bool is_plain_call(const call_parts *call) {
    return call->kind == call->state->tool_call && PyUnicode_CheckExact(call->name) &&
           call->match_on == NULL && call->ignore_args == NULL;
}

static bool add_parts(call_batch *batch, const call_parts *call, const ovt_walk_options *options) {
    call_slot *const slot = batch->open[batch->count++];
    ovt_buffer_init(&slot->text, slot->storage, CALL_ROOM, &slot->hash);
    slot->text.spare = options->python->spare;
    ovt_buffer_hash_late(&slot->text);
    if (OVT_LIKELY(is_plain_call(call))) {
        return ovt_write_prefix(&slot->text, call->kind, call->name) &&
               ovt_walk(&slot->text, call->args, NULL, options) == 0;
    }
    return ovt_write_call(&slot->text, call, options);
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
        ovt_buffer_release(&batch->open[--batch->count]->text);
    }
}

/* Whether the whole text stands in the storage, with room for its padding. */
static bool is_in_storage(const call_slot *slot) {
    return slot->text.data == slot->storage && slot->text.hashed == slot->storage &&
           slot->hash.length == 0 && slot->text.limit - slot->text.end >= OVT_SHA256_PAD_ROOM;
}

/* Finds the final states of the open calls that stand in their storage, and says which those are:
 * the others have no blocks. */
static void hash_pair(call_batch *batch, ovt_sha256_padded messages[PAIR],
                      uint32_t finals[PAIR][8]) {
    for (size_t i = 0; i < PAIR; i++) {
        call_slot *const slot = batch->open[i];
        messages[i] = (ovt_sha256_padded){0};
        if (i < batch->count && is_in_storage(slot)) {
            messages[i] = ovt_sha256_pad((uint8_t *)slot->storage, ovt_buffer_length(&slot->text));
        }
    }
    ovt_sha256_trail_two(&batch->trail, messages, finals);
}

/* Appends the digests of the open calls to a list; false with an exception set. */
static bool finish_pair(call_batch *batch, PyObject *digests) {
    ovt_sha256_padded messages[PAIR];
    uint32_t finals[PAIR][8];
    hash_pair(batch, messages, finals);
    bool is_well = true;
    for (size_t i = 0; is_well && i < batch->count; i++) {
        uint8_t bytes[OVT_SHA256_DIGEST_SIZE];
        if (OVT_LIKELY(messages[i].count != 0)) {
            ovt_sha256_state_digest(finals[i], bytes);
        } else {
            ovt_buffer_finish_hash(&batch->open[i]->text, bytes);
        }
        PyObject *const digest = ovt_hex_str(bytes, OVT_SHA256_HEX_SIZE);
        is_well = digest != NULL && PyList_Append(digests, digest) == 0;
        Py_XDECREF(digest);
    }
    clear_batch(batch);
    if (messages[1].count != 0) { /* it is the last of the trail now, and has to stay */
        call_slot *const last = batch->open[1];
        batch->open[1] = batch->last;
        batch->last = last;
    }
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

/* The call at `index`, a new reference; NULL after the last, or with an exception set. Those of a
 * list are taken out one by one, which is a little faster; `iterator` is then NULL. */
static inline PyObject *next_call(PyObject *calls, PyObject *iterator, Py_ssize_t index) {
    if (iterator != NULL) {
        return PyIter_Next(iterator);
    }
    return index < PyList_GET_SIZE(calls) ? Py_NewRef(PyList_GET_ITEM(calls, index)) : NULL;
}

/* A list of the digests of calls. */
static PyObject *digests_of(const module_state *state, PyObject *calls, PyObject *iterator,
                            const ovt_walk_options *options, call_batch *batch) {
    PyObject *digests = PyList_New(0);
    bool is_well = digests != NULL;
    PyObject *call;
    for (Py_ssize_t index = 0; is_well && (call = next_call(calls, iterator, index)) != NULL;
         index++) {
        is_well = add_call(batch, state, call, options);
        Py_DECREF(call);
        if (!is_well) {
            locate_error(state, index);
        } else if (batch->count == PAIR) {
            is_well = finish_pair(batch, digests);
        }
    }
    if (!is_well || PyErr_Occurred() != NULL || !finish_pair(batch, digests)) {
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
#ifndef Py_GIL_DISABLED /* another thread could change the list meanwhile */
    const bool is_list = PyList_CheckExact(given[0]);
#else
    const bool is_list = false;
#endif
    PyObject *const iterator = is_list ? NULL : PyObject_GetIter(given[0]);
    if (!is_list && iterator == NULL) {
        return NULL;
    }
    PyObject *digests = NULL;
    void *const block = PyMem_RawMalloc(sizeof(call_batch) + OVT_SHA256_BLOCK_SIZE);
    if (block != NULL) {
        call_batch *const batch = aligned_batch(block);
        start_batch(batch);
        digests = digests_of(state, given[0], iterator, &options, batch);
        clear_batch(batch);
    } else {
        PyErr_NoMemory();
    }
    PyMem_RawFree(block);
    Py_XDECREF(iterator);
    return digests;
}
