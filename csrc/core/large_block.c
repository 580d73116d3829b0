#if defined(__linux__) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE /* for madvise */
#endif

#include "large_block.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

enum {
    HUGE_PAGE = 2 << 20,        /* bytes; where it is another number, nothing is gained or lost */
    HUGE_BLOCK = 4 * HUGE_PAGE, /* from here on a part of a page at the end does not matter */
};

void *ovt_large_block(size_t size) {
#ifdef MADV_HUGEPAGE
    if (size >= HUGE_BLOCK && size < SIZE_MAX / 2) {
        const size_t rounded = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *const block = aligned_alloc(HUGE_PAGE, rounded);
        if (block != NULL) {
            (void)madvise(block, rounded, MADV_HUGEPAGE); /* a wish: it may be refused */
        }
        return block;
    }
#endif
    return malloc(size);
}
