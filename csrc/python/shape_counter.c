#include "shape_counter.h"

#include <stdlib.h>

#include "shape_count.h"

typedef struct {
    PyObject_HEAD const ovt_shape_side *shapes;
    ovt_shape_options options;
    Py_ssize_t max_depth;
    PyThread_type_lock lock;
    unsigned long owner; /* the thread that holds the lock, or 0 */
    ovt_outline *spare;  /* with room that an earlier one has made, or NULL */
    bool is_ready;       /* `counter` has been initialised */
    ovt_shape_counter counter;
} counter_object;

enum { SPARE_ENTRIES = 1 << 16 }; /* of an outline that is kept, at most */

/* ---- threads ------------------------------------------------------------------------------------
 */

/* Waits for the counter. False with an exception set if this thread is using it already: a
 * finalizer or a signal handler may come here in the middle of export(). */
static bool enter(counter_object *self) {
    const unsigned long me = PyThread_get_thread_ident();
    if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK) == PY_LOCK_FAILURE) {
        if (__atomic_load_n(&self->owner, __ATOMIC_RELAXED) == me) {
            PyErr_SetString(PyExc_RuntimeError, "this thread is using the counter already");
            return false;
        }
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    __atomic_store_n(&self->owner, me, __ATOMIC_RELAXED);
    return true;
}

static void leave(counter_object *self) {
    __atomic_store_n(&self->owner, 0, __ATOMIC_RELAXED);
    PyThread_release_lock(self->lock);
}

/* An empty outline that no other call uses; NULL with an exception set. */
static ovt_outline *take_outline(counter_object *self) {
    ovt_outline *outline = __atomic_exchange_n(&self->spare, NULL, __ATOMIC_ACQ_REL);
    if (outline == NULL) {
        outline = PyMem_RawMalloc(sizeof *outline);
        if (outline == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        ovt_outline_init(outline);
    }
    return outline;
}

static void free_outline(ovt_outline *outline) {
    if (outline != NULL) {
        ovt_outline_release(outline);
        PyMem_RawFree(outline);
    }
}

static void give_outline(counter_object *self, ovt_outline *outline) {
    ovt_outline_clear(outline);
    if (outline->capacity <= SPARE_ENTRIES) {
        outline = __atomic_exchange_n(&self->spare, outline, __ATOMIC_ACQ_REL);
    }
    free_outline(outline);
}

/* ---- arguments ----------------------------------------------------------------------------------
 */

typedef struct {
    PyObject *value;
    int64_t at;
    uint64_t times;
} observation;

/* A time in milliseconds; None is none. */
static bool read_time(PyObject *given, int64_t *at) {
    if (given == NULL || given == Py_None) {
        *at = OVT_NO_TIME;
        return true;
    }
    *at = PyLong_AsLongLong(given);
    return *at != -1 || !PyErr_Occurred();
}

/* Puts the arguments of a method, `most` of them and only the first one required, in order. */
static bool read_arguments(const char *method, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *keywords, Py_ssize_t most, observation *read) {
    static const char *const names[] = {NULL, "at", "count"};
    PyObject *given[3] = {NULL};
    const Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    if (nargs < 1 || nargs > most) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 to %zd positional arguments (%zd given)",
                     method, most, nargs);
        return false;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        given[i] = args[i];
    }
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *const name = PyTuple_GET_ITEM(keywords, i);
        Py_ssize_t index = 1;
        while (index < most && PyUnicode_CompareWithASCIIString(name, names[index]) != 0) {
            index++;
        }
        if (index == most || given[index] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", method,
                         name);
            return false;
        }
        given[index] = args[nargs + i];
    }
    read->value = given[0];
    read->times = 1;
    if (given[2] != NULL) {
        read->times = PyLong_AsUnsignedLongLong(given[2]);
        if (read->times == (uint64_t)-1 && PyErr_Occurred()) {
            return false;
        }
    }
    return read_time(given[1], &read->at);
}

