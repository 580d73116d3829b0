/* JSON text to the outline of its value, read strictly (json_read.h), with nothing made of what is
 * not in the outline. Nothing recurses. Time is linear in the length of the text. */
#ifndef OVT_SHAPE_TEXT_H
#define OVT_SHAPE_TEXT_H

#include "json_read.h"
#include "shape_outline.h"
#include "status.h"

typedef struct {
    size_t max_depth;
    size_t item_limit; /* of an array; what comes after them is only checked. SIZE_MAX: all count */
} ovt_outline_options;

/* What was found, and what is wrong if something is. */
typedef struct {
    size_t surrogate_offset; /* of the first name in the outline that holds a lone surrogate;
                              * SIZE_MAX if there is none */
    size_t offset;
    ovt_text_reason reason;
} ovt_outline_notes;

/* Adds the outline of a text to an empty one: OVT_OK, OVT_NO_MEMORY, or OVT_TEXT with reason and
 * offset filled in. The outline refers to the text, and to the reader. */
ovt_status ovt_outline_text(ovt_outline *outline, ovt_reader *reader, const char *text,
                            size_t length, const ovt_outline_options *options,
                            ovt_outline_notes *notes);

#endif
