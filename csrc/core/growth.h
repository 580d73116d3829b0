/* Arrays that start on storage of their owner and move to the heap when they outgrow it. */
#ifndef OVT_GROWTH_H
#define OVT_GROWTH_H

#include <stddef.h>

/* The block with room for at least `wanted` elements, and for twice as many as before: *capacity
 * says how many. `inline_block` is where the array starts, with `used` elements to be moved along,
 * or NULL if it starts with nothing. NULL when memory runs out; then everything is as it was. */
void *ovt_grown(void *block, const void *inline_block, size_t used, size_t *capacity, size_t wanted,
                size_t element);

#endif
