/* Strict reading of JSON text, token by token (RFC 8259, in UTF-8 as RFC 3629 defines it).
 *
 * A reader steps through one text and promises that OVT_READ_AHEAD bytes may be loaded at every
 * token's start, so that tokens are read by vector steps without a look at the end: the last bytes
 * of a text, and all of a short one, are read from a copy with zeros behind it. Zeros end every
 * token, and stand in no valid text. Not a byte outside the text itself is ever loaded.
 *
 * The functions take and give the position as a pointer, which belongs in a register. The first
 * thing that is wrong, in reading order, is recorded once, by offset and reason; nothing here
 * allocates. Cost: about one vector step for 16 bytes of a string's ASCII, one step for any other
 * character. */
#ifndef OVT_JSON_READ_H
#define OVT_JSON_READ_H

#include <stdbool.h>

#include "string_put.h"

/* What is wrong with a text. overturn_fast/_errors.py has the same numbers and words them. */
typedef enum {
    OVT_TEXT_UNEXPECTED_END = 1,
    OVT_TEXT_EXPECTED_VALUE = 2,
    OVT_TEXT_EXPECTED_NAME = 3,
    OVT_TEXT_EXPECTED_COLON = 4,
    OVT_TEXT_EXPECTED_COMMA_OR_BRACKET = 5,
    OVT_TEXT_EXPECTED_COMMA_OR_BRACE = 6,
    OVT_TEXT_EXPECTED_DIGIT = 7,
    OVT_TEXT_EXTRA = 8, /* something after the value; up to here, about tokens */
    OVT_TEXT_BYTE_ORDER_MARK = 9,
    OVT_TEXT_CONTROL_CHARACTER = 10,
    OVT_TEXT_ESCAPE = 11,
    OVT_TEXT_UTF8 = 12,
    OVT_TEXT_RAW_SURROGATE = 13,  /* three bytes that would be one, if UTF-8 allowed it */
    OVT_TEXT_LONE_SURROGATE = 14, /* an escape, under a profile that has no text for it */
    OVT_TEXT_NUMBER_RANGE = 15,   /* past the largest double, likewise */
    OVT_TEXT_DEPTH = 16,
    OVT_TEXT_DUPLICATE_NAME = 17,
    OVT_TEXT_NOT_FINITE = 18, /* NaN, Infinity or -Infinity, which other writers let pass */
} ovt_text_reason;

enum {
    OVT_READ_AHEAD = 80,     /* bytes that may be loaded at a token's start, and in its steps */
    OVT_SHORT_TEXT = 1024,   /* texts up to here are copied as a whole */
    OVT_STRING_REACH = 64,   /* how far a string's step may get from where it started */
    OVT_LONGEST_SEQUENCE = 4 /* bytes of a UTF-8 sequence */
};

typedef struct {
    const uint8_t *text; /* the caller's */
    size_t length;

    /* Where reading goes on: the text itself, or the copy of its last bytes. */
    const uint8_t *segment;
    size_t segment_offset;   /* in the text */
    const uint8_t *end;      /* of the text, in this segment */
    const uint8_t *safe_end; /* a token that starts before it may read ahead */

    size_t error_offset;
    ovt_text_reason error; /* 0 while nothing is wrong */
    uint8_t padded[OVT_SHORT_TEXT + OVT_READ_AHEAD];
} ovt_reader;

/* Starts reading; returns the position of the first byte. `text` may be NULL if `length` is 0. */
const uint8_t *ovt_reader_start(ovt_reader *reader, const char *text, size_t length);

/* Goes on in the copy of the last bytes; returns the position there. */
const uint8_t *ovt_reader_enter_tail(ovt_reader *reader, const uint8_t *at);

static inline size_t ovt_reader_offset(const ovt_reader *reader, const uint8_t *at) {
    return reader->segment_offset + (size_t)(at - reader->segment);
}

