#include "call_line.h"

#include <stdlib.h>

#include "growth.h"
#include "key_order.h"
#include "text_digest.h"
#include "text_string.h"

/* ---- members --------------------------------------------------------------------------------- */

static bool add_span(ovt_member_spans *members, size_t *capacity, ovt_member_span span) {
    if (members->count == *capacity) {
        ovt_member_span *const spans =
            ovt_grown(members->spans, NULL, 0, capacity, members->count + 1, sizeof span);
        if (spans == NULL) {
            return false;
        }
        members->spans = spans;
    }
    members->spans[members->count++] = span;
    return true;
}

/* Reads the member at `at`, and the white space after it. NULL if something is wrong. */
static const uint8_t *read_member(ovt_reader *reader, const uint8_t *at, size_t max_depth,
                                  ovt_member_span *span) {
    if (*at != '"') {
        return ovt_reader_fail(reader, OVT_TEXT_EXPECTED_NAME, at);
    }
    span->name_start = ovt_reader_offset(reader, at);
    at = ovt_skip_string(reader, at + 1);
    if (at == NULL) {
        return NULL;
    }
    span->name_end = ovt_reader_offset(reader, at);
    at = ovt_skip_colon(reader, at);
    if (at == NULL) {
        return NULL;
    }
    span->value_start = ovt_reader_offset(reader, at);
    at = ovt_skip_value(reader, at, max_depth);
    if (at == NULL) {
        return NULL;
    }
    span->value_end = ovt_reader_offset(reader, at);
    return ovt_skip_space(reader, at);
}

/* Reads the object at `at`; returns the position past it. */
static const uint8_t *read_object(ovt_reader *reader, const uint8_t *at, size_t max_depth,
                                  ovt_member_spans *members) {
    size_t capacity = 0;
    at = ovt_skip_space(reader, at + 1);
    if (*at == '}') {
        return at + 1;
    }
    for (;;) {
        ovt_member_span span = {0};
        at = read_member(reader, at, max_depth, &span);
        if (at == NULL || !add_span(members, &capacity, span)) {
            return NULL;
        }
        if (*at == '}') {
            return at + 1;
        }
        if (*at != ',') {
            return ovt_reader_fail(reader, OVT_TEXT_EXPECTED_COMMA_OR_BRACE, at);
        }
        at = ovt_skip_space(reader, at + 1);
    }
}

