#include "shape_walker.h"

#include "key_order.h"

/* ---- the state of a walk --------------------------------------------------------------------- */

typedef enum {
    KIND_SCALAR, /* and its type says which */
    KIND_DICT,
    KIND_LIST,
    KIND_TUPLE,
    KIND_PAIRS, /* _convert.Pairs: a list of (str, value) tuples */
    KIND_OTHER, /* for the view */
} value_kind;

/* An open container. */
typedef struct {
    PyObject *source;    /* the value as found: cycles are told by its identity */
    PyObject *container; /* what is read of it */
    ovt_shape_key key;   /* of the member at hand */
    Py_ssize_t next;     /* the next member, as PyDict_Next or an index has it */
    Py_ssize_t left;     /* how many members are still to come */
    uint32_t entry;      /* its own in the outline */
    value_kind kind;
} frame;

enum { INLINE_FRAMES = 12 };

typedef struct {
    ovt_outline *outline;
    const ovt_shape_options *options;
    bool is_strong; /* containers are held and keys are copied */
    frame *frames;
    size_t depth;
    size_t capacity;
    frame inline_frames[INLINE_FRAMES];
} walk;

typedef enum { FAILED = -1, DONE = 0 } outcome;

#ifdef Py_GIL_DISABLED
static const bool IS_FREE_THREADED = true;
#else
static const bool IS_FREE_THREADED = false;
#endif

static outcome no_memory(void) {
    PyErr_NoMemory();
    return FAILED;
}

/* ---- references ------------------------------------------------------------------------------ */

/* From here on Python code may run: hold everything that is open, copy every key. */
static OVT_NEVER_INLINE outcome make_strong(walk *w) {
    if (w->is_strong) {
        return DONE;
    }
    w->is_strong = true;
    for (size_t i = 0; i < w->depth; i++) {
        Py_INCREF(w->frames[i].source);
        Py_INCREF(w->frames[i].container);
    }
    for (size_t i = 0; i < w->outline->count; i++) {
        ovt_shape_key *const key = &w->outline->entries[i].key;
        if (key->text != NULL && !ovt_outline_own_key(w->outline, key)) {
            return no_memory();
        }
    }
    for (size_t i = 0; i < w->depth; i++) {
        ovt_shape_key *const key = &w->frames[i].key;
        if (key->text != NULL && !ovt_outline_own_key(w->outline, key)) {
            return no_memory();
        }
    }
    return DONE;
}

static void close_frame(walk *w) {
    const frame *const top = &w->frames[--w->depth];
    ovt_outline_close(w->outline, top->entry);
    if (w->is_strong) {
        Py_DECREF(top->source);
        Py_DECREF(top->container);
    }
}

static void release_walk(walk *w) {
    while (w->depth != 0) {
        close_frame(w);
    }
    if (w->frames != w->inline_frames) {
        PyMem_RawFree(w->frames);
    }
}

static OVT_NEVER_INLINE bool grow_frames(walk *w) {
    const size_t capacity = w->capacity * 4;
    if (capacity > SIZE_MAX / 2 / sizeof *w->frames) {
        return false;
    }
    const bool is_inline = w->frames == w->inline_frames;
    frame *const frames = PyMem_RawRealloc(is_inline ? NULL : w->frames, capacity * sizeof *frames);
    if (frames == NULL) {
        return false;
    }
    if (is_inline) {
        memcpy(frames, w->inline_frames, sizeof w->inline_frames);
    }
    w->frames = frames;
    w->capacity = capacity;
    return true;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static PyObject *path_segment(const frame *open) {
    if (open->key.text == NULL) {
        return PyLong_FromSsize_t(open->next - 1);
    }
    return PyUnicode_DecodeUTF8(open->key.text, (Py_ssize_t)open->key.length, "surrogatepass");
}

/* The path of the value at hand, as overturn_fast._errors.Segment. */
static PyObject *current_path(const walk *w) {
    PyObject *path = PyList_New((Py_ssize_t)w->depth);
    for (size_t i = 0; path != NULL && i < w->depth; i++) {
        PyObject *segment = path_segment(&w->frames[i]);
        if (segment == NULL) {
            Py_CLEAR(path);
        } else {
            PyList_SET_ITEM(path, (Py_ssize_t)i, segment);
        }
    }
    return path;
}

/* Nesting goes too deep or never ends; `source` is the container that was about to be opened. */
static OVT_NEVER_INLINE outcome fail_nesting(walk *w, PyObject *source) {
    if (make_strong(w) == FAILED) {
        return FAILED;
    }
    PyObject *path = current_path(w);
    PyObject *containers = PyList_New((Py_ssize_t)w->depth + 1);
    if (containers != NULL) {
        for (size_t i = 0; i < w->depth; i++) {
            PyList_SET_ITEM(containers, (Py_ssize_t)i, Py_NewRef(w->frames[i].source));
        }
        PyList_SET_ITEM(containers, (Py_ssize_t)w->depth, Py_NewRef(source));
    }
    PyObject *made = NULL;
    if (path != NULL && containers != NULL) {
        made = PyObject_CallFunction(w->options->python->nesting_failure, "OOn", path, containers,
                                     w->options->max_depth);
    }
    Py_XDECREF(path);
    Py_XDECREF(containers);
    ovt_raise_made(made);
    return FAILED;
}

/* The view raised: the exception as overturn_fast._errors words it. */
static OVT_NEVER_INLINE outcome fail_view(const walk *w, PyObject *value) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(error, traceback);
    }
    PyObject *path = current_path(w);
    PyObject *made = NULL;
    if (path != NULL) {
        made = PyObject_CallFunctionObjArgs(w->options->python->conversion_failure, error, path,
                                            value, NULL);
    }
    Py_XDECREF(path);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Py_DECREF(error);
    ovt_raise_made(made);
    return FAILED;
}

