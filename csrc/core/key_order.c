#include "key_order.h"

#include <stdlib.h>

#include "compiler.h"

enum {
    VERY_FEW = 8,         /* ranked by comparing all with all */
    FEW = 24,             /* sorted by insertion, on the stack */
    MANY = 192,           /* from here the counters of a radix pass pay */
    PREFIX_BYTES = 8,     /* compared as one number */
    RADIX = 256,          /* values of a byte */
    RADIX_PASSES = 2,     /* at a time */
    FIRST_OF_D000 = 0xED, /* first UTF-8 byte of U+D000 and up */
    FIRST_OF_FOUR = 0xF0, /* first UTF-8 byte of U+10000 and up */
};

/* A key's first bytes as a big-endian number, and which member it belongs to. */
typedef struct {
    uint64_t prefix;
    uint32_t index;
} sort_item;

/* ---- comparing keys ------------------------------------------------------------------------ */

bool ovt_same_key(const ovt_member *a, const ovt_member *b) {
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static inline int compare_keys(const ovt_member *a, const ovt_member *b) {
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int difference = memcmp(a->text, b->text, shorter);
    if (difference != 0) {
        return difference;
    }
    return (a->length > b->length) - (a->length < b->length);
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* By the prefixes, and where these are equal by the whole keys. */
static inline bool comes_before(const ovt_member *members, sort_item a, sort_item b) {
    if (OVT_LIKELY(a.prefix != b.prefix)) {
        return a.prefix < b.prefix;
    }
    return compare_keys(&members[a.index], &members[b.index]) < 0;
}

static void insertion_sort(const ovt_member *members, sort_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const sort_item item = items[i];
        size_t j = i;
        while (j > 0 && comes_before(members, item, items[j - 1])) {
            items[j] = items[j - 1];
            j--;
        }
        items[j] = item;
    }
}

/* Bottom-up: sorted runs of FEW items first, then merged pairwise. */
static void merge_sort(const ovt_member *members, sort_item *items, sort_item *scratch,
                       size_t count) {
    for (size_t start = 0; start < count; start += FEW) {
        insertion_sort(members, items + start, count - start < FEW ? count - start : FEW);
    }
    sort_item *from = items, *to = scratch;
    for (size_t width = FEW; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = count - start < width ? count : start + width;
            const size_t end = count - middle < width ? count : middle + width;
            size_t left = start, right = middle;
            for (size_t i = start; i < end; i++) {
                const bool take_right =
                    left == middle ||
                    (right < end && comes_before(members, from[right], from[left]));
                to[i] = take_right ? from[right++] : from[left++];
            }
        }
        sort_item *const swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}

/* ---- sorting by prefix alone, without branches to guess ---------------------------------- */

/* At most VERY_FEW items: each goes where the number of smaller ones says. Stable. */
static inline void rank_items(const sort_item *from, sort_item *to, size_t count) {
    uint32_t ranks[VERY_FEW];
    for (size_t i = 0; i < count; i++) {
        uint32_t rank = 0;
        for (size_t j = 0; j < i; j++) {
            const uint32_t stays_before = from[j].prefix <= from[i].prefix;
            rank += stays_before;
            ranks[j] += 1 - stays_before;
        }
        ranks[i] = rank;
    }
    for (size_t i = 0; i < count; i++) {
        to[ranks[i]] = from[i];
    }
}

/* Merges two sorted runs that follow each other. Stable. */
static inline void merge_runs(const sort_item *from, sort_item *to, size_t middle, size_t count) {
    size_t left = 0, right = middle, i = 0;
    while (left < middle && right < count) {
        const size_t takes_right = from[right].prefix < from[left].prefix;
        to[i++] = from[takes_right ? right : left];
        right += takes_right;
        left += 1 - takes_right;
    }
    memcpy(to + i, from + left, (middle - left) * sizeof *to);
    memcpy(to + i + (middle - left), from + right, (count - right) * sizeof *to);
}

/* Bottom-up from ranked runs of VERY_FEW. Stable. */
static void sort_by_prefix(sort_item *items, sort_item *scratch, size_t count) {
    sort_item *from = scratch, *to = items;
    for (size_t start = 0; start < count; start += VERY_FEW) {
        const size_t left = count - start;
        rank_items(items + start, scratch + start, left < VERY_FEW ? left : VERY_FEW);
    }
    for (size_t width = VERY_FEW; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t left = count - start;
            merge_runs(from + start, to + start, left < width ? left : width,
                       left < 2 * width ? left : 2 * width);
        }
        sort_item *const swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}

/* ---- many keys ----------------------------------------------------------------------------- */

/* Which bits of the prefixes a radix sort looks at: the first bytes in which they differ, and all
 * before them. 0 if they are all equal. */
static uint64_t deciding_bits(const sort_item *items, size_t count) {
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++) {
        differing |= items[i].prefix ^ items[0].prefix;
    }
    if (differing == 0) {
        return 0;
    }
    uint64_t bits = 0;
    int passes = 0;
    for (int shift = 56; shift >= 0 && passes < RADIX_PASSES; shift -= 8) {
        bits |= UINT64_C(0xFF) << shift;
        passes += (differing >> shift & 0xFF) != 0;
    }
    return bits;
}

