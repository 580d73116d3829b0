/* The members of an object, and the order of their keys.
 *
 * Keys are UTF-8 (WTF-8 where they hold lone surrogates), in which byte order is code-point order;
 * UTF-16 order differs from it in two bytes that start a character and is compared in place, too.
 * Sorting is stable. Up to 16 keys are ranked by comparing all with all, which takes no branch to
 * guess, and somewhat more are merged from runs ranked like that. Many are put into buckets by the
 * first bytes in which they differ, as many bytes as give about a bucket for each key; what a
 * bucket holds is sorted by what comes after. Cost: each byte of a key is read about once or twice,
 * and each key moved about four times for every eight bytes that it takes to tell it from the
 * others. */
#ifndef OVT_KEY_ORDER_H
#define OVT_KEY_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "status.h"

typedef struct {
    uint64_t prefix;  /* ovt_key_prefix of the key */
    const char *text; /* the key's bytes */
    size_t length;
    void *key;   /* whatever the caller keeps with it; not read here */
    void *value; /* likewise */
    bool has_surrogates;
} ovt_member;

/* The first eight bytes as a big-endian number, zeros after the last: a smaller prefix means a
 * smaller key, equal ones decide nothing. */
static inline uint64_t ovt_key_prefix(const char *text, size_t length) {
    if (OVT_LIKELY(length >= 8)) {
        return ovt_load_be64(text);
    }
    uint64_t prefix = 0;
    for (size_t i = 0; i < length; i++) {
        prefix |= (uint64_t)(uint8_t)text[i] << (56 - 8 * i);
    }
    return prefix;
}

/* The same for a text before which eight bytes may be read, as in a str with its header. */
static inline uint64_t ovt_key_prefix_with_header(const char *text, size_t length) {
    if (OVT_LIKELY(length >= 8)) {
        return ovt_load_be64(text);
    }
    return length == 0 ? 0 : ovt_load_be64(text + length - 8) << (8 * (8 - length));
}

/* The same for a text from which eight bytes may be read, however short it is. */
static inline uint64_t ovt_key_prefix_of_loadable(const char *text, size_t length) {
    const uint64_t word = ovt_load_be64(text);
    const size_t unused = length < 8 ? 8 - length : 0;
    return unused < 8 ? word >> (8 * unused) << (8 * unused) : 0;
}

/* A short key in a block of many. Its owner keeps in `note` and `size` what it likes; behind the
 * record stands a byte that is not looked at, and then the key. */
typedef struct {
    uint32_t note;
    uint16_t size;
    uint16_t key_length;
} ovt_key_record;

static inline const ovt_key_record *ovt_key_record_at(const char *records, uint64_t at) {
    return (const ovt_key_record *)(const void *)(records + at);
}

static inline const char *ovt_key_of_record(const ovt_key_record *record) {
    return (const char *)(record + 1) + 1;
}

/* What is moved when keys are sorted: the key's prefix, and where it is found. */
typedef struct {
    uint64_t prefix;
    uint64_t at;
} ovt_key_item;

/* Sorts items[0..count) by the keys of the records that lie at `at`, which hold no surrogates;
 * the prefixes are set, and changed here. items[count..2 * count) is scratch space. There are
 * more than a few. OVT_NO_MEMORY if there is no room for more of it. */
ovt_status ovt_sort_records(const char *records, ovt_key_item *items, size_t count, bool utf16);

/* Fills order[0..count) with the indices of `members` in key order: by code point, or by UTF-16
 * code unit. OVT_NO_MEMORY if there is no room for the scratch space that many keys need. */
ovt_status ovt_order_members(const ovt_member *members, uint32_t *order, size_t count, bool utf16);

/* Whether two keys have the same bytes. */
bool ovt_same_key(const ovt_member *a, const ovt_member *b);

#endif
