/* The fingerprint of a usual call of a language model, in one go.
 *
 * A call is usual if its text is ASCII, its messages and tools are a list or a tuple, and each tool
 * is a dict with a name of its own; most are. The rest, and whatever is wrong with it, is left to
 * overturn_fast/pleach/fingerprint.py, which has every rule and words every error: this file has
 * none but what can be told from the types. Only what the walk over messages and tools raises is
 * final, since their hooks must not run twice.
 *
 * Messages and tools are written first and hashed then, two texts at a time, which with SHA
 * instructions takes hardly longer than the longer of them. */
#ifndef OVT_CALL_KEY_H
#define OVT_CALL_KEY_H

#include "walker.h"

/* The fields of a call in the order of FingerprintInput, of which the rest is not read; then those
 * of a fingerprint that are only set, and two other names. */
typedef enum {
    OVT_LLM_MODEL,
    OVT_LLM_FAMILY,
    OVT_LLM_CALL_CLASS,
    OVT_LLM_RUNTIME_MODE,
    OVT_LLM_MESSAGES,
    OVT_LLM_SYSTEM_PROMPT,
    OVT_LLM_TOOLS,
    OVT_LLM_TEMPERATURE,
    OVT_LLM_SEED,
    OVT_LLM_TENANT_ID,
    OVT_LLM_POLICIES,
    OVT_LLM_READ, /* how many are read */
    OVT_LLM_HASH = OVT_LLM_READ,
    OVT_LLM_PROMPT_HASH,
    OVT_LLM_TOOLS_HASH,
    OVT_LLM_SYSTEM_PROMPT_HASH,
    OVT_LLM_SAFETY_POLICIES_HASH,
    OVT_LLM_TEMPERATURE_BUCKET,
    OVT_LLM_PLEACH_VERSION,
    OVT_LLM_NAME,  /* of a tool */
    OVT_LLM_VALUE, /* of a runtime mode */
    OVT_LLM_FIELDS,
} ovt_llm_field;

/* Their names. */
typedef struct {
    PyObject *names[OVT_LLM_FIELDS];
} ovt_llm_side;

bool ovt_llm_side_init(ovt_llm_side *side);
void ovt_llm_side_clear(ovt_llm_side *side);

/* What is the same for all calls. */
typedef struct {
    PyTypeObject *fingerprint_type;
    PyTypeObject *catalog_type; /* of tools that were hashed before, with a str as its `hash` */
    PyTypeObject *prompt_type;  /* of a system prompt, likewise */
    PyObject *modes;            /* a dict: the runtime modes by their text */
    PyObject *positions;        /* a dict: ovt_llm_field by the spellings of its name */
    PyObject *policies_digest;  /* of safety policies: a str, or None for none */
    PyObject *locate;           /* puts the field into an error of the walk: of the messages, or of
                                   the tools as they are sorted and as they were given */
} ovt_llm_kinds;

/* A call, as an object with those attributes or as an exact dict, and how to make a fingerprint. */
typedef struct {
    ovt_llm_kinds kinds;
    PyObject *call;
    PyObject *version;    /* of the substrate */
    Py_ssize_t precision; /* decimal digits of the temperature */
} ovt_llm_parts;

/* The fingerprint; None if the call is not a usual one, as long as no hook has run; NULL with the
 * exception set that writing the messages or the tools has raised. */
PyObject *ovt_call_fingerprint(const ovt_llm_side *side, const ovt_llm_parts *parts,
                               const ovt_walk_options *options);

#endif