/* Stable sort by the deciding bits alone, a pass for each of their bytes that is not the same in
 * all. */
static void radix_sort(sort_item *items, sort_item *scratch, size_t count, uint64_t bits) {
    sort_item *from = items, *to = scratch;
    for (int shift = 0; shift < 64; shift += 8) {
        if ((bits >> shift & 0xFF) == 0) {
            continue;
        }
        size_t places[RADIX] = {0};
        for (size_t i = 0; i < count; i++) {
            places[from[i].prefix >> shift & 0xFF]++;
        }
        if (places[from[0].prefix >> shift & 0xFF] == count) {
            continue;
        }
        size_t place = 0;
        for (size_t value = 0; value < RADIX; value++) {
            const size_t here = places[value];
            places[value] = place;
            place += here;
        }
        for (size_t i = 0; i < count; i++) {
            to[places[from[i].prefix >> shift & 0xFF]++] = from[i];
        }
        sort_item *const swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}

/* The end of the run of items that agree with items[start] in these bits of the prefix. */
static inline size_t run_end(const sort_item *items, size_t start, size_t count, uint64_t bits) {
    size_t end = start + 1;
    while (end < count && ((items[end].prefix ^ items[start].prefix) & bits) == 0) {
        end++;
    }
    return end;
}

/* How many of the first `most` bytes two texts have in common. */
static inline size_t common_bytes(const char *a, const char *b, size_t most) {
    size_t same = 0;
    while (most - same >= PREFIX_BYTES) {
        const uint64_t difference = ovt_load_be64(a + same) ^ ovt_load_be64(b + same);
        if (difference != 0) {
            return same + (size_t)ovt_leading_zeros(difference) / 8;
        }
        same += PREFIX_BYTES;
    }
    while (same < most && a[same] == b[same]) {
        same++;
    }
    return same;
}

/* How many bytes from `offset` on these keys have in common; all are at least that long. */
static size_t shared_length(const ovt_member *members, const sort_item *items, size_t count,
                            size_t offset) {
    const ovt_member *const first = &members[items[0].index];
    size_t shared = first->length - offset;
    for (size_t i = 1; i < count && shared != 0; i++) {
        const ovt_member *const member = &members[items[i].index];
        const size_t left = member->length - offset;
        shared = common_bytes(member->text + offset, first->text + offset,
                              left < shared ? left : shared);
    }
    return shared;
}

/* The prefix of what a key has from `offset` on. */
static inline uint64_t prefix_at(const ovt_member *member, size_t offset) {
    if (offset == 0) {
        return member->prefix;
    }
    const size_t left = member->length - offset;
    if (left >= PREFIX_BYTES || member->length < PREFIX_BYTES) {
        return ovt_key_prefix(member->text + offset, left);
    }
    const uint64_t last = ovt_load_be64(member->text + member->length - PREFIX_BYTES);
    return left == 0 ? 0 : last << (8 * (PREFIX_BYTES - left));
}

static void set_prefixes(const ovt_member *members, sort_item *items, size_t count, size_t offset) {
    for (size_t i = 0; i < count; i++) {
        items[i].prefix = prefix_at(&members[items[i].index], offset);
    }
}

/* Items that agree up to `offset`, and whose order is still to be found. */
typedef struct {
    size_t start;
    size_t count;
    size_t offset;
} open_run;

static bool all_reach(const ovt_member *members, const sort_item *items, size_t count,
                      size_t offset) {
    for (size_t i = 0; i < count; i++) {
        if (members[items[i].index].length < offset) {
            return false;
        }
    }
    return true;
}

/* Sorts items by prefix, and each run of equal prefixes by what comes after it. Returns how many
 * runs of these it has put on the stack instead. */
static size_t sort_some(const ovt_member *members, sort_item *all, sort_item *scratch, open_run run,
                        open_run *stack) {
    sort_item *const items = all + run.start;
    if (run_end(items, 0, run.count, UINT64_MAX) != run.count) {
        sort_by_prefix(items, scratch, run.count);
    }
    const size_t next = run.offset + PREFIX_BYTES;
    size_t pushed = 0;
    for (size_t start = 0; start < run.count;) {
        const size_t end = run_end(items, start, run.count, UINT64_MAX), count = end - start;
        if (count > 1 && all_reach(members, items + start, count, next)) {
            stack[pushed++] = (open_run){run.start + start, count, next};
        } else if (count > 1) { /* equal keys, or zero bytes that look like the end of one */
            merge_sort(members, items + start, scratch, count);
        }
        start = end;
    }
    return pushed;
}

/* Sorts a run by the first bytes in which its keys differ. What these leave together goes on the
 * stack, where each run agrees in more bytes than this one. */
static size_t sort_run(const ovt_member *members, sort_item *all, sort_item *scratch, open_run run,
                       open_run *stack) {
    sort_item *const items = all + run.start;
    run.offset += shared_length(members, items, run.count, run.offset);
    set_prefixes(members, items, run.count, run.offset);
    const uint64_t bits = run.count < MANY ? 0 : deciding_bits(items, run.count);
    if (bits == 0) {
        return sort_some(members, all, scratch, run, stack);
    }
    radix_sort(items, scratch, run.count, bits);
    size_t pushed = 0;
    for (size_t start = 0; start < run.count;) {
        const size_t end = run_end(items, start, run.count, bits);
        const open_run part = {run.start + start, end - start, run.offset};
        if (part.count >= MANY) {
            stack[pushed++] = part;
        } else if (part.count > 1) {
            pushed += sort_some(members, all, scratch, part, stack + pushed);
        }
        start = end;
    }
    return pushed;
}

static OVT_NEVER_INLINE ovt_status order_many(const ovt_member *members, uint32_t *order,
                                              size_t count) {
    /* Runs on the stack do not overlap and have two items at least. */
    sort_item *const items = malloc(2 * count * sizeof *items);
    open_run *const stack = malloc((count / 2 + 1) * sizeof *stack);
    const bool has_memory = items != NULL && stack != NULL;
    if (has_memory) {
        for (size_t i = 0; i < count; i++) {
            items[i] = (sort_item){0, (uint32_t)i};
        }
        size_t open = 1;
        stack[0] = (open_run){0, count, 0};
        while (open != 0) {
            const open_run run = stack[--open];
            open += sort_run(members, items, items + count, run, stack + open);
        }
        for (size_t i = 0; i < count; i++) {
            order[i] = items[i].index;
        }
    }
    free(items);
    free(stack);
    return has_memory ? OVT_OK : OVT_NO_MEMORY;
}

/* ---- few keys ------------------------------------------------------------------------------ */

/* Puts every member where the number of smaller ones says. False if two prefixes are equal. */
static inline bool rank_few(const ovt_member *members, uint32_t *order, size_t count) {
    uint32_t ranks[VERY_FEW];
    bool is_tied = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t prefix = members[i].prefix;
        uint32_t rank = 0;
        for (size_t j = 0; j < i; j++) {
            const uint32_t is_smaller = members[j].prefix < prefix;
            is_tied |= members[j].prefix == prefix;
            rank += is_smaller;
            ranks[j] += 1 - is_smaller;
        }
        ranks[i] = rank;
    }
    if (OVT_UNLIKELY(is_tied)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        order[ranks[i]] = (uint32_t)i;
    }
    return true;
}

