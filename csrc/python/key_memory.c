#include "key_memory.h"

#include "same_str.h"
#include "string_put.h"

enum {
    FIRST_CREDIT = 4, /* of a new layout: a run of strangers does not push it out at once */
};

static void forget(ovt_key_memory *memory, size_t place) {
    ovt_key_layout *layout = &memory->layouts[place];
    if (memory->sightings[place] != 0) {
        memory->sightings[place] = 0;
        memory->latest = NULL;
        memory->expected = NULL;
        const uint32_t count = layout->count;
        layout->count = 0;
        for (uint32_t i = 0; i < count; i++) {
            Py_DECREF(layout->keys[i]); /* an exact str: no Python code runs */
        }
    }
}

void ovt_key_memory_clear(ovt_key_memory *memory) {
    for (size_t place = 0; memory->layouts != NULL && place < OVT_LAYOUTS; place++) {
        forget(memory, place);
    }
    PyMem_RawFree(memory->layouts);
    *memory = (ovt_key_memory){0};
}

/* A dict has computed the hash of every str in it. */
static inline uint64_t kept_hash(PyObject *str) {
    return (uint64_t)ovt_kept_hash(str);
}

static inline PyObject *key_at(ovt_key_row keys, size_t index) {
    return keys.first[index * keys.step];
}

/* A number that differs for most key sets that differ, from the first key, the last one and their
 * count; 0 if they are no exact str. */
static inline uint64_t sighting_of(const ovt_profile *profile, ovt_key_row keys, size_t count) {
    PyObject *const first = key_at(keys, 0), *const last = key_at(keys, count - 1);
    if (!PyUnicode_CheckExact(first) || !PyUnicode_CheckExact(last)) {
        return 0;
    }
    const uint64_t mixed =
        kept_hash(first) * 31 + kept_hash(last) + count + (uint64_t)(uintptr_t)profile;
    return (mixed * UINT64_C(0x9E3779B97F4A7C15)) | 1;
}

static inline size_t place_of(uint64_t sighting, size_t choice) {
    return ((size_t)(sighting >> 32) + choice) % OVT_LAYOUTS;
}

/* Holds these keys instead of the ones with the same texts. */
static void hold_instead(ovt_key_layout *layout, ovt_key_row keys) {
    for (size_t i = 0; i < layout->count; i++) {
        PyObject *const before = layout->keys[i];
        layout->keys[i] = Py_NewRef(key_at(keys, i));
        Py_DECREF(before);
    }
}

/* Whether the keys from `from` on, at which identity fails, have the texts of the remembered ones.
 * Keys that come a second time, as in the rows of one document, take their places. */
static OVT_NEVER_INLINE bool has_equal_keys(ovt_key_layout *layout, ovt_key_row keys, size_t from) {
    for (size_t i = from; i < layout->count; i++) {
        PyObject *const key = key_at(keys, i);
        if (layout->keys[i] != key &&
            !(PyUnicode_CheckExact(key) && ovt_same_str(layout->keys[i], key))) {
            return false;
        }
    }
    const PyObject *const first = key_at(keys, from);
    if (layout->stranger == first) {
        hold_instead(layout, keys);
    }
    layout->stranger = first;
    return true;
}

static inline bool has_keys(ovt_key_layout *layout, const ovt_profile *profile, ovt_key_row keys,
                            size_t count) {
    if (layout->count != count || layout->profile != profile) {
        return false;
    }
    PyObject *const *key = keys.first;
    for (size_t i = 0; i < count; i++, key += keys.step) {
        if (OVT_UNLIKELY(layout->keys[i] != *key)) {
            return has_equal_keys(layout, keys, i);
        }
    }
    return true;
}

