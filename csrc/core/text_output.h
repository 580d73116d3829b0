/* What comes of one JSON text, as a caller in another language asks for it: one call for a text,
 * and everything that it answers in one struct. */
#ifndef OVT_TEXT_OUTPUT_H
#define OVT_TEXT_OUTPUT_H

#include "call_line.h"

enum { OVT_OUTPUT_STORAGE = 64 * 1024 };

/* Room for what a call answers. All zero at first; it may be used for further calls, and a result
 * on the heap is released first. */
typedef struct {
    int status;       /* an ovt_status */
    int reason;       /* an ovt_text_reason if that is OVT_TEXT, an ovt_call_reason for OVT_CALL */
    size_t offset;    /* in the text, of what is wrong, likewise */
    int field;        /* an ovt_call_field, for OVT_CALL */
    size_t item;      /* likewise */
    const char *data; /* a result on the heap */
    size_t length;    /* of it, in bytes */
    size_t capacity;  /* of its block */
    ovt_spare spare;
    char storage[OVT_OUTPUT_STORAGE];
} ovt_text_output;

/* What the functions below return when that is not the length of a result in `storage`. */
enum { OVT_OUTPUT_ON_HEAP = -1, OVT_OUTPUT_FAILED = -2 };

/* Frees a result on the heap, or keeps its block for the next one. */
void ovt_text_release(ovt_text_output *output);

/* The same, once its bytes have been copied to `to`. */
void ovt_text_take(ovt_text_output *output, char *to);

/* Frees everything that an output without a result still holds. */
void ovt_text_close(ovt_text_output *output);

/* The canonical form under the profile of that index. */
int ovt_text_canonical(ovt_text_output *output, int profile, const char *text, size_t length,
                       size_t max_depth);

/* The digest, in 64 hexadecimal digits, of `prefix` and the canonical form. `names` selects among
 * the members of an outermost object: each name is followed by a byte 0xFF. They are dropped, or
 * else they alone are kept; no name at all selects everything. */
int ovt_text_digest(ovt_text_output *output, int profile, const char *prefix, size_t prefix_length,
                    const char *text, size_t length, size_t max_depth, const char *names,
                    size_t names_length, bool drops);

/* The fingerprint of a recorded call, in 64 hexadecimal digits. */
int ovt_text_call(ovt_text_output *output, const char *text, size_t length, size_t max_depth);

/* The members of an object as an array of ovt_member_span, on the heap; if there are none, or the
 * text is no object, a result of length 0 in `storage`. */
int ovt_text_members(ovt_text_output *output, const char *text, size_t length, size_t max_depth);

#endif