/* ---- kinds of values ------------------------------------------------------------------------- */

static OVT_NEVER_INLINE value_kind kind_of_subclass(PyObject *value, ovt_shape_type *type,
                                                    ovt_shape_detail *detail) {
    PyTypeObject *const class = Py_TYPE(value);
    if (PyType_HasFeature(class, Py_TPFLAGS_UNICODE_SUBCLASS)) {
        *type = OVT_SHAPE_STRING;
        return KIND_SCALAR;
    }
    const bool is_int = PyType_HasFeature(class, Py_TPFLAGS_LONG_SUBCLASS);
    if (is_int || PyFloat_Check(value)) {
        *type = OVT_SHAPE_NUMBER;
        *detail = is_int ? OVT_DETAIL_INTEGER : OVT_DETAIL_NONE;
        return KIND_SCALAR;
    }
    return KIND_OTHER;
}

/* `type` and `detail` are those of a scalar. */
static inline value_kind kind_of(PyObject *value, ovt_shape_type *type, ovt_shape_detail *detail) {
    PyTypeObject *const class = Py_TYPE(value);
    *detail = OVT_DETAIL_NONE;
    if (class == &PyUnicode_Type) {
        *type = OVT_SHAPE_STRING;
        return KIND_SCALAR;
    }
    if (class == &PyLong_Type) {
        *type = OVT_SHAPE_NUMBER;
        *detail = OVT_DETAIL_INTEGER;
        return KIND_SCALAR;
    }
    if (class == &PyFloat_Type) {
        *type = OVT_SHAPE_NUMBER;
        return KIND_SCALAR;
    }
    if (class == &PyDict_Type) {
        return KIND_DICT;
    }
    if (class == &PyList_Type) {
        return KIND_LIST;
    }
    if (value == Py_None) {
        *type = OVT_SHAPE_NULL;
        return KIND_SCALAR;
    }
    if (class == &PyBool_Type) {
        *type = OVT_SHAPE_BOOL;
        return KIND_SCALAR;
    }
    if (class == &PyTuple_Type) {
        return KIND_TUPLE;
    }
    return kind_of_subclass(value, type, detail);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The WTF-8 of a str, in the outline's arena where it does not stand in the str. False with an
 * exception set. */
static bool read_wtf8(walk *w, PyObject *str, const char **text, size_t *length,
                      bool *has_surrogates) {
    ovt_text points;
    *has_surrogates = false;
    if (!ovt_read_str(str, &points)) {
        return false;
    }
    if (points.length > UINT32_MAX / 8) {
        PyErr_NoMemory();
        return false;
    }
    if (points.is_ascii) {
        *text = points.data;
        *length = points.length;
        return true;
    }
    if (!ovt_has_surrogates(points)) {
        *text = ovt_utf8_of(str, length);
        return *text != NULL;
    }
    const size_t room = OVT_WTF8_ROOM(points.length);
    char *const own = ovt_arena_take(&w->outline->arena, room);
    if (own == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *length = ovt_encode_wtf8(own, points, false, has_surrogates);
    ovt_arena_shrink(&w->outline->arena, room - *length);
    *has_surrogates = true;
    *text = own;
    return true;
}

/* A key that is no compact ASCII str. */
static OVT_NEVER_INLINE outcome read_other_key(walk *w, PyObject *str, ovt_shape_key *key) {
    size_t length = 0;
    key->text = ovt_cached_utf8(str, &length);
    key->has_surrogates = false;
    if (key->text == NULL && !read_wtf8(w, str, &key->text, &length, &key->has_surrogates)) {
        return FAILED;
    }
    key->length = (uint32_t)length;
    key->prefix = ovt_key_prefix(key->text, length);
    return DONE;
}

/* A key, an exact str. */
static inline outcome read_key(walk *w, PyObject *str, ovt_shape_key *key) {
    if (OVT_LIKELY(PyUnicode_IS_COMPACT_ASCII(str) && PyUnicode_GET_LENGTH(str) < INT32_MAX)) {
        key->text = (const char *)(((PyASCIIObject *)str) + 1);
        key->length = (uint32_t)PyUnicode_GET_LENGTH(str);
        key->prefix = ovt_key_prefix_with_header(key->text, key->length);
        key->has_surrogates = false;
    } else if (read_other_key(w, str, key) == FAILED) {
        return FAILED;
    }
    if (OVT_UNLIKELY(w->is_strong) && !ovt_outline_own_key(w->outline, key)) {
        return no_memory();
    }
    return DONE;
}

/* ---- containers ------------------------------------------------------------------------------ */

/* How many of the members of a container count. */
static Py_ssize_t members_of(const walk *w, PyObject *container, value_kind kind) {
    if (kind == KIND_DICT) {
        return PyDict_GET_SIZE(container);
    }
    const Py_ssize_t size = Py_SIZE(container);
    const bool is_limited = kind != KIND_PAIRS && w->options->profile == OVT_SHAPE_SEED;
    return is_limited && size > OVT_SEED_ITEMS ? OVT_SEED_ITEMS : size;
}

/* Opens the container that a value is, or is seen as. */
static outcome open_container(walk *w, const ovt_shape_key *key, PyObject *source,
                              PyObject *container, value_kind kind) {
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
    if (OVT_UNLIKELY(depth == w->capacity) && !grow_frames(w)) {
        return no_memory();
    }
    const bool is_object = kind == KIND_DICT || kind == KIND_PAIRS;
    ovt_outline_entry *const entry = ovt_outline_add(
        w->outline, key, is_object ? OVT_SHAPE_OBJECT : OVT_SHAPE_ARRAY, OVT_DETAIL_NONE);
    if (entry == NULL) {
        return no_memory();
    }
    const Py_ssize_t members = members_of(w, container, kind);
    entry->count = is_object ? 0 : members > UINT32_MAX ? UINT32_MAX : (uint32_t)members;
    entry->is_ordered = kind == KIND_PAIRS;
    ovt_outline_end_run(w->outline);
    if (w->is_strong) {
        Py_INCREF(source);
        Py_INCREF(container);
    }
    w->frames[w->depth++] = (frame){
        .source = source,
        .container = container,
        .left = members,
        .entry = (uint32_t)(w->outline->count - 1),
        .kind = kind,
    };
    return DONE;
}

/* Adds a value that its view says the type of. */
static outcome add_named(walk *w, const ovt_shape_key *key, PyObject *value, PyObject *name) {
    const char *text;
    size_t length;
    bool has_surrogates;
    if (!read_wtf8(w, name, &text, &length, &has_surrogates)) {
        return FAILED;
    }
    const ovt_shape_type type = ovt_shape_type_of(text, length);
    bool is_added;
    if (type == OVT_SHAPE_OTHER) {
        is_added = ovt_outline_add_other(w->outline, key, text, length);
    } else {
        /* What only says that it is a number may say, too, that it is an int. */
        const int is_int =
            type == OVT_SHAPE_NUMBER ? PyObject_IsInstance(value, (PyObject *)&PyLong_Type) : 0;
        if (is_int < 0) {
            return FAILED;
        }
        ovt_outline_entry *const entry =
            ovt_outline_add(w->outline, key, type, is_int ? OVT_DETAIL_INTEGER : OVT_DETAIL_NONE);
        is_added = entry != NULL;
        if (is_added && (type == OVT_SHAPE_ARRAY || type == OVT_SHAPE_OBJECT)) {
            entry->count = 0; /* a class of that name */
        }
        ovt_outline_end_run(w->outline);
    }
    return is_added ? DONE : no_memory();
}

/* What the view of the profile makes of a value; a new reference. */
static PyObject *view_of(walk *w, PyObject *value) {
    int *const running = w->options->python->running_conversions;
    __atomic_fetch_add(running, 1, __ATOMIC_RELAXED);
    PyObject *view = PyObject_CallOneArg(w->options->view, value);
    __atomic_fetch_sub(running, 1, __ATOMIC_RELAXED);
    if (view == NULL) {
        fail_view(w, value);
    }
    return view;
}

static outcome add_view(walk *w, const ovt_shape_key *key, PyObject *value, PyObject *view) {
    if (PyUnicode_CheckExact(view)) {
        return add_named(w, key, value, view);
    }
    const value_kind kind = PyList_CheckExact(view) ? KIND_LIST : KIND_PAIRS;
    return open_container(w, key, value, view, kind);
}

/* A value of a type that only its view knows. */
static OVT_NEVER_INLINE outcome visit_other(walk *w, const ovt_shape_key *key, PyObject *value) {
    if (make_strong(w) == FAILED) {
        return FAILED;
    }
    ovt_shape_key own;
    if (key != NULL) {
        own = w->frames[w->depth - 1].key; /* which has been copied */
        key = &own;
    }
    Py_INCREF(value);
    PyObject *view = view_of(w, value);
    outcome result = FAILED;
    if (view != NULL) {
        result = add_view(w, key, value, view);
        Py_DECREF(view);
    }
    Py_DECREF(value);
    return result;
}

/* Whether a key of a dict is the text of its member as it is. */
static inline bool is_own_text(const walk *w, PyObject *key) {
    if (OVT_UNLIKELY(!PyUnicode_CheckExact(key))) {
        return false;
    }
    ovt_text text;
    return OVT_LIKELY(PyUnicode_IS_COMPACT_ASCII(key)) || w->options->profile == OVT_SHAPE_SEED ||
           (ovt_read_str(key, &text) && !ovt_has_surrogates(text));
}

static bool has_own_texts_locked(const walk *w, PyObject *dict) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict, &position, &key, &value)) {
        if (!is_own_text(w, key)) {
            return false;
        }
    }
    return true;
}

