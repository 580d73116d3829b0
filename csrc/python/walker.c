#include "walker.h"

#include <math.h>

#include "number_run.h"
#include "object_members.h"
#include "scalar_put.h"
#include "value_kind.h"
#include "walk_error.h"
#include "walk_state.h"
#include "wide_object.h"

/* ---- frames -------------------------------------------------------------------------------- */

/* Collects the members of a dict if its keys are those that came next before. */
static inline bool open_expected(walk *w, frame *open, const ovt_selection *selection) {
    size_t count;
    const ovt_dict_entry *const entries = entries_of(w, open->container, selection, &count);
    if (entries == NULL || !reserve_members(w, count)) {
        return false;
    }
    open->layout =
        ovt_key_memory_next(w->memory, w->profile, (ovt_key_row){&entries->key, 2}, count);
    if (open->layout == NULL) {
        return false;
    }
    open->mark = w->arena;
    open->first = w->member_count;
    open->next = w->member_count;
    open->entries = entries;
    w->member_count += count;
    open->end = w->member_count;
    return true;
}

/* Asks the memory for the first items of a longer list: those after them it brings by itself, once
 * it has seen where they lie. */
static inline void prefetch_items(PyObject *list) {
    enum { LONGER_LIST = 16, ITEMS_A_LINE = 2 };
    if (PyList_GET_SIZE(list) >= LONGER_LIST) {
        for (Py_ssize_t i = 0; i < LONGER_LIST; i += ITEMS_A_LINE) {
            __builtin_prefetch(PyList_GET_ITEM(list, i));
        }
    }
}

/* Opens a container, which is `source` as found. */
static inline outcome open_frame(walk *w, value_kind kind, PyObject *source, PyObject *container,
                                 const ovt_selection *selection) {
    const size_t depth = w->depth;
    if (depth != 0) {
        /* Brent's cycle detection along the path: a container is compared with its ancestor at
         * the last power of two, which meets any cycle within a few rounds of it. */
        const size_t anchor = ((size_t)1 << (63 - ovt_leading_zeros(depth))) - 1;
        if (OVT_UNLIKELY(w->frames[anchor].source == source)) {
            return ovt_walk_fail_nesting(w, source);
        }
    }
    if (OVT_UNLIKELY(depth >= (size_t)w->options->max_depth)) {
        return ovt_walk_fail_nesting(w, source);
    }
    if (OVT_UNLIKELY(depth == w->frame_capacity) && !ovt_walk_grow_frames(w)) {
        return no_memory();
    }
    frame *open = &w->frames[depth];
    *open = (frame){.source = source, .container = container, .kind = kind, .is_first = true};
    const bool is_object = kind == KIND_DICT || kind == KIND_PAIRS;
    const bool is_expected = kind == KIND_DICT && open_expected(w, open, selection);
    if (!is_expected && is_object &&
        ovt_collect_object(w, open, kind == KIND_DICT, selection) == FAILED) {
        return FAILED;
    }
    if (!ovt_buffer_reserve(w->out, 1)) {
        return no_memory();
    }
    ovt_buffer_put(w->out, is_object ? '{' : '[');
    if (kind == KIND_LIST && !IS_FREE_THREADED) {
        prefetch_items(container);
    }
    if (kind == KIND_SET_ITEMS) {
        w->out->pins++;
        open->first = w->mark_count;
    }
    if (w->is_strong) {
        Py_XINCREF(open->source);
        Py_INCREF(open->container);
    }
    if (open->layout != NULL) {
        open->layout->in_use++;
    }
    w->depth++;
    return DONE;
}

/* Opens the container at hand. Its source is NULL for a selection, which is a mapping of its own.
 */
static OVT_NEVER_INLINE outcome open_container(walk *w, value_kind kind,
                                               const ovt_selection *selection) {
    return open_frame(w, kind, selection == NULL ? w->source : NULL, w->value, selection);
}

