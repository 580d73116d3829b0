#include "canonical_text.h"

#include <math.h>
#include <stdlib.h>

#include "arena.h"
#include "growth.h"
#include "key_order.h"
#include "large_block.h"
#include "number_read.h"
#include "number_write.h"
#include "text_arrange.h"
#include "text_string.h"

enum {
    SLACK = 128, /* room in the output beyond the rest of the text, for what is touched */
    INLINE_TEXT = 4096,
    INLINE_FRAMES = 12,
    INLINE_MEMBERS = 48,
    IN_PLACE_SIZE = 4096, /* bytes of an object that is put in order as it ends */
    IN_PLACE_HEIGHT = 3,  /* how often a byte is moved that way at most */
    PLAIN_DIGITS = 15,    /* a decimal of so many digits reads back from its double */
    EXACT_DIGITS = 21,    /* of an integer below 10^21 */
};

/* Where a member's text starts in the output; it ends where the next one's starts. */
typedef struct {
    size_t start;
    size_t arranged; /* the first recorded object in its value, or OVT_NOWHERE */
    size_t offset;   /* of its name in what was read */
} member_place;

/* An open container, or, at depth 0, the whole text. */
typedef struct {
    size_t start;        /* of its text in the output: the bracket */
    size_t first_member; /* object: of its members */
    size_t head;         /* the recorded objects in it, in their order; OVT_NOWHERE if none */
    size_t tail;
    uint8_t height; /* how often some byte of it has been moved */
    bool is_object;
    bool has_high; /* object: keys with characters past U+DFFF */
} frame;

typedef struct {
    const ovt_profile *profile;
    const ovt_text_options *options;

    /* Of the member at hand of the outermost object, where there is a selection: */
    bool is_left_out;   /* it does not take part */
    size_t tail_before; /* the last recorded object before it */

    frame *frames; /* frames[depth] is the innermost */
    size_t depth;
    size_t frame_capacity;

    ovt_member *members; /* of all open objects, one after the other */
    member_place *places;
    uint32_t *order;
    size_t member_count;
    size_t member_capacity;

    ovt_buffer *text; /* the canonical text with its members where they were read */
    ovt_buffer own_text;
    ovt_arrangement arrangement;
    ovt_arena arena; /* the keys that were read with escapes, all of them until the end */
    bool is_out_of_memory;

    frame inline_frames[INLINE_FRAMES];
    ovt_member inline_members[INLINE_MEMBERS];
    member_place inline_places[INLINE_MEMBERS];
    uint32_t inline_order[INLINE_MEMBERS];
    ovt_reader reader;
    char inline_text[INLINE_TEXT + SLACK];
    char scratch[IN_PLACE_SIZE + SLACK];
} canonicalizer;

/* Where reading and writing have got to. `at` is NULL once something is wrong. */
typedef struct {
    const uint8_t *at;
    char *out;
} cursor;

/* ---- errors and room ------------------------------------------------------------------------- */

static OVT_NEVER_INLINE cursor fail(canonicalizer *c, ovt_text_reason reason, cursor here) {
    here.at = ovt_reader_fail(&c->reader, reason, here.at);
    return here;
}

static OVT_NEVER_INLINE cursor no_memory(canonicalizer *c, cursor here) {
    c->is_out_of_memory = true;
    here.at = NULL;
    return here;
}

static OVT_NEVER_INLINE bool grow_frames(canonicalizer *c) {
    frame *const frames = ovt_grown(c->frames, c->inline_frames, c->depth + 1, &c->frame_capacity,
                                    c->depth + 1, sizeof *frames);
    if (frames == NULL) {
        return false;
    }
    c->frames = frames;
    return true;
}

/* The three arrays are one block of the heap: were there several, the system would take and give
 * their pages with each text. */
