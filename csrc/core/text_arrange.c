#include "text_arrange.h"

#include <stdlib.h>

#include "growth.h"

/* A block of `capacity` elements that has room for `count` more than the `used` ones; NULL when
 * memory runs out. */
static void *with_room(void *block, size_t used, size_t count, size_t *capacity, size_t element) {
    if (*capacity - used >= count) {
        return block;
    }
    if (used > SIZE_MAX / 4 / element || count > SIZE_MAX / 4 / element) {
        return NULL;
    }
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < used + count) {
        wanted = used + count;
    }
    void *const larger = realloc(block, wanted * element);
    if (larger != NULL) {
        *capacity = wanted;
    }
    return larger;
}

bool ovt_arrangement_reserve(ovt_arrangement *arrangement, size_t part_count) {
    ovt_arranged *const objects =
        with_room(arrangement->objects, arrangement->object_count, 1, &arrangement->object_capacity,
                  sizeof *arrangement->objects);
    if (objects == NULL) {
        return false;
    }
    arrangement->objects = objects;
    /* At least one, so that a block of none is not taken for a failure. */
    ovt_part *const parts = with_room(arrangement->parts, arrangement->part_count, part_count + 1,
                                      &arrangement->part_capacity, sizeof *arrangement->parts);
    if (parts == NULL) {
        return false;
    }
    arrangement->parts = parts;
    return true;
}

void ovt_arrangement_release(ovt_arrangement *arrangement) {
    free(arrangement->objects);
    free(arrangement->parts);
}

ovt_status ovt_append_span(ovt_buffer *out, const char *bytes, size_t count) {
    if (out->hash != NULL && out->pins == 0 && (size_t)(out->limit - out->end) < count) {
        ovt_buffer_flush(out);
        ovt_sha256_update(out->hash, bytes, count);
        return OVT_OK;
    }
    return ovt_buffer_append(out, bytes, count) ? OVT_OK : OVT_NO_MEMORY;
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* A stretch of text that is being copied, and what comes after it. */
typedef struct {
    size_t at;
    size_t end;
    size_t arranged;  /* the next recorded object that may stand in it */
    size_t next_part; /* of the object that the stretch is a member of */
    size_t end_part;
} stretch;

enum { INLINE_STRETCHES = 16 };

typedef struct {
    ovt_buffer *out;
    const ovt_arrangement *arrangement;
    const char *text;
    stretch *stretches;
    size_t depth;
    size_t capacity;
    stretch inline_stretches[INLINE_STRETCHES];
} copying;

static bool grow_stretches(copying *c) {
    stretch *const larger = ovt_grown(c->stretches, c->inline_stretches, c->capacity, &c->capacity,
                                      c->capacity + 1, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    c->stretches = larger;
    return true;
}

/* Copies up to the recorded object that stands next in the innermost stretch, and opens it. */
static ovt_status open_object(copying *c) {
    if (c->depth == c->capacity && !grow_stretches(c)) {
        return OVT_NO_MEMORY;
    }
    stretch *const outer = &c->stretches[c->depth - 1];
    const ovt_arranged *object = &c->arrangement->objects[outer->arranged];
    const size_t first = object->first_part;
    const size_t brace_end = object->start + 1;
    const ovt_status status = ovt_append_span(c->out, c->text + outer->at, brace_end - outer->at);
    outer->at = object->end;
    outer->arranged = object->next;
    c->stretches[c->depth++] = (stretch){
        .arranged = OVT_NOWHERE, .next_part = first, .end_part = first + object->part_count};
    return status;
}

/* Goes on to the next member of the innermost object, or closes it. */
static ovt_status next_member(copying *c) {
    stretch *const top = &c->stretches[c->depth - 1];
    if (top->next_part == top->end_part) {
        c->depth--;
        return c->depth == 0 ? OVT_OK : ovt_append_span(c->out, "}", 1);
    }
    const ovt_part *part = &c->arrangement->parts[top->next_part++];
    const bool is_last = top->next_part == top->end_part;
    top->at = part->start;
    top->end = part->end - is_last; /* without its comma */
    top->arranged = part->arranged;
    return OVT_OK;
}

static ovt_status copy_all(copying *c) {
    ovt_status status = OVT_OK;
    while (c->depth != 0 && status == OVT_OK) {
        stretch *const top = &c->stretches[c->depth - 1];
        const size_t arranged = top->arranged;
        if (arranged != OVT_NOWHERE && c->arrangement->objects[arranged].start < top->end) {
            status = open_object(c);
            continue;
        }
        status = ovt_append_span(c->out, c->text + top->at, top->end - top->at);
        if (status == OVT_OK) {
            status = next_member(c);
        }
    }
    return status;
}

ovt_status ovt_write_arranged(ovt_buffer *out, const ovt_arrangement *arrangement, const char *text,
                              size_t length, size_t first) {
    copying c;
    c.out = out;
    c.arrangement = arrangement;
    c.text = text;
    c.stretches = c.inline_stretches;
    c.capacity = INLINE_STRETCHES;
    c.depth = 1;
    c.stretches[0] = (stretch){.at = 0, .end = length, .arranged = first};
    const ovt_status status = copy_all(&c);
    if (c.stretches != c.inline_stretches) {
        free(c.stretches);
    }
    return status;
}
