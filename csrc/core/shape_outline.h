/* The outline of one value: which containers, keys and types it has, in the order they stand in.
 *
 * What everything about shapes is computed from, whether the value was Python objects or JSON text.
 * A container's entry is followed by those of its members and says where they end. Neighbouring
 * items of one type that are no containers share an entry, so a list of a million numbers costs as
 * much as one. Adding an entry costs a few stores. */
#ifndef OVT_SHAPE_OUTLINE_H
#define OVT_SHAPE_OUTLINE_H

#include <stdbool.h>

#include "arena.h"
#include "compiler.h"

/* In the order of their names, which is that of rows with one path. */
typedef enum {
    OVT_SHAPE_ARRAY,
    OVT_SHAPE_BOOL,
    OVT_SHAPE_NULL,
    OVT_SHAPE_NUMBER,
    OVT_SHAPE_OBJECT,
    OVT_SHAPE_STRING,
    OVT_SHAPE_OTHER, /* a type that JSON does not have, told by its name */
} ovt_shape_type;

enum { OVT_SHAPE_TYPES = 6 }; /* those that JSON has */

/* Finer than the type: what no fingerprint looks at. */
typedef enum {
    OVT_DETAIL_NONE = 0,
    OVT_DETAIL_INTEGER = 1, /* a number that is written without fraction and exponent */
} ovt_shape_detail;

/* The key of a member, in UTF-8; lone surrogates stand in it as three bytes (WTF-8). */
typedef struct {
    const char *text;
    uint64_t prefix; /* ovt_key_prefix of it */
    uint32_t length;
    bool has_surrogates;
} ovt_shape_key;

typedef struct {
    ovt_shape_key key; /* of a member of an object; the text of an item's is NULL */
    uint32_t next;     /* one past the last entry that belongs to it */
    uint32_t count;    /* of an array: its items; of another type: the index of its name; else how
                        * many items alike follow each other */
    uint32_t node;     /* for the tree: where it belongs */
    uint8_t type;      /* an ovt_shape_type */
    uint8_t detail;    /* an ovt_shape_detail */
    bool is_ordered;   /* of an object: its members stay in the order they have here */
    bool is_replaced;  /* a later member of the same name counts instead */
} ovt_outline_entry;

typedef struct {
    const char *text;
    size_t length;
} ovt_shape_name;

enum { OVT_OUTLINE_INLINE = 64 };

typedef struct {
    ovt_outline_entry *entries;
    size_t count;
    size_t capacity;
    size_t run_start;      /* entries from here on may take further items of their type */
    ovt_shape_name *names; /* of the types that JSON does not have */
    size_t name_count;
    size_t name_capacity;
    ovt_arena arena; /* keys and names that have no storage of their own */
    ovt_outline_entry inline_entries[OVT_OUTLINE_INLINE];
} ovt_outline;

void ovt_outline_init(ovt_outline *outline);
void ovt_outline_release(ovt_outline *outline);

/* Forgets everything but the room that was made. */
void ovt_outline_clear(ovt_outline *outline);

/* Makes room for one more entry the slow way. False when memory runs out. */
bool ovt_outline_grow(ovt_outline *outline);

/* Adds the value of a member or, where `key` is NULL, an item. NULL when memory runs out. */
static inline ovt_outline_entry *ovt_outline_add(ovt_outline *outline, const ovt_shape_key *key,
                                                 ovt_shape_type type, ovt_shape_detail detail) {
    if (OVT_UNLIKELY(outline->count == outline->capacity) && !ovt_outline_grow(outline)) {
        return NULL;
    }
    ovt_outline_entry *const entry = &outline->entries[outline->count++];
    if (key != NULL) {
        entry->key = *key;
    } else {
        entry->key.text = NULL;
        entry->key.has_surrogates = false;
    }
    entry->next = (uint32_t)outline->count;
    entry->count = 1;
    entry->type = (uint8_t)type;
    entry->detail = (uint8_t)detail;
    entry->is_ordered = false;
    entry->is_replaced = false;
    return entry;
}

/* Adds an item that is no container and of a type that JSON has. False when memory runs out. */
static inline bool ovt_outline_add_item(ovt_outline *outline, ovt_shape_type type,
                                        ovt_shape_detail detail) {
    if (OVT_LIKELY(outline->count > outline->run_start)) {
        ovt_outline_entry *const last = &outline->entries[outline->count - 1];
        if (last->type == (uint8_t)type && last->detail == (uint8_t)detail &&
            last->count != UINT32_MAX) {
            last->count++;
            return true;
        }
    }
    return ovt_outline_add(outline, NULL, type, detail) != NULL;
}

/* What is added from here on does not belong to what was added before: to be called where a
 * container opens or closes. */
static inline void ovt_outline_end_run(ovt_outline *outline) {
    outline->run_start = outline->count;
}

/* Ends the container whose entry has that index. */
static inline void ovt_outline_close(ovt_outline *outline, size_t index) {
    outline->entries[index].next = (uint32_t)outline->count;
    ovt_outline_end_run(outline);
}

/* Adds a value of a type that JSON does not have; the name is copied. False when memory runs out.
 */
bool ovt_outline_add_other(ovt_outline *outline, const ovt_shape_key *key, const char *name,
                           size_t length);

/* Moves the text of a key into the outline. False when memory runs out. */
bool ovt_outline_own_key(ovt_outline *outline, ovt_shape_key *key);

/* The type of that name, OVT_SHAPE_OTHER if JSON has none. */
ovt_shape_type ovt_shape_type_of(const char *name, size_t length);

extern const ovt_shape_name ovt_shape_type_names[OVT_SHAPE_TYPES];

#endif
