#include "wide_object.h"

#include <stdlib.h>

#include "large_block.h"
#include "number_put.h"
#include "scalar_put.h"
#include "value_kind.h"

enum {
    WIDE_BATCH = 32,         /* members that are asked of the memory together */
    RECORD_ALIGNMENT = 8,    /* of an ovt_key_record */
    COPIED_AT_ONCE = 32,     /* bytes of a text that are copied, at least */
    TEXT_ESTIMATE = 64,      /* bytes of a record; what is not used is never touched */
    SCALARS_PER_PENDING = 4, /* where there are fewer, texts do not pay */
};

static const uint32_t NOT_PENDING = UINT32_MAX;

struct wide_object {
    ovt_buffer texts; /* an ovt_key_record before each; `note` is the index of a pending member */
    ovt_key_item *items; /* one for each text, in the order of writing, and scratch space */
    bool is_ascii;
    size_t frame;       /* the index of its frame */
    wide_object *outer; /* the one that is open around it, or NULL */
};

/* ---- collecting ---------------------------------------------------------------------------- */

void ovt_wide_release(walk *w) {
    wide_object *const wide = w->wide;
    w->wide = wide->outer;
    ovt_buffer_release(&wide->texts);
    free(wide->items);
    PyMem_RawFree(wide);
}

static inline const ovt_key_record *record_at(const wide_object *wide, size_t position) {
    return ovt_key_record_at(wide->texts.data, wide->items[position].at);
}

/* The text of a key, if it can be had without running Python code and no other key can have the
 * same; else NULL. */
static inline const char *text_of_wide_key(PyObject *key, bool *is_ascii, size_t *length) {
    if (OVT_UNLIKELY(!PyUnicode_CheckExact(key))) {
        return NULL;
    }
    *is_ascii = PyUnicode_IS_COMPACT_ASCII(key);
    if (OVT_LIKELY(*is_ascii)) {
        *length = (size_t)PyUnicode_GET_LENGTH(key);
        return (const char *)(((PyASCIIObject *)key) + 1);
    }
    const char *utf8 = ovt_cached_utf8(key, length);
    ovt_text text;
    if (utf8 == NULL && ovt_read_str(key, &text) && !ovt_has_surrogates(text)) {
        utf8 = ovt_utf8_of(key, length);
    }
    return utf8;
}

/* Writes a scalar that is short. NULL for any other value, and for what cannot be written: it is
 * left to its turn. */
OVT_ALWAYS_INLINE char *put_short_scalar(walk *w, PyObject *value, char *end) {
    const value_kind kind = kind_of(w, value);
    bool is_short = kind == KIND_TRUE || kind == KIND_FALSE || kind == KIND_NONE;
    if (OVT_LIKELY(kind == KIND_INT)) {
        uint64_t magnitude;
        bool is_negative;
        if (OVT_LIKELY(ovt_int_parts(value, &magnitude, &is_negative) &&
                       magnitude <= (uint64_t)LARGEST_SAFE_INTEGER)) {
            *end = '-';
            end += is_negative;
            return end + ovt_put_up_to_sixteen(end, magnitude);
        }
    } else if (kind == KIND_STR) {
        is_short = PyUnicode_GET_LENGTH(value) <=
                   (PyUnicode_IS_COMPACT_ASCII(value) ? SHORT_UTF8 : SHORT_UTF8 / 4);
    } else if (kind == KIND_FLOAT) {
        is_short = isfinite(PyFloat_AS_DOUBLE(value));
    }
    if (OVT_UNLIKELY(!is_short)) {
        return NULL;
    }
    ovt_status status = OVT_OK;
    end = put_scalar(w, kind, value, end, &status);
    return OVT_LIKELY(status == OVT_OK) ? end : NULL;
}

/* Begins a record behind those that are there, which are w->out: writes the key and a colon, with
 * SCALAR_ROOM after them. NULL if the key is not of the kind that a wide object can have. */