static OVT_NEVER_INLINE ovt_key_layout *find_by_sighting(ovt_key_memory *memory,
                                                         const ovt_profile *profile,
                                                         ovt_key_row keys, size_t count,
                                                         bool *is_worth) {
    const uint64_t sighting = sighting_of(profile, keys, count);
    if (sighting == 0) {
        return NULL;
    }
    for (size_t choice = 0; choice < OVT_LAYOUT_CHOICES; choice++) {
        const size_t place = place_of(sighting, choice);
        if (memory->sightings[place] == sighting) {
            ovt_key_layout *layout = &memory->layouts[place];
            if (has_keys(layout, profile, keys, count)) {
                return layout;
            }
        }
    }
    uint64_t *last = &memory->seen[(sighting >> 32) % OVT_SIGHTINGS];
    *is_worth = *last == sighting;
    *last = sighting;
    return NULL;
}

ovt_key_layout *ovt_key_memory_find(ovt_key_memory *memory, const ovt_profile *profile,
                                    ovt_key_row keys, size_t count, bool *is_worth) {
    if (memory == NULL || count == 0 || count > OVT_LAYOUT_KEYS) {
        return NULL;
    }
    ovt_key_layout *found = memory->expected;
    if (found == NULL || !has_keys(found, profile, keys, count)) {
        found = find_by_sighting(memory, profile, keys, count, is_worth);
        if (found == NULL) {
            return NULL;
        }
        if (memory->latest != NULL) {
            memory->latest->successor = found;
        }
    }
    ovt_key_memory_found(memory, found);
    return found;
}

/* Writes the key in quotes and a colon; false if that is longer than is kept. */
static bool quote_key(ovt_layout_key *key, const ovt_member *member) {
    char quoted[OVT_LAYOUT_QUOTED * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK];
    char *end = quoted;
    *end++ = '"';
    end = ovt_put_bytes(end, (const uint8_t *)member->text, member->length, false);
    *end++ = '"';
    *end++ = ':';
    const size_t size = (size_t)(end - quoted);
    if (size > OVT_LAYOUT_QUOTED) {
        return false;
    }
    memcpy(key->quoted, quoted, OVT_LAYOUT_QUOTED);
    key->size = (uint32_t)size;
    return true;
}

/* Whether every key is short enough to be kept. */
static bool can_keep(const ovt_member *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (members[i].length + 3 > OVT_LAYOUT_QUOTED) { /* two quotes and a colon */
            return false;
        }
    }
    return true;
}

/* A place for a new layout, or OVT_LAYOUTS if all that it may be at are well used: then each of
 * those has lost some credit. */
static size_t free_place(ovt_key_memory *memory, uint64_t sighting) {
    size_t found = OVT_LAYOUTS;
    for (size_t choice = 0; choice < OVT_LAYOUT_CHOICES; choice++) {
        const size_t place = place_of(sighting, choice);
        ovt_key_layout *layout = &memory->layouts[place];
        if (memory->sightings[place] == 0) {
            return place;
        }
        if (layout->credit > 0) {
            layout->credit--;
        } else if (layout->in_use == 0) {
            found = place;
        }
    }
    return found;
}

void ovt_key_memory_learn(ovt_key_memory *memory, const ovt_profile *profile,
                          const ovt_member *members, const uint32_t *order, size_t count) {
    if (!can_keep(members, count)) {
        return;
    }
    if (memory->layouts == NULL) {
        memory->layouts = PyMem_RawCalloc(OVT_LAYOUTS, sizeof *memory->layouts);
        if (memory->layouts == NULL) {
            return; /* it is only a memory */
        }
    }
    const uint64_t sighting = sighting_of(profile, ovt_keys_of(members), count);
    const size_t place = free_place(memory, sighting);
    if (place == OVT_LAYOUTS) {
        return;
    }
    forget(memory, place);
    ovt_key_layout *layout = &memory->layouts[place];
    for (size_t i = 0; i < count; i++) {
        layout->in_order[i].index = order[i];
        if (!quote_key(&layout->in_order[i], &members[order[i]])) {
            return;
        }
    }
    for (size_t i = 0; i < count; i++) {
        layout->keys[i] = Py_NewRef(members[i].key);
    }
    layout->profile = profile;
    layout->count = (uint32_t)count;
    layout->credit = FIRST_CREDIT;
    layout->in_use = 0;
    layout->successor = NULL;
    layout->stranger = NULL;
    memory->sightings[place] = sighting;
}