/* Whether all keys of a dict are; to be known before any of its values is looked at. */
static bool has_own_texts(const walk *w, PyObject *dict) {
    bool answer;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(dict);
#endif
    answer = has_own_texts_locked(w, dict);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return answer;
}

/* Adds a value, or opens it if it is a container. */
static inline outcome visit(walk *w, const ovt_shape_key *key, PyObject *value) {
    ovt_shape_type type;
    ovt_shape_detail detail;
    const value_kind kind = kind_of(value, &type, &detail);
    if (OVT_LIKELY(kind == KIND_SCALAR)) {
        const bool is_added = key != NULL ? ovt_outline_add(w->outline, key, type, detail) != NULL
                                          : ovt_outline_add_item(w->outline, type, detail);
        return OVT_LIKELY(is_added) ? DONE : no_memory();
    }
    if (OVT_UNLIKELY(kind == KIND_OTHER || (kind == KIND_DICT && !has_own_texts(w, value)))) {
        return PyErr_Occurred() ? FAILED : visit_other(w, key, value);
    }
    return open_container(w, key, value, value, kind);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* The next member of a dict; on a free-threaded Python with references of its own. */
static inline bool next_of_dict(frame *top, PyObject **key, PyObject **value) {
#ifdef Py_GIL_DISABLED
    bool found;
    Py_BEGIN_CRITICAL_SECTION(top->container);
    found = PyDict_Next(top->container, &top->next, key, value);
    if (found) {
        Py_INCREF(*key);
        Py_INCREF(*value);
    }
    Py_END_CRITICAL_SECTION();
    return found;
#else
    return PyDict_Next(top->container, &top->next, key, value);
#endif
}

/* The next item of a list or tuple, likewise; NULL when there is none. */
static inline PyObject *next_item(frame *top) {
    const Py_ssize_t at = top->next++;
    if (top->kind == KIND_TUPLE) {
        PyObject *const item = PyTuple_GET_ITEM(top->container, at);
#ifdef Py_GIL_DISABLED
        Py_INCREF(item);
#endif
        return item;
    }
#ifdef Py_GIL_DISABLED
    PyObject *const item = PyList_GetItemRef(top->container, at);
    if (item == NULL) {
        PyErr_Clear(); /* another thread has shortened the list meanwhile */
    }
    return item;
#else
    return at < PyList_GET_SIZE(top->container) ? PyList_GET_ITEM(top->container, at) : NULL;
#endif
}

/* Gives back the references of a member, where it has its own. */
static inline void drop_member(PyObject *key, PyObject *value) {
#ifdef Py_GIL_DISABLED
    Py_XDECREF(key);
    Py_DECREF(value);
#else
    (void)key;
    (void)value;
#endif
}

static inline outcome walk_member(walk *w, frame *top, PyObject *key, PyObject *value) {
    ovt_shape_key text;
    if (OVT_UNLIKELY(read_key(w, key, &text) == FAILED)) {
        return FAILED;
    }
    top->key = text;
    return visit(w, &text, value); /* frames may move meanwhile */
}

/* Reads members of the innermost container, a dict, until one has opened a container, or until
 * there are no more. */
static outcome walk_dict(walk *w, frame *top) {
    const size_t depth = w->depth;
    PyObject *key, *value;
    while (top->left > 0 && next_of_dict(top, &key, &value)) {
        top->left--;
        if (OVT_UNLIKELY(!PyUnicode_CheckExact(key))) { /* it was put there meanwhile */
            drop_member(key, value);
            continue;
        }
        const outcome result = walk_member(w, top, key, value);
        drop_member(key, value);
        if (OVT_UNLIKELY(result == FAILED)) {
            return FAILED;
        }
        if (w->depth != depth) {
            return DONE;
        }
    }
    close_frame(w);
    return DONE;
}

/* The same for _convert.Pairs. */
static outcome walk_pairs(walk *w, frame *top) {
    const size_t depth = w->depth;
    while (top->left > 0) {
        top->left--;
        PyObject *const pair = PyList_GET_ITEM(top->container, top->next++);
        if (walk_member(w, top, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1)) == FAILED) {
            return FAILED;
        }
        if (w->depth != depth) {
            return DONE;
        }
    }
    close_frame(w);
    return DONE;
}

