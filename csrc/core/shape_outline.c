#include "shape_outline.h"

#include <stdlib.h>

#include "growth.h"

const ovt_shape_name ovt_shape_type_names[OVT_SHAPE_TYPES] = {
    [OVT_SHAPE_ARRAY] = {"array", 5},   [OVT_SHAPE_BOOL] = {"bool", 4},
    [OVT_SHAPE_NULL] = {"null", 4},     [OVT_SHAPE_NUMBER] = {"number", 6},
    [OVT_SHAPE_OBJECT] = {"object", 6}, [OVT_SHAPE_STRING] = {"string", 6},
};

ovt_shape_type ovt_shape_type_of(const char *name, size_t length) {
    for (int i = 0; i < OVT_SHAPE_TYPES; i++) {
        const ovt_shape_name *known = &ovt_shape_type_names[i];
        if (known->length == length && memcmp(known->text, name, length) == 0) {
            return (ovt_shape_type)i;
        }
    }
    return OVT_SHAPE_OTHER;
}

void ovt_outline_init(ovt_outline *outline) {
    outline->entries = outline->inline_entries;
    outline->capacity = OVT_OUTLINE_INLINE;
    outline->count = 0;
    outline->run_start = 0;
    outline->names = NULL;
    outline->name_count = 0;
    outline->name_capacity = 0;
    outline->arena = (ovt_arena){0};
}

void ovt_outline_release(ovt_outline *outline) {
    ovt_arena_release(&outline->arena, (ovt_arena_mark){0});
    free(outline->names);
    if (outline->entries != outline->inline_entries) {
        free(outline->entries);
    }
}

void ovt_outline_clear(ovt_outline *outline) {
    ovt_arena_release(&outline->arena, (ovt_arena_mark){0});
    outline->count = 0;
    outline->run_start = 0;
    outline->name_count = 0;
}

OVT_NEVER_INLINE bool ovt_outline_grow(ovt_outline *outline) {
    if (outline->capacity > UINT32_MAX / 4) { /* entries are told by 32 bits */
        return false;
    }
    ovt_outline_entry *const larger =
        ovt_grown(outline->entries, outline->inline_entries, outline->count, &outline->capacity,
                  outline->count + 1, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    outline->entries = larger;
    return true;
}

static bool grow_names(ovt_outline *outline) {
    ovt_shape_name *const larger = ovt_grown(outline->names, NULL, 0, &outline->name_capacity,
                                             outline->name_count + 1, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    outline->names = larger;
    return true;
}

bool ovt_outline_add_other(ovt_outline *outline, const ovt_shape_key *key, const char *name,
                           size_t length) {
    if (outline->name_count == outline->name_capacity && !grow_names(outline)) {
        return false;
    }
    char *const own = ovt_arena_take(&outline->arena, length);
    if (own == NULL) {
        return false;
    }
    memcpy(own, name, length);
    ovt_outline_entry *const entry =
        ovt_outline_add(outline, key, OVT_SHAPE_OTHER, OVT_DETAIL_NONE);
    if (entry == NULL) {
        return false;
    }
    entry->count = (uint32_t)outline->name_count;
    outline->names[outline->name_count++] = (ovt_shape_name){own, length};
    ovt_outline_end_run(outline);
    return true;
}

bool ovt_outline_own_key(ovt_outline *outline, ovt_shape_key *key) {
    char *const own = ovt_arena_take(&outline->arena, key->length);
    if (own == NULL) {
        return false;
    }
    memcpy(own, key->text, key->length);
    key->text = own;
    return true;
}
