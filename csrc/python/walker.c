#include "walker.h"

#include <math.h>
#include <stdlib.h>

#include "arena.h"
#include "int_value.h"
#include "key_memory.h"
#include "key_order.h"
#include "large_block.h"
#include "number_put.h"
#include "number_write.h"
#include "string_put.h"
#include "string_units.h"

/* ---- the state of a walk ------------------------------------------------------------------- */

typedef enum {
    KIND_STR,
    KIND_INT,
    KIND_FLOAT,
    KIND_TRUE,
    KIND_FALSE,
    KIND_VERBATIM, /* _convert.Verbatim: a str that is JSON text already */
    KIND_NONE,     /* the last that is no container */
    KIND_DICT,
    KIND_LIST,
    KIND_TUPLE,
    KIND_PAIRS,     /* _convert.Pairs: a list of (key, value) tuples */
    KIND_SET_ITEMS, /* _convert.SetItems: a list, written in the order of its items' texts */
    KIND_OTHER,     /* for the converter */
    KIND_DROPPED,   /* the converter's answer: left out */
    KIND_WIDE,      /* of a frame: a dict whose members are sorted as texts */
} value_kind;

typedef struct wide_object wide_object;

/* An open container. */
typedef struct {
    PyObject *source;       /* the value before any conversion: cycles are told by its identity */
    PyObject *container;    /* the list or tuple that is read; of an object, the dict or Pairs */
    size_t first;           /* object: its first member; set: the first mark of an item's text */
    size_t end;             /* object: one past its last member */
    size_t next;            /* object: the next member; else the index of the next item */
    ovt_arena_mark mark;    /* object: the arena before its key texts */
    ovt_key_layout *layout; /* object: what is remembered of its keys, or NULL */
    /* Object: where its members are read as long as no Python code has run, with a layout only; its
     * part of the walk's members is then not filled in yet. NULL: they are. */
    const ovt_dict_entry *entries;
    value_kind kind; /* KIND_DICT for every object but a KIND_WIDE one */
    bool is_first;   /* no member has been written yet */
} frame;

enum {
    INLINE_FRAMES = 12,
    INLINE_MEMBERS = 48,
    FIRST_FRAMES = 256, /* on the heap */
    FIRST_MEMBERS = 512,
    WIDE = 128,             /* members of a dict whose texts are sorted */
    WIDE_WITH_HASH = 2048,  /* the same where the hash runs beside the writing */
    LARGEST_SAFE_BITS = 53, /* integers below 2**53 are exact doubles */
};

static const int64_t LARGEST_SAFE_INTEGER = ((int64_t)1 << LARGEST_SAFE_BITS) - 1;

typedef struct {
    ovt_buffer *out;
    const ovt_walk_options *options;
    const ovt_profile *profile;
    bool trims; /* as the profile says */

    /* Whether every reference held here is a strong one. Free-threaded Pythons start that way. */
    bool is_strong;
    PyObject *source; /* the value at hand, as found; NULL but for containers and conversions */
    PyObject *value;  /* the same, converted; often the same object */

    frame *frames;
    size_t depth;
    size_t frame_capacity;

    ovt_member *members; /* of all open objects, one after the other */
    uint32_t *order;     /* order[i]: which member of its object comes at position i */
    size_t member_count;
    size_t member_capacity;

    size_t *marks; /* of all open sets: where in `out` each item's text starts */
    size_t mark_count;
    size_t mark_capacity;

    wide_object *wide; /* the innermost of those that are open, or NULL */

    ovt_arena arena;
    ovt_key_memory *memory; /* of key sets, or NULL */

    frame inline_frames[INLINE_FRAMES];
    ovt_member inline_members[INLINE_MEMBERS];
    uint32_t inline_order[INLINE_MEMBERS];
} walk;

/* What the functions below answer. */
typedef enum { FAILED = -1, DONE = 0 } outcome;

/* ---- references ---------------------------------------------------------------------------- */

/* Fills in what has been read from the entries of dicts up to now. */
static void fill_members(walk *w) {
    for (size_t i = 0; i < w->depth; i++) {
        frame *const open = &w->frames[i];
        if (open->entries == NULL) {
            continue;
        }
        for (size_t at = 0; at < open->layout->count; at++) {
            w->members[open->first + at].key = open->entries[at].key;
            w->members[open->first + at].value = open->entries[at].value;
        }
        open->entries = NULL;
    }
}

/* From here on Python code may run: hold everything that is open. */
static void make_strong(walk *w) {
    if (w->is_strong) {
        return;
    }
    w->is_strong = true;
    fill_members(w);
    Py_XINCREF(w->source);
    Py_XINCREF(w->value);
    for (size_t i = 0; i < w->depth; i++) {
        Py_XINCREF(w->frames[i].source);
        Py_INCREF(w->frames[i].container);
    }
    for (size_t i = 0; i < w->member_count; i++) {
        Py_INCREF((PyObject *)w->members[i].key);
        Py_INCREF((PyObject *)w->members[i].value);
    }
}

/* Makes `value` the one at hand, borrowed or held twice (as found, and converted). */
static inline void take_current(walk *w, PyObject *value) {
    w->source = value;
    w->value = value;
    if (w->is_strong) {
        Py_INCREF(value);
        Py_INCREF(value);
    }
}

static inline void drop_current(walk *w) {
    if (OVT_LIKELY(w->value == NULL)) {
        return;
    }
    if (w->is_strong) {
        Py_DECREF(w->source);
        Py_DECREF(w->value);
    }
    w->source = NULL;
    w->value = NULL;
}

/* Counts in the members up to `end`, which have been filled in. */
static inline void hold_members(walk *w, size_t end) {
    if (w->is_strong) {
        for (size_t i = w->member_count; i < end; i++) {
            Py_INCREF((PyObject *)w->members[i].key);
            Py_INCREF((PyObject *)w->members[i].value);
        }
    }
    w->member_count = end;
}

static void drop_members(walk *w, size_t first) {
    if (w->is_strong) {
        for (size_t i = first; i < w->member_count; i++) {
            Py_DECREF((PyObject *)w->members[i].key);
            Py_DECREF((PyObject *)w->members[i].value);
        }
    }
    w->member_count = first;
}

static void release_wide(walk *w);

static void release_walk(walk *w) {
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
        release_wide(w);
    }
    ovt_key_memory_give_back(w->memory);
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

/* ---- room ---------------------------------------------------------------------------------- */

/* Moves `used` elements to a larger block; `block` is freed unless it is the inline one. */
static void *enlarged(void *block, const void *inline_block, size_t used, size_t capacity,
                      size_t element) {
    if (capacity > SIZE_MAX / 2 / element) {
        return NULL;
    }
    if (block != inline_block) {
        return PyMem_RawRealloc(block, capacity * element);
    }
    void *larger = PyMem_RawMalloc(capacity * element);
    if (larger != NULL && used != 0) {
        memcpy(larger, block, used * element);
    }
    return larger;
}