static OVT_NEVER_INLINE bool grow_members(canonicalizer *c) {
    const size_t used = c->member_count, capacity = 4 * c->member_capacity;
    const size_t each = sizeof *c->members + sizeof *c->places + sizeof *c->order;
    if (capacity > SIZE_MAX / 4 / each) {
        return false;
    }
    ovt_member *const members = ovt_large_block(capacity * each);
    if (members == NULL) {
        return false;
    }
    member_place *const places = (member_place *)(members + capacity);
    uint32_t *const order = (uint32_t *)(places + capacity);
    memcpy(members, c->members, used * sizeof *members);
    memcpy(places, c->places, used * sizeof *places);
    memcpy(order, c->order, used * sizeof *order);
    if (c->members != c->inline_members) {
        free(c->members);
    }
    c->members = members;
    c->places = places;
    c->order = order;
    c->member_capacity = capacity;
    return true;
}

/* Makes the output as large as the rest of the text needs, after something grew. */
static inline cursor keep_room(canonicalizer *c, cursor here) {
    const size_t needed = (size_t)(c->reader.end - here.at) + SLACK;
    if (OVT_UNLIKELY((size_t)(c->text->limit - here.out) < needed)) {
        c->text->end = here.out;
        if (!ovt_buffer_grow(c->text, needed)) {
            return no_memory(c, here);
        }
        here.out = c->text->end;
    }
    return here;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static inline cursor put_bytes(cursor here, const char *bytes, size_t count) {
    memcpy(here.out, bytes, count);
    here.out += count;
    return here;
}

static cursor put_double(canonicalizer *c, cursor here, double value, size_t literal_length) {
    if (OVT_UNLIKELY(isinf(value))) {
        if (!c->profile->non_finite_null) {
            return fail(c, OVT_TEXT_NUMBER_RANGE, here);
        }
        here = put_bytes(here, "null", 4);
    } else {
        here.out += c->profile->exact_integral_floats
                        ? ovt_write_double_integral_exact(here.out, value)
                        : ovt_write_double(here.out, value);
    }
    here.at += literal_length;
    return keep_room(c, here);
}

static OVT_NEVER_INLINE cursor put_any_number(canonicalizer *c, cursor here) {
    const char *const literal = (const char *)here.at;
    ovt_number number;
    ovt_read_number(literal, (const char *)c->reader.end, &number);
    if (OVT_UNLIKELY(number.length == 0)) {
        here.at = ovt_reader_fail_number(&c->reader, here.at, number.error_at);
        return here;
    }
    const size_t digits = number.length - number.negative;
    if (number.is_integer &&
        (c->profile->integers == OVT_INTEGERS_ALL_DIGITS ||
         (c->profile->integers == OVT_INTEGERS_EXACT_BELOW_1E21 && digits <= EXACT_DIGITS))) {
        const bool is_zero = literal[number.negative] == '0';
        here = is_zero ? put_bytes(here, "0", 1) : put_bytes(here, literal, number.length);
        here.at += number.length;
        return here;
    }
    return put_double(c, here, number.value, number.length);
}

/* A number of at most 15 digits that is written as it should be, but perhaps for zeros at its end
 * and the sign of zero. Its digits are then those that Number::toString would find: of all
 * decimals that read as its double it alone has no more than 15 digits. */
static inline cursor put_number(canonicalizer *c, cursor here) {
    const bool is_negative = *here.at == '-';
    const uint8_t *const digits = here.at + is_negative;
    const size_t whole = ovt_count_digits(digits);
    if (OVT_UNLIKELY(whole == 0 || whole > PLAIN_DIGITS || (digits[0] == '0' && whole > 1))) {
        return put_any_number(c, here);
    }
    size_t length = whole, written = whole;
    if (digits[whole] == '.') {
        size_t fraction = ovt_count_digits(digits + whole + 1);
        /* Without three zeros after the point it is not below 10^-6 for want of six digits. */
        const bool may_be_tiny = digits[0] == '0' && digits[2] == '0' && fraction > 6;
        if (OVT_UNLIKELY(fraction == 0 || whole + fraction > PLAIN_DIGITS || may_be_tiny)) {
            return put_any_number(c, here);
        }
        length = whole + 1 + fraction;
        while (digits[whole + fraction] == '0') {
            fraction--;
        }
        written = fraction == 0 ? whole : whole + 1 + fraction;
    }
    if (OVT_UNLIKELY((digits[length] | 0x20) == 'e')) {
        return put_any_number(c, here);
    }
    const bool is_zero = digits[0] == '0' && written == 1;
    here.out[0] = '-';
    here.out += is_negative && !is_zero;
    ovt_block_store(here.out, ovt_block_load(digits));
    here.out += written;
    here.at = digits + length;
    return here;
}

/* ---- strings --------------------------------------------------------------------------------- */

static OVT_NEVER_INLINE cursor put_long_string(canonicalizer *c, cursor here) {
    ovt_string_traits traits;
    *here.out++ = '"';
    char *const start = here.out;
    here.at =
        ovt_copy_string(&c->reader, here.at + 1, &here.out, c->profile->escape_surrogates, &traits);
    if (c->profile->trim_strings && ovt_may_trim(start, here.out, traits.has_escapes) &&
        here.at != NULL) {
        here.out = ovt_trim_canonical(start, here.out);
    }
    *here.out++ = '"';
    return here;
}

static inline cursor put_string(canonicalizer *c, cursor here) {
    const uint8_t *const first = here.at + 1;
    const ovt_block block = ovt_block_load(first);
    const uint64_t marks = ovt_string_marks(block);
    if (OVT_LIKELY(marks != 0)) {
        const unsigned length = ovt_first_mark(marks);
        const bool may_trim =
            c->profile->trim_strings && (first[0] == ' ' || here.at[length] == ' ');
        if (OVT_LIKELY(first[length] == '"' && !may_trim)) {
            here.out[0] = '"';
            ovt_block_store(here.out + 1, block);
            here.out[length + 1] = '"';
            here.out += length + 2;
            here.at = first + length + 1;
            return here;
        }
    }
    return put_long_string(c, here);
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Writes the value at hand, which is no container. */
OVT_ALWAYS_INLINE cursor put_scalar(canonicalizer *c, cursor here) {
    const uint8_t first = *here.at;
    if (first == '"') {
        return put_string(c, here);
    }
    if (first == '-' || (first >= '0' && first <= '9')) {
        return put_number(c, here);
    }
    if (first == 't' && ovt_is_word(here.at, "true")) {
        here = put_bytes(here, "true", 4);
        here.at += 4;
        return here;
    }
    if (first == 'f' && ovt_is_word(here.at + 1, "alse")) {
        here = put_bytes(here, "false", 5);
        here.at += 5;
        return here;
    }
    if (first == 'n' && ovt_is_word(here.at, "null")) {
        here = put_bytes(here, "null", 4);
        here.at += 4;
        return here;
    }
    return fail(c, OVT_TEXT_EXPECTED_VALUE, here);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length) {
    const int difference = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return difference != 0 ? difference : (a_length > b_length) - (a_length < b_length);
}

bool ovt_is_selected(const ovt_name_selection *selection, const ovt_member *member) {
    size_t first = 0, last = selection->count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        const ovt_name *name = &selection->names[middle];
        const int order = compare_names(member->text, member->length, name->text, name->length);
        if (order == 0) {
            return !selection->drops;
        }
        if (order < 0) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    return selection->drops;
}

/* The text of a key that was written at `start`. One without escapes stands in what was read. */
static bool set_key(canonicalizer *c, ovt_member *member, const char *start, size_t length,
                    const uint8_t *key, const ovt_string_traits *traits) {
    if (traits->has_escapes) {
        char *const own = ovt_arena_take(&c->arena, length + OVT_STRING_SLACK);
        if (own == NULL) {
            return false;
        }
        member->text = own;
        member->length = ovt_unescape(own, start, length, OVT_KEEP_LONE);
        ovt_arena_shrink(&c->arena, length + OVT_STRING_SLACK - member->length);
    } else {
        member->text = (const char *)key;
        member->length = length;
    }
    member->prefix = ovt_key_prefix(member->text, member->length);
    return true;
}

/* A name that is long, or not plain ASCII; `offset` is where its quote stands. */
static OVT_NEVER_INLINE cursor read_long_name(canonicalizer *c, cursor here, ovt_member *member,
                                              size_t offset) {
    const bool was_in_text = c->reader.segment == c->reader.text;
    const uint8_t *key = here.at + 1;
    ovt_string_traits traits;
    *here.out++ = '"';
    char *const start = here.out;
    here.at = ovt_copy_string(&c->reader, key, &here.out, c->profile->escape_surrogates, &traits);
    if (here.at == NULL) {
        return here;
    }
    if (was_in_text) { /* the reader may have gone over to its copy of the end */
        key = c->reader.text + offset + 1;
    }
    if (!set_key(c, member, start, (size_t)(here.out - start), key, &traits)) {
        return no_memory(c, here);
    }
    c->frames[c->depth].has_high |= traits.has_high;
    *here.out++ = '"';
    return here;
}

/* Adds a member by the name at hand and writes that with its colon; then its value is at hand. */
OVT_ALWAYS_INLINE cursor read_name(canonicalizer *c, cursor here) {
    if (OVT_UNLIKELY(*here.at != '"')) {
        return fail(c, OVT_TEXT_EXPECTED_NAME, here);
    }
    if (OVT_UNLIKELY(c->member_count == c->member_capacity) && !grow_members(c)) {
        return no_memory(c, here);
    }
    const size_t offset = ovt_reader_offset(&c->reader, here.at);
    ovt_member *const member = &c->members[c->member_count];
    c->places[c->member_count] =
        (member_place){(size_t)(here.out - c->text->data), OVT_NOWHERE, offset};
    c->member_count++;

    const uint8_t *const key = here.at + 1;
    const ovt_block block = ovt_block_load(key);
    const uint64_t marks = ovt_string_marks(block);
    const unsigned length = marks != 0 ? ovt_first_mark(marks) : OVT_PUT_STEP;
    if (OVT_LIKELY(marks != 0 && key[length] == '"')) {
        member->text = (const char *)key;
        member->length = length;
        member->prefix = ovt_key_prefix_of_loadable((const char *)key, length);
        here.out[0] = '"';
        ovt_block_store(here.out + 1, block);
        here.out[length + 1] = '"';
        here.out += length + 2;
        here.at = key + length + 1;
    } else {
        here = read_long_name(c, here, member, offset);
        if (OVT_UNLIKELY(here.at == NULL)) {
            return here;
        }
    }
    here.at = ovt_skip_space(&c->reader, here.at);
    if (OVT_UNLIKELY(*here.at != ':')) {
        return fail(c, OVT_TEXT_EXPECTED_COLON, here);
    }
    *here.out++ = ':';
    here.at = ovt_skip_space(&c->reader, here.at + 1);
    return here;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Whether each key comes after the one before it: then none is there twice, either. */
static bool is_ascending(const ovt_member *members, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const ovt_member *before = &members[i - 1], *member = &members[i];
        if (OVT_UNLIKELY(before->prefix >= member->prefix) &&
            (before->prefix > member->prefix ||
             compare_names(before->text, before->length, member->text, member->length) >= 0)) {
            return false;
        }
    }
    return true;
}

/* Of members with one name the last one counts: shortens the order to those that do and returns
 * how many there are. Sets *repeated to the first member whose name was there before. */
static size_t keep_last_of_equals(const ovt_member *members, uint32_t *order, size_t count,
                                  size_t *repeated) {
    size_t kept = 0;
    *repeated = count;
    for (size_t i = 0; i < count; i++) {
        const bool is_last = i + 1 == count;
        const ovt_member *member = &members[order[i]];
        const ovt_member *next = is_last ? member : &members[order[i + 1]];
        if (is_last || member->prefix != next->prefix || !ovt_same_key(member, next)) {
            order[kept++] = order[i];
        } else if (order[i + 1] < *repeated) {
            *repeated = order[i + 1];
        }
    }
    return kept;
}

static bool is_identity(const uint32_t *order, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (order[i] != i) {
            return false;
        }
    }
    return true;
}

/* Copies a member's text. Beyond its end, a vector step may be touched and read. */
static inline char *copy_member(char *out, const char *text, size_t length) {
    if (OVT_LIKELY(length <= 32)) {
        memcpy(out, text, 32);
    } else {
        memcpy(out, text, length);
    }
    return out + length;
}

/* The end of the text of a member, given by its index among those of its object. */
static inline size_t member_end(const member_place *places, size_t count, size_t index,
                                size_t text_end) {
    return index + 1 < count ? places[index + 1].start : text_end;
}

/* Puts the members of an object in order where they are. */
static char *arrange_in_place(canonicalizer *c, const frame *top, size_t count, size_t kept,
                              char *end) {
    const member_place *const places = c->places + top->first_member;
    const uint32_t *const order = c->order + top->first_member;
    const size_t start = top->start + 1, text_end = (size_t)(end - c->text->data);
    char *out = c->text->data + start;
    memcpy(c->scratch, out, text_end - start);
    for (size_t i = 0; i < kept; i++) {
        const size_t from = places[order[i]].start;
        const size_t to = member_end(places, count, order[i], text_end);
        out = copy_member(out, c->scratch + (from - start), to - from);
    }
    return out;
}

/* Records in which order the members of an object are to be read. */
static bool record_order(canonicalizer *c, frame *top, size_t count, size_t kept, char *end) {
    if (!ovt_arrangement_reserve(&c->arrangement, kept)) {
        return false;
    }
    ovt_arrangement *const arrangement = &c->arrangement;
    const member_place *const places = c->places + top->first_member;
    const uint32_t *const order = c->order + top->first_member;
    const size_t text_end = (size_t)(end - c->text->data);
    const size_t first = arrangement->part_count;
    for (size_t i = 0; i < kept; i++) {
        const member_place *place = &places[order[i]];
        const size_t part_end = member_end(places, count, order[i], text_end);
        if (part_end != place->start) { /* else it was left out */
            arrangement->parts[arrangement->part_count++] =
                (ovt_part){place->start, part_end, place->arranged};
        }
    }
    const size_t index = arrangement->object_count++;
    arrangement->objects[index] = (ovt_arranged){
        .start = top->start,
        .end = text_end + 1, /* the brace comes behind the last comma */
        .first_part = first,
        .part_count = arrangement->part_count - first,
        .next = OVT_NOWHERE,
    };
    top->head = index;
    top->tail = index;
    return true;
}

/* Sees to the order of the members of an object that ends, which are not ascending. */
static OVT_NEVER_INLINE cursor arrange(canonicalizer *c, frame *top, cursor here) {
    const size_t first = top->first_member, count = c->member_count - first;
    const ovt_member *const members = c->members + first;
    uint32_t *const order = c->order + first;
    const bool by_units = c->profile->utf16_key_order && top->has_high;
    if (ovt_order_members(members, order, count, by_units) != OVT_OK) {
        return no_memory(c, here);
    }
    size_t repeated;
    const size_t kept = keep_last_of_equals(members, order, count, &repeated);
    if (OVT_UNLIKELY(kept != count && !c->profile->last_duplicate_wins)) {
        c->reader.error = OVT_TEXT_DUPLICATE_NAME;
        c->reader.error_offset = c->places[first + repeated].offset;
        here.at = NULL;
        return here;
    }
    if (kept == count && is_identity(order, count)) {
        return here;
    }
    const size_t size = (size_t)(here.out - c->text->data) - top->start;
    if (size <= IN_PLACE_SIZE && top->head == OVT_NOWHERE && top->height < IN_PLACE_HEIGHT) {
        top->height++;
        here.out = arrange_in_place(c, top, count, kept, here.out);
        return here;
    }
    if (!record_order(c, top, count, kept, here.out)) {
        return no_memory(c, here);
    }
    *here.out++ = ','; /* for the brace to replace; that of the last member stays */
    return keep_room(c, here);
}

/* ---- containers ------------------------------------------------------------------------------ */

/* Removes the text of the member at hand, and what was recorded in it. Its object is `top`. */
static char *leave_out(canonicalizer *c, frame *top) {
    member_place *const place = &c->places[c->member_count - 1];
    if (OVT_UNLIKELY(place->arranged != OVT_NOWHERE)) {
        place->arranged = OVT_NOWHERE;
        top->tail = c->tail_before;
        if (top->tail == OVT_NOWHERE) {
            top->head = OVT_NOWHERE;
        } else {
            c->arrangement.objects[top->tail].next = OVT_NOWHERE;
        }
    }
    return c->text->data + place->start;
}

/* Passes on to the container around it what is known of one that has ended. */
static inline void merge_into(canonicalizer *c, frame *outer, const frame *inner) {
    if (inner->height > outer->height) {
        outer->height = inner->height;
    }
    if (OVT_LIKELY(inner->head == OVT_NOWHERE)) {
        return;
    }
    if (outer->head == OVT_NOWHERE) {
        outer->head = inner->head;
    } else {
        c->arrangement.objects[outer->tail].next = inner->head;
    }
    outer->tail = inner->tail;
    if (outer->is_object) {
        member_place *const place = &c->places[c->member_count - 1];
        if (place->arranged == OVT_NOWHERE) {
            place->arranged = inner->head;
        }
    }
}

/* Ends the object that is innermost: its members are complete, each with a comma behind it. */
static inline cursor end_object(canonicalizer *c, frame *top, cursor here) {
    const size_t first = top->first_member, count = c->member_count - first;
    const bool by_units = c->profile->utf16_key_order && top->has_high;
    if (OVT_UNLIKELY(by_units) || !is_ascending(c->members + first, count)) {
        here = arrange(c, top, here);
    }
    c->member_count = first;
    return here;
}

/* Whether values of the container that is innermost are subject to the selection. */
static inline bool is_selecting(const canonicalizer *c, const frame *top) {
    return c->depth == 1 && c->options->selection != NULL && top->is_object;
}

/* Goes on after a value: past the comma behind it, or past the ends of the containers that end
 * with it and the comma behind those. */
static cursor go_on(canonicalizer *c, cursor here) {
    while (c->depth != 0) {
        frame *const top = &c->frames[c->depth];
        if (OVT_UNLIKELY(is_selecting(c, top) && c->is_left_out)) {
            here.out = leave_out(c, top);
        }
        here.at = ovt_skip_space(&c->reader, here.at);
        if (*here.at == ',') {
            here.at = ovt_skip_space(&c->reader, here.at + 1);
            return here;
        }
        const uint8_t closing = top->is_object ? '}' : ']';
        if (OVT_UNLIKELY(*here.at != closing)) {
            return fail(c,
                        top->is_object ? OVT_TEXT_EXPECTED_COMMA_OR_BRACE
                                       : OVT_TEXT_EXPECTED_COMMA_OR_BRACKET,
                        here);
        }
        if (top->is_object) {
            here = end_object(c, top, here);
            if (OVT_UNLIKELY(here.at == NULL)) {
                return here;
            }
        }
        here.at++;
        here.out -= here.out[-1] == ','; /* else everything in it was left out */
        *here.out++ = (char)closing;
        *here.out++ = ',';
        c->depth--;
        merge_into(c, &c->frames[c->depth], top);
    }
    return here;
}

/* Opens the container at hand; if it is empty, that is all of it. */
static cursor open_container(canonicalizer *c, cursor here) {
    if (OVT_UNLIKELY(c->depth >= c->options->max_depth)) {
        return fail(c, OVT_TEXT_DEPTH, here);
    }
    const bool is_object = *here.at == '{';
    const size_t start = (size_t)(here.out - c->text->data);
    *here.out++ = (char)*here.at;
    here.at = ovt_skip_space(&c->reader, here.at + 1);
    if (*here.at == (is_object ? '}' : ']')) {
        *here.out++ = (char)*here.at++;
        *here.out++ = ',';
        return go_on(c, here);
    }
    if (OVT_UNLIKELY(c->depth + 1 == c->frame_capacity) && !grow_frames(c)) {
        return no_memory(c, here);
    }
    c->frames[++c->depth] = (frame){
        .start = start,
        .first_member = c->member_count,
        .head = OVT_NOWHERE,
        .tail = OVT_NOWHERE,
        .is_object = is_object,
    };
    return here;
}

/* Decides on the member that was just named. */
static void begin_selected(canonicalizer *c) {
    const ovt_member *member = &c->members[c->member_count - 1];
    c->is_left_out = !ovt_is_selected(c->options->selection, member);
    c->tail_before = c->frames[c->depth].tail;
}

static inline bool is_container(uint8_t first) {
    return first == '{' || first == '[';
}

/* Reads the members of the innermost container, an object, until one is itself a container, which
 * is then open, or until the object and perhaps some around it have ended. */
static cursor read_members(canonicalizer *c, cursor here) {
    const bool selects = is_selecting(c, &c->frames[c->depth]);
    const bool drops_null = c->profile->drop_none;
    for (;;) {
        here = read_name(c, here);
        if (OVT_UNLIKELY(here.at == NULL)) {
            return here;
        }
        if (OVT_UNLIKELY(selects)) {
            begin_selected(c);
        }
        const uint8_t first = *here.at;
        if (is_container(first)) {
            return open_container(c, here);
        }
        here = put_scalar(c, here);
        if (OVT_UNLIKELY(here.at == NULL)) {
            return here;
        }
        *here.out++ = ',';
        if (OVT_UNLIKELY((first == 'n' && drops_null) || (selects && c->is_left_out))) {
            here.out = c->text->data + c->places[c->member_count - 1].start;
        }
        here.at = ovt_skip_space(&c->reader, here.at);
        if (*here.at != ',') {
            return go_on(c, here);
        }
        here.at = ovt_skip_space(&c->reader, here.at + 1);
    }
}

/* The same for the items of an array. */
static cursor read_items(canonicalizer *c, cursor here) {
    const bool drops_null = c->profile->drop_none;
    for (;;) {
        const uint8_t first = *here.at;
        if (is_container(first)) {
            return open_container(c, here);
        }
        here = put_scalar(c, here);
        if (OVT_UNLIKELY(here.at == NULL)) {
            return here;
        }
        *here.out++ = ',';
        if (first == 'n' && drops_null) {
            here.out -= sizeof "null," - 1;
        }
        here.at = ovt_skip_space(&c->reader, here.at);
        if (*here.at != ',') {
            return go_on(c, here);
        }
        here.at = ovt_skip_space(&c->reader, here.at + 1);
    }
}

/* Reads all of the text; the canonical one, with a comma behind it, is then in c->text-> */
static cursor read_text(canonicalizer *c, cursor here) {
    here.at = ovt_skip_space(&c->reader, here.at);
    if (is_container(*here.at)) {
        here = open_container(c, here);
    } else {
        here = put_scalar(c, here);
        *here.out++ = ',';
    }
    while (here.at != NULL && c->depth != 0) {
        here = c->frames[c->depth].is_object ? read_members(c, here) : read_items(c, here);
    }
    if (here.at == NULL) {
        return here;
    }
    here.at = ovt_skip_space(&c->reader, here.at);
    c->text->end = here.out;
    return here.at == c->reader.end ? here : fail(c, OVT_TEXT_EXTRA, here);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Moves a text to `out`, which is empty and has no hash. */
static void take_over(ovt_buffer *out, ovt_buffer *text) {
    ovt_buffer_release(out);
    out->data = text->data;
    out->end = text->end;
    out->limit = text->limit;
    text->data = text->caller_data;
}

/* The text in `out` itself, with all members in order. */
static ovt_status arrange_output(canonicalizer *c, ovt_buffer *out) {
    ovt_buffer arranged;
    ovt_buffer_init(&arranged, c->inline_text, 0, NULL);
    arranged.spare = out->spare;
    ovt_status status = OVT_NO_MEMORY;
    if (ovt_buffer_reserve(&arranged, ovt_buffer_length(out) + SLACK)) {
        status = ovt_write_arranged(&arranged, &c->arrangement, out->data, ovt_buffer_length(out),
                                    c->frames[0].head);
    }
    if (status == OVT_OK) {
        take_over(out, &arranged);
    } else {
        ovt_buffer_release(&arranged);
    }
    return status;
}

/* Hands the canonical text over to `out`, if it is not there already. */
static ovt_status deliver(canonicalizer *c, ovt_buffer *out) {
    c->text->end--; /* without the comma */
    const bool is_arranged = c->frames[0].head == OVT_NOWHERE;
    if (c->text == out) {
        return is_arranged ? OVT_OK : arrange_output(c, out);
    }
    const size_t length = ovt_buffer_length(c->text);
    if (!is_arranged) {
        return ovt_write_arranged(out, &c->arrangement, c->text->data, length, c->frames[0].head);
    }
    return ovt_append_span(out, c->text->data, length);
}

static bool start(canonicalizer *c, const ovt_text_options *options, ovt_buffer *out,
                  size_t length) {
    c->profile = options->profile;
    c->options = options;
    c->is_left_out = false;
    c->frames = c->inline_frames;
    c->depth = 0;
    c->frame_capacity = INLINE_FRAMES;
    c->frames[0] = (frame){.head = OVT_NOWHERE, .tail = OVT_NOWHERE};
    c->members = c->inline_members;
    c->places = c->inline_places;
    c->order = c->inline_order;
    c->member_count = 0;
    c->member_capacity = INLINE_MEMBERS;
    c->arrangement = (ovt_arrangement){0};
    c->arena = (ovt_arena){0};
    c->is_out_of_memory = false;
    ovt_buffer_init(&c->own_text, c->inline_text, sizeof c->inline_text, NULL);
    /* An output that keeps everything and is still empty is where the text is written. */
    c->text = out->hash == NULL && ovt_buffer_length(out) == 0 ? out : &c->own_text;
    return length <= SIZE_MAX / 4 && ovt_buffer_reserve(c->text, length + SLACK);
}

static void release(canonicalizer *c) {
    ovt_buffer_release(&c->own_text);
    ovt_arrangement_release(&c->arrangement);
    ovt_arena_release(&c->arena, (ovt_arena_mark){0});
    if (c->frames != c->inline_frames) {
        free(c->frames);
    }
    if (c->members != c->inline_members) {
        free(c->members);
    }
}

ovt_status ovt_canonical_text(ovt_buffer *out, const char *text, size_t length,
                              const ovt_text_options *options, ovt_text_error *error) {
    canonicalizer c;
    ovt_status status = OVT_NO_MEMORY;
    if (start(&c, options, out, length)) {
        const uint8_t *const at = ovt_reader_start(&c.reader, text, length);
        const cursor end = read_text(&c, (cursor){at, c.text->end});
        if (end.at != NULL) {
            status = deliver(&c, out);
        } else if (!c.is_out_of_memory) {
            status = OVT_TEXT;
            *error = (ovt_text_error){c.reader.error, c.reader.error_offset};
        }
    }
    if (status != OVT_OK && c.text == out) {
        out->end = out->data;
    }
    release(&c);
    return status;
}
