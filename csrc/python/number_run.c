#include "number_run.h"

#include "number_put.h"
#include "scalar_put.h"

enum {
    RUN_ROOM = SCALAR_ROOM + 2 * OVT_NUMBER_SIZE, /* for a number, after two not looked at */
    NUMBERS_AHEAD = 8, /* how far before it is read a number is asked of the memory */
};

/* Each number is written with a comma after it. */
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

/* One past the last number that has another NUMBERS_AHEAD after it: up to there that one is asked
 * of the memory. Numbers made one after the other the processor fetches by itself; on a heap with
 * holes they may lie anywhere. */
static inline PyObject *const *prefetch_end(const number_run *run) {
    return run->last - run->item > NUMBERS_AHEAD ? run->last - NUMBERS_AHEAD : run->item;
}

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
    PyObject *const *const ahead_end = prefetch_end(run);
    number_room room = {run->end, free_until(out, RUN_ROOM)};
    for (; item != last; item++) {
        if (OVT_LIKELY(item < ahead_end)) {
            __builtin_prefetch(item[NUMBERS_AHEAD]);
        }
        uint64_t magnitude;
        bool is_negative;
        if (Py_TYPE(*item) != &PyLong_Type || !ovt_int_parts(*item, &magnitude, &is_negative) ||
            magnitude > (uint64_t)LARGEST_SAFE_INTEGER) {
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
    PyObject *const *const ahead_end = prefetch_end(run);
    number_room room = {run->end, free_until(out, RUN_ROOM)};
    /* What is compared with the limit is the end of the number before the last one, which is known:
     * how long the last one is takes a while to find out, and so would it take to notice that the
     * processor has guessed wrong what the comparison gives. */
    char *before = room.end, *compared = room.end;
    for (; item != last && Py_TYPE(*item) == &PyFloat_Type; item++) {
        if (OVT_LIKELY(item < ahead_end)) {
            __builtin_prefetch(item[NUMBERS_AHEAD]);
        }
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

bool ovt_write_numbers(walk *w, frame *top) {
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
