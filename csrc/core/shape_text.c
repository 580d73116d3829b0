#include "shape_text.h"

#include <stdlib.h>

#include "growth.h"
#include "key_order.h"
#include "text_string.h"

enum {
    INLINE_LEVELS = 16,
    PLAIN_DIGITS = 15, /* of a number that needs no look at its value */
};

/* An open container. */
typedef struct {
    uint32_t entry; /* its own in the outline */
    uint32_t items; /* so far, of an array */
    bool is_object;
} level;

typedef struct {
    ovt_outline *outline;
    ovt_reader *reader;
    const ovt_outline_options *options;
    ovt_outline_notes *notes;
    bool is_out_of_memory;
    level *levels;
    size_t depth;
    size_t capacity;
    level inline_levels[INLINE_LEVELS];
} outlining;

/* ---- errors and room ------------------------------------------------------------------------- */

static OVT_NEVER_INLINE const uint8_t *no_memory(outlining *o) {
    o->is_out_of_memory = true;
    return NULL;
}

static OVT_NEVER_INLINE bool grow_levels(outlining *o) {
    level *const levels = ovt_grown(o->levels, o->inline_levels, o->depth, &o->capacity,
                                    o->depth + 1, sizeof *levels);
    if (levels != NULL) {
        o->levels = levels;
    }
    return levels != NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Resolves the escapes of a name; `offset` is where its quote stands. False when memory runs out.
 */
static bool unescape_key(outlining *o, ovt_shape_key *key, const char *name, size_t length,
                         size_t offset) {
    char *const own = ovt_arena_take(&o->outline->arena, length + 8);
    if (own == NULL) {
        return false;
    }
    const size_t written = ovt_unescape(own, name, length, OVT_KEEP_LONE);
    ovt_arena_shrink(&o->outline->arena, length + 8 - written);
    key->text = own;
    key->length = (uint32_t)written;
    key->has_surrogates = ovt_has_wtf8_surrogates(own, written);
    if (key->has_surrogates && o->notes->surrogate_offset == SIZE_MAX) {
        o->notes->surrogate_offset = offset;
    }
    return true;
}

/* A name that is long, or not plain ASCII; `at` is behind its quote. */
static OVT_NEVER_INLINE const uint8_t *read_long_name(outlining *o, const uint8_t *at,
                                                      ovt_shape_key *key) {
    /* By offsets, as the reader may go over to its copy of the end meanwhile. */
    const size_t start = ovt_reader_offset(o->reader, at);
    at = ovt_skip_string(o->reader, at);
    if (at == NULL) {
        return NULL;
    }
    const char *const name = (const char *)o->reader->text + start;
    const size_t length = ovt_reader_offset(o->reader, at) - start - 1;
    if (length > UINT32_MAX / 2) {
        return no_memory(o);
    }
    key->text = name;
    key->length = (uint32_t)length;
    if (memchr(name, '\\', length) != NULL && !unescape_key(o, key, name, length, start - 1)) {
        return no_memory(o);
    }
    key->prefix = ovt_key_prefix(key->text, key->length);
    return at;
}

/* Reads the name at hand and the colon; returns where the value starts. */
OVT_ALWAYS_INLINE const uint8_t *read_name(outlining *o, const uint8_t *at, ovt_shape_key *key) {
    if (OVT_UNLIKELY(*at != '"')) {
        return ovt_reader_fail(o->reader, OVT_TEXT_EXPECTED_NAME, at);
    }
    at++;
    key->has_surrogates = false;
    const uint64_t marks = ovt_string_marks(ovt_block_load(at));
    const unsigned length = marks != 0 ? ovt_first_mark(marks) : OVT_PUT_STEP;
    if (OVT_LIKELY(marks != 0 && at[length] == '"')) {
        key->text = (const char *)at;
        key->length = length;
        key->prefix = ovt_key_prefix_of_loadable((const char *)at, length);
        at += length + 1;
    } else {
        at = read_long_name(o, at, key);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
    }
    return ovt_skip_colon(o->reader, at);
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Whether a number, which is known to be one, has neither fraction nor exponent. */
static ovt_shape_detail detail_of_number(const uint8_t *at, const uint8_t *end) {
    for (; at < end; at++) {
        if (*at == '.' || (*at | 0x20) == 'e') {
            return OVT_DETAIL_NONE;
        }
    }
    return OVT_DETAIL_INTEGER;
}

/* Past the number at hand. */
static inline const uint8_t *skip_number(outlining *o, const uint8_t *at,
                                         ovt_shape_detail *detail) {
    const uint8_t *const digits = at + (*at == '-');
    const unsigned whole = ovt_count_digits(digits);
    if (OVT_LIKELY(whole != 0 && whole <= PLAIN_DIGITS && (digits[0] != '0' || whole == 1))) {
        const uint8_t *end = digits + whole;
        *detail = OVT_DETAIL_INTEGER;
        if (*end == '.') {
            const unsigned fraction = ovt_count_digits(end + 1);
            end = fraction != 0 && fraction <= PLAIN_DIGITS ? end + 1 + fraction : digits - 1;
            *detail = OVT_DETAIL_NONE;
        }
        if (OVT_LIKELY(end > digits && (*end | 0x20) != 'e')) {
            return end;
        }
    }
    const size_t start = ovt_reader_offset(o->reader, at);
    const uint8_t *const end = ovt_skip_scalar(o->reader, at);
    if (end != NULL) {
        const uint8_t *const text = o->reader->text;
        *detail = detail_of_number(text + start, text + ovt_reader_offset(o->reader, end));
    }
    return end;
}

/* Past the value at hand, which is no container. */
OVT_ALWAYS_INLINE const uint8_t *skip_scalar(outlining *o, const uint8_t *at, ovt_shape_type *type,
                                             ovt_shape_detail *detail) {
    const uint8_t first = *at;
    *detail = OVT_DETAIL_NONE;
    if (first == '"') {
        *type = OVT_SHAPE_STRING;
        return ovt_skip_string(o->reader, at + 1);
    }
    if (first == '-' || (first >= '0' && first <= '9')) {
        *type = OVT_SHAPE_NUMBER;
        return skip_number(o, at, detail);
    }
    *type = first == 'n' ? OVT_SHAPE_NULL : OVT_SHAPE_BOOL;
    return ovt_skip_scalar(o->reader, at);
}

/* ---- containers ------------------------------------------------------------------------------ */

static inline bool is_container(uint8_t first) {
    return first == '{' || first == '[';
}

/* Goes on after a value: past the comma behind it, or past the ends of the containers that end
 * with it and the comma behind those. */
static const uint8_t *go_on(outlining *o, const uint8_t *at) {
    while (o->depth != 0) {
        const level *const top = &o->levels[o->depth - 1];
        at = ovt_skip_space(o->reader, at);
        if (*at == ',') {
            return ovt_skip_space(o->reader, at + 1);
        }
        if (OVT_UNLIKELY(*at != (top->is_object ? '}' : ']'))) {
            return ovt_reader_fail(o->reader,
                                   top->is_object ? OVT_TEXT_EXPECTED_COMMA_OR_BRACE
                                                  : OVT_TEXT_EXPECTED_COMMA_OR_BRACKET,
                                   at);
        }
        at++;
        if (!top->is_object) {
            o->outline->entries[top->entry].count = top->items;
        }
        ovt_outline_close(o->outline, top->entry);
        o->depth--;
    }
    return at;
}

/* Opens the container at hand; if it is empty, that is all of it. */
static const uint8_t *open_container(outlining *o, const uint8_t *at, const ovt_shape_key *key) {
    if (OVT_UNLIKELY(o->depth >= o->options->max_depth)) {
        return ovt_reader_fail(o->reader, OVT_TEXT_DEPTH, at);
    }
    const bool is_object = *at == '{';
    const size_t index = o->outline->count;
    ovt_outline_entry *const entry = ovt_outline_add(
        o->outline, key, is_object ? OVT_SHAPE_OBJECT : OVT_SHAPE_ARRAY, OVT_DETAIL_NONE);
    if (OVT_UNLIKELY(entry == NULL)) {
        return no_memory(o);
    }
    entry->count = 0;
    ovt_outline_end_run(o->outline);
    at = ovt_skip_space(o->reader, at + 1);
    if (*at == (is_object ? '}' : ']')) {
        return go_on(o, at + 1);
    }
    if (OVT_UNLIKELY(o->depth == o->capacity) && !grow_levels(o)) {
        return no_memory(o);
    }
    o->levels[o->depth++] = (level){.entry = (uint32_t)index, .is_object = is_object};
    return at;
}

/* Reads the members of the innermost container, an object, until one is itself a container, which
 * is then open, or until the object and perhaps some around it have ended. */
static const uint8_t *read_members(outlining *o, const uint8_t *at) {
    ovt_shape_key key;
    for (;;) {
        at = read_name(o, at, &key);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
        if (is_container(*at)) {
            return open_container(o, at, &key);
        }
        ovt_shape_type type;
        ovt_shape_detail detail;
        at = skip_scalar(o, at, &type, &detail);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
        if (OVT_UNLIKELY(ovt_outline_add(o->outline, &key, type, detail) == NULL)) {
            return no_memory(o);
        }
        at = ovt_skip_space(o->reader, at);
        if (*at != ',') {
            return go_on(o, at);
        }
        at = ovt_skip_space(o->reader, at + 1);
    }
}

/* Checks an item that does not count. */
static const uint8_t *skip_item(outlining *o, const uint8_t *at) {
    at = ovt_skip_value(o->reader, at, o->options->max_depth - o->depth);
    if (OVT_UNLIKELY(at == NULL)) {
        return o->reader->error == 0 ? no_memory(o) : NULL;
    }
    return go_on(o, at);
}

/* The same for the items of an array. */
static const uint8_t *read_items(outlining *o, const uint8_t *at) {
    level *const top = &o->levels[o->depth - 1];
    for (;;) {
        if (OVT_UNLIKELY(top->items >= o->options->item_limit)) {
            return skip_item(o, at);
        }
        top->items += top->items != UINT32_MAX;
        if (is_container(*at)) {
            return open_container(o, at, NULL);
        }
        ovt_shape_type type;
        ovt_shape_detail detail;
        at = skip_scalar(o, at, &type, &detail);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
        if (OVT_UNLIKELY(!ovt_outline_add_item(o->outline, type, detail))) {
            return no_memory(o);
        }
        at = ovt_skip_space(o->reader, at);
        if (*at != ',') {
            return go_on(o, at);
        }
        at = ovt_skip_space(o->reader, at + 1);
    }
}

static const uint8_t *read_text(outlining *o, const uint8_t *at) {
    at = ovt_skip_space(o->reader, at);
    if (is_container(*at)) {
        at = open_container(o, at, NULL);
    } else {
        ovt_shape_type type;
        ovt_shape_detail detail;
        at = skip_scalar(o, at, &type, &detail);
        if (at != NULL && ovt_outline_add(o->outline, NULL, type, detail) == NULL) {
            return no_memory(o);
        }
    }
    while (at != NULL && o->depth != 0) {
        at = o->levels[o->depth - 1].is_object ? read_members(o, at) : read_items(o, at);
    }
    if (at == NULL) {
        return NULL;
    }
    at = ovt_skip_space(o->reader, at);
    return at == o->reader->end ? at : ovt_reader_fail(o->reader, OVT_TEXT_EXTRA, at);
}

ovt_status ovt_outline_text(ovt_outline *outline, ovt_reader *reader, const char *text,
                            size_t length, const ovt_outline_options *options,
                            ovt_outline_notes *notes) {
    outlining o;
    o.outline = outline;
    o.reader = reader;
    o.options = options;
    o.notes = notes;
    o.is_out_of_memory = false;
    o.levels = o.inline_levels;
    o.depth = 0;
    o.capacity = INLINE_LEVELS;
    *notes = (ovt_outline_notes){.surrogate_offset = SIZE_MAX};
    const uint8_t *const end = read_text(&o, ovt_reader_start(reader, text, length));
    if (o.levels != o.inline_levels) {
        free(o.levels);
    }
    if (end != NULL) {
        return OVT_OK;
    }
    notes->reason = reader->error;
    notes->offset = reader->error_offset;
    return o.is_out_of_memory ? OVT_NO_MEMORY : OVT_TEXT;
}