/* The same for a list or tuple. */
static outcome walk_items(walk *w, frame *top) {
    const size_t depth = w->depth;
    PyObject *item;
    while (top->left > 0 && (item = next_item(top)) != NULL) {
        top->left--;
        const outcome result = visit(w, NULL, item);
        drop_member(NULL, item);
        if (OVT_UNLIKELY(result == FAILED)) {
            return FAILED;
        }
        if (w->depth != depth) {
            return DONE;
        }
    }
    close_frame(w);
    return DONE;
}

static outcome run_walk(walk *w, PyObject *root) {
    outcome result = visit(w, NULL, root);
    while (result == DONE && w->depth != 0) {
        frame *const top = &w->frames[w->depth - 1];
        switch (top->kind) {
        case KIND_DICT:
            result = walk_dict(w, top);
            break;
        case KIND_PAIRS:
            result = walk_pairs(w, top);
            break;
        default:
            result = walk_items(w, top);
            break;
        }
    }
    return result;
}

int ovt_outline_value(ovt_outline *outline, PyObject *value, const ovt_shape_options *options) {
    walk w;
    w.outline = outline;
    w.options = options;
    w.is_strong = IS_FREE_THREADED;
    w.frames = w.inline_frames;
    w.depth = 0;
    w.capacity = INLINE_FRAMES;
    const outcome result = run_walk(&w, value);
    release_walk(&w);
    return (int)result;
}

