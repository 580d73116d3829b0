#include "arena.h"

#include <stdlib.h>

#include "compiler.h"

/* Under a sanitizer each allocation has a block of its own, so that its bounds are watched. */
#ifdef __SANITIZE_ADDRESS__
enum { BLOCK_SIZE = 0 };
#else
enum { BLOCK_SIZE = 4096 - 64 };
#endif

struct ovt_arena_block {
    ovt_arena_block *older;
    size_t size;
    char bytes[];
};

char *ovt_arena_take(ovt_arena *arena, size_t count) {
    if (arena->block == NULL || arena->block->size - arena->used < count) {
        const size_t size = count > BLOCK_SIZE ? count : BLOCK_SIZE;
        if (size > SIZE_MAX / 2) {
            return NULL;
        }
        ovt_arena_block *block = malloc(sizeof *block + size);
        if (block == NULL) {
            return NULL;
        }
        block->older = arena->block;
        block->size = size;
        *arena = (ovt_arena){block, 0};
    }
    char *bytes = arena->block->bytes + arena->used;
    arena->used += count;
    return bytes;
}

void ovt_arena_shrink(ovt_arena *arena, size_t count) {
    arena->used -= count;
}

void ovt_arena_release(ovt_arena *arena, ovt_arena_mark mark) {
    while (arena->block != mark.block) {
        ovt_arena_block *const older = arena->block->older;
        free(arena->block);
        arena->block = older;
    }
    arena->used = mark.used;
}