static inline char *begin_record(walk *w, PyObject *key, ovt_key_item *item,
                                 ovt_key_record *record) {
    bool is_ascii;
    size_t length;
    const char *const text = text_of_wide_key(key, &is_ascii, &length);
    if (OVT_UNLIKELY(text == NULL || length > SHORT_UTF8)) {
        return NULL;
    }
    const size_t most = sizeof *record + length * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK + SCALAR_ROOM;
    char *end = make_room(w->out, w->out->end, most);
    if (OVT_UNLIKELY(end == NULL)) {
        return NULL;
    }
    w->wide->is_ascii &= is_ascii;
    item->at = (size_t)(end - w->out->data);
    item->prefix =
        is_ascii ? ovt_key_prefix_with_header(text, length) : ovt_key_prefix(text, length);
    record->note = NOT_PENDING;
    record->key_length = (uint16_t)length;
    end += sizeof *record;
    *end++ = '"';
    char *const start = end;
    end = is_ascii ? ovt_put_bytes(end, (const uint8_t *)text, length, true)
                   : ovt_put_bytes(end, (const uint8_t *)text, length, false);
    if (OVT_UNLIKELY((size_t)(end - start) != length)) {
        return NULL; /* with escapes: the sort would not find the key in it */
    }
    *end++ = '"';
    *end++ = ':';
    return end;
}

