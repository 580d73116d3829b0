#include "portability_text.h"

#include <math.h>
#include <stdlib.h>

#include "arena.h"
#include "growth.h"
#include "key_order.h"
#include "number_read.h"
#include "number_write.h"
#include "string_write.h"
#include "text_string.h"

enum {
    INLINE_LEVELS = 16,
    INLINE_MEMBERS = 64,
    FEW_MEMBERS = 16,        /* compared all with all; more are put in order */
    PLAIN_DIGITS = 15,       /* of a number that needs no look at its value */
    FIRST_FOUR_BYTES = 0xF0, /* the first byte of a character past U+FFFF */
};

static const uint64_t largest_safe_integer = (UINT64_C(1) << 53) - 1;

/* An open container. */
typedef struct {
    size_t first_member; /* of an object: where its members start */
    ovt_arena_mark mark; /* what the arena held before them */
    bool is_object;
    bool has_surrogates; /* in a key */
    bool has_four_bytes; /* likewise, a character past U+FFFF: else there is but one order */
} level;

typedef struct {
    ovt_reader reader;
    const ovt_portability_options *options;
    bool is_out_of_memory;
    bool has_four_bytes; /* the key at hand, a character past U+FFFF */
    size_t depth;
    level *levels;
    ovt_path_step *steps; /* from each level to the member at hand */
    size_t level_capacity;
    size_t step_capacity;
    ovt_member *members; /* of the objects that are open */
    size_t member_count;
    size_t member_capacity;
    ovt_arena arena; /* keys that have no storage of their own */
    ovt_buffer unescaped;
    level inline_levels[INLINE_LEVELS];
    ovt_path_step inline_steps[INLINE_LEVELS];
    ovt_member inline_members[INLINE_MEMBERS];
    char unescaped_storage[256];
} examination;

static OVT_NEVER_INLINE const uint8_t *no_memory(examination *e) {
    e->is_out_of_memory = true;
    return NULL;
}

