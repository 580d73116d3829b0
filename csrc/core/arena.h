/* Short-lived bytes that do not move: key texts that have no storage of their own.
 *
 * Taken and given back in stack order: take a mark, allocate, release to the mark. A few
 * allocations cost pointer arithmetic; nothing is allocated before the first one. */
#ifndef OVT_ARENA_H
#define OVT_ARENA_H

#include <stddef.h>

typedef struct ovt_arena_block ovt_arena_block;

typedef struct {
    ovt_arena_block *block; /* the newest one, or NULL */
    size_t used;            /* bytes of it that are taken */
} ovt_arena;

/* A state of the arena to go back to is a copy of it. */
typedef ovt_arena ovt_arena_mark;

/* `count` bytes, or NULL when memory runs out. */
char *ovt_arena_take(ovt_arena *arena, size_t count);

/* Gives back the last `count` bytes of the newest allocation. */
void ovt_arena_shrink(ovt_arena *arena, size_t count);

/* Gives back everything taken since the mark. An empty mark, {0}, gives back everything. */
void ovt_arena_release(ovt_arena *arena, ovt_arena_mark mark);

#endif
