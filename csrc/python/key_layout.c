#include "key_layout.h"

#include "string_put.h"

void ovt_layouts_init(ovt_key_layouts *layouts) {
    *layouts = (ovt_key_layouts){0};
}

void ovt_layouts_release(ovt_key_layouts *layouts) {
    PyMem_RawFree(layouts->layouts);
}

/* A number that differs for most key sets that differ; never 0. */
static inline uint32_t sighting_of(const ovt_member *members, size_t count) {
    const uint64_t ends = (uint64_t)(uintptr_t)members[0].key * 31 +
                          (uint64_t)(uintptr_t)members[count - 1].key + count;
    return (uint32_t)((ends * UINT64_C(0x9E3779B97F4A7C15)) >> 32) | 1;
}

static inline bool has_keys(const ovt_key_layout *layout, const ovt_member *members, size_t count) {
    if (layout->count != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (layout->keys[i] != members[i].key) {
            return false;
        }
    }
    return true;
}

const ovt_key_layout *ovt_layouts_find(ovt_key_layouts *layouts, const ovt_member *members,
                                       size_t count, bool *is_worth) {
    *is_worth = false;
    if (count == 0 || count > OVT_LAYOUT_KEYS) {
        return NULL;
    }
    const uint32_t sighting = sighting_of(members, count);
    for (uint32_t i = 0; i < layouts->count; i++) {
        const ovt_key_layout *layout = &layouts->layouts[i];
        if (layout->sighting == sighting && has_keys(layout, members, count)) {
            return layout;
        }
    }
    uint32_t *last = &layouts->sightings[sighting / 2 % OVT_LAYOUT_SIGHTINGS];
    *is_worth = *last == sighting && layouts->count < OVT_LAYOUTS;
    *last = sighting;
    return NULL;
}

/* The key in quotes and a colon; 0 if that is longer than is kept. */
static size_t quote_key(char *out, const ovt_member *member) {
    char quoted[OVT_LAYOUT_QUOTED * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK];
    char *end = quoted;
    *end++ = '"';
    end = ovt_put_bytes(end, (const uint8_t *)member->text, member->length, false);
    *end++ = '"';
    *end++ = ':';
    const size_t size = (size_t)(end - quoted);
    if (size > OVT_LAYOUT_QUOTED) {
        return 0;
    }
    memcpy(out, quoted, size);
    return size;
}

void ovt_layouts_learn(ovt_key_layouts *layouts, const ovt_member *members, const uint32_t *order,
                       size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (members[i].length + 3 > OVT_LAYOUT_QUOTED) { /* two quotes and a colon */
            return;
        }
    }
    if (layouts->layouts == NULL) {
        layouts->layouts = PyMem_RawMalloc(OVT_LAYOUTS * sizeof *layouts->layouts);
        if (layouts->layouts == NULL) {
            return; /* it is only a memory */
        }
    }
    ovt_key_layout *layout = &layouts->layouts[layouts->count];
    for (size_t i = 0; i < count; i++) {
        const size_t size = quote_key(layout->quoted[i], &members[i]);
        if (size == 0) {
            return;
        }
        layout->sizes[i] = (uint8_t)size;
        layout->keys[i] = members[i].key;
        layout->order[i] = order[i];
    }
    layout->sighting = sighting_of(members, count);
    layout->count = (uint32_t)count;
    layouts->count++;
}