/* Reports what is at `depth` steps from the root. False when memory runs out. */
static OVT_NEVER_INLINE bool report(examination *e, ovt_portability_reason reason, size_t depth) {
    const bool is_taken = e->options->sink(e->options->context, reason, e->steps, depth);
    e->is_out_of_memory |= !is_taken;
    return is_taken;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The character that starts at `at` in WTF-8. */
static uint32_t character_at(const char *at) {
    const uint8_t *const bytes = (const uint8_t *)at;
    if (bytes[0] < 0x80) {
        return bytes[0];
    }
    if (bytes[0] < 0xE0) {
        return (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
    }
    if (bytes[0] < 0xF0) {
        return (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
    }
    return 0x10000; /* none of them is white space */
}

/* Whether one of str.strip and String.prototype.trim removes a character and the other does not. */
static bool is_trimmed_by_one(uint32_t code_point) {
    return (code_point >= 0x1C && code_point <= 0x1F) || code_point == 0x85 || code_point == 0xFEFF;
}

static bool is_continuation(char byte) {
    return ((uint8_t)byte & 0xC0) == 0x80;
}

/* Whether such a character stands in the white space at an end of a text. */
static bool is_trimmed_otherwise(const char *text, size_t length) {
    const char *const end = text + length;
    for (const char *at = text; at < end;) {
        const uint32_t code_point = character_at(at);
        if (is_trimmed_by_one(code_point)) {
            return true;
        }
        if (!ovt_is_space(code_point)) {
            break;
        }
        do {
            at++;
        } while (at < end && is_continuation(*at));
    }
    for (const char *at = end; at > text;) {
        do {
            at--;
        } while (at > text && is_continuation(*at));
        const uint32_t code_point = character_at(at);
        if (is_trimmed_by_one(code_point)) {
            return true;
        }
        if (!ovt_is_space(code_point)) {
            break;
        }
    }
    return false;
}

/* Whether a character that begins or ends with this byte may be white space. */
static bool may_be_space(char byte) {
    return (uint8_t)byte <= ' ' || (uint8_t)byte >= 0x80;
}

/* Looks at a valid string, given without its quotes. False when memory runs out. */
static bool examine_string(examination *e, const char *text, size_t length) {
    if (memchr(text, '\\', length) != NULL) {
        ovt_buffer *const out = &e->unescaped;
        out->end = out->data;
        if (!ovt_buffer_reserve(out, length + 8)) {
            e->is_out_of_memory = true;
            return false;
        }
        length = ovt_unescape(out->end, text, length, OVT_KEEP_LONE);
        text = out->data;
        if (ovt_has_wtf8_surrogates(text, length) &&
            !report(e, OVT_PORTABILITY_SURROGATE, e->depth)) {
            return false;
        }
    }
    if (length == 0 || !(may_be_space(text[0]) || may_be_space(text[length - 1]))) {
        return true;
    }
    return !is_trimmed_otherwise(text, length) || report(e, OVT_PORTABILITY_TRIM, e->depth);
}

/* Past the string whose quote stands before `at`. */
static const uint8_t *read_string(examination *e, const uint8_t *at) {
    const uint64_t marks = ovt_string_marks(ovt_block_load(at));
    if (OVT_LIKELY(marks != 0)) {
        const unsigned plain = ovt_first_mark(marks);
        if (at[plain] == '"') {
            return at + plain +
                   1; /* ASCII without an escape: nothing that anyone reads otherwise */
        }
    }
    /* By offsets, as the reader may go over to its copy of the end meanwhile. */
    const size_t start = ovt_reader_offset(&e->reader, at);
    at = ovt_skip_string(&e->reader, at);
    if (OVT_UNLIKELY(at == NULL)) {
        return NULL;
    }
    const size_t length = ovt_reader_offset(&e->reader, at) - start - 1;
    return examine_string(e, (const char *)e->reader.text + start, length) ? at : NULL;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Whether an integral double below 1e21 has other digits in full than JavaScript writes. */
static bool has_other_digits(double value) {
    char exact[OVT_NUMBER_SIZE], shortest[OVT_NUMBER_SIZE];
    const size_t exact_length = ovt_write_double_integral_exact(exact, value);
    const size_t shortest_length = ovt_write_double(shortest, value);
    return exact_length != shortest_length || memcmp(exact, shortest, exact_length) != 0;
}

/* Why a number is not read alike everywhere; 0 if it is. */
static ovt_portability_reason reason_of_number(const ovt_number *number) {
    if (number->is_integer) {
        const bool is_large = !number->fits_u64 || number->magnitude > largest_safe_integer;
        return is_large ? OVT_PORTABILITY_LARGE_INTEGER : 0;
    }
    const double magnitude = fabs(number->value);
    if (isinf(magnitude)) {
        return OVT_PORTABILITY_NOT_FINITE;
    }
    const bool is_large = magnitude > (double)largest_safe_integer && magnitude < 1e21;
    return is_large && has_other_digits(magnitude) ? OVT_PORTABILITY_INTEGRAL_FLOAT : 0;
}

/* Past the number at hand. */
static const uint8_t *read_number(examination *e, const uint8_t *at) {
    const uint8_t *const digits = at + (*at == '-');
    const unsigned whole = ovt_count_digits(digits);
    if (OVT_LIKELY(whole != 0 && whole <= PLAIN_DIGITS && (digits[0] != '0' || whole == 1))) {
        const uint8_t *end = digits + whole;
        if (*end == '.') {
            const unsigned fraction = ovt_count_digits(end + 1);
            end = fraction != 0 && fraction <= PLAIN_DIGITS ? end + 1 + fraction : digits - 1;
        }
        if (OVT_LIKELY(end > digits && (*end | 0x20) != 'e')) {
            return end;
        }
    }
    ovt_number number;
    ovt_read_number((const char *)at, (const char *)e->reader.end, &number);
    if (number.length == 0) {
        return ovt_reader_fail_number(&e->reader, at, number.error_at);
    }
    const ovt_portability_reason reason = reason_of_number(&number);
    return reason == 0 || report(e, reason, e->depth) ? at + number.length : NULL;
}

/* Past the value at hand, which is no container. */
static inline const uint8_t *read_scalar(examination *e, const uint8_t *at) {
    if (*at == '"') {
        return read_string(e, at + 1);
    }
    if (*at == '-' || (*at >= '0' && *at <= '9')) {
        return read_number(e, at);
    }
    return ovt_skip_scalar(&e->reader, at);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool has_byte_from(const char *text, size_t length, uint8_t least) {
    for (size_t i = 0; i < length; i++) {
        if ((uint8_t)text[i] >= least) {
            return true;
        }
    }
    return false;
}

/* A key that is long, or not plain ASCII; `at` is behind its quote. */
static OVT_NEVER_INLINE const uint8_t *read_long_key(examination *e, const uint8_t *at,
                                                     ovt_member *member) {
    const size_t start = ovt_reader_offset(&e->reader, at);
    at = ovt_skip_string(&e->reader, at);
    if (at == NULL) {
        return NULL;
    }
    member->text = (const char *)e->reader.text + start;
    member->length = ovt_reader_offset(&e->reader, at) - start - 1;
    if (memchr(member->text, '\\', member->length) != NULL) {
        const size_t room = member->length + 8;
        char *const own = ovt_arena_take(&e->arena, room);
        if (own == NULL) {
            return no_memory(e);
        }
        member->length = ovt_unescape(own, member->text, member->length, OVT_KEEP_LONE);
        member->text = own;
        member->has_surrogates = ovt_has_wtf8_surrogates(own, member->length);
        ovt_arena_shrink(&e->arena, room - member->length);
    }
    member->prefix = ovt_key_prefix(member->text, member->length);
    e->has_four_bytes = has_byte_from(member->text, member->length, FIRST_FOUR_BYTES);
    return at;
}

/* Reads the key at hand and the colon; returns where the value starts. */
OVT_ALWAYS_INLINE const uint8_t *read_key(examination *e, const uint8_t *at, ovt_member *member) {
    if (OVT_UNLIKELY(*at != '"')) {
        return ovt_reader_fail(&e->reader, OVT_TEXT_EXPECTED_NAME, at);
    }
    at++;
    member->has_surrogates = false;
    e->has_four_bytes = false;
    const uint64_t marks = ovt_string_marks(ovt_block_load(at));
    const unsigned length = marks != 0 ? ovt_first_mark(marks) : OVT_PUT_STEP;
    if (OVT_LIKELY(marks != 0 && at[length] == '"')) {
        member->text = (const char *)at;
        member->length = length;
        member->prefix = ovt_key_prefix_of_loadable((const char *)at, length);
        at += length + 1;
    } else {
        at = read_long_key(e, at, member);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
    }
    return ovt_skip_colon(&e->reader, at);
}

/* Takes a member into its object. False when memory runs out. */
static inline bool add_member(examination *e, level *top, const ovt_member *member) {
    if (OVT_UNLIKELY(e->member_count == e->member_capacity)) {
        ovt_member *const members =
            ovt_grown(e->members, e->inline_members, e->member_count, &e->member_capacity,
                      e->member_count + 1, sizeof *members);
        if (members == NULL) {
            return false;
        }
        e->members = members;
    }
    e->members[e->member_count++] = *member;
    top->has_surrogates |= member->has_surrogates;
    top->has_four_bytes |= e->has_four_bytes;
    e->steps[e->depth - 1].key = member->text;
    e->steps[e->depth - 1].length = member->length;
    return true;
}

static bool has_equals_among_few(const ovt_member *members, size_t count) {
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (members[i].prefix == members[j].prefix && ovt_same_key(&members[i], &members[j])) {
                return true;
            }
        }
    }
    return false;
}

/* Whether two keys are the same, and whether the two orders of the keys differ. False when memory
 * runs out. */
static bool compare_keys(const ovt_member *members, size_t count, bool has_four_bytes,
                         bool *has_equals, bool *differs) {
    *differs = false;
    if (count <= FEW_MEMBERS && !has_four_bytes) {
        *has_equals = has_equals_among_few(members, count);
        return true;
    }
    uint32_t *const orders = malloc(2 * count * sizeof *orders);
    if (orders == NULL || ovt_order_members(members, orders, count, false) != OVT_OK ||
        (has_four_bytes && ovt_order_members(members, orders + count, count, true) != OVT_OK)) {
        free(orders);
        return false;
    }
    *has_equals = false;
    for (size_t i = 1; i < count && !*has_equals; i++) {
        *has_equals = ovt_same_key(&members[orders[i - 1]], &members[orders[i]]);
    }
    if (has_four_bytes) {
        *differs = memcmp(orders, orders + count, count * sizeof *orders) != 0;
    }
    free(orders);
    return true;
}

/* Looks at the keys of the innermost object, which ends. False when memory runs out. */
static bool examine_keys(examination *e, const level *top) {
    const ovt_member *const members = e->members + top->first_member;
    const size_t count = e->member_count - top->first_member, depth = e->depth - 1;
    if (top->has_surrogates && !report(e, OVT_PORTABILITY_KEY_SURROGATE, depth)) {
        return false;
    }
    bool has_equals, differs;
    if (!compare_keys(members, count, top->has_four_bytes, &has_equals, &differs)) {
        e->is_out_of_memory = true;
        return false;
    }
    return (!differs || report(e, OVT_PORTABILITY_KEY_ORDER, depth)) &&
           (!has_equals || report(e, OVT_PORTABILITY_KEY_COLLISION, depth));
}

/* ---- containers ------------------------------------------------------------------------------ */

static inline bool is_container(uint8_t first) {
    return first == '{' || first == '[';
}

static OVT_NEVER_INLINE bool grow_levels(examination *e) {
    level *const levels = ovt_grown(e->levels, e->inline_levels, e->depth, &e->level_capacity,
                                    e->depth + 1, sizeof *levels);
    if (levels == NULL) {
        return false;
    }
    e->levels = levels;
    ovt_path_step *const steps = ovt_grown(e->steps, e->inline_steps, e->depth, &e->step_capacity,
                                           e->depth + 1, sizeof *steps);
    if (steps == NULL) {
        return false;
    }
    e->steps = steps;
    return true;
}

/* Goes on after a value: past the comma behind it, or past the ends of the containers that end
 * with it and the comma behind those. */
static const uint8_t *go_on(examination *e, const uint8_t *at) {
    while (e->depth != 0) {
        const level *const top = &e->levels[e->depth - 1];
        at = ovt_skip_space(&e->reader, at);
        if (*at == ',') {
            e->steps[e->depth - 1].index++;
            return ovt_skip_space(&e->reader, at + 1);
        }
        if (OVT_UNLIKELY(*at != (top->is_object ? '}' : ']'))) {
            return ovt_reader_fail(&e->reader,
                                   top->is_object ? OVT_TEXT_EXPECTED_COMMA_OR_BRACE
                                                  : OVT_TEXT_EXPECTED_COMMA_OR_BRACKET,
                                   at);
        }
        at++;
        if (top->is_object) {
            if (!examine_keys(e, top)) {
                return NULL;
            }
            e->member_count = top->first_member;
            ovt_arena_release(&e->arena, top->mark);
        }
        e->depth--;
    }
    return at;
}

/* Opens the container at hand; if it is empty, that is all of it. */
static const uint8_t *open_container(examination *e, const uint8_t *at) {
    if (OVT_UNLIKELY(e->depth >= e->options->max_depth)) {
        return ovt_reader_fail(&e->reader, OVT_TEXT_DEPTH, at);
    }
    if (OVT_UNLIKELY(e->depth == OVT_PORTABLE_DEPTH) &&
        !report(e, OVT_PORTABILITY_NESTING, e->depth)) {
        return NULL;
    }
    const bool is_object = *at == '{';
    at = ovt_skip_space(&e->reader, at + 1);
    if (*at == (is_object ? '}' : ']')) {
        return go_on(e, at + 1);
    }
    if (OVT_UNLIKELY(e->depth == e->level_capacity || e->depth == e->step_capacity) &&
        !grow_levels(e)) {
        return no_memory(e);
    }
    e->levels[e->depth] =
        (level){.first_member = e->member_count, .mark = e->arena, .is_object = is_object};
    e->steps[e->depth] = (ovt_path_step){0};
    e->depth++;
    return at;
}

/* Whether the member at hand does not take part. */
static inline bool is_left_out(const examination *e, const ovt_member *member) {
    return e->depth == 1 && e->options->selection != NULL &&
           !ovt_is_selected(e->options->selection, member);
}

/* Past a value that does not take part. */
static const uint8_t *skip_value(examination *e, const uint8_t *at) {
    at = ovt_skip_value(&e->reader, at, e->options->max_depth - e->depth);
    return at == NULL && e->reader.error == 0 ? no_memory(e) : at;
}

/* Reads the members of the innermost container, an object, until one is itself a container, which
 * is then open, or until the object and perhaps some around it have ended. */
static const uint8_t *read_members(examination *e, const uint8_t *at) {
    ovt_member member = {0};
    for (;;) {
        at = read_key(e, at, &member);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
        if (OVT_UNLIKELY(is_left_out(e, &member))) {
            at = skip_value(e, at);
        } else if (OVT_UNLIKELY(!add_member(e, &e->levels[e->depth - 1], &member))) {
            return no_memory(e);
        } else if (is_container(*at)) {
            return open_container(e, at);
        } else {
            at = read_scalar(e, at);
        }
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
        at = ovt_skip_space(&e->reader, at);
        if (*at != ',') {
            return go_on(e, at);
        }
        at = ovt_skip_space(&e->reader, at + 1);
    }
}

/* The same for the items of an array. */
static const uint8_t *read_items(examination *e, const uint8_t *at) {
    ovt_path_step *const step = &e->steps[e->depth - 1];
    for (;;) {
        if (is_container(*at)) {
            return open_container(e, at);
        }
        at = read_scalar(e, at);
        if (OVT_UNLIKELY(at == NULL)) {
            return NULL;
        }
        at = ovt_skip_space(&e->reader, at);
        if (*at != ',') {
            return go_on(e, at);
        }
        step->index++;
        at = ovt_skip_space(&e->reader, at + 1);
    }
}

static const uint8_t *read_text(examination *e, const uint8_t *at) {
    at = ovt_skip_space(&e->reader, at);
    at = is_container(*at) ? open_container(e, at) : read_scalar(e, at);
    while (at != NULL && e->depth != 0) {
        at = e->levels[e->depth - 1].is_object ? read_members(e, at) : read_items(e, at);
    }
    if (at == NULL) {
        return NULL;
    }
    at = ovt_skip_space(&e->reader, at);
    return at == e->reader.end ? at : ovt_reader_fail(&e->reader, OVT_TEXT_EXTRA, at);
}

ovt_status ovt_portability_text(const char *text, size_t length,
                                const ovt_portability_options *options, ovt_text_error *error) {
    examination e;
    e.options = options;
    e.is_out_of_memory = false;
    e.depth = 0;
    e.levels = e.inline_levels;
    e.steps = e.inline_steps;
    e.level_capacity = e.step_capacity = INLINE_LEVELS;
    e.members = e.inline_members;
    e.member_count = 0;
    e.member_capacity = INLINE_MEMBERS;
    e.arena = (ovt_arena){0};
    ovt_buffer_init(&e.unescaped, e.unescaped_storage, sizeof e.unescaped_storage, NULL);
    const uint8_t *const end = read_text(&e, ovt_reader_start(&e.reader, text, length));
    if (e.levels != e.inline_levels) {
        free(e.levels);
    }
    if (e.steps != e.inline_steps) {
        free(e.steps);
    }
    if (e.members != e.inline_members) {
        free(e.members);
    }
    ovt_arena_release(&e.arena, (ovt_arena_mark){0});
    ovt_buffer_release(&e.unescaped);
    if (end != NULL) {
        return OVT_OK;
    }
    *error = (ovt_text_error){e.reader.error, e.reader.error_offset};
    return e.is_out_of_memory ? OVT_NO_MEMORY : OVT_TEXT;
}