/* Records that the text is wrong at `at`. At its end that is always for the reason that it ends,
 * and where something else than a token stands, for the reason that it is no character, if it is
 * none. Returns NULL. */
const uint8_t *ovt_reader_fail(ovt_reader *reader, ovt_text_reason reason, const uint8_t *at);

/* The same for a number that ovt_read_number refuses at error_at, counted from its start at `at`.
 */
const uint8_t *ovt_reader_fail_number(ovt_reader *reader, const uint8_t *at, size_t error_at);

/* Makes sure that bytes can be loaded ahead from `at`; called where a token may start. */
OVT_ALWAYS_INLINE const uint8_t *ovt_ready(ovt_reader *reader, const uint8_t *at) {
    return OVT_LIKELY(at < reader->safe_end) ? at : ovt_reader_enter_tail(reader, at);
}

/* ---- white space ----------------------------------------------------------------------------- */

const uint8_t *ovt_skip_long_space(ovt_reader *reader, const uint8_t *at);

/* The first byte from `at` on that is no white space, ready to be read ahead from. */
OVT_ALWAYS_INLINE const uint8_t *ovt_skip_space(ovt_reader *reader, const uint8_t *at) {
    at = ovt_ready(reader, at);
    if (OVT_LIKELY(*at > ' ')) {
        return at;
    }
    if (OVT_LIKELY(*at == ' ' && at[1] > ' ')) {
        return at + 1;
    }
    return ovt_skip_long_space(reader, at);
}

/* The start of a member's value: past the colon after its name, which ends at `at`, and the space
 * around it. NULL without a colon. */
OVT_ALWAYS_INLINE const uint8_t *ovt_skip_colon(ovt_reader *reader, const uint8_t *at) {
    at = ovt_skip_space(reader, at);
    if (OVT_UNLIKELY(*at != ':')) {
        return ovt_reader_fail(reader, OVT_TEXT_EXPECTED_COLON, at);
    }
    return ovt_skip_space(reader, at + 1);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Marks of the bytes at which the plain part of a string ends: a quote, a backslash, a control
 * character, or the start of any character that is not ASCII. */
static inline uint64_t ovt_string_marks(ovt_block block) {
#if OVT_X86_64
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block);
    const __m128i quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i slashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    const __m128i either = _mm_or_si128(quotes, slashes);
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(controls, block), either));
#elif OVT_AARCH64
    const uint8x16_t quotes = vceqq_u8(block, vdupq_n_u8('"'));
    const uint8x16_t slashes = vceqq_u8(block, vdupq_n_u8('\\'));
    /* Less 0x20, the control characters are above the ASCII ones, like all others. */
    const uint8x16_t others = vcgeq_u8(vsubq_u8(block, vdupq_n_u8(0x20)), vdupq_n_u8(0x60));
    const uint8x16_t marks = vorrq_u8(others, vorrq_u8(quotes, slashes));
    const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(marks), 4);
    return vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
#else
    const uint64_t tops = UINT64_C(0x8080808080808080);
    const uint64_t head = block.head & tops, tail = block.tail & tops;
    unsigned first = ovt_first_escape_of_8(block.head);
    first = first < 8 ? first : 8 + ovt_first_escape_of_8(block.tail);
    unsigned other = head != 0 ? (unsigned)ovt_trailing_zeros(head) / 8 : 8;
    other = other < 8 ? other : 8 + (tail != 0 ? (unsigned)ovt_trailing_zeros(tail) / 8 : 8);
    first = first < other ? first : other;
    return first < OVT_PUT_STEP ? UINT64_C(1) << first : 0;
#endif
}

/* How many bytes the well-formed UTF-8 sequence at `at` has (RFC 3629 section 4); 0 if there is
 * none. The first byte is not ASCII; four bytes may be loaded. */