ovt_status ovt_read_members(ovt_member_spans *members, const char *text, size_t length,
                            size_t max_depth, ovt_text_error *error) {
    ovt_reader reader;
    const uint8_t *at = ovt_reader_start(&reader, text, length);
    at = ovt_skip_space(&reader, at);
    *members = (ovt_member_spans){
        .start = ovt_reader_offset(&reader, at),
        .is_object = *at == '{',
    };
    at = members->is_object ? read_object(&reader, at, max_depth, members)
                            : ovt_skip_value(&reader, at, max_depth);
    if (at != NULL) {
        at = ovt_skip_space(&reader, at);
        if (at == reader.end) {
            return OVT_OK;
        }
        ovt_reader_fail(&reader, OVT_TEXT_EXTRA, at);
    }
    free(members->spans);
    members->spans = NULL;
    *error = (ovt_text_error){reader.error, reader.error_offset};
    return reader.error == 0 ? OVT_NO_MEMORY : OVT_TEXT;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const char *const field_names[OVT_CALL_FIELD_COUNT] = {
    [OVT_CALL_KIND] = "kind",
    [OVT_CALL_NAME] = "name",
    [OVT_CALL_ARGS] = "args",
    [OVT_CALL_MATCH_ON] = "matchOn",
    [OVT_CALL_IGNORE_ARGS] = "ignoreArgs",
};

/* Whether the characters of a string of the text, without its quotes, are those of an ASCII word.
 */
static bool spells(ovt_call_part string, const char *word) {
    size_t at = 0;
    while (at < string.length && *word != 0) {
        if (string.start[at] == '\\') {
            const ovt_escape escape = ovt_read_unit((const uint8_t *)string.start + at);
            if (escape.code_point != (uint8_t)*word) {
                return false;
            }
            at += escape.length;
        } else if (string.start[at++] != *word) {
            return false;
        }
        word++;
    }
    return at == string.length && *word == 0;
}

static ovt_call_part without_quotes(ovt_call_part string) {
    return (ovt_call_part){string.start + 1, string.length - 2};
}

static void find_fields(ovt_call *c, const ovt_member_spans *members) {
    for (size_t i = 0; i < members->count; i++) {
        const ovt_member_span *span = &members->spans[i];
        const ovt_call_part name = {c->text + span->name_start, span->name_end - span->name_start};
        for (int field = 0; field < OVT_CALL_FIELD_COUNT; field++) {
            if (spells(without_quotes(name), field_names[field])) {
                c->fields[field] = (ovt_call_part){c->text + span->value_start,
                                                   span->value_end - span->value_start};
            }
        }
    }
}

static bool fail(const ovt_call *c, ovt_call_reason reason, ovt_call_field field, size_t item,
                 const char *where) {
    const size_t offset = where == NULL ? c->start : (size_t)(where - c->text);
    *c->error = (ovt_call_error){reason, field, item, offset};
    return false;
}

/* Checks all of a call but the items of its arrays, in the order of the fields' importance. */
static bool check_fields(const ovt_call *c) {
    for (int field = OVT_CALL_NAME; field <= OVT_CALL_ARGS; field++) {
        if (c->fields[field].start == NULL) {
            return fail(c, OVT_CALL_MISSING, (ovt_call_field)field, 0, NULL);
        }
    }
    for (int field = OVT_CALL_KIND; field <= OVT_CALL_NAME; field++) {
        const char *start = c->fields[field].start;
        if (start != NULL && *start != '"') {
            return fail(c, OVT_CALL_NO_STRING, (ovt_call_field)field, 0, start);
        }
    }
    return true;
}

bool ovt_call_append_string(ovt_buffer *out, ovt_call_part string, ovt_lone_surrogates lone) {
    string = without_quotes(string);
    if (!ovt_buffer_reserve(out, string.length + OVT_STRING_SLACK)) {
        return false;
    }
    out->end += ovt_unescape(out->end, string.start, string.length, lone);
    return true;
}

ovt_status ovt_call_write_prefix(ovt_buffer *out, const ovt_call *c) {
    const ovt_call_part kind = c->fields[OVT_CALL_KIND];
    if (kind.start == NULL) {
        if (!ovt_buffer_append(out, "tool_call", 9)) {
            return OVT_NO_MEMORY;
        }
    } else {
        const size_t before = ovt_buffer_length(out);
        if (!ovt_call_append_string(out, kind, OVT_REPLACE_LONE)) {
            return OVT_NO_MEMORY;
        }
        if (memchr(out->data + before, '\n', ovt_buffer_length(out) - before) != NULL) {
            fail(c, OVT_CALL_NEWLINE, OVT_CALL_KIND, 0, kind.start);
            return OVT_CALL;
        }
    }
    const bool is_written =
        ovt_buffer_append(out, "\n", 1) &&
        ovt_call_append_string(out, c->fields[OVT_CALL_NAME], OVT_REPLACE_LONE) &&
        ovt_buffer_append(out, "\n", 1);
    return is_written ? OVT_OK : OVT_NO_MEMORY;
}

ovt_status ovt_call_write_names(ovt_buffer *out, const ovt_call *c, ovt_call_field field) {
    const ovt_call_part array = c->fields[field];
    if (array.start == NULL || *array.start == 'n') {
        return OVT_OK;
    }
    if (*array.start != '[') {
        fail(c, OVT_CALL_NO_ARRAY, field, 0, array.start);
        return OVT_CALL;
    }
    ovt_reader reader;
    const uint8_t *at = ovt_reader_start(&reader, array.start, array.length);
    at = ovt_skip_space(&reader, at + 1);
    for (size_t item = 0; *at != ']'; item++) {
        const size_t start = ovt_reader_offset(&reader, at);
        if (*at != '"') {
            fail(c, OVT_CALL_ITEM, field, item, array.start + start);
            return OVT_CALL;
        }
        at = ovt_skip_string(&reader, at + 1);
        const ovt_call_part name = {array.start + start, ovt_reader_offset(&reader, at) - start};
        if (!ovt_call_append_string(out, name, OVT_KEEP_LONE) || !ovt_buffer_reserve(out, 1)) {
            return OVT_NO_MEMORY;
        }
        ovt_buffer_put(out, (char)OVT_END_OF_NAME);
        at = ovt_skip_space(&reader, at);
        if (*at == ',') {
            at = ovt_skip_space(&reader, at + 1);
        }
    }
    return OVT_OK;
}

/* The digest of a call whose fields are what they should be. */
static ovt_status digest_call(char hex[OVT_SHA256_HEX_SIZE], const ovt_call *c, size_t max_depth,
                              ovt_text_error *error) {
    char prefix_storage[256], match_storage[256], ignore_storage[256];
    ovt_buffer prefix, match, ignore;
    ovt_buffer_init(&prefix, prefix_storage, sizeof prefix_storage, NULL);
    ovt_buffer_init(&match, match_storage, sizeof match_storage, NULL);
    ovt_buffer_init(&ignore, ignore_storage, sizeof ignore_storage, NULL);
    ovt_status status = ovt_call_write_prefix(&prefix, c);
    if (status == OVT_OK) {
        status = ovt_call_write_names(&match, c, OVT_CALL_MATCH_ON);
    }
    if (status == OVT_OK) {
        status = ovt_call_write_names(&ignore, c, OVT_CALL_IGNORE_ARGS);
    }
    if (status == OVT_OK) {
        const bool drops = ovt_buffer_length(&match) == 0;
        const ovt_buffer *names = drops ? &ignore : &match;
        const ovt_call_part args = c->fields[OVT_CALL_ARGS];
        const ovt_digest_request request = {
            .profile = &ovt_profiles[OVT_PROFILE_OVERTURN],
            .max_depth = max_depth,
            .prefix = {prefix.data, ovt_buffer_length(&prefix)},
            .text = {args.start, args.length},
            .names = {names->data, ovt_buffer_length(names)},
            .drops = drops,
        };
        status = ovt_digest_text(hex, &request, error);
        if (status == OVT_TEXT) {
            error->offset += (size_t)(args.start - c->text);
        }
    }
    ovt_buffer_release(&prefix);
    ovt_buffer_release(&match);
    ovt_buffer_release(&ignore);
    return status;
}

ovt_status ovt_call_read(ovt_call *c, const char *text, size_t length, size_t max_depth,
                         ovt_text_error *error, ovt_call_error *call_error) {
    ovt_member_spans members;
    const ovt_status status = ovt_read_members(&members, text, length, max_depth, error);
    if (status != OVT_OK) {
        return status;
    }
    *c = (ovt_call){.text = text, .start = members.start, .error = call_error};
    if (!members.is_object) {
        fail(c, OVT_CALL_NO_OBJECT, OVT_CALL_KIND, 0, NULL);
        return OVT_CALL;
    }
    find_fields(c, &members);
    free(members.spans);
    return check_fields(c) ? OVT_OK : OVT_CALL;
}

ovt_status ovt_call_digest(char hex[OVT_SHA256_HEX_SIZE], const char *text, size_t length,
                           size_t max_depth, ovt_text_error *error, ovt_call_error *call_error) {
    ovt_call c;
    const ovt_status status = ovt_call_read(&c, text, length, max_depth, error, call_error);
    return status == OVT_OK ? digest_call(hex, &c, max_depth, error) : status;
}
