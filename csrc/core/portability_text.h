/* What in a JSON text other SDKs may read otherwise: one strict pass that reports each finding with
 * its reason and the path to it.
 *
 * Nothing is made of what is found to be fine. Findings come in reading order; those about the keys
 * of an object, at most one a reason, come where the object ends. Nothing recurses. Time is linear
 * in the length of the text, but for sorting the keys of large objects; memory is some 50 bytes for
 * each member of an object that is open and 80 for each level of nesting. */
#ifndef OVT_PORTABILITY_TEXT_H
#define OVT_PORTABILITY_TEXT_H

#include "canonical_text.h"

/* Why a value is no safe one; overturn_fast/_portability.py has the same numbers, and explains
 * them. Reasons that JSON text cannot give are known only there. */
typedef enum {
    OVT_PORTABILITY_LARGE_INTEGER = 1,
    OVT_PORTABILITY_INTEGRAL_FLOAT = 2,
    OVT_PORTABILITY_NOT_FINITE = 3,
    OVT_PORTABILITY_TRIM = 4,
    OVT_PORTABILITY_SURROGATE = 5,
    OVT_PORTABILITY_KEY_SURROGATE = 6,
    OVT_PORTABILITY_KEY_ORDER = 7,
    OVT_PORTABILITY_KEY_COLLISION = 8,
    OVT_PORTABILITY_NESTING = 9,
} ovt_portability_reason;

enum {
    OVT_PORTABILITY_REASONS = 10, /* one more than the largest */
    OVT_PORTABLE_DEPTH = 300,     /* levels of nesting that every SDK is taken to bear */
};

/* From a container to one of its members. */
typedef struct {
    const char *key; /* in WTF-8; NULL: an item of an array */
    size_t length;   /* of the key */
    size_t index;    /* of the item */
} ovt_path_step;

/* Takes a finding; the steps are the walk's own. False ends the walk: memory has run out. */
typedef bool ovt_finding_sink(void *context, ovt_portability_reason reason,
                              const ovt_path_step *steps, size_t depth);

typedef struct {
    size_t max_depth;
    const ovt_name_selection *selection; /* among the members of an outermost object, or NULL */
    ovt_finding_sink *sink;
    void *context;
} ovt_portability_options;

/* OVT_OK, OVT_NO_MEMORY, or OVT_TEXT with *error filled in; what was found before that has been
 * reported. */
ovt_status ovt_portability_text(const char *text, size_t length,
                                const ovt_portability_options *options, ovt_text_error *error);

#endif