/* Replaces the texts of a set's items, written one after the other, by the sorted array of them. */
static OVT_NEVER_INLINE outcome sort_set_items(walk *w, const frame *open) {
    const size_t count = w->mark_count - open->first;
    ovt_buffer *out = w->out;
    if (count < 2) {
        return DONE;
    }
    const size_t *starts = w->marks + open->first;
    const size_t base = starts[0], size = ovt_buffer_length(out) - base;
    char *texts = PyMem_RawMalloc(size);
    ovt_member *items = PyMem_RawMalloc(count * sizeof *items);
    uint32_t *order = PyMem_RawMalloc(count * sizeof *order);
    outcome result = FAILED;
    if (texts != NULL && items != NULL && order != NULL && ovt_buffer_reserve(out, count)) {
        memcpy(texts, out->data + base, size);
        for (size_t i = 0; i < count; i++) {
            const size_t end = i + 1 < count ? starts[i + 1] - base : size;
            const char *text = texts + (starts[i] - base);
            const size_t length = end - (starts[i] - base);
            items[i] = (ovt_member){
                .prefix = ovt_key_prefix(text, length), .text = text, .length = length};
        }
        if (ovt_order_members(items, order, count, false) == OVT_OK) {
            out->end = out->data + base;
            for (size_t i = 0; i < count; i++) {
                if (i != 0) {
                    ovt_buffer_put(out, ',');
                }
                memcpy(out->end, items[order[i]].text, items[order[i]].length);
                out->end += items[order[i]].length;
            }
            result = DONE;
        }
    }
    PyMem_RawFree(texts);
    PyMem_RawFree(items);
    PyMem_RawFree(order);
    return result == DONE ? DONE : no_memory();
}

static inline outcome close_container(walk *w) {
    frame *top = &w->frames[w->depth - 1];
    char closing = ']';
    if (top->kind == KIND_DICT) {
        closing = '}';
        drop_members(w, top->first);
        if (top->layout != NULL) {
            top->layout->in_use--;
            top->layout = NULL;
        }
        if (OVT_UNLIKELY(w->arena.block != top->mark.block || w->arena.used != top->mark.used)) {
            ovt_arena_release(&w->arena, top->mark);
        }
    } else if (OVT_UNLIKELY(top->kind == KIND_SET_ITEMS)) {
        if (sort_set_items(w, top) == FAILED) {
            return FAILED;
        }
        w->mark_count = top->first;
    }
    if (!ovt_buffer_reserve(w->out, 1)) {
        return no_memory();
    }
    ovt_buffer_put(w->out, closing);
    w->depth--;
    w->out->pins -= top->kind == KIND_SET_ITEMS;
    if (w->is_strong) {
        Py_XDECREF(top->source);
        Py_DECREF(top->container);
    }
    return DONE;
}

/* ---- values one by one ------------------------------------------------------------------------
 */

/* Writes a value at `end`, or opens it if it is a container. */
OVT_ALWAYS_INLINE outcome write_value(walk *w, value_kind kind, PyObject *value, char *end,
                                      const ovt_selection *selection) {
    if (kind > KIND_NONE && kind != KIND_DROPPED) {
        w->out->end = end;
        if (w->value == NULL) {
            take_current(w, value);
        }
        return open_container(w, kind, selection);
    }
    ovt_status status = OVT_OK;
    w->out->end = put_scalar(w, kind, value, end, &status);
    return OVT_LIKELY(status == OVT_OK) ? DONE : ovt_walk_fail(w, status, value);
}

/* A remembered key in quotes, and a colon; there is OVT_LAYOUT_QUOTED room. */
static inline char *put_known_key(const ovt_layout_key *key, char *end) {
    memcpy(end, key->quoted, OVT_LAYOUT_QUOTED);
    return end + key->size;
}

/* A key of which nothing is remembered, in quotes, and a colon, and SCALAR_ROOM after it; NULL when
 * memory runs out. */
static inline char *put_fresh_key(walk *w, const ovt_member *member, char *end) {
    if (OVT_LIKELY(member->length <= SHORT_UTF8 && !member->has_surrogates)) {
        const size_t most = member->length * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK;
        end = make_room(w->out, end, most + SCALAR_ROOM);
        if (OVT_UNLIKELY(end == NULL)) {
            return NULL;
        }
        *end++ = '"';
        end = ovt_put_bytes(end, (const uint8_t *)member->text, member->length, false);
        *end++ = '"';
        *end++ = ':';
        return end;
    }
    w->out->end = end;
    const ovt_status status =
        ovt_write_key(w->out, member->text, member->length, member->has_surrogates);
    return status == OVT_OK ? make_room(w->out, w->out->end, SCALAR_ROOM) : NULL;
}