/* ---- results --------------------------------------------------------------------------------- */

enum { STORAGE = 1024 };

/* What the shape of one value needs. */
typedef struct {
    ovt_outline outline;
    ovt_shape_tree tree;
} shaping;

/* The str in front of an end mark; moves *at behind that. */
static PyObject *next_part(const char **at) {
    const char *const start = *at, *end = start;
    while ((uint8_t)*end != OVT_END_OF_PART) {
        end++;
    }
    *at = end + 1;
    return PyUnicode_DecodeUTF8(start, end - start, "surrogatepass");
}

static PyObject *list_of_rows(const char *at, const char *end) {
    PyObject *rows = PyList_New(0);
    while (rows != NULL && at != end) {
        PyObject *path = next_part(&at);
        PyObject *type = path == NULL ? NULL : next_part(&at);
        PyObject *row = type == NULL ? NULL : PyTuple_Pack(2, path, type);
        Py_XDECREF(path);
        Py_XDECREF(type);
        if (row == NULL || PyList_Append(rows, row) < 0) {
            Py_CLEAR(rows);
        }
        Py_XDECREF(row);
    }
    return rows;
}

/* Raises what overturn_fast._errors says about a value whose rows have too many bytes. */
static void fail_size(PyObject *value, const ovt_shape_options *options) {
    ovt_raise_made(
        PyObject_CallFunction(options->python->failure, "i()O", (int)OVT_SHAPE_SIZE, value));
}

