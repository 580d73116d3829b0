/* The type ToolFingerprinter: a tool's selection and the start of its digest, prepared once. */

#include "arguments.h"
#include "docstrings.h"
#include "module_functions.h"
#include "output.h"

#include <structmember.h>

typedef struct {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *module;
    PyObject *kind;
    PyObject *name;
    PyObject *match_on;    /* a tuple, perhaps empty */
    PyObject *ignore_args; /* likewise */
    PyObject *prefix;      /* bytes: what is hashed before the arguments */
    PyObject *encoder;     /* or None */
    ovt_walk_options options;
    bool keeps_few; /* whether all that is declared are a few plain names to keep */
} fingerprinter;

static PyObject *fingerprinter_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                                    PyObject *keywords) {
    static const signature takes = {"ToolFingerprinter", {NAME_ARGS}, 1, 1, 1};
    const fingerprinter *self = (fingerprinter *)callable;
    const module_state *state = state_of(self->module);
    PyObject *given[1];
    if (!ovt_read_arguments(state, &takes, args, PyVectorcall_NARGS(nargsf), keywords, given)) {
        return NULL;
    }
    kept_members room;
    selected_args selected;
    const bool is_selected =
        self->keeps_few && PyDict_CheckExact(given[0])
            ? ovt_select_few(state, given[0], self->match_on, &room, &selected)
            : ovt_select(state, given[0], self->match_on, self->ignore_args, &room, &selected);
    if (!is_selected) {
        return NULL;
    }
    PyObject *digest =
        digest_str(PyBytes_AS_STRING(self->prefix), (size_t)PyBytes_GET_SIZE(self->prefix),
                   &selected, &self->options);
    ovt_release_selected(&selected);
    return digest;
}

static int fingerprinter_traverse(PyObject *object, visitproc visit, void *arg) {
    fingerprinter *self = (fingerprinter *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->module);
    Py_VISIT(self->match_on);
    Py_VISIT(self->ignore_args);
    Py_VISIT(self->encoder);
    return 0;
}

static int fingerprinter_clear(PyObject *object) {
    fingerprinter *self = (fingerprinter *)object;
    self->options.encoder = Py_None;
    Py_CLEAR(self->encoder);
    return 0;
}

static void fingerprinter_dealloc(PyObject *object) {
    fingerprinter *self = (fingerprinter *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_CLEAR(self->module);
    Py_CLEAR(self->kind);
    Py_CLEAR(self->name);
    Py_CLEAR(self->match_on);
    Py_CLEAR(self->ignore_args);
    Py_CLEAR(self->prefix);
    Py_CLEAR(self->encoder);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *fingerprinter_prefix(const fingerprinter *self) {
    char storage[256];
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, NULL);
    PyObject *prefix = NULL;
    if (ovt_write_prefix(&out, self->kind, self->name)) {
        prefix = PyBytes_FromStringAndSize(out.data, (Py_ssize_t)ovt_buffer_length(&out));
    }
    ovt_buffer_release(&out);
    return prefix;
}

static int fingerprinter_fill(fingerprinter *self, const module_state *state,
                              PyObject *const *given) {
    PyObject *encoder = given[4], *max_depth = given[5];
    if (!ovt_read_options(state, OVT_PROFILE_OVERTURN, encoder, max_depth, &self->options)) {
        return -1;
    }
    self->encoder = Py_NewRef(self->options.encoder);
    self->kind = ovt_exact_kind(state, given[3] != NULL ? given[3] : state->tool_call);
    self->name = self->kind == NULL ? NULL : ovt_exact_name(state, given[0]);
    self->match_on = self->name == NULL ? NULL : ovt_declared_names(state, given[1], NAME_MATCH_ON);
    self->ignore_args =
        self->match_on == NULL ? NULL : ovt_declared_names(state, given[2], NAME_IGNORE_ARGS);
    self->prefix = self->ignore_args == NULL ? NULL : fingerprinter_prefix(self);
    if (self->prefix == NULL) {
        return -1;
    }
    self->keeps_few = declares_none(self->ignore_args) && ovt_are_few_names(self->match_on);
    return 0;
}

static PyObject *fingerprinter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"name",    "match_on",  "ignore_args", "kind",
                            "encoder", "max_depth", NULL};
    PyObject *given[6] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO$OOO:ToolFingerprinter", names, &given[0],
                                     &given[1], &given[2], &given[3], &given[4], &given[5])) {
        return NULL;
    }
    PyObject *module = PyType_GetModule(type); /* the type is final */
    if (module == NULL) {
        return NULL;
    }
    fingerprinter *self = (fingerprinter *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = fingerprinter_call;
    self->module = Py_NewRef(module);
    if (fingerprinter_fill(self, state_of(module), given) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *fingerprinter_repr(PyObject *object) {
    return PyUnicode_FromFormat("<ToolFingerprinter %R>", ((fingerprinter *)object)->name);
}

/* What to make an equal one from, for pickle and copy. */
static PyObject *fingerprinter_new_arguments(PyObject *object, PyObject *Py_UNUSED(unused)) {
    const fingerprinter *self = (fingerprinter *)object;
    return Py_BuildValue("(OOO){sOsOsn}", self->name, self->match_on, self->ignore_args, "kind",
                         self->kind, "encoder", self->encoder, "max_depth",
                         self->options.max_depth);
}

static PyMethodDef fingerprinter_methods[] = {
    {"__getnewargs_ex__", fingerprinter_new_arguments, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef fingerprinter_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(fingerprinter, vectorcall), READONLY, NULL},
    {"kind", T_OBJECT, offsetof(fingerprinter, kind), READONLY, PyDoc_STR("What is called.")},
    {"name", T_OBJECT, offsetof(fingerprinter, name), READONLY, PyDoc_STR("The name of the tool.")},
    {"match_on", T_OBJECT, offsetof(fingerprinter, match_on), READONLY,
     PyDoc_STR("The top-level arguments that count; empty if all do.")},
    {"ignore_args", T_OBJECT, offsetof(fingerprinter, ignore_args), READONLY,
     PyDoc_STR("The top-level arguments that do not count.")},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot fingerprinter_slots[] = {
    {Py_tp_doc, (void *)OVT_DOC_TOOL_FINGERPRINTER},
    {Py_tp_new, fingerprinter_new},
    {Py_tp_dealloc, fingerprinter_dealloc},
    {Py_tp_traverse, fingerprinter_traverse},
    {Py_tp_clear, fingerprinter_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, fingerprinter_repr},
    {Py_tp_members, fingerprinter_members},
    {Py_tp_methods, fingerprinter_methods},
    {0, NULL},
};

PyType_Spec ovt_fingerprinter_spec = {
    .name = "overturn_fast.ToolFingerprinter",
    .basicsize = sizeof(fingerprinter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = fingerprinter_slots,
};
