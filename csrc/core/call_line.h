/* Recorded calls: one JSON object each, with "name", "args" and perhaps "kind", "matchOn" and
 * "ignoreArgs", to fingerprints.
 *
 * The object is read once to find its members, and the text of "args" once more to canonicalize
 * it. Of members with one name the last one counts; others than these do not. */
#ifndef OVT_CALL_LINE_H
#define OVT_CALL_LINE_H

#include "buffer.h"
#include "canonical_text.h"
#include "text_string.h"

/* Where a member stands in a text: the name with its quotes, and the value. */
typedef struct {
    size_t name_start;
    size_t name_end;
    size_t value_start;
    size_t value_end;
} ovt_member_span;

typedef struct {
    ovt_member_span *spans; /* on the heap, or NULL */
    size_t count;
    size_t start;   /* of the value in the text */
    bool is_object; /* else there are no spans */
} ovt_member_spans;

/* The members of the object that a text consists of, as they stand there. The text is read to its
 * end; containers in the object nest at most `max_depth` levels. The caller frees the spans. */
ovt_status ovt_read_members(ovt_member_spans *members, const char *text, size_t length,
                            size_t max_depth, ovt_text_error *error);

/* The fields of a call; the order is known to overturn_fast/_errors.py. */
typedef enum {
    OVT_CALL_KIND,
    OVT_CALL_NAME,
    OVT_CALL_ARGS,
    OVT_CALL_MATCH_ON,
    OVT_CALL_IGNORE_ARGS,
    OVT_CALL_FIELD_COUNT,
} ovt_call_field;

/* What is wrong with a JSON value that should be a call; likewise. */
typedef enum {
    OVT_CALL_NO_OBJECT = 1,
    OVT_CALL_MISSING = 2,   /* a field that must be there */
    OVT_CALL_NO_STRING = 3, /* a field that must be one */
    OVT_CALL_NEWLINE = 4,   /* in the kind */
    OVT_CALL_NO_ARRAY = 5,  /* a field that must be one, or null */
    OVT_CALL_ITEM = 6,      /* an item of such an array that is no string */
} ovt_call_reason;

typedef struct {
    ovt_call_reason reason;
    ovt_call_field field;
    size_t item;
    size_t offset; /* of the value that is wrong; where one is missing, of the object */
} ovt_call_error;

/* A part of the text. */
typedef struct {
    const char *start; /* NULL: it is not there */
    size_t length;
} ovt_call_part;

/* A call as it stands in its text. */
typedef struct {
    const char *text;
    size_t start; /* of the object */
    ovt_call_part fields[OVT_CALL_FIELD_COUNT];
    ovt_call_error *error;
} ovt_call;

/* Finds the fields of a call and checks all of them but the items of arrays: OVT_OK, OVT_NO_MEMORY,
 * or OVT_TEXT or OVT_CALL with the error filled in that says more. */
ovt_status ovt_call_read(ovt_call *c, const char *text, size_t length, size_t max_depth,
                         ovt_text_error *error, ovt_call_error *call_error);

/* Appends the characters of a string of the text. False when memory runs out. */
bool ovt_call_append_string(ovt_buffer *out, ovt_call_part string, ovt_lone_surrogates lone);

/* Appends what is hashed before the arguments: OVT_OK, OVT_NO_MEMORY or OVT_CALL. */
ovt_status ovt_call_write_prefix(ovt_buffer *out, const ovt_call *c);

/* Appends the names in an array of the text, as ovt_select_names takes them; likewise. */
ovt_status ovt_call_write_names(ovt_buffer *out, const ovt_call *c, ovt_call_field field);

/* The digest of a call, in 64 hexadecimal digits: OVT_OK, OVT_NO_MEMORY, OVT_TEXT with *error
 * filled in, or OVT_CALL with *call_error filled in. */
ovt_status ovt_call_digest(char hex[OVT_SHA256_HEX_SIZE], const char *text, size_t length,
                           size_t max_depth, ovt_text_error *error, ovt_call_error *call_error);

#endif