static PyObject *answer_of(ovt_status status) {
    return status == OVT_OK ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

/* ---- observing ----------------------------------------------------------------------------------
 */

static PyObject *counter_observe(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *keywords) {
    counter_object *self = (counter_object *)object;
    observation given;
    if (!read_arguments("observe", args, nargs, keywords, 3, &given)) {
        return NULL;
    }
    ovt_outline *outline = take_outline(self);
    if (outline == NULL) {
        return NULL;
    }
    PyObject *answer = NULL;
    if (ovt_outline_value(outline, given.value, &self->options) == 0 && enter(self)) {
        const ovt_status status = ovt_count_outline(&self->counter, outline, given.at, given.times);
        leave(self);
        answer = answer_of(status);
    }
    give_outline(self, outline);
    return answer;
}

/* Raises what overturn_fast._errors says about a text; returns that exception. */
static PyObject *failure_of(const counter_object *self, int reason, size_t offset, const char *text,
                            size_t length) {
    return PyObject_CallFunction(self->shapes->text_failure, "iny#n", reason, (Py_ssize_t)offset,
                                 text, (Py_ssize_t)length, self->options.max_depth);
}

static PyObject *count_text(counter_object *self, const Py_buffer *text, const observation *given,
                            ovt_outline *outline) {
    ovt_outline_notes notes;
    ovt_status status;
    if (!enter(self)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        ovt_count_text(&self->counter, outline, text->buf, (size_t)text->len,
                       (size_t)self->options.max_depth, given->at, given->times, &notes);
    Py_END_ALLOW_THREADS leave(self);
    if (status != OVT_TEXT) {
        return answer_of(status);
    }
    PyObject *error =
        failure_of(self, (int)notes.reason, notes.offset, text->buf, (size_t)text->len);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

static PyObject *counter_observe_text(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                                      PyObject *keywords) {
    counter_object *self = (counter_object *)object;
    observation given;
    Py_buffer text;
    if (!read_arguments("observe_text", args, nargs, keywords, 3, &given) ||
        PyObject_GetBuffer(given.value, &text, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    ovt_outline *outline = take_outline(self);
    PyObject *answer = NULL;
    if (outline != NULL) {
        answer = count_text(self, &text, &given, outline);
        give_outline(self, outline);
    }
    PyBuffer_Release(&text);
    return answer;
}

static PyObject *list_of_refused(const counter_object *self, const char *buffer,
                                 const ovt_refused_lines *refused) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < refused->count; i++) {
        const ovt_refused_line *line = &refused->lines[i];
        PyObject *error = failure_of(self, line->reason, line->offset, buffer + line->start,
                                     line->end - line->start);
        PyObject *item = error == NULL ? NULL
                                       : Py_BuildValue("(nnN)", (Py_ssize_t)line->line,
                                                       (Py_ssize_t)line->start, error);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *count_lines(counter_object *self, const Py_buffer *buffer, int64_t at,
                             ovt_outline *outline) {
    ovt_refused_lines refused = {0};
    ovt_status status;
    if (!enter(self)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        ovt_count_lines(&self->counter, outline, buffer->buf, (size_t)buffer->len,
                        (size_t)self->options.max_depth, at, &refused);
    Py_END_ALLOW_THREADS leave(self);
    PyObject *list =
        status == OVT_OK ? list_of_refused(self, buffer->buf, &refused) : PyErr_NoMemory();
    free(refused.lines);
    return list;
}

static PyObject *counter_observe_lines(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *keywords) {
    counter_object *self = (counter_object *)object;
    observation given;
    Py_buffer buffer;
    if (!read_arguments("observe_lines", args, nargs, keywords, 2, &given) ||
        PyObject_GetBuffer(given.value, &buffer, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    ovt_outline *outline = take_outline(self);
    PyObject *refused = NULL;
    if (outline != NULL) {
        refused = count_lines(self, &buffer, given.at, outline);
        give_outline(self, outline);
    }
    PyBuffer_Release(&buffer);
    return refused;
}

/* ---- what was counted ---------------------------------------------------------------------------
 */

/* What is made of each node of the tree, on the way to the whole. */
typedef struct {
    const ovt_shape_counter *counter;
    PyObject **keys;     /* of members */
    PyObject **nodes;    /* exported; NULL once the one above has taken it over */
    PyObject *empty;     /* the dict of all nodes that have none: most are leaves */
    PyObject *leaf;      /* the last of these that was exported, or NULL, ... */
    uint32_t leaf_index; /* ... and which it is: keys of one response often have the same counts */
} exporting;

static PyObject *tuple_of_counts(const uint64_t counts[OVT_COUNTED_TYPES]) {
    PyObject *tuple = PyTuple_New(OVT_COUNTED_TYPES);
    for (Py_ssize_t i = 0; tuple != NULL && i < OVT_COUNTED_TYPES; i++) {
        PyObject *count = PyLong_FromUnsignedLongLong(counts[i]);
        if (count == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, i, count);
        }
    }
    return tuple;
}

static PyObject *tuple_of_times(const int64_t times[OVT_COUNTED_TYPES]) {
    PyObject *tuple = PyTuple_New(OVT_COUNTED_TYPES);
    for (Py_ssize_t i = 0; tuple != NULL && i < OVT_COUNTED_TYPES; i++) {
        PyObject *time =
            times[i] == OVT_NO_TIME ? Py_NewRef(Py_None) : PyLong_FromLongLong(times[i]);
        if (time == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, i, time);
        }
    }
    return tuple;
}

static PyObject *dict_of_fields(exporting *e, const ovt_shape_node *node) {
    PyObject *fields = node->first == 0 ? Py_NewRef(e->empty) : PyDict_New();
    for (uint32_t i = node->first; fields != NULL && i != 0;
         i = e->counter->tree.nodes[i].sibling) {
        if (PyDict_SetItem(fields, e->keys[i], e->nodes[i]) < 0) {
            Py_CLEAR(fields);
        } else {
            Py_CLEAR(e->nodes[i]);
        }
    }
    return fields;
}

static PyObject *set_of_keys(const exporting *e, const ovt_variant *variant) {
    PyObject *keys = PyTuple_New((Py_ssize_t)variant->length);
    if (keys == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < variant->length; i++) {
        const uint32_t member = e->counter->members[variant->first + i];
        PyTuple_SET_ITEM(keys, (Py_ssize_t)i, Py_NewRef(e->keys[member]));
    }
    PyObject *set = PyFrozenSet_New(keys);
    Py_DECREF(keys);
    return set;
}

static PyObject *dict_of_variants(const exporting *e, uint32_t first) {
    PyObject *variants = first == 0 ? Py_NewRef(e->empty) : PyDict_New();
    for (uint32_t i = first; variants != NULL && i != 0;) {
        const ovt_variant *variant = &e->counter->variants[i - 1];
        PyObject *keys = set_of_keys(e, variant);
        PyObject *count = PyLong_FromUnsignedLongLong(variant->count);
        if (keys == NULL || count == NULL || PyDict_SetItem(variants, keys, count) < 0) {
            Py_CLEAR(variants);
        }
        Py_XDECREF(keys);
        Py_XDECREF(count);
        i = variant->next;
    }
    return variants;
}

/* How many items the arrays have, as far as there were any. */
static PyObject *items_or_none(const ovt_node_counts *counts, uint32_t items) {
    return counts->counts[OVT_SHAPE_ARRAY] == 0 ? Py_NewRef(Py_None)
                                                : PyLong_FromUnsignedLong(items);
}

static PyObject *export_whole_node(exporting *e, uint32_t index) {
    const ovt_shape_node *const node = &e->counter->tree.nodes[index];
    const ovt_node_counts *const counts = &e->counter->counts[index];
    PyObject *items = Py_NewRef(Py_None);
    if (node->items != 0) {
        Py_SETREF(items, e->nodes[node->items]);
        e->nodes[node->items] = NULL;
    }
    const bool is_once = memcmp(counts->first, counts->last, sizeof counts->first) == 0;
    PyObject *first = tuple_of_times(counts->first);
    PyObject *last = is_once ? Py_XNewRef(first) : tuple_of_times(counts->last);
    /* "N" takes the references over, also of those that are NULL for want of memory. */
    return Py_BuildValue("(NNNKKNNNNNNOO)", tuple_of_counts(counts->counts), first, last,
                         (unsigned long long)counts->integers, (unsigned long long)counts->empty,
                         items_or_none(counts, counts->fewest), items_or_none(counts, counts->most),
                         PyBool_FromLong(counts->is_cut), dict_of_fields(e, node), items,
                         dict_of_variants(e, counts->variants), Py_None, Py_None);
}

/* A node as _pure.shape_counter.Exported; those below it have been exported before. */
static PyObject *export_node(exporting *e, uint32_t index) {
    const ovt_shape_node *const node = &e->counter->tree.nodes[index];
    const ovt_node_counts *const counts = &e->counter->counts[index];
    if (node->first != 0 || node->items != 0 || counts->variants != 0) {
        return export_whole_node(e, index);
    }
    if (e->leaf == NULL ||
        memcmp(counts, &e->counter->counts[e->leaf_index], sizeof *counts) != 0) {
        Py_XSETREF(e->leaf, export_whole_node(e, index));
        e->leaf_index = index;
    }
    return Py_XNewRef(e->leaf);
}

/* The whole tree. Members and items come after what they belong to, so from the last node to the
 * first each finds those below it done. */
static PyObject *export_tree(exporting *e) {
    const ovt_shape_tree *const tree = &e->counter->tree;
    for (size_t i = 0; i < tree->count; i++) {
        const ovt_shape_key *key = &tree->nodes[i].key;
        if (key->text != NULL) {
            e->keys[i] = PyUnicode_DecodeUTF8(key->text, (Py_ssize_t)key->length, "surrogatepass");
            if (e->keys[i] == NULL) {
                return NULL;
            }
        }
    }
    for (size_t i = tree->count; i-- > 0;) {
        e->nodes[i] = export_node(e, (uint32_t)i);
        if (e->nodes[i] == NULL) {
            return NULL;
        }
    }
    PyObject *whole = e->nodes[0];
    e->nodes[0] = NULL;
    return whole;
}

static PyObject *export_counter(const ovt_shape_counter *counter) {
    const size_t count = counter->tree.count;
    exporting e = {
        .counter = counter,
        .keys = PyMem_RawCalloc(count, sizeof *e.keys),
        .nodes = PyMem_RawCalloc(count, sizeof *e.nodes),
        .empty = PyDict_New(),
    };
    PyObject *whole = NULL;
    if (e.keys == NULL || e.nodes == NULL || counter->is_broken) {
        PyErr_NoMemory();
    } else if (e.empty != NULL) {
        whole = export_tree(&e);
    }
    for (size_t i = 0; i < count && e.keys != NULL && e.nodes != NULL; i++) {
        Py_XDECREF(e.keys[i]);
        Py_XDECREF(e.nodes[i]);
    }
    Py_XDECREF(e.empty);
    Py_XDECREF(e.leaf);
    PyMem_RawFree(e.keys);
    PyMem_RawFree(e.nodes);
    return whole;
}

static PyObject *counter_export(PyObject *object, PyObject *Py_UNUSED(unused)) {
    counter_object *self = (counter_object *)object;
    if (!enter(self)) {
        return NULL;
    }
    PyObject *whole = export_counter(&self->counter);
    leave(self);
    return whole;
}

static PyObject *counter_clear(PyObject *object, PyObject *Py_UNUSED(unused)) {
    counter_object *self = (counter_object *)object;
    if (!enter(self)) {
        return NULL;
    }
    ovt_counter_release(&self->counter);
    const bool is_ready =
        ovt_counter_init(&self->counter, (size_t)self->max_depth, self->shapes->seed);
    self->counter.is_broken = !is_ready;
    leave(self);
    return answer_of(is_ready ? OVT_OK : OVT_NO_MEMORY);
}

static PyObject *counter_size(PyObject *object, void *Py_UNUSED(unused)) {
    counter_object *self = (counter_object *)object;
    if (!enter(self)) {
        return NULL;
    }
    const size_t size = self->counter.tree.count + self->counter.variant_count;
    leave(self);
    return PyLong_FromSize_t(size);
}

static PyObject *counter_observations(PyObject *object, void *Py_UNUSED(unused)) {
    counter_object *self = (counter_object *)object;
    uint64_t count = 0;
    if (!enter(self)) {
        return NULL;
    }
    for (int i = 0; i < OVT_COUNTED_TYPES && !self->counter.is_broken; i++) {
        count += self->counter.counts[0].counts[i];
    }
    leave(self);
    return PyLong_FromUnsignedLongLong(count);
}

/* ---- the type -----------------------------------------------------------------------------------
 */

PyObject *ovt_new_counter(const ovt_shape_side *shapes, const ovt_python_side *python,
                          Py_ssize_t max_depth, Py_ssize_t reading_depth) {
    PyTypeObject *type = (PyTypeObject *)shapes->counter_type;
    counter_object *self = (counter_object *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->shapes = shapes; /* of the module's state, which the type keeps alive */
    self->options = (ovt_shape_options){
        .python = python,
        .profile = OVT_SHAPE_V2,
        .view = shapes->views[OVT_SHAPE_V2],
        .max_depth = reading_depth,
    };
    self->max_depth = max_depth;
    self->lock = PyThread_allocate_lock();
    self->is_ready = ovt_counter_init(&self->counter, (size_t)max_depth, shapes->seed);
    if (self->lock == NULL || !self->is_ready) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void counter_dealloc(PyObject *object) {
    counter_object *self = (counter_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->is_ready) {
        ovt_counter_release(&self->counter);
    }
    free_outline(self->spare);
    if (self->lock != NULL) {
        PyThread_free_lock(self->lock);
    }
    type->tp_free(object);
    Py_DECREF(type);
}

#define OVT_FASTCALL(function) (PyCFunction)(void (*)(void)) function

static PyMethodDef counter_methods[] = {
    {"observe", OVT_FASTCALL(counter_observe), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"observe_text", OVT_FASTCALL(counter_observe_text), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"observe_lines", OVT_FASTCALL(counter_observe_lines), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"export", counter_export, METH_NOARGS, NULL},
    {"clear", counter_clear, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef counter_attributes[] = {
    {"size", counter_size, NULL, NULL, NULL},
    {"observations", counter_observations, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot counter_slots[] = {
    {Py_tp_doc, (void *)"Counts what values consist of; the twin is in _pure/shape_counter.py."},
    {Py_tp_dealloc, counter_dealloc},
    {Py_tp_methods, counter_methods},
    {Py_tp_getset, counter_attributes},
    {0, NULL},
};

PyType_Spec ovt_counter_spec = {
    .name = "overturn_fast._walker.ShapeCounter",
    .basicsize = sizeof(counter_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = counter_slots,
};