/* Writes the members of the innermost container, an object, until one is itself a container, which
 * is then open, or until there are no more. */
static outcome walk_members(walk *w, frame *top) {
    const size_t depth = w->depth;
    while (top->next != top->end) {
        const ovt_layout_key *const known = known_key_at(top, top->next);
        const uint32_t index = known != NULL ? known->index : w->order[top->next];
        const ovt_member *const member = &w->members[top->first + index];
        top->next++;
        PyObject *value = top->entries != NULL ? top->entries[index].value : member->value;
        value_kind kind = kind_of(w, value);
        if (OVT_UNLIKELY(kind == KIND_OTHER) && ovt_walk_convert(w, &value, &kind) == FAILED) {
            return FAILED;
        }
        if (!is_left_out(w, kind)) {
            char *end = make_room(w->out, w->out->end, SCALAR_ROOM + OVT_LAYOUT_QUOTED);
            if (OVT_UNLIKELY(end == NULL)) {
                return no_memory();
            }
            *end = ',';
            end += !top->is_first;
            end = known != NULL ? put_known_key(known, end) : put_fresh_key(w, member, end);
            if (OVT_UNLIKELY(end == NULL)) {
                return no_memory();
            }
            top->is_first = false;
            if (OVT_UNLIKELY(write_value(w, kind, value, end, NULL) == FAILED)) {
                return FAILED;
            }
            ovt_buffer_offer(w->out, w->out->end);
        }
        drop_current(w);
        if (w->depth != depth) {
            return DONE;
        }
    }
    return close_container(w);
}

/* Writes the pending member at hand of a wide object, or leaves it out, or opens its value. */
static OVT_NEVER_INLINE outcome write_pending(walk *w, frame *top, const ovt_key_record *record) {
    PyObject *value = w->members[top->first + record->note].value;
    value_kind kind = kind_of(w, value);
    if (kind == KIND_OTHER && ovt_walk_convert(w, &value, &kind) == FAILED) {
        return FAILED;
    }
    if (is_left_out(w, kind)) {
        return DONE;
    }
    if (!ovt_wide_put_text(w, top, record)) {
        return no_memory();
    }
    return write_value(w, kind, value, w->out->end, NULL);
}

/* The same as walk_members for a wide object. */
static OVT_NEVER_INLINE outcome walk_wide(walk *w, frame *top) {
    const size_t depth = w->depth;
    const ovt_key_record *pending;
    for (;;) {
        if (!ovt_wide_write(w, top, &pending)) {
            return no_memory();
        }
        if (pending == NULL) {
            break;
        }
        if (write_pending(w, top, pending) == FAILED) {
            return FAILED;
        }
        drop_current(w);
        if (w->depth != depth) {
            return DONE;
        }
        ovt_buffer_offer(w->out, w->out->end);
    }
    ovt_wide_release(w);
    top->kind = KIND_DICT;
    return close_container(w);
}

/* The next item of a list, a tuple or the items of a set, NULL when there is none. A list may have
 * changed since the last one, if Python code ran. */
static inline PyObject *next_item(walk *w, frame *top) {
    const size_t at = top->next;
    PyObject *item;
    if (top->kind == KIND_TUPLE) {
        if (at >= (size_t)PyTuple_GET_SIZE(top->container)) {
            return NULL;
        }
        item = PyTuple_GET_ITEM(top->container, (Py_ssize_t)at);
    } else {
        if (at >= (size_t)PyList_GET_SIZE(top->container)) {
            return NULL;
        }
#ifdef Py_GIL_DISABLED
        item = PyList_GetItemRef(top->container, (Py_ssize_t)at);
        if (item == NULL) {
            PyErr_Clear(); /* another thread has shortened the list meanwhile */
            return NULL;
        }
        take_current(w, item);
        Py_DECREF(item);
#else
        (void)w;
        item = PyList_GET_ITEM(top->container, (Py_ssize_t)at);
#endif
    }
    top->next = at + 1;
    return item;
}