/* Ends the record at `at`, whose text ends at `end`. False when memory runs out. */
static inline bool end_record(ovt_buffer *out, size_t at, ovt_key_record record, char *end) {
    end = make_room(out, end, RECORD_ALIGNMENT);
    if (OVT_UNLIKELY(end == NULL)) {
        return false;
    }
    const size_t size = (size_t)(end - out->data) - at;
    record.size = (uint16_t)(size - sizeof record);
    memcpy(out->data + at, &record, sizeof record);
    out->end = out->data + at + (size + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
    return true;
}

/* Keeps a member until its turn comes; false when memory runs out. */
static bool add_pending(walk *w, const frame *open, PyObject *key, PyObject *value,
                        uint32_t *note) {
    if (!reserve_members(w, 1)) {
        return false;
    }
    ovt_member *const member = &w->members[w->member_count];
    member->key = key;
    member->value = value;
    *note = (uint32_t)(w->member_count - open->first);
    hold_members(w, w->member_count + 1);
    return true;
}

/* Writes the record of a member. False if its key is of another kind, or memory runs out. */
static inline bool put_record(walk *w, const frame *open, PyObject *key, PyObject *value,
                              ovt_key_item *item) {
    ovt_key_record record;
    char *end = begin_record(w, key, item, &record);
    if (OVT_UNLIKELY(end == NULL)) {
        return false;
    }
    const size_t value_at = (size_t)(end - w->out->data);
    end = put_short_scalar(w, value, end);
    if (OVT_UNLIKELY(end == NULL)) {
        PyErr_Clear(); /* what is wrong is told when the member's turn comes */
        if (!add_pending(w, open, key, value, &record.note)) {
            return false;
        }
        end = w->out->data + value_at;
    }
    return end_record(w->out, item->at, record, end);
}

/* The members of a dict that come next in its order, and how many are left. */
typedef struct {
    PyObject *dict;
    const ovt_dict_entry *entry; /* the next, or NULL: the dict is asked */
    Py_ssize_t position;         /* for the asking */
    size_t left;
    ovt_dict_entry batch[WIDE_BATCH];
} member_batches;

/* Fills the batch and asks the memory for what is in it; returns how many it has. */
static inline size_t next_batch(member_batches *from) {
    const size_t most = from->left < WIDE_BATCH ? from->left : WIDE_BATCH;
    for (size_t i = 0; i < most; i++) {
        ovt_dict_entry *const member = &from->batch[i];
        if (OVT_LIKELY(from->entry != NULL)) {
            *member = *from->entry++;
        } else if (!PyDict_Next(from->dict, &from->position, &member->key, &member->value)) {
            from->left = 0;
            return i;
        }
        __builtin_prefetch(member->key);
        __builtin_prefetch(member->value);
    }
    from->left -= most;
    return most;
}

/* Writes the texts of all members in the order of the dict. False if one has a key of another kind,
 * or memory runs out. */
static bool put_records(walk *w, frame *open, ovt_key_item *item) {
    member_batches from = {.dict = open->container, .position = 0};
    from.entry = entries_of(w, from.dict, NULL, &from.left);
    from.left = (size_t)PyDict_GET_SIZE(from.dict);
    while (from.left != 0) {
        const size_t count = next_batch(&from);
        for (size_t i = 0; i < count; i++) {
            const ovt_dict_entry *const member = &from.batch[i];
            if (OVT_UNLIKELY(member->value == Py_None && w->profile->drop_none)) {
                continue;
            }
            if (OVT_UNLIKELY(!put_record(w, open, member->key, member->value, item))) {
                return false;
            }
            item++;
        }
        if (OVT_UNLIKELY((w->member_count - open->first) * SCALARS_PER_PENDING >
                         (size_t)(item - w->wide->items))) {
            return false;
        }
    }
    open->end = (size_t)(item - w->wide->items);
    return true;
}

/* Makes a wide object for so many members; NULL when memory runs out. */
static wide_object *new_wide(const walk *w, size_t count) {
    wide_object *const wide = PyMem_RawMalloc(sizeof *wide);
    if (wide == NULL) {
        return NULL;
    }
    /* One block: were there several, the system would take and give their pages with each call. */
    const size_t items_size = 2 * count * sizeof *wide->items;
    const size_t texts_size = count * TEXT_ESTIMATE;
    wide->items = ovt_large_block(items_size + texts_size);
    if (wide->items == NULL) {
        PyMem_RawFree(wide);
        return NULL;
    }
    ovt_buffer_init(&wide->texts, (char *)wide->items + items_size, texts_size, NULL);
    wide->texts.spare = w->out->spare;
    wide->is_ascii = true;
    wide->frame = w->depth;
    wide->outer = w->wide;
    return wide;
}

/* Writes the texts of all members and brings them into order. */
static bool fill_wide(walk *w, frame *open) {
    wide_object *const wide = w->wide;
    ovt_buffer *const out = w->out;
    w->out = &wide->texts;
    const bool is_written = put_records(w, open, wide->items);
    w->out = out;
    if (!is_written) {
        return false;
    }
    if (out->hash == NULL && !ovt_buffer_reserve(out, ovt_buffer_length(&wide->texts))) {
        return false;
    }
    const bool by_units = w->profile->utf16_key_order && !wide->is_ascii;
    return ovt_sort_records(wide->texts.data, wide->items, open->end, by_units) == OVT_OK;
}

outcome ovt_wide_collect(walk *w, frame *open, bool *is_taken) {
    const size_t count = (size_t)PyDict_GET_SIZE(open->container);
    *is_taken = false;
    if (IS_FREE_THREADED || count >= NOT_PENDING || count > SIZE_MAX / 256) {
        return DONE; /* with threads, another one might change the dict meanwhile */
    }
    wide_object *const wide = new_wide(w, count);
    if (wide == NULL) {
        return no_memory();
    }
    w->wide = wide;
    open->first = w->member_count;
    open->next = 0;
    *is_taken = fill_wide(w, open);
    if (*is_taken) {
        open->kind = KIND_WIDE;
        return DONE;
    }
    PyErr_Clear();
    drop_members(w, open->first);
    ovt_wide_release(w);
    return DONE;
}

/* ---- writing ------------------------------------------------------------------------------- */

PyObject *ovt_wide_key(const walk *w, const frame *open) {
    const wide_object *wide = w->wide;
    while (&w->frames[wide->frame] != open) {
        wide = wide->outer;
    }
    return w->members[open->first + record_at(wide, open->next - 1)->note].key;
}

/* Writes the text of a record at the end of the output; false when memory runs out. */
static inline bool put_record_text(walk *w, frame *top, const ovt_key_record *record) {
    const size_t size = record->size;
    char *end = make_room(w->out, w->out->end, size + SCALAR_ROOM);
    if (OVT_UNLIKELY(end == NULL)) {
        return false;
    }
    *end = ',';
    end += !top->is_first;
    top->is_first = false;
    const char *const text = (const char *)(record + 1);
    memcpy(end, text, COPIED_AT_ONCE);
    if (OVT_UNLIKELY(size > COPIED_AT_ONCE)) {
        memcpy(end + COPIED_AT_ONCE, text + COPIED_AT_ONCE, size - COPIED_AT_ONCE);
    }
    w->out->end = end + size;
    return true;
}

bool ovt_wide_write(walk *w, frame *top, const ovt_key_record **pending) {
    const wide_object *const wide = w->wide;
    *pending = NULL;
    while (top->next != top->end) {
        if (OVT_LIKELY(top->end - top->next > PREFETCH_AHEAD)) {
            __builtin_prefetch(record_at(wide, top->next + PREFETCH_AHEAD));
        }
        const ovt_key_record *const record = record_at(wide, top->next++);
        if (OVT_UNLIKELY(record->note != NOT_PENDING)) {
            *pending = record;
            return true;
        }
        if (OVT_UNLIKELY(!put_record_text(w, top, record))) {
            return false;
        }
        ovt_buffer_offer(w->out, w->out->end);
    }
    return true;
}

bool ovt_wide_put_text(walk *w, frame *top, const ovt_key_record *record) {
    return put_record_text(w, top, record);
}
