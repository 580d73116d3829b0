/* What the module's functions give: the canonical text of a value as a str or as bytes, or a digest
 * of it.
 *
 * A text of up to 16 KB is written on the C stack, and a longer one moves to the heap; for a call
 * that may be inside another it is there from the start, but for the shortest. */
#ifndef OVT_OUTPUT_H
#define OVT_OUTPUT_H

#include "selection.h"
#include "sha256.h"

/* A call of a tool or a model, as it is given. */
typedef struct {
    const module_state *state;
    PyObject *kind;
    PyObject *name;
    PyObject *args;
    PyObject *match_on;    /* NULL: not given */
    PyObject *ignore_args; /* likewise */
} call_parts;

/* What is on the way to a digest or a text. */
typedef struct {
    const call_parts *call; /* a call, of which the rest is made here; else NULL */
    const char *prefix;     /* hashed before the canonical text */
    size_t prefix_size;
    const selected_args *selected;
    size_t digits; /* of the hexadecimal digest that are wanted; 0 for the text itself */
    bool as_bytes; /* the text as bytes, else as a str */
    const ovt_walk_options *options;
} output_job;

/* The output of a job, NULL with an exception set. The second keeps off the C stack what it can. */
PyObject *ovt_output_on_stack(const output_job *job);
PyObject *ovt_output_nested(const output_job *job);

static inline PyObject *output_of(const output_job *job) {
    return OVT_UNLIKELY(ovt_may_be_nested(job->options->python)) ? ovt_output_nested(job)
                                                                 : ovt_output_on_stack(job);
}

static inline PyObject *canonical_str(PyObject *value, const ovt_walk_options *options) {
    const selected_args whole = {.args = value};
    const output_job job = {.selected = &whole, .options = options};
    return output_of(&job);
}

static inline PyObject *canonical_bytes(PyObject *value, const ovt_walk_options *options) {
    const selected_args whole = {.args = value};
    const output_job job = {.selected = &whole, .as_bytes = true, .options = options};
    return output_of(&job);
}

/* The first `size` hexadecimal digits of the digest of `prefix` and the canonical text of what is
 * selected. */
static inline PyObject *digest_start(size_t size, const char *prefix, size_t prefix_size,
                                     const selected_args *selected,
                                     const ovt_walk_options *options) {
    const output_job job = {
        .prefix = prefix,
        .prefix_size = prefix_size,
        .selected = selected,
        .digits = size,
        .options = options,
    };
    return output_of(&job);
}

/* All of them. */
static inline PyObject *digest_str(const char *prefix, size_t prefix_size,
                                   const selected_args *selected, const ovt_walk_options *options) {
    return digest_start(OVT_SHA256_HEX_SIZE, prefix, prefix_size, selected, options);
}

/* fingerprint() with its arguments read. */
static inline PyObject *fingerprint_of(const call_parts *call, const ovt_walk_options *options) {
    const output_job job = {.call = call, .digits = OVT_SHA256_HEX_SIZE, .options = options};
    return output_of(&job);
}

/* Appends kind, newline, name, newline: what is hashed before the arguments. False with an
 * exception set. */
bool ovt_write_prefix(ovt_buffer *out, PyObject *kind, PyObject *name);

/* Appends what is hashed of a call; false with an exception set. */
bool ovt_write_call(ovt_buffer *out, const call_parts *call, const ovt_walk_options *options);

/* A name or kind that is an exact str as it is; anything else through one of _arguments' checks. A
 * new reference. */
PyObject *ovt_exact_name(const module_state *state, PyObject *name);
PyObject *ovt_exact_kind(const module_state *state, PyObject *kind);

#endif