static ovt_status order_by_bytes(const ovt_member *members, uint32_t *order, size_t count) {
    if (OVT_UNLIKELY(count > FEW)) {
        return order_many(members, order, count);
    }
    if (OVT_LIKELY(count <= VERY_FEW) && rank_few(members, order, count)) {
        return OVT_OK;
    }
    sort_item items[FEW];
    for (size_t i = 0; i < count; i++) {
        items[i] = (sort_item){members[i].prefix, (uint32_t)i};
    }
    insertion_sort(members, items, count);
    for (size_t i = 0; i < count; i++) {
        order[i] = items[i].index;
    }
    return OVT_OK;
}

/* ---- UTF-16 order -------------------------------------------------------------------------- */

/* The top bit set in each byte from F0 up: where a character past U+FFFF starts. */
static inline uint64_t mark_pairs(uint64_t word) {
    return word & word << 1 & word << 2 & word << 3 & UINT64_C(0x8080808080808080);
}

/* The eight bytes of a text from `at` on, or fewer if it ends before; zeros after them. */
static inline uint64_t word_at(const ovt_member *key, size_t at) {
    return at == 0 ? key->prefix : ovt_key_prefix(key->text + at, key->length - at);
}

static bool has_pairs(const ovt_member *key) {
    uint64_t marks = 0;
    for (size_t at = 0; at < key->length; at += PREFIX_BYTES) {
        marks |= mark_pairs(word_at(key, at));
    }
    return marks != 0;
}

