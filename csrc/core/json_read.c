#include "json_read.h"

#include <stdlib.h>

#include "number_read.h"

/* ---- the reader ------------------------------------------------------------------------------ */

static const char byte_order_mark[] = "\xEF\xBB\xBF";

const uint8_t *ovt_reader_start(ovt_reader *reader, const char *text, size_t length) {
    reader->text = (const uint8_t *)text;
    reader->length = length;
    reader->segment = reader->text;
    reader->segment_offset = 0;
    reader->end = reader->text + length;
    reader->error = 0;
    reader->error_offset = 0;
    if (length <= OVT_SHORT_TEXT) {
        return ovt_reader_enter_tail(reader, reader->text);
    }
    reader->safe_end = reader->end - OVT_READ_AHEAD + 1;
    return reader->text;
}

OVT_NEVER_INLINE const uint8_t *ovt_reader_enter_tail(ovt_reader *reader, const uint8_t *at) {
    const size_t left = (size_t)(reader->end - at);
    const size_t offset = ovt_reader_offset(reader, at);
    if (left != 0) {
        memcpy(reader->padded, at, left);
    }
    memset(reader->padded + left, 0, OVT_READ_AHEAD);
    reader->segment = reader->padded;
    reader->segment_offset = offset;
    reader->end = reader->padded + left;
    reader->safe_end = reader->padded + sizeof reader->padded; /* there is no other tail */
    return reader->padded;
}

static bool starts_with(const ovt_reader *reader, const uint8_t *at, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(reader->end - at) >= length && memcmp(at, word, length) == 0;
}

/* The reason why no value starts at `at`. */
static ovt_text_reason value_reason(const ovt_reader *reader, const uint8_t *at) {
    if (starts_with(reader, at, "NaN") || starts_with(reader, at, "Infinity")) {
        return OVT_TEXT_NOT_FINITE;
    }
    const bool is_first = ovt_reader_offset(reader, at) == 0;
    return is_first && starts_with(reader, at, byte_order_mark) ? OVT_TEXT_BYTE_ORDER_MARK
                                                                : OVT_TEXT_EXPECTED_VALUE;
}

/* Whether a byte that is not ASCII starts no character. */
static bool is_ill_formed(const ovt_reader *reader, const uint8_t *at) {
    uint8_t bytes[OVT_LONGEST_SEQUENCE] = {0};
    const size_t left = (size_t)(reader->end - at);
    memcpy(bytes, at, left < sizeof bytes ? left : sizeof bytes);
    return ovt_utf8_length(bytes) == 0;
}

OVT_NEVER_INLINE const uint8_t *ovt_reader_fail(ovt_reader *reader, ovt_text_reason reason,
                                                const uint8_t *at) {
    if (at == reader->end) {
        reason = OVT_TEXT_UNEXPECTED_END;
    } else if (reason <= OVT_TEXT_EXTRA && *at >= 0x80 && is_ill_formed(reader, at)) {
        reason = OVT_TEXT_UTF8;
    } else if (reason == OVT_TEXT_EXPECTED_VALUE) {
        reason = value_reason(reader, at);
    }
    reader->error = reason;
    reader->error_offset = ovt_reader_offset(reader, at);
    return NULL;
}

const uint8_t *ovt_reader_fail_number(ovt_reader *reader, const uint8_t *at, size_t error_at) {
    return starts_with(reader, at, "-Infinity")
               ? ovt_reader_fail(reader, OVT_TEXT_NOT_FINITE, at)
               : ovt_reader_fail(reader, OVT_TEXT_EXPECTED_DIGIT, at + error_at);
}

/* ---- white space ----------------------------------------------------------------------------- */