/* Writes the items of the innermost container, a list, tuple or set, like walk_members. */
static outcome walk_items(walk *w, frame *top) {
    const size_t depth = w->depth;
    PyObject *value;
    if (!ovt_write_numbers(w, top)) {
        return no_memory();
    }
    while ((value = next_item(w, top)) != NULL) {
        value_kind kind = kind_of(w, value);
        if (OVT_UNLIKELY(kind == KIND_OTHER) && ovt_walk_convert(w, &value, &kind) == FAILED) {
            return FAILED;
        }
        if (!is_left_out(w, kind)) {
            char *end = make_room(w->out, w->out->end, SCALAR_ROOM);
            if (OVT_UNLIKELY(end == NULL)) {
                return no_memory();
            }
            if (OVT_UNLIKELY(top->kind == KIND_SET_ITEMS)) {
                if (!ovt_walk_push_mark(w, (size_t)(end - w->out->data))) {
                    return no_memory();
                }
            } else {
                *end = ',';
                end += !top->is_first;
                top->is_first = false;
            }
            if (OVT_UNLIKELY(write_value(w, kind, value, end, NULL) == FAILED)) {
                return FAILED;
            }
            ovt_buffer_offer(w->out, w->out->end);
        }
        drop_current(w);
        if (w->depth != depth) {
            return DONE;
        }
    }
    return close_container(w);
}

/* ---- plain values -------------------------------------------------------------------------- */

enum {
    /* For a comma, a key that is remembered, and a plain scalar. */
    PLAIN_ROOM = SCALAR_ROOM + OVT_LAYOUT_QUOTED + SHORT_UTF8 * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK,
};

_Static_assert((int)PLAIN_ROOM <= (int)OVT_WALK_ROOM, "the room that callers are told of");

static inline bool is_number(PyObject *value) {
    return Py_TYPE(value) == &PyLong_Type || Py_TYPE(value) == &PyFloat_Type;
}

/* Whether the next item of a list is a number: then several may come. */
static inline bool starts_with_number(const frame *top) {
    PyObject *const list = top->container;
    return (size_t)PyList_GET_SIZE(list) > top->next &&
           is_number(PyList_GET_ITEM(list, (Py_ssize_t)top->next));
}

static inline bool is_plain(const frame *open) {
    return open->kind == KIND_DICT ? open->entries != NULL : open->kind == KIND_LIST;
}

/* Makes PLAIN_ROOM at `end` and lets the hash have its share; NULL when memory runs out. */
static OVT_NEVER_INLINE char *make_plain_room(walk *w, char *end) {
    ovt_buffer_offer(w->out, end);
    return make_room(w->out, end, PLAIN_ROOM);
}

OVT_ALWAYS_INLINE char *put_plain_str(PyObject *str, char *end) {
    *end++ = '"';
    end = ovt_put_bytes(end, (const uint8_t *)(((PyASCIIObject *)str) + 1),
                        (size_t)PyUnicode_GET_LENGTH(str), true);
    *end++ = '"';
    return end;
}

/* Closes a list, or an object that was read in place. */
OVT_ALWAYS_INLINE char *close_plain(walk *w, frame *top, char *end) {
    end = make_room(w->out, end, 1);
    if (OVT_UNLIKELY(end == NULL)) {
        return NULL;
    }
    w->depth--;
    if (top->kind == KIND_LIST) {
        *end = ']';
    } else {
        *end = '}';
        w->member_count = top->first;
        top->layout->in_use--;
        top->layout = NULL;
    }
    return end + 1;
}

/* Writes on from the innermost container as long as nothing comes but scalars of built-in types,
 * lists, and dicts whose members are read in place: no Python code runs here, and no reference is
 * held. Stops where there is anything else to do, at what comes next.
 *
 * This loop is where most of the time goes. What changes from value to value is in variables, which
 * a frame takes only while another is open inside it; and it is one loop for objects and lists, as
 * its parts share what it has in registers. */
