#include "call_key.h"

#include <math.h>
#include <stdlib.h>

#include "dict_value.h"
#include "hex_str.h"
#include "number_write.h"

enum {
    MESSAGES_ROOM = 32768, /* bytes of text held on the C stack until it is hashed */
    TOOLS_ROOM = 16384,
    NESTED_ROOM = 64, /* the same for a call that may be inside another */
    KEY_ROOM = 1024,
    MAX_PRECISION = 15,
    DIGITS_ROOM = OVT_NUMBER_SIZE,
};

/* Times 10 ** MAX_PRECISION it is a double still. */
static const double LARGEST_TEMPERATURE = 1e285;
static const int64_t LARGEST_SAFE_INTEGER = ((int64_t)1 << 53) - 1;

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const field_names[OVT_LLM_FIELDS] = {
    [OVT_LLM_MODEL] = "model",
    [OVT_LLM_FAMILY] = "family",
    [OVT_LLM_CALL_CLASS] = "call_class",
    [OVT_LLM_RUNTIME_MODE] = "runtime_mode",
    [OVT_LLM_MESSAGES] = "messages",
    [OVT_LLM_SYSTEM_PROMPT] = "system_prompt",
    [OVT_LLM_TOOLS] = "tools",
    [OVT_LLM_TEMPERATURE] = "temperature",
    [OVT_LLM_SEED] = "seed",
    [OVT_LLM_TENANT_ID] = "tenant_id",
    [OVT_LLM_POLICIES] = "active_safety_policies",
    [OVT_LLM_HASH] = "hash",
    [OVT_LLM_PROMPT_HASH] = "prompt_hash",
    [OVT_LLM_TOOLS_HASH] = "tools_hash",
    [OVT_LLM_SYSTEM_PROMPT_HASH] = "system_prompt_hash",
    [OVT_LLM_SAFETY_POLICIES_HASH] = "safety_policies_hash",
    [OVT_LLM_TEMPERATURE_BUCKET] = "temperature_bucket",
    [OVT_LLM_PLEACH_VERSION] = "pleach_version",
    [OVT_LLM_NAME] = "name",
    [OVT_LLM_VALUE] = "_value_",
};

/* The key fields in the order of their names, which is that of the canonical text. */
static const struct {
    ovt_llm_field field;
    const char *start; /* of its member: after the bracket or comma */
} key_fields[] = {
    {OVT_LLM_CALL_CLASS, "\"callClass\":"},
    {OVT_LLM_FAMILY, "\"family\":"},
    {OVT_LLM_MODEL, "\"model\":"},
    {OVT_LLM_PLEACH_VERSION, "\"pleachVersion\":"},
    {OVT_LLM_PROMPT_HASH, "\"promptHash\":"},
    {OVT_LLM_RUNTIME_MODE, "\"runtimeMode\":"},
    {OVT_LLM_SAFETY_POLICIES_HASH, "\"safetyPoliciesHash\":"},
    {OVT_LLM_SEED, "\"seed\":"},
    {OVT_LLM_SYSTEM_PROMPT_HASH, "\"systemPromptHash\":"},
    {OVT_LLM_TEMPERATURE_BUCKET, "\"temperatureBucket\":"},
    {OVT_LLM_TENANT_ID, "\"tenantId\":"},
    {OVT_LLM_TOOLS_HASH, "\"toolsHash\":"},
};

enum { KEY_FIELD_COUNT = sizeof key_fields / sizeof key_fields[0] };

bool ovt_llm_side_init(ovt_llm_side *side) {
    for (int i = 0; i < OVT_LLM_FIELDS; i++) {
        side->names[i] = PyUnicode_InternFromString(field_names[i]);
        if (side->names[i] == NULL) {
            return false;
        }
    }
    return true;
}

void ovt_llm_side_clear(ovt_llm_side *side) {
    for (int i = 0; i < OVT_LLM_FIELDS; i++) {
        Py_CLEAR(side->names[i]);
    }
}

/* ---- the state of one call ------------------------------------------------------------------- */

typedef struct {
    const ovt_llm_side *side;
    const ovt_llm_parts *parts;
    const ovt_walk_options *options;
    PyObject *fields[OVT_LLM_FIELDS]; /* strong; of what is absent: None or NULL */
    PyObject *mode;                   /* strong: a member of the modes */
    PyObject *given_tools;            /* strong: as they were before they were sorted */
    ovt_llm_field walked;             /* the field that is walked, or was last */
    bool has_walked;                  /* hooks may have run */
    PyObject *prompt_bytes;           /* the system prompt's UTF-8 if it is not ASCII */
} call_state;