static PyObject *rows_of(const ovt_shape_tree *tree, PyObject *value,
                         const ovt_shape_options *options) {
    char storage[STORAGE];
    ovt_buffer out;
    PyObject *rows = NULL;
    ovt_buffer_init(&out, storage, sizeof storage, NULL);
    const ovt_status status = ovt_shape_rows(&out, tree, options->profile);
    if (status == OVT_OK) {
        rows = list_of_rows(out.data, out.end);
    } else if (status == OVT_SHAPE_SIZE) {
        fail_size(value, options);
    } else {
        PyErr_NoMemory();
    }
    ovt_buffer_release(&out);
    return rows;
}

/* Raises what overturn_fast._errors says about a path that has no UTF-8. */
static void fail_unwritable(const ovt_buffer *path, const ovt_shape_options *options) {
    PyObject *text =
        PyUnicode_DecodeUTF8(path->data, (Py_ssize_t)ovt_buffer_length(path), "surrogatepass");
    if (text != NULL) {
        ovt_raise_made(PyObject_CallOneArg(options->python->key_surrogate_failure, text));
        Py_DECREF(text);
    }
}

static PyObject *digest_of(const ovt_shape_tree *tree, PyObject *value,
                           const ovt_shape_options *options) {
    char digest[OVT_SHAPE_DIGEST];
    ovt_buffer unwritable;
    size_t length;
    PyObject *result = NULL;
    ovt_buffer_init(&unwritable, digest, 0, NULL);
    const ovt_status status =
        ovt_shape_digest(digest, &length, tree, options->profile, &unwritable);
    if (status == OVT_OK) {
        result = PyUnicode_New((Py_ssize_t)length, 127);
        if (result != NULL) {
            memcpy(PyUnicode_DATA(result), digest, length);
        }
    } else if (status == OVT_KEY_SURROGATE) {
        fail_unwritable(&unwritable, options);
    } else if (status == OVT_SHAPE_SIZE) {
        fail_size(value, options);
    } else {
        PyErr_NoMemory();
    }
    ovt_buffer_release(&unwritable);
    return result;
}

static PyObject *shape_with(shaping *s, PyObject *value, bool is_digest, uint64_t seed,
                            const ovt_shape_options *options) {
    const ovt_shape_profile profile = options->profile;
    PyObject *result = NULL;
    ovt_outline_init(&s->outline);
    ovt_tree_init(&s->tree, seed);
    if (ovt_outline_value(&s->outline, value, options) == 0) {
        if (!ovt_tree_add(&s->tree, &s->outline,
                          profile == OVT_SHAPE_SEED ? OVT_MERGE_ITEMS : OVT_MERGE_ALL, false)) {
            PyErr_NoMemory();
        } else {
            result =
                is_digest ? digest_of(&s->tree, value, options) : rows_of(&s->tree, value, options);
        }
    }
    ovt_tree_release(&s->tree);
    ovt_outline_release(&s->outline);
    return result;
}

static OVT_NEVER_INLINE PyObject *shape_on_stack(PyObject *value, bool is_digest, uint64_t seed,
                                                 const ovt_shape_options *options) {
    shaping s;
    return shape_with(&s, value, is_digest, seed, options);
}

static OVT_NEVER_INLINE PyObject *shape_on_heap(PyObject *value, bool is_digest, uint64_t seed,
                                                const ovt_shape_options *options) {
    shaping *const s = PyMem_RawMalloc(sizeof *s);
    if (s == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = shape_with(s, value, is_digest, seed, options);
    PyMem_RawFree(s);
    return result;
}

PyObject *ovt_shape_of_value(PyObject *value, bool is_digest, uint64_t seed,
                             const ovt_shape_options *options) {
    return OVT_UNLIKELY(ovt_may_be_nested(options->python))
               ? shape_on_heap(value, is_digest, seed, options)
               : shape_on_stack(value, is_digest, seed, options);
}