static outcome walk_plain(walk *w) {
    const bool trims = w->trims;
    char *end = w->out->end;
    while (w->depth != 0 && is_plain(&w->frames[w->depth - 1])) {
        frame *const top = &w->frames[w->depth - 1];
        const bool is_object = top->kind == KIND_DICT;
        if (!is_object && starts_with_number(top)) {
            w->out->end = end;
            if (!ovt_write_numbers(w, top)) {
                return no_memory();
            }
            end = w->out->end;
        }
        const ovt_layout_key *const keys = is_object ? top->layout->in_order : NULL;
        const ovt_dict_entry *const entries = top->entries;
        PyObject *const *const items = is_object ? NULL : ((PyListObject *)top->container)->ob_item;
        const size_t count =
            is_object ? top->layout->count : (size_t)PyList_GET_SIZE(top->container);
        const size_t first = is_object ? top->first : 0;
        size_t at = top->next - first, comma = !top->is_first;
        char *start, *until = free_until(w->out, PLAIN_ROOM);
        PyObject *value;
        PyTypeObject *type;
        for (; at != count; at++) {
            if (OVT_UNLIKELY(end >= until)) {
                end = make_plain_room(w, end);
                if (OVT_UNLIKELY(end == NULL)) {
                    return no_memory();
                }
                until = free_until(w->out, PLAIN_ROOM);
            }
            *end = ',';
            start = end + comma;
            if (is_object) {
                start = put_known_key(&keys[at], start);
                value = entries[keys[at].index].value;
            } else {
                value = items[at];
            }
            type = Py_TYPE(value);
            int64_t number;
            if (type == &PyUnicode_Type) {
                if (OVT_LIKELY(is_plain_str(value, trims))) {
                    end = put_plain_str(value, start);
                } else {
                    ovt_status status = OVT_OK;
                    end = ovt_put_other_str(w, value, start, &status);
                    if (OVT_UNLIKELY(status != OVT_OK)) {
                        top->next = first + at + 1;
                        return ovt_walk_fail(w, status, value);
                    }
                    until = free_until(w->out, PLAIN_ROOM);
                }
            } else if (type == &PyLong_Type && ovt_small_int(value, &number) &&
                       is_safe_integer(number)) {
                end = start + ovt_write_i64(start, number);
            } else if (type == &PyFloat_Type && isfinite(PyFloat_AS_DOUBLE(value))) {
                end = put_finite(w, PyFloat_AS_DOUBLE(value), start);
            } else if (type == &PyDict_Type || type == &PyList_Type) {
                goto stop;
            } else if (value == Py_True) {
                end = put_text(start, "true", 4);
            } else if (value == Py_False) {
                end = put_text(start, "false", 5);
            } else if (value == Py_None && w->profile->drop_none) {
                continue;
            } else if (value == Py_None) {
                end = put_text(start, "null", 4);
            } else {
                goto stop;
            }
            comma = 1;
        }
        end = close_plain(w, top, end);
        if (OVT_UNLIKELY(end == NULL)) {
            return no_memory();
        }
        continue;
    stop:
        top->next = first + at;
        top->is_first = !comma;
        w->out->end = end;
        if (type != &PyDict_Type && type != &PyList_Type) {
            return DONE;
        }
        top->next++;
        top->is_first = false;
        w->out->end = start;
        const value_kind kind = type == &PyDict_Type ? KIND_DICT : KIND_LIST;
        /* Made the one at hand, since what a key does may take it out of what holds it. */
        w->source = value;
        w->value = value;
        if (open_frame(w, kind, value, value, NULL) == FAILED) {
            return FAILED;
        }
        if (OVT_UNLIKELY(w->is_strong)) { /* a key was asked for its text */
            drop_current(w);
            return DONE;
        }
        w->source = NULL;
        w->value = NULL;
        end = w->out->end;
    }
    w->out->end = end;
    return DONE;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static outcome run_walk(walk *w, PyObject *root, const ovt_selection *selection) {
    value_kind kind = kind_of(w, root);
    if (kind == KIND_OTHER && ovt_walk_convert(w, &root, &kind) == FAILED) {
        return FAILED;
    }
    char *end = make_room(w->out, w->out->end, SCALAR_ROOM);
    if (end == NULL) {
        return no_memory();
    }
    if (write_value(w, kind, root, end, selection) == FAILED) {
        return FAILED;
    }
    drop_current(w);
    while (w->depth != 0) {
        if (!w->is_strong) {
            if (OVT_UNLIKELY(walk_plain(w) == FAILED)) {
                return FAILED;
            }
            if (w->depth == 0) {
                break;
            }
        }
        frame *top = &w->frames[w->depth - 1];
        const outcome result = top->kind == KIND_DICT   ? walk_members(w, top)
                               : top->kind == KIND_WIDE ? walk_wide(w, top)
                                                        : walk_items(w, top);
        if (OVT_UNLIKELY(result == FAILED)) {
            return FAILED;
        }
    }
    return DONE;
}

/* Whether a walk that came to its end holds nothing that release_walk would have to give back. */
static inline bool holds_nothing(const walk *w) {
    return !w->is_strong && w->arena.block == NULL && w->frames == w->inline_frames &&
           w->members == w->inline_members && w->marks == NULL;
}

static OVT_NEVER_INLINE void release_walk(walk *w) {
    drop_current(w);
    drop_members(w, 0);
    while (w->depth > 0) {
        frame *top = &w->frames[--w->depth];
        if (w->is_strong) {
            Py_XDECREF(top->source);
            Py_DECREF(top->container);
        }
        if (top->kind == KIND_SET_ITEMS) {
            w->out->pins--;
        }
        if (top->layout != NULL) {
            top->layout->in_use--;
        }
    }
    while (w->wide != NULL) {
        ovt_wide_release(w);
    }
    ovt_arena_release(&w->arena, (ovt_arena_mark){0});
    if (w->frames != w->inline_frames) {
        PyMem_RawFree(w->frames);
    }
    if (w->members != w->inline_members) {
        PyMem_RawFree(w->members);
        PyMem_RawFree(w->order);
    }
    PyMem_RawFree(w->marks);
}

static int walk_with(walk *w, ovt_buffer *out, PyObject *value, const ovt_selection *selection,
                     const ovt_walk_options *options) {
    w->out = out;
    w->options = options;
    w->profile = options->profile;
    w->trims = options->profile->trim_strings;
    w->is_strong = IS_FREE_THREADED;
    w->source = NULL;
    w->value = NULL;
    w->frames = w->inline_frames;
    w->depth = 0;
    w->frame_capacity = INLINE_FRAMES;
    w->members = w->inline_members;
    w->order = w->inline_order;
    w->member_count = 0;
    w->member_capacity = INLINE_MEMBERS;
    w->marks = NULL;
    w->mark_count = 0;
    w->mark_capacity = 0;
    w->wide = NULL;
    w->arena = (ovt_arena){0};
    w->memory = ovt_key_memory_take(options->python->key_memory);
    const bool has_selection = selection != NULL && selection->is_partial;
    const outcome result = run_walk(w, value, has_selection ? selection : NULL);
    if (OVT_UNLIKELY(result == FAILED || !holds_nothing(w))) {
        release_walk(w);
    }
    ovt_key_memory_give_back(w->memory);
    return result;
}

static OVT_NEVER_INLINE int walk_on_heap(ovt_buffer *out, PyObject *value,
                                         const ovt_selection *selection,
                                         const ovt_walk_options *options) {
    walk *w = PyMem_RawMalloc(sizeof *w);
    if (w == NULL) {
        return no_memory();
    }
    const int result = walk_with(w, out, value, selection, options);
    PyMem_RawFree(w);
    return result;
}

static OVT_NEVER_INLINE int walk_on_stack(ovt_buffer *out, PyObject *value,
                                          const ovt_selection *selection,
                                          const ovt_walk_options *options) {
    walk w;
    return walk_with(&w, out, value, selection, options);
}

int ovt_walk(ovt_buffer *out, PyObject *value, const ovt_selection *selection,
             const ovt_walk_options *options) {
    return OVT_UNLIKELY(ovt_may_be_nested(options->python))
               ? walk_on_heap(out, value, selection, options)
               : walk_on_stack(out, value, selection, options);
}
