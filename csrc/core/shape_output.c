#include "shape_output.h"

#include <stdlib.h>

#include "shape_text.h"

/* What one text needs meanwhile. */
typedef struct {
    ovt_outline outline;
    ovt_shape_tree tree;
    ovt_reader reader;
} shaping;

static ptrdiff_t failed(ovt_shape_output *output, ovt_status status, int reason, size_t offset) {
    output->status = (int)status;
    output->reason = reason;
    output->offset = offset;
    return -1;
}

static ptrdiff_t write_digest(ovt_shape_output *output, const ovt_shape_tree *tree, int profile,
                              const ovt_outline_notes *notes) {
    ovt_buffer unwritable;
    size_t length;
    ovt_buffer_init(&unwritable, output->digest, 0, NULL);
    const ovt_status status =
        ovt_shape_digest(output->digest, &length, tree, (ovt_shape_profile)profile, &unwritable);
    ovt_buffer_release(&unwritable);
    if (status == OVT_KEY_SURROGATE) {
        return failed(output, OVT_TEXT, OVT_TEXT_LONE_SURROGATE, notes->surrogate_offset);
    }
    if (status != OVT_OK) {
        return failed(output, status, 0, 0);
    }
    output->data = output->digest;
    return (ptrdiff_t)length;
}

static ptrdiff_t write_rows(ovt_shape_output *output, const ovt_shape_tree *tree, int profile) {
    ovt_buffer rows;
    ovt_buffer_init(&rows, output->digest, 0, NULL);
    const ovt_status status = ovt_shape_rows(&rows, tree, (ovt_shape_profile)profile);
    if (status != OVT_OK) {
        ovt_buffer_release(&rows);
        return failed(output, status, 0, 0);
    }
    output->data = rows.data;
    return (ptrdiff_t)ovt_buffer_length(&rows);
}

ptrdiff_t ovt_text_shape(ovt_shape_output *output, int profile, bool is_digest, uint64_t seed,
                         const char *text, size_t length, size_t max_depth) {
    shaping s;
    const bool is_seed = profile == OVT_SHAPE_SEED;
    const ovt_outline_options options = {max_depth, is_seed ? OVT_SEED_ITEMS : SIZE_MAX};
    ovt_outline_notes notes;
    ptrdiff_t size;
    ovt_outline_init(&s.outline);
    ovt_tree_init(&s.tree, seed);
    const ovt_status status =
        ovt_outline_text(&s.outline, &s.reader, text, length, &options, &notes);
    if (status != OVT_OK) {
        size = failed(output, status, (int)notes.reason, notes.offset);
    } else if (!ovt_tree_add(&s.tree, &s.outline, is_seed ? OVT_MERGE_ITEMS : OVT_MERGE_ALL,
                             true)) {
        size = failed(output, OVT_NO_MEMORY, 0, 0);
    } else if (is_digest) {
        size = write_digest(output, &s.tree, profile, &notes);
    } else {
        size = write_rows(output, &s.tree, profile);
    }
    ovt_tree_release(&s.tree);
    ovt_outline_release(&s.outline);
    return size;
}

void ovt_shape_release(ovt_shape_output *output) {
    free(output->data);
}
