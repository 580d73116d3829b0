#include "key_text.h"

#include "number_value.h"
#include "number_write.h"
#include "string_units.h"
#include "walk_error.h"

static void set_key_text(ovt_member *member, const char *text, size_t length) {
    member->text = text;
    member->length = length;
    member->prefix = ovt_key_prefix(text, length);
}

/* A key text of its own in the arena. */
static outcome take_key_text(walk *w, ovt_member *member, const char *text, size_t length) {
    char *own = ovt_arena_take(&w->arena, length);
    if (own == NULL) {
        return no_memory();
    }
    memcpy(own, text, length);
    set_key_text(member, own, length);
    return DONE;
}

static OVT_NEVER_INLINE outcome text_of_surrogate_key(walk *w, PyObject *key, ovt_text text,
                                                      ovt_member *member) {
    if (text.length > SIZE_MAX / 8) {
        return no_memory();
    }
    const size_t room = OVT_WTF8_ROOM(text.length);
    char *own = ovt_arena_take(&w->arena, room);
    if (own == NULL) {
        return no_memory();
    }
    const size_t length =
        ovt_encode_wtf8(own, text, w->profile->join_surrogates, &member->has_surrogates);
    ovt_arena_shrink(&w->arena, room - length);
    set_key_text(member, own, length);
    const bool is_left_out = w->profile->drop_none && member->value == Py_None;
    if (member->has_surrogates && !w->profile->escape_surrogates && !is_left_out) {
        return ovt_walk_fail(w, OVT_KEY_SURROGATE, key);
    }
    return DONE;
}

/* Non-ASCII keys that wait for their texts: made together they take less time. */
enum { KEYS_TOGETHER = 16 };

typedef struct {
    ovt_units_key keys[KEYS_TOGETHER];
    ovt_member *members[KEYS_TOGETHER];
    size_t count;
    size_t room; /* for their texts */
} waiting_keys;

/* Makes the texts of those that wait, in the arena. */
static OVT_NEVER_INLINE outcome make_key_texts(walk *w, waiting_keys *waiting, bool *may_collide) {
    const size_t count = waiting->count, room = waiting->room + OVT_UNITS_SLACK;
    waiting->count = 0;
    waiting->room = 0;
    char *text = ovt_arena_take(&w->arena, room);
    if (text == NULL) {
        return no_memory();
    }
    const char *const end = ovt_units()->keys(text, waiting->keys, count);
    ovt_arena_shrink(&w->arena, room - (size_t)(end - text));
    for (size_t i = 0; i < count; i++) {
        const ovt_units_key *const made = &waiting->keys[i];
        ovt_member *const member = waiting->members[i];
        member->text = text;
        member->length = made->size;
        member->prefix = made->prefix;
        text += made->size;
        if (OVT_UNLIKELY(!made->is_written)) {
            const ovt_text units = {made->data, made->length, made->width, false};
            *may_collide = true;
            if (text_of_surrogate_key(w, member->key, units, member) == FAILED) {
                return FAILED;
            }
        }
    }
    return DONE;
}

/* Has a non-ASCII key wait for its text. */
static inline outcome add_waiting_key(walk *w, waiting_keys *waiting, ovt_member *member,
                                      ovt_text text, bool *may_collide) {
    if (text.length > SIZE_MAX / 8 / KEYS_TOGETHER) {
        return no_memory();
    }
    ovt_units_key *const key = &waiting->keys[waiting->count];
    key->data = text.data;
    key->length = text.length;
    key->width = text.width;
    waiting->members[waiting->count++] = member;
    waiting->room += text.length * ovt_units_growth(text.width);
    return waiting->count < KEYS_TOGETHER ? DONE : make_key_texts(w, waiting, may_collide);
}

/* The text of a key as str() gives it, which may be the key's own code. */
static OVT_NEVER_INLINE outcome text_of_key_by_str(walk *w, ovt_member *member) {
    ovt_walk_make_strong(w);
    int *const running = w->options->python->running_conversions;
    __atomic_fetch_add(running, 1, __ATOMIC_RELAXED);
    PyObject *str = PyObject_Str(member->key);
    __atomic_fetch_sub(running, 1, __ATOMIC_RELAXED);
    if (str == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            return FAILED;
        }
        PyErr_Clear();
        return ovt_walk_fail(w, OVT_KEY_TYPE, member->key);
    }
    ovt_text text;
    outcome result = FAILED;
    if (ovt_read_str(str, &text)) {
        if (ovt_has_surrogates(text)) {
            result = text_of_surrogate_key(w, member->key, text, member);
        } else {
            size_t length;
            const char *utf8 = ovt_utf8_of(str, &length);
            result = utf8 == NULL ? FAILED : take_key_text(w, member, utf8, length);
        }
    }
    Py_DECREF(str);
    return result;
}