static OVT_NEVER_INLINE bool grow_frames(walk *w) {
    const size_t capacity =
        w->frame_capacity == INLINE_FRAMES ? FIRST_FRAMES : w->frame_capacity * 2;
    frame *frames = enlarged(w->frames, w->inline_frames, w->depth, capacity, sizeof *frames);
    if (frames == NULL) {
        return false;
    }
    w->frames = frames;
    w->frame_capacity = capacity;
    return true;
}

static OVT_NEVER_INLINE bool grow_members(walk *w, size_t count) {
    size_t capacity = w->member_capacity == INLINE_MEMBERS ? FIRST_MEMBERS : w->member_capacity * 2;
    if (count > SIZE_MAX / 2) {
        return false;
    }
    if (capacity < w->member_count + count) {
        capacity = w->member_count + count;
    }
    ovt_member *members =
        enlarged(w->members, w->inline_members, w->member_count, capacity, sizeof *members);
    if (members == NULL) {
        return false;
    }
    const bool was_inline = w->members == w->inline_members;
    w->members = members;
    uint32_t *order = enlarged(w->order, w->inline_order, w->member_count, capacity, sizeof *order);
    if (order == NULL) {
        if (was_inline) { /* members and order move to the heap together or not at all */
            PyMem_RawFree(members);
            w->members = w->inline_members;
        }
        return false;
    }
    w->order = order;
    w->member_capacity = capacity;
    return true;
}

static inline bool reserve_members(walk *w, size_t count) {
    return w->member_capacity - w->member_count >= count || grow_members(w, count);
}

static bool push_mark(walk *w, size_t mark) {
    if (w->mark_count == w->mark_capacity) {
        const size_t capacity = w->mark_capacity == 0 ? 16 : w->mark_capacity * 2;
        size_t *marks = enlarged(w->marks, NULL, w->mark_count, capacity, sizeof *marks);
        if (marks == NULL) {
            return false;
        }
        w->marks = marks;
        w->mark_capacity = capacity;
    }
    w->marks[w->mark_count++] = mark;
    return true;
}

/* The remembered key of an open object that comes at a position, counted like the members; NULL if
 * nothing is remembered of it. */
static inline const ovt_layout_key *known_key_at(const frame *open, size_t position) {
    return open->layout == NULL ? NULL : &open->layout->in_order[position - open->first];
}

static inline const ovt_member *member_at(const walk *w, const frame *open, size_t position) {
    const ovt_layout_key *known = known_key_at(open, position);
    return &w->members[open->first + (known != NULL ? known->index : w->order[position])];
}

/* ---- errors ------------------------------------------------------------------------------ */

static outcome no_memory(void) {
    PyErr_NoMemory();
    return FAILED;
}

static PyObject *wide_key(const walk *w, const frame *open);

/* The step from an open container to the member at hand, as overturn_fast._errors.Segment. */
static PyObject *path_segment(const walk *w, const frame *open) {
    switch (open->kind) {
    case KIND_DICT: {
        const ovt_member *member = member_at(w, open, open->next - 1);
        if (open->layout != NULL) {
            return Py_NewRef((PyObject *)member->key);
        }
        return PyUnicode_DecodeUTF8(member->text, (Py_ssize_t)member->length, "surrogatepass");
    }
    case KIND_WIDE:
        return Py_NewRef(wide_key(w, open));
    case KIND_SET_ITEMS:
        return Py_NewRef(Py_None);
    default:
        return PyLong_FromSize_t(open->next - 1);
    }
}

static PyObject *current_path(const walk *w) {
    PyObject *path = PyList_New((Py_ssize_t)w->depth);
    for (size_t i = 0; path != NULL && i < w->depth; i++) {
        PyObject *segment = path_segment(w, &w->frames[i]);
        if (segment == NULL) {
            Py_CLEAR(path);
        } else {
            PyList_SET_ITEM(path, (Py_ssize_t)i, segment);
        }
    }
    return path;
}

/* Raises the exception object that a function of _errors made; steals it. */
static outcome raise_made(PyObject *exception) {
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return FAILED;
}

static OVT_NEVER_INLINE outcome fail(walk *w, ovt_status status, PyObject *value) {
    if (status == OVT_NO_MEMORY) {
        return no_memory();
    }
    make_strong(w);
    Py_INCREF(value);
    PyObject *path = current_path(w);
    PyObject *made = path == NULL ? NULL
                                  : PyObject_CallFunction(w->options->python->failure, "iOO",
                                                          (int)status, path, value);
    Py_XDECREF(path);
    Py_DECREF(value);
    return raise_made(made);
}

/* Nesting went too deep or never ends; `source` is the container that was about to be opened. */
static OVT_NEVER_INLINE outcome fail_nesting(walk *w, PyObject *source) {
    make_strong(w);
    PyObject *path = current_path(w);
    PyObject *containers = PyList_New(0);
    int failed = path == NULL || containers == NULL;
    for (size_t i = 0; !failed && i <= w->depth; i++) {
        PyObject *container = i < w->depth ? w->frames[i].source : source;
        if (i < w->depth || source != NULL) {
            failed = PyList_Append(containers, container != NULL ? container : Py_None) < 0;
        }
    }
    PyObject *made = failed ? NULL
                            : PyObject_CallFunction(w->options->python->nesting_failure, "OOn",
                                                    path, containers, w->options->max_depth);
    Py_XDECREF(path);
    Py_XDECREF(containers);
    return raise_made(made);
}

/* The converter raised: the exception as overturn_fast._errors words it. */
static OVT_NEVER_INLINE outcome fail_conversion(walk *w, PyObject *value) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *path = current_path(w);
    PyObject *made = path == NULL
                         ? NULL
                         : PyObject_CallFunctionObjArgs(w->options->python->conversion_failure,
                                                        error, path, value, NULL);
    Py_XDECREF(path);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_DECREF(error);
    return raise_made(made);
}

/* ---- kinds of values --------------------------------------------------------------------- */

static OVT_NEVER_INLINE value_kind kind_of_subclass(const walk *w, PyObject *value) {
    PyTypeObject *const type = Py_TYPE(value);
    if ((PyObject *)type == w->options->python->pairs_type) {
        return KIND_PAIRS;
    }
    if ((PyObject *)type == w->options->python->set_items_type) {
        return KIND_SET_ITEMS;
    }
    if ((PyObject *)type == w->options->python->verbatim_type) {
        return KIND_VERBATIM;
    }
    if (w->profile->convert_subclasses) {
        return KIND_OTHER;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_UNICODE_SUBCLASS)) {
        return KIND_STR;
    }
    if (PyType_HasFeature(type, Py_TPFLAGS_LONG_SUBCLASS)) {
        return KIND_INT;
    }
    if (PyFloat_Check(value)) {
        return KIND_FLOAT;
    }
    return KIND_OTHER;
}