/* What a step answers. */
typedef enum {
    FAILED = -1,  /* an exception is set */
    UNUSUAL = 0,  /* the call is none for this file */
    PREPARED = 1, /* go on */
} step;

/* The answer where something was looked for and not found. */
static step not_found(void) {
    return PyErr_Occurred() ? FAILED : UNUSUAL;
}

static bool is_absent(PyObject *value) {
    return value == NULL || value == Py_None;
}

static bool is_plain_text(PyObject *value) {
    return PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value) &&
           PyUnicode_GET_LENGTH(value) != 0;
}

static bool is_plain_list(PyObject *value) {
    return PyList_CheckExact(value) || PyTuple_CheckExact(value);
}

static void release_call(call_state *c) {
    for (int i = 0; i < OVT_LLM_FIELDS; i++) {
        Py_XDECREF(c->fields[i]);
    }
    Py_XDECREF(c->mode);
    Py_XDECREF(c->given_tools);
    Py_XDECREF(c->prompt_bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

static step read_attributes(call_state *c) {
    for (int i = 0; i < OVT_LLM_READ; i++) {
        c->fields[i] = PyObject_GetAttr(c->parts->call, c->side->names[i]);
        if (c->fields[i] == NULL) {
            return FAILED;
        }
    }
    return PREPARED;
}

/* Takes a member of the dict; UNUSUAL if it is no field, or one that is there in both spellings. */
static step read_member(call_state *c, PyObject *key, PyObject *value) {
    if (!PyUnicode_CheckExact(key)) {
        return UNUSUAL;
    }
    PyObject *const position = PyDict_GetItemWithError(c->parts->kinds.positions, key);
    const Py_ssize_t field = position == NULL ? -1 : PyLong_AsSsize_t(position);
    if (field < 0) {
        return not_found();
    }
    if (field < OVT_LLM_READ) {
        if (c->fields[field] != NULL) {
            return UNUSUAL;
        }
        c->fields[field] = Py_NewRef(value);
    }
    return PREPARED;
}

static step read_members(call_state *c) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    step result = PREPARED;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(c->parts->call);
#endif
    while (result == PREPARED && PyDict_Next(c->parts->call, &position, &key, &value)) {
        result = read_member(c, key, value);
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    for (int i = 0; i < OVT_LLM_READ; i++) {
        if (c->fields[i] == NULL) {
            c->fields[i] = Py_NewRef(Py_None);
        }
    }
    return result;
}

static step read_fields(call_state *c) {
    return PyDict_CheckExact(c->parts->call) ? read_members(c) : read_attributes(c);
}

/* Finds the runtime mode, and puts its text in its place. */
static step read_mode(call_state *c) {
    PyObject **const given = &c->fields[OVT_LLM_RUNTIME_MODE];
    if (PyUnicode_CheckExact(*given)) {
        c->mode = Py_XNewRef(PyDict_GetItemWithError(c->parts->kinds.modes, *given));
        return c->mode != NULL ? PREPARED : not_found();
    }
    /* A member is told by its text. */
    PyObject *const text =
        PyUnicode_Check(*given) ? PyObject_GetAttr(*given, c->side->names[OVT_LLM_VALUE]) : NULL;
    if (text == NULL) {
        return not_found();
    }
    PyObject *const member = PyDict_GetItemWithError(c->parts->kinds.modes, text);
    const bool is_member = member == *given;
    c->mode = *given;
    *given = text;
    return is_member ? PREPARED : not_found();
}

/* Whether policies can be read without any code of their own. */
static bool are_plain_policies(PyObject *policies) {
    if (!is_plain_list(policies)) {
        return policies == Py_None;
    }
    bool are_plain = true;
    for (Py_ssize_t i = 0; are_plain && i < PySequence_Fast_GET_SIZE(policies); i++) {
        PyObject *const policy = PySequence_Fast_GET_ITEM(policies, i);
        are_plain = PyDict_CheckExact(policy) || PyTuple_CheckExact(policy);
    }
    return are_plain;
}

static step read_policies(call_state *c) {
    PyObject *const policies = c->fields[OVT_LLM_POLICIES];
    if (!are_plain_policies(policies)) {
        return UNUSUAL;
    }
    PyObject *const hash = policies == Py_None
                               ? Py_NewRef(Py_None)
                               : PyObject_CallOneArg(c->parts->kinds.policies_digest, policies);
    c->fields[OVT_LLM_SAFETY_POLICIES_HASH] = hash;
    return hash == NULL ? FAILED : PREPARED;
}

static step check_texts(call_state *c) {
    static const struct {
        ovt_llm_field field;
        bool may_be_absent;
    } texts[] = {
        {OVT_LLM_MODEL, false},      {OVT_LLM_FAMILY, false},
        {OVT_LLM_CALL_CLASS, false}, {OVT_LLM_PLEACH_VERSION, false},
        {OVT_LLM_TENANT_ID, true},   {OVT_LLM_SAFETY_POLICIES_HASH, true},
    };
    c->fields[OVT_LLM_PLEACH_VERSION] = Py_NewRef(c->parts->version);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PyObject *const text = c->fields[texts[i].field];
        if (!is_plain_text(text) && !(texts[i].may_be_absent && text == Py_None)) {
            return UNUSUAL;
        }
    }
    return is_plain_list(c->fields[OVT_LLM_MESSAGES]) ? PREPARED : UNUSUAL;
}

/* The value of an exact int up to 2**53 - 1 in magnitude. */
static bool read_safe_int(PyObject *value, int64_t *number) {
    int overflow = 0;
    if (!PyLong_CheckExact(value)) {
        return false;
    }
    *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 && *number <= LARGEST_SAFE_INTEGER && *number >= -LARGEST_SAFE_INTEGER;
}

/* Math.round(temperature * 10 ** precision) / 10 ** precision, as pleach/temperature.py has it;
 * each step is a statement, so that no compiler fuses two of them. */
static double bucket_of(double temperature, Py_ssize_t precision) {
    static const double scales[MAX_PRECISION + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const double scaled = temperature * scales[precision];
    const double below = floor(scaled);
    const double above = scaled - below;
    const double rounded = above >= 0.5 ? below + 1 : below;
    const double unsigned_zero = rounded + 0.0;
    return unsigned_zero / scales[precision];
}

static step read_numbers(call_state *c) {
    int64_t integer;
    if (c->fields[OVT_LLM_SEED] != Py_None && !read_safe_int(c->fields[OVT_LLM_SEED], &integer)) {
        return UNUSUAL;
    }
    PyObject *const temperature = c->fields[OVT_LLM_TEMPERATURE];
    if (temperature == Py_None) {
        return PREPARED;
    }
    double number;
    if (PyFloat_CheckExact(temperature)) {
        number = PyFloat_AS_DOUBLE(temperature);
    } else if (read_safe_int(temperature, &integer)) {
        number = (double)integer;
    } else {
        return UNUSUAL;
    }
    const Py_ssize_t precision = c->parts->precision;
    if (precision < 0 || precision > MAX_PRECISION || !(fabs(number) < LARGEST_TEMPERATURE)) {
        return UNUSUAL;
    }
    PyObject *const bucket = PyFloat_FromDouble(bucket_of(number, precision));
    c->fields[OVT_LLM_TEMPERATURE_BUCKET] = bucket;
    return bucket == NULL ? FAILED : PREPARED;
}

/* ---- tools ----------------------------------------------------------------------------------- */

/* A tool by its name; `head` is the name's first eight bytes as a number, for fast comparisons. */
typedef struct {
    uint64_t head;
    PyObject *name; /* strong */
    PyObject *tool; /* of the list that is being sorted */
} named_tool;

static int compare_tools(const void *left, const void *right) {
    const named_tool *const a = left, *const b = right;
    if (a->head != b->head) {
        return a->head < b->head ? -1 : 1;
    }
    const size_t a_size = (size_t)PyUnicode_GET_LENGTH(a->name);
    const size_t b_size = (size_t)PyUnicode_GET_LENGTH(b->name);
    const int order =
        memcmp(PyUnicode_DATA(a->name), PyUnicode_DATA(b->name), a_size < b_size ? a_size : b_size);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static uint64_t head_of(PyObject *name) {
    const Py_ssize_t size = PyUnicode_GET_LENGTH(name);
    const uint8_t *const bytes = PyUnicode_DATA(name);
    uint64_t head = 0;
    for (Py_ssize_t i = 0; i < 8; i++) {
        head = head << 8 | (i < size ? bytes[i] : 0);
    }
    return head;
}

/* Fills `named` from a list of our own; *count says how many names are held. */
static step name_tools(const call_state *c, PyObject *list, named_tool *named, Py_ssize_t *count) {
    for (; *count < PyList_GET_SIZE(list); ++*count) {
        PyObject *const tool = PyList_GET_ITEM(list, *count);
        if (!PyDict_CheckExact(tool)) {
            return UNUSUAL;
        }
        PyObject *const name = ovt_dict_value(tool, c->side->names[OVT_LLM_NAME]);
        if (name == NULL) {
            return not_found();
        }
        if (!is_plain_text(name)) {
            Py_DECREF(name);
            return UNUSUAL;
        }
        named[*count] = (named_tool){.head = head_of(name), .name = name, .tool = tool};
    }
    return PREPARED;
}

/* Sorts a list of our own in place; UNUSUAL if a name is there twice. */
static step sort_named(PyObject *list, named_tool *named, size_t count) {
    qsort(named, count, sizeof *named, compare_tools);
    for (size_t i = 1; i < count; i++) {
        if (compare_tools(&named[i - 1], &named[i]) == 0) {
            return UNUSUAL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        PyList_SET_ITEM(list, (Py_ssize_t)i, named[i].tool);
    }
    return PREPARED;
}

static step sort_tools(const call_state *c, PyObject *list) {
    const Py_ssize_t size = PyList_GET_SIZE(list);
    Py_ssize_t count = 0;
    named_tool *named = PyMem_Malloc(((size_t)size + 1) * sizeof *named);
    if (named == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    step result = name_tools(c, list, named, &count);
    if (result == PREPARED) {
        result = sort_named(list, named, (size_t)count);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF(named[i].name);
    }
    PyMem_Free(named);
    return result;
}

/* Puts a list of the tools, sorted by name, in their place; or, of a catalog, sets its hash. */
static step prepare_tools(call_state *c) {
    PyObject **const tools = &c->fields[OVT_LLM_TOOLS];
    if (Py_TYPE(*tools) == c->parts->kinds.catalog_type) {
        PyObject *const hash = PyObject_GetAttr(*tools, c->side->names[OVT_LLM_HASH]);
        c->fields[OVT_LLM_TOOLS_HASH] = hash;
        return hash == NULL ? FAILED : PREPARED;
    }
    if (*tools != Py_None && !is_plain_list(*tools)) {
        return UNUSUAL;
    }
    PyObject *const list = *tools == Py_None ? PyList_New(0) : PySequence_List(*tools);
    if (list == NULL) {
        return FAILED;
    }
    c->given_tools = *tools;
    *tools = list;
    return sort_tools(c, list);
}

/* Makes the system prompt's UTF-8 ready; or, of a handle, sets its hash. */
static step prepare_prompt(call_state *c) {
    PyObject *const prompt = c->fields[OVT_LLM_SYSTEM_PROMPT];
    if (Py_TYPE(prompt) == c->parts->kinds.prompt_type) {
        PyObject *const hash = PyObject_GetAttr(prompt, c->side->names[OVT_LLM_HASH]);
        c->fields[OVT_LLM_SYSTEM_PROMPT_HASH] = hash;
        return hash == NULL ? FAILED : PREPARED;
    }
    if (prompt == Py_None) {
        return PREPARED;
    }
    if (!PyUnicode_CheckExact(prompt)) {
        return UNUSUAL;
    }
    if (!PyUnicode_IS_COMPACT_ASCII(prompt)) {
        c->prompt_bytes = PyUnicode_AsUTF8String(prompt);
        return c->prompt_bytes == NULL ? FAILED : PREPARED;
    }
    return PREPARED;
}

/* ---- hashing --------------------------------------------------------------------------------- */

/* The texts that are hashed together, and the digests that are wanted of them. */
typedef struct {
    ovt_sha256 hashes[3];
    ovt_sha256_message messages[3];
    uint8_t digests[3][OVT_SHA256_DIGEST_SIZE];
    ovt_llm_field fields[3];
    size_t count;
} digest_batch;

/* The next hash of the batch, for a text that belongs to a field. */
static ovt_sha256 *next_hash(digest_batch *batch, ovt_llm_field field) {
    batch->fields[batch->count] = field;
    return &batch->hashes[batch->count];
}

/* Adds the rest of that text. */
static void add_text(digest_batch *batch, const void *bytes, size_t size) {
    const size_t at = batch->count++;
    batch->messages[at] = (ovt_sha256_message){
        .hash = &batch->hashes[at],
        .bytes = bytes,
        .count = size,
        .digest = batch->digests[at],
    };
}

/* Whether there is anything to hash beside the messages. */
static bool has_several_texts(const call_state *c) {
    return c->fields[OVT_LLM_TOOLS_HASH] == NULL || (c->fields[OVT_LLM_SYSTEM_PROMPT] != Py_None &&
                                                     c->fields[OVT_LLM_SYSTEM_PROMPT_HASH] == NULL);
}

/* Writes a field's canonical text, and adds what the hash has not yet taken of it. */
static step add_value(call_state *c, digest_batch *batch, ovt_buffer *out, char *storage,
                      size_t room, ovt_llm_field from, ovt_llm_field field) {
    ovt_buffer_init(out, storage, room, next_hash(batch, field));
    out->spare = c->options->python->spare;
    if (has_several_texts(c)) {
        ovt_buffer_hash_late(out);
    }
    c->walked = from;
    c->has_walked = true;
    if (ovt_walk(out, c->fields[from], NULL, c->options) < 0) {
        ovt_buffer_release(out);
        return FAILED;
    }
    add_text(batch, out->hashed, (size_t)(out->end - out->hashed));
    return PREPARED;
}

static void add_prompt(const call_state *c, digest_batch *batch) {
    PyObject *const prompt = c->fields[OVT_LLM_SYSTEM_PROMPT];
    if (prompt == Py_None || c->fields[OVT_LLM_SYSTEM_PROMPT_HASH] != NULL) {
        return;
    }
    ovt_sha256_init(next_hash(batch, OVT_LLM_SYSTEM_PROMPT_HASH));
    if (c->prompt_bytes != NULL) {
        add_text(batch, PyBytes_AS_STRING(c->prompt_bytes),
                 (size_t)PyBytes_GET_SIZE(c->prompt_bytes));
    } else {
        add_text(batch, PyUnicode_DATA(prompt), (size_t)PyUnicode_GET_LENGTH(prompt));
    }
}

static step finish_batch(call_state *c, digest_batch *batch) {
    ovt_sha256_finish_all(batch->messages, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        PyObject *const text = ovt_hex_str(batch->digests[i], OVT_SHA256_HEX_SIZE);
        c->fields[batch->fields[i]] = text;
        if (text == NULL) {
            return FAILED;
        }
    }
    return PREPARED;
}

static step hash_through(call_state *c, char *messages_storage, size_t messages_room,
                         char *tools_storage, size_t tools_room) {
    digest_batch batch;
    batch.count = 0;
    ovt_buffer messages, tools;
    if (add_value(c, &batch, &messages, messages_storage, messages_room, OVT_LLM_MESSAGES,
                  OVT_LLM_PROMPT_HASH) == FAILED) {
        return FAILED;
    }
    const bool has_tools = c->fields[OVT_LLM_TOOLS_HASH] == NULL;
    step result = PREPARED;
    if (has_tools) {
        result = add_value(c, &batch, &tools, tools_storage, tools_room, OVT_LLM_TOOLS,
                           OVT_LLM_TOOLS_HASH);
    }
    if (result == PREPARED) {
        add_prompt(c, &batch);
        result = finish_batch(c, &batch);
        if (has_tools) {
            ovt_buffer_release(&tools);
        }
    }
    ovt_buffer_release(&messages);
    return result;
}

static OVT_NEVER_INLINE step hash_on_stack(call_state *c) {
    char messages[MESSAGES_ROOM], tools[TOOLS_ROOM];
    return hash_through(c, messages, sizeof messages, tools, sizeof tools);
}

static OVT_NEVER_INLINE step hash_nested(call_state *c) {
    char messages[NESTED_ROOM], tools[NESTED_ROOM];
    return hash_through(c, messages, sizeof messages, tools, sizeof tools);
}

/* ---- the key --------------------------------------------------------------------------------- */

static bool put_number(ovt_buffer *out, PyObject *value) {
    int64_t integer;
    if (!ovt_buffer_reserve(out, DIGITS_ROOM)) {
        return false;
    }
    if (read_safe_int(value, &integer)) {
        out->end += ovt_write_i64(out->end, integer);
    } else {
        out->end += ovt_write_double(out->end, PyFloat_AS_DOUBLE(value));
    }
    return true;
}

static bool put_key_value(const call_state *c, ovt_buffer *out, PyObject *value) {
    if (!PyUnicode_Check(value)) {
        return put_number(out, value);
    }
    ovt_text text;
    return ovt_read_str(value, &text) && ovt_write_string(out, c->options->profile, text) == OVT_OK;
}

/* The canonical text of the key fields that are present. */
static bool write_key(const call_state *c, ovt_buffer *out) {
    for (int i = 0; i < KEY_FIELD_COUNT; i++) {
        PyObject *const value = c->fields[key_fields[i].field];
        const char *const start = key_fields[i].start;
        /* The first field is never absent. */
        if (!is_absent(value) &&
            (!ovt_buffer_append(out, i == 0 ? "{" : ",", 1) ||
             !ovt_buffer_append(out, start, strlen(start)) || !put_key_value(c, out, value))) {
            return false;
        }
    }
    return ovt_buffer_append(out, "}", 1);
}

static step hash_key(call_state *c) {
    char storage[KEY_ROOM];
    uint8_t digest[OVT_SHA256_DIGEST_SIZE];
    ovt_sha256 hash;
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, &hash);
    ovt_buffer_hash_late(&out);
    const bool is_written = write_key(c, &out);
    if (is_written) {
        ovt_buffer_finish_hash(&out, digest);
        c->fields[OVT_LLM_HASH] = ovt_hex_str(digest, OVT_SHA256_HEX_SIZE);
    } else {
        PyErr_NoMemory();
    }
    ovt_buffer_release(&out);
    return c->fields[OVT_LLM_HASH] == NULL ? FAILED : PREPARED;
}

/* ---- the fingerprint ------------------------------------------------------------------------- */

/* A new object of the frozen class, whose slots are set as its own initialiser sets them. */
static PyObject *new_fingerprint(const call_state *c) {
    PyTypeObject *const type = c->parts->kinds.fingerprint_type;
    PyObject *const made = type->tp_alloc(type, 0);
    bool failed = made == NULL || PyObject_GenericSetAttr(made, c->side->names[OVT_LLM_HASH],
                                                          c->fields[OVT_LLM_HASH]) < 0;
    for (int i = 0; !failed && i < KEY_FIELD_COUNT; i++) {
        const ovt_llm_field field = key_fields[i].field;
        PyObject *value = c->fields[field] == NULL ? Py_None : c->fields[field];
        value = field == OVT_LLM_RUNTIME_MODE ? c->mode : value;
        failed = PyObject_GenericSetAttr(made, c->side->names[field], value) < 0;
    }
    if (failed) {
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}

static step compute(call_state *c) {
    step (*const steps[])(call_state *) = {
        read_fields,    read_mode,
        read_policies,  check_texts,
        read_numbers,   prepare_tools,
        prepare_prompt, ovt_may_be_nested(c->options->python) ? hash_nested : hash_on_stack,
        hash_key,
    };
    step result = PREPARED;
    for (size_t i = 0; result == PREPARED && i < sizeof steps / sizeof *steps; i++) {
        result = steps[i](c);
    }
    return result;
}

/* Puts the field that was walked into the exception that is set. */
static void locate_failure(const call_state *c) {
    PyObject *type, *error, *traceback;
    const bool is_of_tools = c->walked == OVT_LLM_TOOLS;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *const located =
        PyObject_CallFunctionObjArgs(c->parts->kinds.locate, error == NULL ? Py_None : error,
                                     is_of_tools ? c->fields[OVT_LLM_TOOLS] : Py_None,
                                     is_of_tools ? c->given_tools : Py_None, NULL);
    if (located == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(located);
    PyErr_Restore(type, error, traceback);
}

/* Whether the exception that is set, if one is, is the answer. */
static bool is_final_failure(const call_state *c) {
    if (!PyErr_Occurred()) {
        return false;
    }
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return true;
    }
    if (c->has_walked) {
        locate_failure(c);
        return true;
    }
    PyErr_Clear(); /* the readable steps come upon it too, and say which field it is about */
    return false;
}

PyObject *ovt_call_fingerprint(const ovt_llm_side *side, const ovt_llm_parts *parts,
                               const ovt_walk_options *options) {
    call_state c = {.side = side, .parts = parts, .options = options};
    const step result = compute(&c);
    PyObject *made = result == PREPARED ? new_fingerprint(&c) : NULL;
    if (made == NULL && !is_final_failure(&c)) {
        made = Py_NewRef(Py_None);
    }
    release_call(&c);
    return made;
}