/* The text of a key that is no exact ASCII str. *may_collide is set if another key of the same
 * object may have the same text. */
static OVT_NEVER_INLINE outcome text_of_other_key(walk *w, ovt_member *member, bool *may_collide) {
    PyObject *const key = member->key;
    if (w->profile->str_keys && !PyUnicode_CheckExact(key)) {
        *may_collide = true;
        return text_of_key_by_str(w, member);
    }
    if (PyUnicode_Check(key)) {
        ovt_text text;
        if (!ovt_read_str(key, &text)) {
            return FAILED;
        }
        *may_collide |= !PyUnicode_CheckExact(key);
        if (text.is_ascii) {
            set_key_text(member, text.data, text.length);
            return DONE;
        }
        waiting_keys waiting = {.count = 0};
        return add_waiting_key(w, &waiting, member, text, may_collide) == FAILED
                   ? FAILED
                   : make_key_texts(w, &waiting, may_collide);
    }
    *may_collide = true;
    char storage[2 * OVT_NUMBER_SIZE];
    ovt_buffer text;
    ovt_buffer_init(&text, storage, sizeof storage, NULL);
    ovt_status status = OVT_KEY_TYPE;
    if (w->profile->any_key) {
        if (key == Py_None) {
            status = ovt_buffer_append(&text, "null", 4) ? OVT_OK : OVT_NO_MEMORY;
        } else if (key == Py_True) {
            status = ovt_buffer_append(&text, "true", 4) ? OVT_OK : OVT_NO_MEMORY;
        } else if (key == Py_False) {
            status = ovt_buffer_append(&text, "false", 5) ? OVT_OK : OVT_NO_MEMORY;
        } else if (PyLong_Check(key)) {
            hold_for_exceptions(w, key);
            status = ovt_write_int_value(&text, w->profile, key);
        } else if (PyFloat_Check(key)) {
            status = ovt_write_float_value(&text, w->profile, PyFloat_AS_DOUBLE(key));
        }
    }
    if (status != OVT_OK) {
        return ovt_walk_fail(w, status, key);
    }
    return take_key_text(w, member, text.data, ovt_buffer_length(&text));
}

/* Fills in the text of a key that is no compact ASCII str, or has it wait for that. Whichever key
 * is at fault first is told of, so that none may be looked at while others wait before it. */
static outcome read_other_key(walk *w, ovt_member *member, waiting_keys *waiting,
                              bool *may_collide) {
    PyObject *const key = member->key;
    ovt_text text;
    if (OVT_LIKELY(PyUnicode_CheckExact(key) && PyUnicode_IS_COMPACT(key))) {
        size_t length;
        const char *const utf8 = ovt_cached_utf8(key, &length);
        if (utf8 != NULL) {
            set_key_text(member, utf8, length);
            return DONE;
        }
        return ovt_read_str(key, &text) ? add_waiting_key(w, waiting, member, text, may_collide)
                                        : FAILED;
    }
    if (waiting->count != 0 && make_key_texts(w, waiting, may_collide) == FAILED) {
        return FAILED;
    }
    return text_of_other_key(w, member, may_collide);
}

outcome ovt_read_keys(walk *w, size_t first, bool *may_collide, bool *is_ascii) {
    waiting_keys waiting;
    waiting.count = 0;
    waiting.room = 0;
    for (size_t i = first; i < w->member_count; i++) {
        ovt_member *member = &w->members[i];
        PyObject *const key = member->key;
        member->has_surrogates = false;
        if (OVT_LIKELY(PyUnicode_CheckExact(key) && PyUnicode_IS_COMPACT_ASCII(key))) {
            member->text = (const char *)(((PyASCIIObject *)key) + 1);
            member->length = (size_t)PyUnicode_GET_LENGTH(key);
            member->prefix = ovt_key_prefix_with_header(member->text, member->length);
            continue;
        }
        *is_ascii = false;
        if (read_other_key(w, member, &waiting, may_collide) == FAILED) {
            return FAILED;
        }
    }
    return waiting.count == 0 ? DONE : make_key_texts(w, &waiting, may_collide);
}