static inline bool is_white_space(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* How many spaces there are from `at` on, counted up to 16. */
static inline unsigned count_spaces(const uint8_t *at) {
#if OVT_X86_64
    const __m128i is_space = _mm_cmpeq_epi8(ovt_block_load(at), _mm_set1_epi8(' '));
    return (unsigned)ovt_trailing_zeros(~(uint64_t)(unsigned)_mm_movemask_epi8(is_space));
#else
    const uint64_t spaces = UINT64_C(0x2020202020202020);
    const uint64_t head = ovt_load_le64(at) ^ spaces;
    if (head != 0) {
        return (unsigned)ovt_trailing_zeros(head) / 8;
    }
    const uint64_t tail = ovt_load_le64(at + 8) ^ spaces;
    return 8 + (tail != 0 ? (unsigned)ovt_trailing_zeros(tail) / 8 : 8);
#endif
}

OVT_NEVER_INLINE const uint8_t *ovt_skip_long_space(ovt_reader *reader, const uint8_t *at) {
    for (;;) {
        at = ovt_ready(reader, at);
        if (*at == ' ') {
            at += count_spaces(at);
        } else if (is_white_space(*at)) {
            at++;
        } else {
            return at;
        }
    }
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The value of each hexadecimal digit, plus one. */
static const uint8_t hex_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* What a backslash and this byte stand for; 0 if nothing. */
static const uint8_t short_escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* The code unit of the escape \uXXXX at `at`; false if it is none. */
static bool read_hex_escape(const uint8_t *at, uint32_t *unit) {
    if (at[0] != '\\' || at[1] != 'u') {
        return false;
    }
    uint32_t value = 0;
    for (int i = 2; i < 6; i++) {
        const uint32_t digit = hex_values[at[i]];
        if (digit == 0) {
            return false;
        }
        value = value << 4 | (digit - 1);
    }
    *unit = value;
    return true;
}

ovt_escape ovt_read_unit(const uint8_t *at) {
    const uint8_t plain = short_escapes[at[1]];
    if (plain != 0) {
        return (ovt_escape){2, plain};
    }
    uint32_t unit;
    return read_hex_escape(at, &unit) ? (ovt_escape){6, unit} : (ovt_escape){0, 0};
}

ovt_escape ovt_read_escape(const uint8_t *at) {
    const ovt_escape first = ovt_read_unit(at);
    uint32_t next;
    if ((first.code_point & 0xFFFFFC00u) == 0xD800 && read_hex_escape(at + 6, &next) &&
        (next & 0xFFFFFC00u) == 0xDC00) {
        const uint32_t above = (first.code_point - 0xD800) << 10 | (next - 0xDC00);
        return (ovt_escape){12, 0x10000 + above};
    }
    return first;
}

ovt_text_reason ovt_utf8_reason(const uint8_t *at) {
    const bool is_surrogate = at[0] == 0xED && (at[1] & 0xE0) == 0xA0 && (at[2] & 0xC0) == 0x80;
    return is_surrogate ? OVT_TEXT_RAW_SURROGATE : OVT_TEXT_UTF8;
}

const uint8_t *ovt_skip_string(ovt_reader *reader, const uint8_t *at) {
    for (;;) {
        at = ovt_ready(reader, at);
        const uint64_t marks = ovt_string_marks(ovt_block_load(at));
        if (OVT_LIKELY(marks == 0)) {
            at += OVT_PUT_STEP;
            continue;
        }
        at += ovt_first_mark(marks);
        if (*at == '"') {
            return at + 1;
        }
        unsigned length;
        if (*at == '\\') {
            length = ovt_read_escape(at).length;
            if (length == 0) {
                return ovt_reader_fail(reader, OVT_TEXT_ESCAPE, at);
            }
        } else if (*at < 0x80) {
            return ovt_reader_fail(reader, OVT_TEXT_CONTROL_CHARACTER, at);
        } else {
            length = ovt_utf8_length(at);
            if (length == 0) {
                return ovt_reader_fail(reader, ovt_utf8_reason(at), at);
            }
        }
        at += length;
    }
}

/* ---- whole values ---------------------------------------------------------------------------- */

/* The kinds of the open containers, one bit each: set for an object. */
typedef struct {
    uint64_t inline_words[4];
    uint64_t *words;
    size_t capacity; /* in words */
    size_t depth;
} kind_stack;

static inline bool is_in_object(const kind_stack *kinds) {
    const size_t top = kinds->depth - 1;
    return (kinds->words[top / 64] >> (top % 64) & 1) != 0;
}

static bool push_kind(kind_stack *kinds, bool is_object) {
    const size_t word = kinds->depth / 64;
    if (word == kinds->capacity) {
        const size_t capacity = kinds->capacity * 4;
        uint64_t *const old = kinds->words == kinds->inline_words ? NULL : kinds->words;
        uint64_t *const words = realloc(old, capacity * sizeof *words);
        if (words == NULL) {
            return false;
        }
        if (old == NULL) {
            memcpy(words, kinds->inline_words, sizeof kinds->inline_words);
        }
        kinds->words = words;
        kinds->capacity = capacity;
    }
    const uint64_t bit = UINT64_C(1) << (kinds->depth % 64);
    kinds->words[word] = is_object ? kinds->words[word] | bit : kinds->words[word] & ~bit;
    kinds->depth++;
    return true;
}

static const uint8_t *skip_number(ovt_reader *reader, const uint8_t *at) {
    ovt_number number;
    ovt_read_number((const char *)at, (const char *)reader->end, &number);
    if (number.length == 0) {
        return ovt_reader_fail_number(reader, at, number.error_at);
    }
    return at + number.length;
}

const uint8_t *ovt_skip_scalar(ovt_reader *reader, const uint8_t *at) {
    switch (*at) {
    case '"':
        return ovt_skip_string(reader, at + 1);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return skip_number(reader, at);
    case 't':
        return ovt_is_word(at, "true") ? at + 4
                                       : ovt_reader_fail(reader, OVT_TEXT_EXPECTED_VALUE, at);
    case 'n':
        return ovt_is_word(at, "null") ? at + 4
                                       : ovt_reader_fail(reader, OVT_TEXT_EXPECTED_VALUE, at);
    case 'f':
        return ovt_is_word(at + 1, "alse") ? at + 5
                                           : ovt_reader_fail(reader, OVT_TEXT_EXPECTED_VALUE, at);
    default:
        return ovt_reader_fail(reader, OVT_TEXT_EXPECTED_VALUE, at);
    }
}

/* The start of a member's value: past its name and the colon. */
static const uint8_t *skip_name(ovt_reader *reader, const uint8_t *at) {
    if (*at != '"') {
        return ovt_reader_fail(reader, OVT_TEXT_EXPECTED_NAME, at);
    }
    at = ovt_skip_string(reader, at + 1);
    if (at == NULL) {
        return NULL;
    }
    return ovt_skip_colon(reader, at);
}

/* Opens containers at `at` until a scalar or an empty container comes; returns past it. */
static const uint8_t *skip_first(ovt_reader *reader, const uint8_t *at, kind_stack *kinds,
                                 size_t max_depth) {
    while (*at == '[' || *at == '{') {
        const bool is_object = *at == '{';
        if (kinds->depth >= max_depth) {
            return ovt_reader_fail(reader, OVT_TEXT_DEPTH, at);
        }
        at = ovt_skip_space(reader, at + 1);
        if (*at == (is_object ? '}' : ']')) {
            return at + 1;
        }
        if (!push_kind(kinds, is_object)) {
            return NULL;
        }
        if (is_object) {
            at = skip_name(reader, at);
            if (at == NULL) {
                return NULL;
            }
        }
    }
    return ovt_skip_scalar(reader, at);
}

/* Closes the containers that end after a value; returns where the next value starts, or the end of
 * all of it. */
static const uint8_t *skip_ends(ovt_reader *reader, const uint8_t *at, kind_stack *kinds) {
    while (kinds->depth != 0) {
        const bool is_object = is_in_object(kinds);
        at = ovt_skip_space(reader, at);
        if (*at == ',') {
            at = ovt_skip_space(reader, at + 1);
            return is_object ? skip_name(reader, at) : at;
        }
        if (*at != (is_object ? '}' : ']')) {
            return ovt_reader_fail(reader,
                                   is_object ? OVT_TEXT_EXPECTED_COMMA_OR_BRACE
                                             : OVT_TEXT_EXPECTED_COMMA_OR_BRACKET,
                                   at);
        }
        kinds->depth--;
        at++;
    }
    return at;
}

const uint8_t *ovt_skip_value(ovt_reader *reader, const uint8_t *at, size_t max_depth) {
    kind_stack kinds = {.capacity = sizeof kinds.inline_words / sizeof *kinds.inline_words};
    kinds.words = kinds.inline_words;
    do {
        at = skip_first(reader, at, &kinds, max_depth);
        if (at != NULL) {
            at = skip_ends(reader, at, &kinds);
        }
    } while (at != NULL && kinds.depth != 0);
    if (kinds.words != kinds.inline_words) {
        free(kinds.words);
    }
    return at;
}
