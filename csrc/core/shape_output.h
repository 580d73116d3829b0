/* The shape of one JSON text, as a caller in another language asks for it. */
#ifndef OVT_SHAPE_OUTPUT_H
#define OVT_SHAPE_OUTPUT_H

#include "shape_rows.h"

/* What a call answers. It need not be initialised. */
typedef struct {
    int status;    /* an ovt_status */
    int reason;    /* an ovt_text_reason, if that is OVT_TEXT */
    size_t offset; /* in the text, of what is wrong, likewise */
    char *data;    /* the result: rows are on the heap, a digest is in `digest` */
    char digest[OVT_SHAPE_DIGEST];
} ovt_shape_output;

/* The digest over the shape of a text or, unless `is_digest`, its rows, as ovt_shape_rows writes
 * them. Returns the length of output->data, -1 if there is none. `seed` is that of a tree. */
ptrdiff_t ovt_text_shape(ovt_shape_output *output, int profile, bool is_digest, uint64_t seed,
                         const char *text, size_t length, size_t max_depth);

/* Frees rows. */
void ovt_shape_release(ovt_shape_output *output);

#endif