/* Whether a key holds characters from U+D000 to U+FFFF, lone surrogates among them. */
static bool has_high(const ovt_member *key) {
    for (size_t i = 0; i < key->length; i++) {
        const uint8_t byte = (uint8_t)key->text[i];
        if (byte >= FIRST_OF_D000 && byte < FIRST_OF_FOUR) {
            return true;
        }
    }
    return false;
}

/* Whether UTF-16 order can differ from byte order: where characters past U+FFFF, whose surrogates
 * count in UTF-16, meet some from U+D000 up. */
static bool orders_can_differ(const ovt_member *members, size_t count) {
    size_t paired = 0;
    while (paired < count && !has_pairs(&members[paired])) {
        paired++;
    }
    if (OVT_LIKELY(paired == count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (has_high(&members[i])) {
            return true;
        }
    }
    return false;
}

static char *put_unit(char *out, uint32_t unit) {
    out[0] = (char)(0xE0 | unit >> 12);
    out[1] = (char)(0x80 | (unit >> 6 & 0x3F));
    out[2] = (char)(0x80 | (unit & 0x3F));
    return out + 3;
}

/* The key with both surrogates of every character past U+FFFF as three bytes each: the order of
 * such texts by bytes is the order of the keys by UTF-16 units. Returns the end of it. */
static char *put_units(char *out, const ovt_member *key) {
    const uint8_t *bytes = (const uint8_t *)key->text, *const end = bytes + key->length;
    while (bytes < end) {
        if (*bytes < FIRST_OF_FOUR) {
            *out++ = (char)*bytes++;
            continue;
        }
        const uint32_t code_point = (bytes[0] & 0x07u) << 18 | (bytes[1] & 0x3Fu) << 12 |
                                    (bytes[2] & 0x3Fu) << 6 | (bytes[3] & 0x3Fu);
        out = put_unit(out, 0xD800 | (code_point - 0x10000) >> 10);
        out = put_unit(out, 0xDC00 | (code_point & 0x3FF));
        bytes += 4;
    }
    return out;
}

static OVT_NEVER_INLINE ovt_status order_by_units(const ovt_member *members, uint32_t *order,
                                                  size_t count) {
    size_t size = 1;
    for (size_t i = 0; i < count; i++) {
        size += members[i].length + members[i].length / 2;
    }
    ovt_member *const keys = malloc(count * sizeof *keys);
    char *const texts = malloc(size);
    ovt_status status = OVT_NO_MEMORY;
    if (keys != NULL && texts != NULL) {
        char *out = texts;
        for (size_t i = 0; i < count; i++) {
            keys[i] = members[i];
            if (has_pairs(&members[i])) {
                char *const end = put_units(out, &members[i]);
                keys[i].text = out;
                keys[i].length = (size_t)(end - out);
                keys[i].prefix = ovt_key_prefix(out, keys[i].length);
                out = end;
            }
        }
        status = order_by_bytes(keys, order, count);
    }
    free(keys);
    free(texts);
    return status;
}

ovt_status ovt_order_members(const ovt_member *members, uint32_t *order, size_t count, bool utf16) {
    if (OVT_UNLIKELY(count > UINT32_MAX || count > SIZE_MAX / 64)) {
        return OVT_NO_MEMORY;
    }
    return OVT_UNLIKELY(utf16 && orders_can_differ(members, count))
               ? order_by_units(members, order, count)
               : order_by_bytes(members, order, count);
}
