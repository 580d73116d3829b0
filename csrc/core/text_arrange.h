/* Objects of a canonical text whose members are not yet in order, and the text with them in order.
 *
 * A text is written first with all members where they were read. Moving the members of each object
 * as it ends would move a byte once for every level around it; so only objects that are small and
 * hold no others that were moved are put in order at once, and of the rest it is recorded in which
 * order their members are to be read. The end is one pass that copies each byte once. */
#ifndef OVT_TEXT_ARRANGE_H
#define OVT_TEXT_ARRANGE_H

#include "buffer.h"
#include "status.h"

#define OVT_NOWHERE SIZE_MAX /* the index of no object */

/* The text of a member, the comma behind it included. */
typedef struct {
    size_t start;
    size_t end;
    size_t arranged; /* the first recorded object in it, or one after it, or OVT_NOWHERE */
} ovt_part;

typedef struct {
    size_t start; /* of its text: the brace */
    size_t end;   /* past the closing one */
    size_t first_part;
    size_t part_count;
    size_t next; /* the recorded object after it, in whatever it stands in; OVT_NOWHERE if none */
} ovt_arranged;

typedef struct {
    ovt_arranged *objects;
    size_t object_count;
    size_t object_capacity;
    ovt_part *parts; /* of all objects; those of one in the order of their keys */
    size_t part_count;
    size_t part_capacity;
} ovt_arrangement;

/* Makes room for one more object of `part_count` parts. False when memory runs out. */
bool ovt_arrangement_reserve(ovt_arrangement *arrangement, size_t part_count);

void ovt_arrangement_release(ovt_arrangement *arrangement);

/* Appends the first `length` bytes of a text with all recorded objects in order, of which `first`
 * is the first that stands in none of the others. */
ovt_status ovt_write_arranged(ovt_buffer *out, const ovt_arrangement *arrangement, const char *text,
                              size_t length, size_t first);

/* Appends bytes; those that do not fit the buffer go into its hash, if there is one. */
ovt_status ovt_append_span(ovt_buffer *out, const char *bytes, size_t count);

#endif