static inline value_kind kind_of(const walk *w, PyObject *value) {
    PyTypeObject *const type = Py_TYPE(value);
    if (type == &PyUnicode_Type) {
        return KIND_STR;
    }
    if (type == &PyLong_Type) {
        return KIND_INT;
    }
    if (type == &PyFloat_Type) {
        return KIND_FLOAT;
    }
    if (type == &PyDict_Type) {
        return KIND_DICT;
    }
    if (type == &PyList_Type) {
        return KIND_LIST;
    }
    if (value == Py_None) {
        return KIND_NONE;
    }
    if (value == Py_True) {
        return KIND_TRUE;
    }
    if (value == Py_False) {
        return KIND_FALSE;
    }
    if (type == &PyTuple_Type) {
        return KIND_TUPLE;
    }
    return kind_of_subclass(w, value);
}

/* Converts the value at hand as often as it takes to be one that the walk writes itself. */
static OVT_NEVER_INLINE outcome convert_current(walk *w, value_kind *kind) {
    make_strong(w);
    /* Brent's cycle detection along the chain of conversions: the anchor moves at powers of two. */
    PyObject *anchor = Py_NewRef(w->value);
    outcome result = DONE;
    for (Py_ssize_t conversions = 1; *kind == KIND_OTHER; conversions++) {
        PyObject *arguments[] = {w->value, w->options->encoder};
        int *const running = w->options->python->running_conversions;
        __atomic_fetch_add(running, 1, __ATOMIC_RELAXED);
        PyObject *converted = PyObject_Vectorcall(w->options->converter, arguments, 2, NULL);
        __atomic_fetch_sub(running, 1, __ATOMIC_RELAXED);
        if (converted == NULL) {
            result = fail_conversion(w, w->value);
            break;
        }
        if (converted == w->options->python->unsupported || converted == anchor) {
            const bool is_cycle = converted == anchor;
            Py_DECREF(converted);
            result = fail(w, is_cycle ? OVT_CIRCULAR_REFERENCE : OVT_UNSUPPORTED_TYPE, w->value);
            break;
        }
        Py_SETREF(w->value, converted);
        if (converted == w->options->python->dropped) {
            *kind = KIND_DROPPED;
            break;
        }
        if (conversions > w->options->max_conversions) {
            result = fail_nesting(w, NULL);
            break;
        }
        if ((conversions & (conversions - 1)) == 0) {
            Py_SETREF(anchor, Py_NewRef(converted));
        }
        *kind = kind_of(w, converted);
    }
    Py_DECREF(anchor);
    return result;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static ovt_status write_null(ovt_buffer *out) {
    return ovt_buffer_append(out, "null", 4) ? OVT_OK : OVT_NO_MEMORY;
}

static inline ovt_status write_float(ovt_buffer *out, const ovt_profile *profile, double value) {
    if (OVT_UNLIKELY(!isfinite(value))) {
        return profile->non_finite_null ? write_null(out) : OVT_FLOAT_DOMAIN;
    }
    if (!ovt_buffer_reserve(out, OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    out->end += profile->exact_integral_floats ? ovt_write_double_integral_exact(out->end, value)
                                               : ovt_write_double(out->end, value);
    return OVT_OK;
}

/* Forgets the exception that is set; whether it says that memory ran out. */
static bool forget_exception(void) {
    const bool is_out_of_memory = PyErr_ExceptionMatches(PyExc_MemoryError);
    PyErr_Clear();
    return is_out_of_memory;
}

/* The magnitude of an int beyond 64 bits, if it has at most 128 of them: else `fits` is false. */
static ovt_status magnitude_of(PyObject *value, uint64_t *high, uint64_t *low, bool *fits) {
    /* The slots of int itself, so that a subclass cannot interfere. */
    const PyNumberMethods *const as_int = PyLong_Type.tp_as_number;
    PyObject *magnitude = as_int->nb_absolute(value);
    PyObject *width = PyLong_FromLong(64);
    PyObject *upper = NULL;
    if (magnitude != NULL && width != NULL) {
        upper = as_int->nb_rshift(magnitude, width);
    }
    if (upper != NULL) {
        *low = PyLong_AsUnsignedLongLongMask(magnitude);
        *high = PyLong_AsUnsignedLongLong(upper);
    }
    *fits = !PyErr_Occurred();
    const bool is_out_of_memory = !*fits && forget_exception();
    Py_XDECREF(magnitude);
    Py_XDECREF(width);
    Py_XDECREF(upper);
    return is_out_of_memory ? OVT_NO_MEMORY : OVT_OK;
}

/* Whether high * 2**64 + low is below 10**21. */
static bool is_below_1e21(uint64_t high, uint64_t low) {
    const uint64_t limit_high = 54, limit_low = UINT64_C(3875820019684212736);
    return high < limit_high || (high == limit_high && low < limit_low);
}

/* All digits of an int, as int itself writes them: there may be a limit to how many. */
static ovt_status write_all_digits(ovt_buffer *out, PyObject *value) {
    PyObject *digits = PyLong_Type.tp_repr(value);
    if (digits == NULL) {
        return forget_exception() ? OVT_NO_MEMORY : OVT_INTEGER_DOMAIN;
    }
    const bool is_written =
        ovt_buffer_append(out, PyUnicode_DATA(digits), (size_t)PyUnicode_GET_LENGTH(digits));
    Py_DECREF(digits);
    return is_written ? OVT_OK : OVT_NO_MEMORY;
}

/* An int that does not fit 64 bits. */
static OVT_NEVER_INLINE ovt_status write_large_int(ovt_buffer *out, const ovt_profile *profile,
                                                   PyObject *value, bool is_negative) {
    if (profile->integers == OVT_INTEGERS_SAFE_ONLY) {
        return OVT_INTEGER_DOMAIN;
    }
    if (profile->integers == OVT_INTEGERS_ALL_DIGITS) {
        return write_all_digits(out, value);
    }
    if (!ovt_buffer_reserve(out, 1 + OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    if (profile->integers == OVT_INTEGERS_EXACT_BELOW_1E21 && ovt_is_medium_int(value)) {
        uint64_t high = 0, low = 0;
        bool fits;
        if (magnitude_of(value, &high, &low, &fits) != OVT_OK) {
            return OVT_NO_MEMORY;
        }
        if (fits && is_below_1e21(high, low)) {
            if (is_negative) {
                ovt_buffer_put(out, '-');
            }
            out->end += ovt_write_u128(out->end, high, low);
            return OVT_OK;
        }
    }
    const double nearest = PyLong_AsDouble(value);
    if (nearest == -1.0 && PyErr_Occurred()) {
        if (forget_exception()) {
            return OVT_NO_MEMORY;
        }
        return profile->non_finite_null ? write_null(out) : OVT_INTEGER_DOMAIN;
    }
    out->end += ovt_write_double(out->end, nearest);
    return OVT_OK;
}

/* An int past the double range is told by an exception, which is an object that the collector
 * looks after: making it may run Python code before 3.12. */
static void hold_for_exceptions(walk *w, PyObject *value) {
    if (ovt_may_exceed_double(value)) {
        make_strong(w);
    }
}

static inline bool is_safe_integer(int64_t value) {
    return value <= LARGEST_SAFE_INTEGER && value >= -LARGEST_SAFE_INTEGER;
}

/* An int past what a double holds exactly, or one whose digits are not in sight. */
static OVT_NEVER_INLINE ovt_status write_other_int(ovt_buffer *out, const ovt_profile *profile,
                                                   PyObject *value) {
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
        return write_large_int(out, profile, value, overflow < 0);
    }
    if (!ovt_buffer_reserve(out, OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    if (is_safe_integer(number) || profile->integers == OVT_INTEGERS_EXACT_BELOW_1E21 ||
        profile->integers == OVT_INTEGERS_ALL_DIGITS) {
        out->end += ovt_write_i64(out->end, number);
        return OVT_OK;
    }
    if (profile->integers == OVT_INTEGERS_SAFE_ONLY) {
        return OVT_INTEGER_DOMAIN;
    }
    out->end += ovt_write_double(out->end, (double)number);
    return OVT_OK;
}

static ovt_status write_int(ovt_buffer *out, const ovt_profile *profile, PyObject *value) {
    int64_t number;
    if (!ovt_small_int(value, &number) || !is_safe_integer(number)) {
        return write_other_int(out, profile, value);
    }
    if (!ovt_buffer_reserve(out, OVT_NUMBER_SIZE)) {
        return OVT_NO_MEMORY;
    }
    out->end += ovt_write_i64(out->end, number);
    return OVT_OK;
}

/* ---- members of objects -------------------------------------------------------------------- */

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
        return fail(w, OVT_KEY_SURROGATE, key);
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
    make_strong(w);
    int *const running = w->options->python->running_conversions;
    __atomic_fetch_add(running, 1, __ATOMIC_RELAXED);
    PyObject *str = PyObject_Str(member->key);
    __atomic_fetch_sub(running, 1, __ATOMIC_RELAXED);
    if (str == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) {
            return FAILED;
        }
        PyErr_Clear();
        return fail(w, OVT_KEY_TYPE, member->key);
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
            status = write_null(&text);
        } else if (key == Py_True) {
            status = ovt_buffer_append(&text, "true", 4) ? OVT_OK : OVT_NO_MEMORY;
        } else if (key == Py_False) {
            status = ovt_buffer_append(&text, "false", 5) ? OVT_OK : OVT_NO_MEMORY;
        } else if (PyLong_Check(key)) {
            hold_for_exceptions(w, key);
            status = write_int(&text, w->profile, key);
        } else if (PyFloat_Check(key)) {
            status = write_float(&text, w->profile, PyFloat_AS_DOUBLE(key));
        }
    }
    if (status != OVT_OK) {
        return fail(w, status, key);
    }
    return take_key_text(w, member, text.data, ovt_buffer_length(&text));
}

/* Whether a key is left out. Only an exact str can be one of the names. */
static bool is_dropped(const ovt_selection *selection, PyObject *key) {
    for (Py_ssize_t i = 0; PyUnicode_CheckExact(key) && i < selection->count; i++) {
        PyObject *name = selection->dropped[i];
        if (name == key || (PyUnicode_GET_LENGTH(name) == PyUnicode_GET_LENGTH(key) &&
                            PyUnicode_Compare(name, key) == 0)) {
            return true;
        }
    }
    return false;
}

/* The three functions that follow add members of which only key and value are known. */

static bool add_entries(walk *w, const ovt_dict_entry *entries, size_t count) {
    if (!reserve_members(w, count)) {
        return false;
    }
    ovt_member *const members = w->members + w->member_count;
    for (size_t i = 0; i < count; i++) {
        members[i].key = entries[i].key;
        members[i].value = entries[i].value;
        __builtin_prefetch(entries[i].value); /* its type is read soon, in another order */
    }
    hold_members(w, w->member_count + count);
    return true;
}

static bool add_members_of_dict(walk *w, PyObject *dict, const ovt_selection *selection) {
    Py_ssize_t left = PyDict_GET_SIZE(dict);
    if (!reserve_members(w, (size_t)left)) {
        return false;
    }
    ovt_member *member = w->members + w->member_count;
    PyObject *key, *value;
    Py_ssize_t position = 0;
    for (; left > 0 && PyDict_Next(dict, &position, &key, &value); left--) {
        if (OVT_LIKELY(selection == NULL) || !is_dropped(selection, key)) {
            member->key = key;
            member->value = value;
            __builtin_prefetch(value); /* its type is read soon, in another order */
            member++;
        }
    }
    hold_members(w, (size_t)(member - w->members));
    return true;
}

static bool add_members_of_pairs(walk *w, PyObject *pairs) {
    const size_t count = (size_t)PyList_GET_SIZE(pairs);
    if (!reserve_members(w, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *pair = PyList_GET_ITEM(pairs, (Py_ssize_t)i);
        ovt_member *member = &w->members[w->member_count + i];
        member->key = PyTuple_GET_ITEM(pair, 0);
        member->value = PyTuple_GET_ITEM(pair, 1);
    }
    hold_members(w, w->member_count + count);
    return true;
}

static bool add_members(walk *w, PyObject *container, bool is_dict,
                        const ovt_selection *selection) {
    if (!is_dict) {
        return add_members_of_pairs(w, container);
    }
    if (selection != NULL && selection->kept != NULL) {
        return add_entries(w, selection->kept, (size_t)selection->count);
    }
    bool is_added;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(container);
#endif
    is_added = add_members_of_dict(w, container, selection);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return is_added;
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

/* Fills in the texts of the members from `first` on. */
static outcome read_keys(walk *w, size_t first, bool *may_collide, bool *is_ascii) {
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

/* Of members with one text the last one counts. Shortens the order and returns how many remain;
 * the members stay where they are. */
static size_t keep_last_of_equals(const ovt_member *members, uint32_t *order, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || !ovt_same_key(&members[order[i]], &members[order[i + 1]])) {
            order[kept++] = order[i];
        }
    }
    return kept;
}

/* Of members with one text each one counts that is not None, and all have the value of the last,
 * which is written even if it is None. Changes the order and returns how many remain. */
static size_t repeat_last_of_equals(const walk *w, ovt_member *members, uint32_t *order,
                                    size_t count) {
    size_t kept = 0;
    for (size_t first = 0, end; first < count; first = end) {
        size_t present = 0;
        for (end = first; end < count; end++) {
            if (!ovt_same_key(&members[order[first]], &members[order[end]])) {
                break;
            }
            present += members[order[end]].value != Py_None;
        }
        const uint32_t last = order[end - 1];
        if (present != 0 && members[last].value == Py_None) {
            /* Keys collide only after Python code ran: the references are strong. */
            Py_DECREF((PyObject *)members[last].value);
            members[last].value = Py_NewRef(w->options->python->null_text);
        }
        for (; present != 0; present--) {
            order[kept++] = last;
        }
    }
    return kept;
}

/* Reads and orders the keys of the members that `open` has from its first one on. */
static outcome order_keys(walk *w, frame *open, bool is_dict, bool is_worth) {
    const size_t first = open->first, count = w->member_count - first;
    bool may_collide = !is_dict, is_ascii = true;
    if (read_keys(w, first, &may_collide, &is_ascii) == FAILED) {
        return FAILED;
    }
    ovt_member *members = w->members + first;
    uint32_t *order = w->order + first;
    const bool by_units = w->profile->utf16_key_order && !is_ascii;
    if (ovt_order_members(members, order, count, by_units) != OVT_OK) {
        return no_memory();
    }
    if (OVT_UNLIKELY(may_collide)) {
        open->end =
            first + (w->profile->repeat_members ? repeat_last_of_equals(w, members, order, count)
                                                : keep_last_of_equals(members, order, count));
    } else if (OVT_UNLIKELY(is_worth)) {
        ovt_key_memory_learn(w->memory, w->profile, members, order, count);
    }
    return DONE;
}

/* What can be read in place of a dict, as long as the walk holds nothing: sets `count`, or returns
 * NULL. */
static inline const ovt_dict_entry *entries_of(const walk *w, PyObject *dict,
                                               const ovt_selection *selection, size_t *count) {
    if (w->is_strong || !w->options->python->reads_entries) {
        return NULL;
    }
    if (OVT_UNLIKELY(selection != NULL)) {
        *count = (size_t)selection->count;
        return selection->kept;
    }
    *count = (size_t)PyDict_GET_SIZE(dict);
    return ovt_dict_entries(dict);
}

static outcome collect_wide(walk *w, frame *open, bool *is_taken);

/* Collects and orders the members of a dict or Pairs for a frame that is not yet open. */
static outcome collect_object(walk *w, frame *open, bool is_dict, const ovt_selection *selection) {
    const size_t first = w->member_count;
    open->mark = w->arena;
    if (is_dict && OVT_UNLIKELY(PyDict_GET_SIZE(open->container) >= WIDE) && selection == NULL &&
        (w->out->hash == NULL || PyDict_GET_SIZE(open->container) >= WIDE_WITH_HASH)) {
        bool is_taken;
        if (collect_wide(w, open, &is_taken) == FAILED) {
            return FAILED;
        }
        if (is_taken) {
            return DONE;
        }
    }
    open->first = first;
    open->next = first;
    open->kind = KIND_DICT;
    bool is_worth = false;
    size_t count;
    const ovt_dict_entry *const entries =
        is_dict ? entries_of(w, open->container, selection, &count) : NULL;
    if (entries != NULL) {
        open->end = first + count;
        open->layout = ovt_key_memory_find(w->memory, w->profile, (ovt_key_row){&entries->key, 2},
                                           count, &is_worth);
        if (OVT_LIKELY(open->layout != NULL)) {
            if (!reserve_members(w, count)) {
                return no_memory();
            }
            w->member_count += count;
            open->entries = entries;
            return DONE;
        }
        return add_entries(w, entries, count) ? order_keys(w, open, true, is_worth) : no_memory();
    }
    if (!add_members(w, open->container, is_dict, selection)) {
        return no_memory();
    }
    open->end = w->member_count;
    if (is_dict) {
        open->layout = ovt_key_memory_find(w->memory, w->profile, ovt_keys_of(w->members + first),
                                           w->member_count - first, &is_worth);
    }
    return open->layout != NULL ? DONE : order_keys(w, open, is_dict, is_worth);
}

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

/* Opens a container, which is `source` as found. */
static inline outcome open_frame(walk *w, value_kind kind, PyObject *source, PyObject *container,
                                 const ovt_selection *selection) {
    const size_t depth = w->depth;
    if (depth != 0) {
        /* Brent's cycle detection along the path: a container is compared with its ancestor at
         * the last power of two, which meets any cycle within a few rounds of it. */
        const size_t anchor = ((size_t)1 << (63 - ovt_leading_zeros(depth))) - 1;
        if (OVT_UNLIKELY(w->frames[anchor].source == source)) {
            return fail_nesting(w, source);
        }
    }
    if (OVT_UNLIKELY(depth >= (size_t)w->options->max_depth)) {
        return fail_nesting(w, source);
    }
    if (OVT_UNLIKELY(depth == w->frame_capacity) && !grow_frames(w)) {
        return no_memory();
    }
    frame *open = &w->frames[depth];
    *open = (frame){.source = source, .container = container, .kind = kind, .is_first = true};
    const bool is_object = kind == KIND_DICT || kind == KIND_PAIRS;
    const bool is_expected = kind == KIND_DICT && open_expected(w, open, selection);
    if (!is_expected && is_object &&
        collect_object(w, open, kind == KIND_DICT, selection) == FAILED) {
        return FAILED;
    }
    if (!ovt_buffer_reserve(w->out, 1)) {
        return no_memory();
    }
    ovt_buffer_put(w->out, is_object ? '{' : '[');
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

/* ---- scalars ------------------------------------------------------------------------------ */

enum {
    SCALAR_ROOM = 64, /* for a comma and any value but a str */
    SHORT_UTF8 = 256, /* bytes of a str or key that are written in one go */
    /* For a comma, a key that is remembered, and a plain scalar. */
    PLAIN_ROOM = SCALAR_ROOM + OVT_LAYOUT_QUOTED + SHORT_UTF8 * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK,
    PREFETCH_AHEAD = 16, /* members */
    /* Between the second and the third, and after the last one, there is no white space. */
    FIRST_WIDE_SPACE = 0x85,
    NO_BREAK_SPACE = 0xA0,
    OGHAM_SPACE = 0x1680,
    LAST_SPACE = 0x3000,
};

/* The functions below keep the end of the output in a variable, `end`, and hand it on: through
 * the buffer in memory it would cost more than the writing. */

/* Makes room for `count` bytes at `end`; NULL when memory runs out. */
static inline char *make_room(ovt_buffer *out, char *end, size_t count) {
    if (OVT_LIKELY((size_t)(out->limit - end) >= count)) {
        return end;
    }
    out->end = end;
    return ovt_buffer_grow(out, count) ? out->end : NULL;
}

static inline char *put_text(char *end, const char *text, size_t length) {
    memcpy(end, text, length);
    return end + length;
}

/* Bytes in quotes; `has_header` as for ovt_put_bytes. NULL when memory runs out. */
OVT_ALWAYS_INLINE char *put_quoted(ovt_buffer *out, char *end, const void *bytes, size_t length,
                                   bool has_header) {
    end = make_room(out, end, length * OVT_LONGEST_ESCAPE + OVT_PUT_SLACK);
    if (OVT_LIKELY(end != NULL)) {
        *end++ = '"';
        end = ovt_put_bytes(end, bytes, length, has_header);
        *end++ = '"';
    }
    return end;
}

_Static_assert((int)PLAIN_ROOM <= (int)OVT_WALK_ROOM, "the room that callers are told of");

static inline bool may_be_space(uint32_t unit) {
    const bool is_early = unit <= ' ' || (unit >= FIRST_WIDE_SPACE && unit <= NO_BREAK_SPACE);
    return unit <= LAST_SPACE && (is_early || unit >= OGHAM_SPACE) && ovt_is_space(unit);
}

/* Whether a non-empty text begins or ends with white space. */
static inline bool needs_trimming(ovt_text text) {
    const size_t last = text.length - 1;
    switch (text.width) {
    case 1:
        return may_be_space(((const uint8_t *)text.data)[0]) ||
               may_be_space(((const uint8_t *)text.data)[last]);
    case 2:
        return may_be_space(((const uint16_t *)text.data)[0]) ||
               may_be_space(((const uint16_t *)text.data)[last]);
    default:
        return may_be_space(((const uint32_t *)text.data)[0]) ||
               may_be_space(((const uint32_t *)text.data)[last]);
    }
}

/* A str of any kind. */
static OVT_NEVER_INLINE char *put_any_str(walk *w, PyObject *value, char *end, ovt_status *status) {
    ovt_text text;
    w->out->end = end;
    if (!ovt_read_str(value, &text)) {
        *status = OVT_NO_MEMORY;
        return end;
    }
    size_t length;
    const char *const utf8 = !text.is_ascii && !(w->trims && needs_trimming(text))
                                 ? ovt_cached_utf8(value, &length)
                                 : NULL;
    *status = utf8 != NULL ? ovt_write_utf8(w->out, utf8, length)
                           : ovt_write_string(w->out, w->profile, text);
    return w->out->end;
}

/* A str that is no short ASCII one. A short one comes from its code points, which lie in its
 * object, unless CPython keeps the UTF-8 with it: making CPython keep it would cost more than all
 * this. */
static OVT_NEVER_INLINE char *put_other_str(walk *w, PyObject *value, char *end,
                                            ovt_status *status) {
    const size_t length =
        PyUnicode_IS_COMPACT(value) ? (size_t)PyUnicode_GET_LENGTH(value) : SIZE_MAX;
    if (OVT_LIKELY(length <= OVT_UNITS_FEW && !PyUnicode_IS_ASCII(value))) {
        const ovt_text text = {((PyCompactUnicodeObject *)value) + 1, length,
                               (int)PyUnicode_KIND(value), false};
        size_t kept_length;
        const bool is_kept = ovt_cached_utf8(value, &kept_length) != NULL;
        char *const start = make_room(w->out, end, ovt_quoted_room(length));
        if (OVT_UNLIKELY(start == NULL)) {
            *status = OVT_NO_MEMORY;
            return w->out->end;
        }
        end = start;
        if (OVT_LIKELY(!is_kept && !(w->trims && needs_trimming(text)))) {
            char *const after = ovt_units()->few(start, text.data, length, text.width);
            if (OVT_LIKELY(after != NULL)) {
                return after;
            }
        }
    }
    return put_any_str(w, value, end, status);
}

OVT_ALWAYS_INLINE char *put_str(walk *w, PyObject *value, char *end, ovt_status *status) {
    if (OVT_LIKELY(PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value))) {
        const uint8_t *bytes = (const uint8_t *)(((PyASCIIObject *)value) + 1);
        const size_t length = (size_t)PyUnicode_GET_LENGTH(value);
        const bool may_trim =
            w->trims && length != 0 && (bytes[0] <= ' ' || bytes[length - 1] <= ' ');
        if (OVT_LIKELY(length <= SHORT_UTF8 && !may_trim)) {
            end = put_quoted(w->out, end, bytes, length, true);
            if (OVT_UNLIKELY(end == NULL)) {
                *status = OVT_NO_MEMORY;
                return w->out->end;
            }
            return end;
        }
    }
    return put_other_str(w, value, end, status);
}

static OVT_NEVER_INLINE char *put_other_int(walk *w, PyObject *value, char *end,
                                            ovt_status *status) {
    hold_for_exceptions(w, value);
    if (w->is_strong && w->value == NULL) {
        take_current(w, value); /* what runs may take it out of its list */
    }
    w->out->end = end;
    *status = write_other_int(w->out, w->profile, value);
    return w->out->end;
}

static OVT_NEVER_INLINE char *put_verbatim(walk *w, PyObject *value, char *end,
                                           ovt_status *status) {
    ovt_text text;
    w->out->end = end;
    if (!ovt_read_str(value, &text)) {
        *status = OVT_NO_MEMORY;
    } else if (ovt_has_surrogates(text)) {
        *status = OVT_SURROGATE;
    } else {
        *status = ovt_write_raw(w->out, text);
    }
    return w->out->end;
}

/* Writes a value that is no container at `end`, where there is SCALAR_ROOM; returns the new end.
 * *status changes only when something is wrong. */
OVT_ALWAYS_INLINE char *put_scalar(walk *w, value_kind kind, PyObject *value, char *end,
                                   ovt_status *status) {
    switch (kind) {
    case KIND_STR:
        return put_str(w, value, end, status);
    case KIND_INT: {
        int64_t number;
        if (OVT_LIKELY(ovt_small_int(value, &number) && is_safe_integer(number))) {
            return end + ovt_write_i64(end, number);
        }
        return put_other_int(w, value, end, status);
    }
    case KIND_FLOAT: {
        const double number = PyFloat_AS_DOUBLE(value);
        if (OVT_LIKELY(isfinite(number))) {
            return end + (w->profile->exact_integral_floats
                              ? ovt_write_double_integral_exact(end, number)
                              : ovt_write_double(end, number));
        }
        if (!w->profile->non_finite_null) {
            *status = OVT_FLOAT_DOMAIN;
            return end;
        }
        return put_text(end, "null", 4);
    }
    case KIND_TRUE:
        return put_text(end, "true", 4);
    case KIND_FALSE:
        return put_text(end, "false", 5);
    case KIND_VERBATIM:
        return put_verbatim(w, value, end, status);
    default: /* None; or, at the top only, a dropped value */
        return put_text(end, "null", 4);
    }
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

#ifdef Py_GIL_DISABLED
static const bool IS_FREE_THREADED = true;
#else
static const bool IS_FREE_THREADED = false;
#endif

static inline bool is_left_out(const walk *w, value_kind kind) {
    return kind == KIND_DROPPED || (kind == KIND_NONE && w->profile->drop_none);
}

/* ---- wide objects --------------------------------------------------------------------------- */

/* The members of a large dict lie all over the memory once they are in order. So their texts are
 * written in the order of the dict, one after the other, and it is the texts that are brought into
 * order: one place in memory for each instead of three. A value that is no short scalar stays a
 * member of the walk until its turn comes. A dict with keys of another kind is left to the
 * functions above. */

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

/* Releases the innermost one. */
static void release_wide(walk *w) {
    wide_object *const wide = w->wide;
    w->wide = wide->outer;
    ovt_buffer_release(&wide->texts);
    free(wide->items);
    PyMem_RawFree(wide);
}

static inline const ovt_key_record *record_at(const wide_object *wide, size_t position) {
    return ovt_key_record_at(wide->texts.data, wide->items[position].at);
}

/* The key of the pending member at hand. */
static PyObject *wide_key(const walk *w, const frame *open) {
    const wide_object *wide = w->wide;
    while (&w->frames[wide->frame] != open) {
        wide = wide->outer;
    }
    return w->members[open->first + record_at(wide, open->next - 1)->note].key;
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

/* Whether a value is a scalar that is short and, but for surrogates, sure to be written. */
static inline bool is_short_scalar(value_kind kind, PyObject *value) {
    int64_t number;
    switch (kind) {
    case KIND_STR:
        return PyUnicode_GET_LENGTH(value) <=
               (PyUnicode_IS_COMPACT_ASCII(value) ? SHORT_UTF8 : SHORT_UTF8 / 4);
    case KIND_INT:
        return ovt_small_int(value, &number) && is_safe_integer(number);
    case KIND_FLOAT:
        return isfinite(PyFloat_AS_DOUBLE(value));
    default:
        return kind == KIND_TRUE || kind == KIND_FALSE || kind == KIND_NONE;
    }
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
    const value_kind kind = kind_of(w, value);
    ovt_status status = OVT_UNSUPPORTED_TYPE;
    if (OVT_LIKELY(is_short_scalar(kind, value))) {
        status = OVT_OK;
        end = put_scalar(w, kind, value, end, &status);
    }
    if (OVT_UNLIKELY(status != OVT_OK)) {
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

/* Collects and orders the members of a dict as texts. If that cannot be done, *is_taken is false
 * and nothing has changed. */
static OVT_NEVER_INLINE outcome collect_wide(walk *w, frame *open, bool *is_taken) {
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
    release_wide(w);
    return DONE;
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* Converts a value of no kind that is written here; it is then the one at hand. */
static OVT_NEVER_INLINE outcome convert(walk *w, PyObject **value, value_kind *kind) {
    if (w->value == NULL) {
        take_current(w, *value);
    }
    const outcome result = convert_current(w, kind);
    *value = w->value;
    return result;
}

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
    return OVT_LIKELY(status == OVT_OK) ? DONE : fail(w, status, value);
}

/* A remembered key in quotes, and a colon; there is OVT_LAYOUT_QUOTED room. */
static inline char *put_known_key(const ovt_layout_key *key, char *end) {
    memcpy(end, key->quoted, OVT_LAYOUT_QUOTED);
    return end + key->size;
}

/* The members of a large object lie all over the memory: ask for one that comes soon. */
static OVT_NEVER_INLINE void prefetch_member(const walk *w, const frame *top) {
    const ovt_member *later = member_at(w, top, top->next + PREFETCH_AHEAD);
    __builtin_prefetch(later->text);
    __builtin_prefetch(later->value);
}

/* Writes the members of the innermost container, an object, until one is itself a container, which
 * is then open, or until there are no more. */
static outcome walk_members(walk *w, frame *top) {
    const size_t depth = w->depth;
    while (top->next != top->end) {
        if (OVT_UNLIKELY(top->end - top->next > PREFETCH_AHEAD)) {
            prefetch_member(w, top);
        }
        const ovt_layout_key *const known = known_key_at(top, top->next);
        const uint32_t index = known != NULL ? known->index : w->order[top->next];
        const ovt_member *const member = &w->members[top->first + index];
        top->next++;
        PyObject *value = top->entries != NULL ? top->entries[index].value : member->value;
        value_kind kind = kind_of(w, value);
        if (OVT_UNLIKELY(kind == KIND_OTHER) && convert(w, &value, &kind) == FAILED) {
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

/* Writes the pending member at hand of a wide object, or leaves it out, or opens its value. */
static OVT_NEVER_INLINE outcome write_pending(walk *w, frame *top, const ovt_key_record *record) {
    PyObject *value = w->members[top->first + record->note].value;
    value_kind kind = kind_of(w, value);
    if (kind == KIND_OTHER && convert(w, &value, &kind) == FAILED) {
        return FAILED;
    }
    if (is_left_out(w, kind)) {
        return DONE;
    }
    if (!put_record_text(w, top, record)) {
        return no_memory();
    }
    return write_value(w, kind, value, w->out->end, NULL);
}

/* The same as walk_members for a wide object. */
static OVT_NEVER_INLINE outcome walk_wide(walk *w, frame *top) {
    const size_t depth = w->depth;
    const wide_object *const wide = w->wide;
    while (top->next != top->end) {
        if (OVT_LIKELY(top->end - top->next > PREFETCH_AHEAD)) {
            __builtin_prefetch(record_at(wide, top->next + PREFETCH_AHEAD));
        }
        const ovt_key_record *const record = record_at(wide, top->next++);
        if (OVT_UNLIKELY(record->note != NOT_PENDING)) {
            if (write_pending(w, top, record) == FAILED) {
                return FAILED;
            }
            drop_current(w);
            if (w->depth != depth) {
                return DONE;
            }
        } else if (OVT_UNLIKELY(!put_record_text(w, top, record))) {
            return no_memory();
        }
        ovt_buffer_offer(w->out, w->out->end);
    }
    release_wide(w);
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

enum { RUN_ROOM = SCALAR_ROOM + 2 * OVT_NUMBER_SIZE }; /* for a number, after two not looked at */

/* Up to where scalars may be written without a look at the buffer: there is `room`, and nothing for
 * the hash yet. */
static inline char *free_until(const ovt_buffer *out, size_t room) {
    char *const last = out->limit - room;
    return out->hash_due < last ? out->hash_due : last;
}

/* Numbers that follow one another in a list or tuple, as in an embedding; each is written with a
 * comma after it. */
typedef struct {
    ovt_buffer *out;
    PyObject *const *item; /* the next */
    PyObject *const *last; /* one past the last of the container */
    char *end;             /* where the next goes */
} number_run;

/* Where the next number goes, and up to where others may follow; NULL when memory runs out. */
typedef struct {
    char *end;
    char *until;
} number_room;

/* Hands over to the hash what is due, and makes room for a number. */
static OVT_NEVER_INLINE number_room make_number_room(ovt_buffer *out, char *end) {
    ovt_buffer_offer(out, end);
    end = make_room(out, end, RUN_ROOM);
    return (number_room){end, end != NULL ? free_until(out, RUN_ROOM) : NULL};
}

/* Writes the ints that come next. False when memory runs out.
 *
 * Not inline, as in a function of its own all that stays the same from int to int has a register.
 */
static OVT_NEVER_INLINE bool put_ints(number_run *run) {
    ovt_buffer *const out = run->out;
    PyObject *const *item = run->item;
    PyObject *const *const last = run->last;
    number_room room = {run->end, free_until(out, RUN_ROOM)};
    for (; item != last; item++) {
        uint64_t magnitude;
        bool is_negative;
        if (Py_TYPE(*item) != &PyLong_Type || !ovt_int_parts(*item, &magnitude, &is_negative) ||
            magnitude > LARGEST_SAFE_INTEGER) {
            break;
        }
        if (OVT_UNLIKELY(room.end >= room.until)) {
            room = make_number_room(out, room.end);
            if (OVT_UNLIKELY(room.end == NULL)) {
                return false;
            }
        }
        *room.end = '-';
        room.end += is_negative;
        room.end += ovt_put_up_to_sixteen(room.end, magnitude);
        *room.end++ = ',';
    }
    run->item = item;
    run->end = room.end;
    return true;
}

/* Writes the floats that come next. False when memory runs out. */
static OVT_NEVER_INLINE bool put_floats(number_run *run, bool exact_integral) {
    /* From here on an integral double may have digits of its own to write. */
    const double plain_limit = exact_integral ? (double)LARGEST_SAFE_INTEGER : (double)INFINITY;
    ovt_buffer *const out = run->out;
    PyObject *const *item = run->item;
    PyObject *const *const last = run->last;
    number_room room = {run->end, free_until(out, RUN_ROOM)};
    /* What is compared with the limit is the end of the number before the last one, which is known:
     * how long the last one is takes a while to find out, and so would it take to notice that the
     * processor has guessed wrong what the comparison gives. */
    char *before = room.end, *compared = room.end;
    for (; item != last && Py_TYPE(*item) == &PyFloat_Type; item++) {
        const double number = PyFloat_AS_DOUBLE(*item);
        if (OVT_UNLIKELY(compared >= room.until)) {
            room = make_number_room(out, room.end);
            if (OVT_UNLIKELY(room.end == NULL)) {
                return false;
            }
            before = room.end;
        }
        compared = before;
        before = room.end;
        if (OVT_LIKELY(fabs(number) < plain_limit)) {
            room.end += ovt_put_double(room.end, number);
        } else if (isfinite(number)) {
            room.end += ovt_write_double_integral_exact(room.end, number);
        } else {
            break;
        }
        *room.end++ = ',';
    }
    run->item = item;
    run->end = room.end;
    return true;
}

/* Writes the numbers among `items` that come next, without looking at anything else between them.
 * False when memory runs out. */
static inline bool put_numbers(walk *w, frame *top, PyObject *const *items, size_t count) {
    if (top->next >= count) {
        return true;
    }
    const PyTypeObject *type = Py_TYPE(items[top->next]);
    if (type != &PyLong_Type && type != &PyFloat_Type) {
        return true;
    }
    char *end = make_room(w->out, w->out->end, RUN_ROOM);
    if (OVT_UNLIKELY(end == NULL)) {
        return false;
    }
    *end = ',';
    end += !top->is_first;
    number_run run = {w->out, items + top->next, items + count, end};
    PyObject *const *before;
    do {
        before = run.item;
        if (!put_ints(&run) || !put_floats(&run, w->profile->exact_integral_floats)) {
            return false;
        }
    } while (run.item != before && run.item != run.last);
    const size_t next = (size_t)(run.item - items);
    if (!top->is_first || next != top->next) {
        run.end--; /* the comma */
        top->is_first = false;
    }
    top->next = next;
    w->out->end = run.end;
    return true;
}

/* The same if the innermost container is a list or a tuple that no other thread can change. */
static OVT_NEVER_INLINE bool write_numbers(walk *w, frame *top) {
    PyObject *const container = top->container;
    PyObject *const *items;
    if (top->kind == KIND_LIST && !IS_FREE_THREADED) {
        items = ((PyListObject *)container)->ob_item;
    } else if (top->kind == KIND_TUPLE) {
        items = ((PyTupleObject *)container)->ob_item;
    } else {
        return true;
    }
    return put_numbers(w, top, items, (size_t)Py_SIZE(container));
}

/* Writes the items of the innermost container, a list, tuple or set, like walk_members. */
static outcome walk_items(walk *w, frame *top) {
    const size_t depth = w->depth;
    PyObject *value;
    if (!write_numbers(w, top)) {
        return no_memory();
    }
    while ((value = next_item(w, top)) != NULL) {
        value_kind kind = kind_of(w, value);
        if (OVT_UNLIKELY(kind == KIND_OTHER) && convert(w, &value, &kind) == FAILED) {
            return FAILED;
        }
        if (!is_left_out(w, kind)) {
            char *end = make_room(w->out, w->out->end, SCALAR_ROOM);
            if (OVT_UNLIKELY(end == NULL)) {
                return no_memory();
            }
            if (OVT_UNLIKELY(top->kind == KIND_SET_ITEMS)) {
                if (!push_mark(w, (size_t)(end - w->out->data))) {
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

/* Whether a str is short ASCII that no white space may have to be trimmed from. */
OVT_ALWAYS_INLINE bool is_plain_str(PyObject *str, bool trims) {
    const uint8_t *const bytes = (const uint8_t *)(((PyASCIIObject *)str) + 1);
    const size_t length = (size_t)PyUnicode_GET_LENGTH(str);
    return PyUnicode_IS_COMPACT_ASCII(str) && length <= SHORT_UTF8 &&
           !((bytes[0] <= ' ' || bytes[length - 1] <= ' ') && trims && length != 0);
}

OVT_ALWAYS_INLINE char *put_plain_str(PyObject *str, char *end) {
    *end++ = '"';
    end = ovt_put_bytes(end, (const uint8_t *)(((PyASCIIObject *)str) + 1),
                        (size_t)PyUnicode_GET_LENGTH(str), true);
    *end++ = '"';
    return end;
}

OVT_ALWAYS_INLINE char *put_finite(const walk *w, double number, char *end) {
    return end + (w->profile->exact_integral_floats ? ovt_write_double_integral_exact(end, number)
                                                    : ovt_write_double(end, number));
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
            if (!write_numbers(w, top)) {
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
                    end = put_other_str(w, value, start, &status);
                    if (OVT_UNLIKELY(status != OVT_OK)) {
                        top->next = first + at + 1;
                        return fail(w, status, value);
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

static outcome run_walk(walk *w, PyObject *root, const ovt_selection *selection) {
    value_kind kind = kind_of(w, root);
    if (kind == KIND_OTHER && convert(w, &root, &kind) == FAILED) {
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
    release_walk(w);
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