static inline unsigned ovt_utf8_length(const uint8_t *at) {
    const uint8_t lead = at[0], second = at[1];
    if (lead < 0xE0) {
        return lead >= 0xC2 && (second & 0xC0) == 0x80 ? 2 : 0;
    }
    if (lead < 0xF0) {
        const uint8_t least = lead == 0xE0 ? 0xA0 : 0x80, most = lead == 0xED ? 0x9F : 0xBF;
        const bool is_fine = second >= least && second <= most && (at[2] & 0xC0) == 0x80;
        return is_fine ? 3 : 0;
    }
    const uint8_t least = lead == 0xF0 ? 0x90 : 0x80, most = lead == 0xF4 ? 0x8F : 0xBF;
    const bool is_fine = lead <= 0xF4 && second >= least && second <= most &&
                         (at[2] & 0xC0) == 0x80 && (at[3] & 0xC0) == 0x80;
    return is_fine ? 4 : 0;
}

/* An escape sequence of a string. */
typedef struct {
    unsigned length;     /* bytes of it, a pair of surrogates counting as one; 0 if it is none */
    uint32_t code_point; /* what it stands for; a surrogate if that stands alone */
} ovt_escape;

/* Reads the escape that starts with the backslash at `at`; twelve bytes may be loaded. */
ovt_escape ovt_read_escape(const uint8_t *at);

/* The same for one code unit: nothing is read past it, and so no pair is joined. */
ovt_escape ovt_read_unit(const uint8_t *at);

/* The reason to give for what is no well-formed sequence. */
ovt_text_reason ovt_utf8_reason(const uint8_t *at);

/* The end of the string whose characters start at `at`: past the closing quote. NULL if something
 * is wrong. */
const uint8_t *ovt_skip_string(ovt_reader *reader, const uint8_t *at);

/* ---- digits ---------------------------------------------------------------------------------- */

/* How many digits there are from `at` on, counted up to 16; 16 bytes may be loaded. */
static inline unsigned ovt_count_digits(const uint8_t *at) {
    const ovt_block block = ovt_block_load(at);
#if OVT_X86_64
    const __m128i values = _mm_sub_epi8(block, _mm_set1_epi8('0'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
    return (unsigned)ovt_trailing_zeros(~(uint64_t)(unsigned)_mm_movemask_epi8(is_digit));
#elif OVT_AARCH64
    const uint8x16_t others = vcgtq_u8(vsubq_u8(block, vdupq_n_u8('0')), vdupq_n_u8(9));
    const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(others), 4);
    const uint64_t marks = vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
    return marks == 0 ? OVT_PUT_STEP : (unsigned)ovt_trailing_zeros(marks) / 4;
#else
    const uint64_t words[] = {block.head, block.tail};
    const uint64_t tops = UINT64_C(0x8080808080808080);
    unsigned count = 0;
    for (int i = 0; i < 2; i++) {
        const uint64_t values = words[i] ^ UINT64_C(0x3030303030303030);
        const uint64_t others = (((values & ~tops) + UINT64_C(0x7676767676767676)) | values) & tops;
        if (others != 0) {
            return count + (unsigned)ovt_trailing_zeros(others) / 8;
        }
        count += 8;
    }
    return count;
#endif
}

/* ---- literals -------------------------------------------------------------------------------- */

/* Whether the four bytes at `at` are those of `word`. */
static inline bool ovt_is_word(const uint8_t *at, const char word[4]) {
    return memcmp(at, word, 4) == 0;
}

/* ---- whole values ---------------------------------------------------------------------------- */

/* The end of the value that starts at `at` and is no container. NULL if something is wrong. */
const uint8_t *ovt_skip_scalar(ovt_reader *reader, const uint8_t *at);

/* The end of the value that starts at `at`, read without a trace: containers nest at most
 * `max_depth` levels. NULL if something is wrong; if memory runs out, with no error recorded. */
const uint8_t *ovt_skip_value(ovt_reader *reader, const uint8_t *at, size_t max_depth);

#endif
