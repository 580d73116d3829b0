#include "text_string.h"

#include "string_write.h"

/* ---- copying --------------------------------------------------------------------------------- */

static bool is_surrogate(uint32_t code_point) {
    return (code_point & 0xFFFFF800u) == 0xD800;
}

/* Writes what the escape at `at` stands for. Returns the position past it, NULL if it is wrong. */
static const uint8_t *copy_escape(ovt_reader *reader, const uint8_t *at, char **out,
                                  bool escape_surrogates, ovt_string_traits *traits) {
    const ovt_escape escape = ovt_read_escape(at);
    if (OVT_UNLIKELY(escape.length == 0)) {
        return ovt_reader_fail(reader, OVT_TEXT_ESCAPE, at);
    }
    const uint32_t code_point = escape.code_point;
    if (ovt_needs_escape(code_point)) {
        *out = ovt_put_escape(*out, (uint8_t)code_point);
    } else if (OVT_UNLIKELY(is_surrogate(code_point))) {
        if (!escape_surrogates) {
            return ovt_reader_fail(reader, OVT_TEXT_LONE_SURROGATE, at);
        }
        *out = ovt_put_hex_escape(*out, code_point);
    } else {
        *out = ovt_put_utf8(*out, code_point);
        traits->has_high |= code_point >= 0xE000;
    }
    return at + escape.length;
}

/* Copies well-formed sequences as long as they follow each other and stay in reach of `start`. */
static inline const uint8_t *copy_sequences(ovt_reader *reader, const uint8_t *at,
                                            const uint8_t *start, char **out,
                                            ovt_string_traits *traits) {
    char *to = *out;
    bool has_high = false;
    do {
        const unsigned length = ovt_utf8_length(at);
        if (OVT_UNLIKELY(length == 0)) {
            return ovt_reader_fail(reader, ovt_utf8_reason(at), at);
        }
        has_high |= *at >= OVT_FIRST_ABOVE_SURROGATES;
        memcpy(to, at, OVT_LONGEST_SEQUENCE);
        to += length;
        at += length;
    } while (*at >= 0x80 && at - start < OVT_STRING_REACH - OVT_LONGEST_SEQUENCE);
    traits->has_high |= has_high;
    *out = to;
    return at;
}

/* The bytes that after a backslash make an escape which canonical text has too. */
static const bool is_kept_escape[256] = {
    ['"'] = true, ['\\'] = true, ['b'] = true, ['f'] = true,
    ['n'] = true, ['r'] = true,  ['t'] = true,
};

const uint8_t *ovt_copy_string(ovt_reader *reader, const uint8_t *at, char **out,
                               bool escape_surrogates, ovt_string_traits *traits) {
    *traits = (ovt_string_traits){.is_ascii = true};
    char *to = *out;
    do {
        at = ovt_ready(reader, at);
        const ovt_block block = ovt_block_load(at);
        ovt_block_store(to, block);
        const uint64_t marks = ovt_string_marks(block);
        if (OVT_LIKELY(marks == 0)) {
            at += OVT_PUT_STEP;
            to += OVT_PUT_STEP;
            continue;
        }
        const uint8_t *const start = at;
        const unsigned plain = ovt_first_mark(marks);
        at += plain;
        to += plain;
        if (*at == '"') {
            *out = to;
            return at + 1;
        }
        if (*at == '\\') {
            traits->has_escapes = true;
            if (OVT_LIKELY(is_kept_escape[at[1]])) {
                memcpy(to, at, 2);
                at += 2;
                to += 2;
            } else {
                at = copy_escape(reader, at, &to, escape_surrogates, traits);
            }
        } else if (*at >= 0x80) {
            traits->is_ascii = false;
            at = copy_sequences(reader, at, start, &to, traits);
        } else {
            at = ovt_reader_fail(reader, OVT_TEXT_CONTROL_CHARACTER, at);
        }
    } while (at != NULL);
    return NULL;
}

/* ---- canonical strings ----------------------------------------------------------------------- */

/* The character that starts at `at`, before `end`, in a canonical string; *length is what it takes
 * there. */
static uint32_t character_at(const char *at, size_t *length) {
    const uint8_t *bytes = (const uint8_t *)at;
    if (bytes[0] == '\\') {
        const ovt_escape escape = ovt_read_unit(bytes);
        *length = escape.length;
        return escape.code_point;
    }
    if (bytes[0] < 0x80) {
        *length = 1;
        return bytes[0];
    }
    if (bytes[0] < 0xE0) {
        *length = 2;
        return (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
    }
    if (bytes[0] < 0xF0) {
        *length = 3;
        return (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
    }
    *length = 4;
    return (bytes[0] & 0x07u) << 18 | (bytes[1] & 0x3Fu) << 12 | (bytes[2] & 0x3Fu) << 6 |
           (bytes[3] & 0x3Fu);
}

/* Whether the backslash at `at` starts an escape: an even number of others stands before it. */
static bool starts_escape(const char *start, const char *at) {
    const char *first = at;
    while (first > start && first[-1] == '\\') {
        first--;
    }
    return (at - first) % 2 == 0;
}

/* Where the last character before `end` starts; there is one. */
static char *last_character(char *start, char *end) {
    const size_t count = (size_t)(end - start);
    if (count >= 2 && end[-2] == '\\' && starts_escape(start, end - 2)) {
        return end - 2;
    }
    if (count >= 6 && end[-6] == '\\' && end[-5] == 'u' && starts_escape(start, end - 6)) {
        return end - 6;
    }
    char *first = end - 1;
    while (first > start && ((uint8_t)*first & 0xC0) == 0x80) {
        first--;
    }
    return first;
}

char *ovt_trim_canonical(char *start, char *end) {
    size_t length;
    char *last;
    while (end > start &&
           (last = last_character(start, end), ovt_is_space(character_at(last, &length)))) {
        end = last;
    }
    const char *first = start;
    while (first < end && ovt_is_space(character_at(first, &length))) {
        first += length;
    }
    if (first == start) {
        return end;
    }
    memmove(start, first, (size_t)(end - first));
    return start + (end - first);
}

size_t ovt_unescape(char *out, const char *text, size_t length, ovt_lone_surrogates lone) {
    char *const start = out;
    for (size_t i = 0; i < length;) {
        if (text[i] != '\\') {
            *out++ = text[i++];
            continue;
        }
        const uint8_t *const at = (const uint8_t *)text + i;
        const ovt_escape escape = length - i >= 12 ? ovt_read_escape(at) : ovt_read_unit(at);
        const bool replaces = lone == OVT_REPLACE_LONE && is_surrogate(escape.code_point);
        out = ovt_put_utf8(out, replaces ? 0xFFFD : escape.code_point);
        i += escape.length;
    }
    return (size_t)(out - start);
}
