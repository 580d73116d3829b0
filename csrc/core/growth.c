#include "growth.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

void *ovt_grown(void *block, const void *inline_block, size_t used, size_t *capacity, size_t wanted,
                size_t element) {
    size_t larger = *capacity == 0 ? FIRST_CAPACITY : *capacity;
    do {
        if (larger > SIZE_MAX / 4 / element) {
            return NULL;
        }
        larger *= 2;
    } while (larger < wanted);
    const int is_inline = block == inline_block;
    void *const moved = realloc(is_inline ? NULL : block, larger * element);
    if (moved == NULL) {
        return NULL;
    }
    if (is_inline && used != 0) {
        memcpy(moved, block, used * element);
    }
    *capacity = larger;
    return moved;
}
