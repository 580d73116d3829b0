#include "key_order.h"

#include <stdlib.h>

#include "compiler.h"
#include "large_block.h"

enum {
    VERY_FEW = 8,         /* items ranked by comparing all with all */
    RANKED = 16,          /* members ranked that way */
    FEW = 24,             /* members sorted on the stack without looking for what they share */
    TIED = 4,             /* keys with equal prefixes that are compared as a whole */
    SMALL = 12,           /* a bucket that is sorted by insertion */
    MANY = 64,            /* from here a pass of buckets pays */
    PREFIX_BYTES = 8,     /* compared as one number */
    BYTE_VALUES = 256,    /* values of a byte */
    POSITIONS = 4,        /* bytes that may decide on the bucket */
    MOST_BUCKETS = 8192,  /* each is a place in memory that is written to */
    BUCKETS_PER_KEY = 2,  /* at most */
    LATE = 5,             /* prefixes that agree up to here leave too little to compare */
    READ_AHEAD = 16,      /* keys that are asked of the memory before they are read */
    FIRST_OF_E000 = 0xEE, /* first UTF-8 byte of U+E000 and up */
    FIRST_OF_FOUR = 0xF0, /* first UTF-8 byte of U+10000 and up */
    PAST_FOUR = 0x10,     /* takes the bytes EE and EF past all that start four */
};

/* Where the keys of a sort are, and which order they are to have. */
typedef struct {
    const ovt_member *members; /* `at` of an item is an index here, */
    const char *records;       /* or, if not NULL, the offset of an ovt_key_record here */
    bool by_units;             /* by UTF-16 code unit; no lone surrogate is there */
} key_set;

typedef struct {
    const char *text;
    size_t length;
} key_text;

static inline key_text text_of(const key_set *keys, uint64_t at) {
    if (keys->records == NULL) {
        return (key_text){keys->members[at].text, keys->members[at].length};
    }
    const ovt_key_record *record = ovt_key_record_at(keys->records, at);
    return (key_text){ovt_key_of_record(record), record->key_length};
}

/* ---- UTF-16 order of UTF-8 ------------------------------------------------------------------ */

/* The order of UTF-16 code units is that of code points but for those past U+FFFF, whose surrogates
 * come before U+E000. So it is the order of the UTF-8 bytes once EE and EF, which start U+E000 to
 * U+FFFF, count as more than F4. */

/* The top bit set in each byte from F0 up: where a character past U+FFFF starts. */
static inline uint64_t mark_pairs(uint64_t word) {
    return word & word << 1 & word << 2 & word << 3 & UINT64_C(0x8080808080808080);
}

/* The same for EE and EF, which start those from U+E000 to U+FFFF. */
static inline uint64_t mark_high(uint64_t word) {
    return word & word << 1 & word << 2 & ~(word << 3) & word << 4 & word << 5 & word << 6 &
           UINT64_C(0x8080808080808080);
}

/* The same for a lone surrogate, ED and A0 at least, of which the first byte is not the last here.
 */
static inline uint64_t mark_surrogates(uint64_t word) {
    return word & word << 1 & word << 2 & ~(word << 3) & word << 4 & word << 5 & ~(word << 6) &
           word << 7 & word << 10 & UINT64_C(0x8080808080808080);
}

static inline uint64_t units_of(uint64_t word) {
    return word + (mark_high(word) >> 3);
}

static inline int unit_rank(uint8_t byte, bool by_units) {
    const bool is_high = by_units && byte >= FIRST_OF_E000 && byte < FIRST_OF_FOUR;
    return is_high ? byte + PAST_FOUR : byte;
}

/* ---- comparing keys ------------------------------------------------------------------------ */

bool ovt_same_key(const ovt_member *a, const ovt_member *b) {
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
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

/* Whether a key comes before another; both have the same bytes up to `offset`. */
OVT_ALWAYS_INLINE bool key_comes_before(const key_set *keys, uint64_t a_at, uint64_t b_at,
                                        size_t offset) {
    const key_text a = text_of(keys, a_at), b = text_of(keys, b_at);
    const size_t shorter = a.length < b.length ? a.length : b.length;
    if (OVT_LIKELY(!keys->by_units)) {
        const int difference = memcmp(a.text + offset, b.text + offset, shorter - offset);
        return difference != 0 ? difference < 0 : a.length < b.length;
    }
    const size_t same = offset + common_bytes(a.text + offset, b.text + offset, shorter - offset);
    if (same == shorter) {
        return a.length < b.length;
    }
    return unit_rank((uint8_t)a.text[same], keys->by_units) <
           unit_rank((uint8_t)b.text[same], keys->by_units);
}

/* ---- sorting by insertion -------------------------------------------------------------------- */

/* By the prefixes, which are those from `offset` on, and where these are equal by the keys. */
OVT_ALWAYS_INLINE bool comes_before(const key_set *keys, ovt_key_item a, ovt_key_item b,
                                    size_t offset) {
    if (OVT_LIKELY(a.prefix != b.prefix)) {
        return a.prefix < b.prefix;
    }
    return key_comes_before(keys, a.at, b.at, offset);
}

/* No item may have far to go. Stable. */
OVT_ALWAYS_INLINE void insertion_sort(const key_set *keys, ovt_key_item *items, size_t count,
                                      size_t offset) {
    for (size_t i = 1; i < count; i++) {
        const ovt_key_item item = items[i];
        size_t j = i;
        while (j > 0 && comes_before(keys, item, items[j - 1], offset)) {
            items[j] = items[j - 1];
            j--;
        }
        items[j] = item;
    }
}

/* ---- sorting by prefix alone, without branches to guess ---------------------------------- */

/* At most VERY_FEW items: each goes where the number of smaller ones says. Stable. */
static inline void rank_items(const ovt_key_item *from, ovt_key_item *to, size_t count) {
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
static inline void merge_runs(const ovt_key_item *from, ovt_key_item *to, size_t middle,
                              size_t count) {
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

/* The same for two runs of `width` items each, from both ends at once: no branch is to be guessed,
 * and neither half of the work waits for the other. Stable. */
static inline void merge_equal_runs(const ovt_key_item *from, ovt_key_item *to, size_t width) {
    const ovt_key_item *left = from, *right = from + width;
    const ovt_key_item *last_left = right - 1, *last_right = right + width - 1;
    for (size_t i = 0; i < width; i++) {
        const bool takes_right = right->prefix < left->prefix;
        to[i] = *(takes_right ? right : left);
        right += takes_right;
        left += !takes_right;
        const bool takes_left = last_right->prefix < last_left->prefix;
        to[2 * width - 1 - i] = *(takes_left ? last_left : last_right);
        last_left -= takes_left;
        last_right -= !takes_left;
    }
}

/* Bottom-up from ranked runs of VERY_FEW. Stable. */
static void sort_by_prefix(ovt_key_item *items, ovt_key_item *scratch, size_t count) {
    ovt_key_item *from = scratch, *to = items;
    for (size_t start = 0; start < count; start += VERY_FEW) {
        const size_t left = count - start;
        rank_items(items + start, scratch + start, left < VERY_FEW ? left : VERY_FEW);
    }
    for (size_t width = VERY_FEW; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t left = count - start;
            if (left >= 2 * width) {
                merge_equal_runs(from + start, to + start, width);
            } else {
                merge_runs(from + start, to + start, left < width ? left : width, left);
            }
        }
        ovt_key_item *const swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}

/* ---- prefixes -------------------------------------------------------------------------------- */

/* The prefix of what a key has from `offset` on. */
static inline uint64_t prefix_at(const key_set *keys, uint64_t at, size_t offset) {
    const key_text key = text_of(keys, at);
    const size_t left = key.length - offset;
    uint64_t prefix;
    if (left >= PREFIX_BYTES) {
        prefix = ovt_load_be64(key.text + offset);
    } else if (keys->records != NULL || key.length >= PREFIX_BYTES) {
        prefix = ovt_key_prefix_with_header(key.text + offset, left);
    } else {
        prefix = ovt_key_prefix(key.text + offset, left);
    }
    return keys->by_units ? units_of(prefix) : prefix;
}

/* Asks the memory for a key that is read soon. */
static inline void prefetch_key(const key_set *keys, uint64_t at) {
    __builtin_prefetch(keys->records == NULL ? (const char *)&keys->members[at]
                                             : keys->records + at);
}

static void set_prefixes(const key_set *keys, ovt_key_item *items, size_t count, size_t offset) {
    size_t i = 0;
    if (count >= MANY) { /* fewer have just been looked at */
        for (; i < count - READ_AHEAD; i++) {
            prefetch_key(keys, items[i + READ_AHEAD].at);
            items[i].prefix = prefix_at(keys, items[i].at, offset);
        }
    }
    for (; i < count; i++) {
        items[i].prefix = prefix_at(keys, items[i].at, offset);
    }
}

/* How many bytes from `offset` on these keys have in common; all are at least that long. */
static size_t shared_length(const key_set *keys, const ovt_key_item *items, size_t count,
                            size_t offset) {
    const key_text first = text_of(keys, items[0].at);
    size_t shared = first.length - offset;
    for (size_t i = 1; i < count && shared != 0; i++) {
        const key_text key = text_of(keys, items[i].at);
        const size_t left = key.length - offset;
        shared =
            common_bytes(key.text + offset, first.text + offset, left < shared ? left : shared);
    }
    return shared;
}

/* Whether the first bytes of a prefix are all other than zero, so that its key does not end there.
 * A zero byte after them may make this false, too. */
static inline bool goes_on(uint64_t prefix, size_t bytes) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t zeros = (prefix - ones) & ~prefix & ones << 7;
    return bytes == 0 || zeros >> (8 * (PREFIX_BYTES - bytes)) == 0;
}

/* The bits in which some of the prefixes differ. */
static uint64_t differing_bits(const ovt_key_item *items, size_t count) {
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++) {
        differing |= items[i].prefix ^ items[0].prefix;
    }
    return differing;
}

/* ---- many keys ----------------------------------------------------------------------------- */

/* Items that agree up to `offset`, and whose order is still to be found. */
typedef struct {
    size_t start;
    size_t count;
    size_t offset;
} open_run;

typedef struct {
    key_set keys;
    ovt_key_item *items;
    ovt_key_item *scratch; /* as many */
    open_run *open;        /* runs that do not overlap, of more than TIED items each */
    size_t open_count;
} sorting;

/* Sorts items that agree in their prefixes and that end within them: zero bytes look like such an
 * end, and the shorter comes first. Returns how many there are; after them are those that go on. */
static size_t sort_ended(sorting *s, open_run run) {
    ovt_key_item *const items = s->items + run.start;
    size_t places[PREFIX_BYTES + 1] = {0};
    for (size_t i = 0; i < run.count; i++) {
        const size_t left = text_of(&s->keys, items[i].at).length - run.offset;
        places[left < PREFIX_BYTES ? left : PREFIX_BYTES]++;
    }
    const size_t ended = run.count - places[PREFIX_BYTES];
    if (ended != 0) {
        size_t place = 0;
        for (size_t left = 0; left <= PREFIX_BYTES; left++) {
            const size_t here = places[left];
            places[left] = place;
            place += here;
        }
        memcpy(s->scratch, items, run.count * sizeof *items);
        for (size_t i = 0; i < run.count; i++) {
            const size_t left = text_of(&s->keys, s->scratch[i].at).length - run.offset;
            items[places[left < PREFIX_BYTES ? left : PREFIX_BYTES]++] = s->scratch[i];
        }
    }
    return ended;
}

/* Moves on past what all keys of a run have in common, where the prefixes tell them apart only late
 * or not at all. Keys that end there are sorted, and no longer of the run. Returns in how many
 * bytes of the prefix the others agree. */
static size_t focus(sorting *s, open_run *run) {
    ovt_key_item *items = s->items + run->start;
    const uint64_t differing = differing_bits(items, run->count);
    if (differing != 0) {
        const size_t same = (size_t)ovt_leading_zeros(differing) / 8;
        if (same < LATE || !goes_on(items[0].prefix, same)) {
            return same;
        }
        run->offset += same;
    } else {
        if (!goes_on(items[0].prefix, PREFIX_BYTES)) {
            const size_t ended = sort_ended(s, *run);
            run->start += ended;
            run->count -= ended;
            if (run->count <= 1) {
                return 0;
            }
            items += ended;
        }
        run->offset += PREFIX_BYTES;
        run->offset += shared_length(&s->keys, items, run->count, run->offset);
    }
    set_prefixes(&s->keys, items, run->count, run->offset);
    return 0;
}

/* Fewer than MANY items. */
static void sort_some(sorting *s, open_run run) {
    focus(s, &run);
    if (run.count <= 1) {
        return;
    }
    ovt_key_item *const items = s->items + run.start;
    sort_by_prefix(items, s->scratch, run.count);
    for (size_t start = 0, end; start < run.count; start = end) {
        for (end = start + 1; end < run.count; end++) {
            if (items[end].prefix != items[start].prefix) {
                break;
            }
        }
        if (end - start > TIED) {
            s->open[s->open_count++] = (open_run){run.start + start, end - start, run.offset};
        } else if (end - start > 1) {
            insertion_sort(&s->keys, items + start, end - start, run.offset);
        }
    }
}

/* Which bucket an item falls into: a number whose digits are the first bytes of the prefix that
 * differ, each counted among the values it has in some item. */
typedef struct {
    int shift; /* of the prefix to the left: past the bytes that are all the same */
    size_t count;
    uint16_t digits[POSITIONS][BYTE_VALUES];
} bucketing;

static inline size_t bucket_of(const bucketing *b, uint64_t prefix) {
    const uint64_t word = prefix << b->shift;
    return (size_t)b->digits[0][word >> 56] + b->digits[1][word >> 48 & 0xFF] +
           b->digits[2][word >> 40 & 0xFF] + b->digits[3][word >> 32 & 0xFF];
}

/* Lists the values of one byte in ascending order; returns how many there are. */
static size_t values_seen(const uint8_t seen[BYTE_VALUES], uint8_t values[BYTE_VALUES]) {
    size_t count = 0;
    for (size_t start = 0; start < BYTE_VALUES; start += 8) {
        if (ovt_load64(seen + start) != 0) {
            for (size_t value = start; value < start + 8; value++) {
                values[count] = (uint8_t)value;
                count += seen[value];
            }
        }
    }
    return count;
}

/* Takes as many bytes as give no more than `most` buckets, one at least. */
static void choose_buckets(bucketing *b, const ovt_key_item *items, size_t count, int shift,
                           size_t most) {
    uint8_t seen[POSITIONS][BYTE_VALUES] = {0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = items[i].prefix << shift;
        seen[0][word >> 56] = 1;
        seen[1][word >> 48 & 0xFF] = 1;
        seen[2][word >> 40 & 0xFF] = 1;
        seen[3][word >> 32 & 0xFF] = 1;
    }
    uint8_t values[POSITIONS][BYTE_VALUES + 1];
    size_t sizes[POSITIONS];
    int used = 0;
    b->shift = shift;
    b->count = 1;
    while (used < POSITIONS) {
        sizes[used] = values_seen(seen[used], values[used]);
        if (used != 0 && b->count * sizes[used] > most) {
            break;
        }
        b->count *= sizes[used++];
    }
    for (int position = used; position < POSITIONS; position++) {
        memset(b->digits[position], 0, sizeof b->digits[position]);
    }
    size_t weight = 1;
    for (int position = used - 1; position >= 0; position--) {
        for (size_t i = 0; i < sizes[position]; i++) {
            b->digits[position][values[position][i]] = (uint16_t)(i * weight);
        }
        weight *= sizes[position];
    }
}

/* Where the buckets are, and which of them hold more than TIED items. */
typedef struct {
    uint32_t ends[MOST_BUCKETS];
    uint16_t large[MOST_BUCKETS];
    size_t large_count;
} buckets;

/* Sorts items into buckets. */
static void fill_buckets(const bucketing *b, ovt_key_item *items, ovt_key_item *scratch,
                         size_t count, buckets *filled) {
    uint32_t *const places = filled->ends;
    memset(places, 0, b->count * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        places[bucket_of(b, items[i].prefix)]++;
    }
    uint32_t place = 0;
    filled->large_count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const uint32_t here = places[i];
        places[i] = place;
        place += here;
        filled->large[filled->large_count] = (uint16_t)i;
        filled->large_count += here > TIED;
    }
    for (size_t i = 0; i < count; i++) {
        scratch[places[bucket_of(b, items[i].prefix)]++] = items[i];
    }
    memcpy(items, scratch, count * sizeof *items);
}

/* Sorts a run by the first bytes in which its keys differ, and small buckets altogether. */
static OVT_NEVER_INLINE void sort_many(sorting *s, open_run run) {
    const size_t same = focus(s, &run);
    if (run.count <= 1) {
        return;
    }
    ovt_key_item *const items = s->items + run.start;
    bucketing b;
    const size_t most =
        run.count < MOST_BUCKETS / BUCKETS_PER_KEY ? run.count * BUCKETS_PER_KEY : MOST_BUCKETS;
    choose_buckets(&b, items, run.count, (int)same * 8, most);
    buckets filled;
    fill_buckets(&b, items, s->scratch, run.count, &filled);
    /* The items of small buckets go no farther than these: one pass over all puts them in order. */
    size_t first_small = 0;
    for (size_t i = 0; i < filled.large_count; i++) {
        const size_t bucket = filled.large[i];
        const size_t start = bucket == 0 ? 0 : filled.ends[bucket - 1];
        const size_t end = filled.ends[bucket], count = end - start;
        if (count <= SMALL && items[start].prefix != items[end - 1].prefix) {
            continue;
        }
        insertion_sort(&s->keys, items + first_small, start - first_small, run.offset);
        first_small = end;
        const open_run rest = {run.start + start, count, run.offset};
        if (count < MANY) {
            sort_some(s, rest);
        } else {
            s->open[s->open_count++] = rest;
        }
    }
    insertion_sort(&s->keys, items + first_small, run.count - first_small, run.offset);
}

/* How many runs can be open when so many items are sorted. */
static inline size_t most_open(size_t count) {
    return count / TIED + 1;
}

/* Sorts items whose prefixes are set; there are as many behind them for scratch. */
static void sort_items(key_set keys, ovt_key_item *items, size_t count, open_run *open) {
    sorting s = {keys, items, items + count, open, 1};
    open[0] = (open_run){0, count, 0};
    while (s.open_count != 0) {
        const open_run run = open[--s.open_count];
        if (run.count >= MANY) {
            sort_many(&s, run);
        } else if (run.count > 1) {
            sort_some(&s, run);
        }
    }
}

ovt_status ovt_sort_records(const char *records, ovt_key_item *items, size_t count, bool utf16) {
    open_run *const open = malloc(most_open(count) * sizeof *open);
    if (open == NULL) {
        return OVT_NO_MEMORY;
    }
    const key_set keys = {NULL, records, utf16};
    for (size_t i = 0; utf16 && i < count; i++) {
        items[i].prefix = units_of(items[i].prefix);
    }
    sort_items(keys, items, count, open);
    free(open);
    return OVT_OK;
}

/* Sorts items for the members, and gives their order. */
static void order_items(key_set keys, ovt_key_item *items, uint32_t *order, size_t count,
                        open_run *open) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t prefix = keys.members[i].prefix;
        items[i] = (ovt_key_item){keys.by_units ? units_of(prefix) : prefix, i};
    }
    sort_items(keys, items, count, open);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)items[i].at;
    }
}

static OVT_NEVER_INLINE void order_some(key_set keys, uint32_t *order, size_t count) {
    ovt_key_item items[2 * MANY];
    open_run open[MANY / TIED + 1];
    order_items(keys, items, order, count, open);
}

static OVT_NEVER_INLINE ovt_status order_many(key_set keys, uint32_t *order, size_t count) {
    ovt_key_item *const items = ovt_large_block(2 * count * sizeof *items);
    open_run *const open = malloc(most_open(count) * sizeof *open);
    const bool has_memory = items != NULL && open != NULL;
    if (has_memory) {
        order_items(keys, items, order, count, open);
    }
    free(items);
    free(open);
    return has_memory ? OVT_OK : OVT_NO_MEMORY;
}

/* ---- few keys ------------------------------------------------------------------------------ */

/* Puts every member where the number of smaller prefixes says. False if two are equal, whose keys
 * are still to be compared. */
static inline bool rank_few(const ovt_member *members, uint32_t *order, size_t count) {
    uint32_t ranks[RANKED];
    bool is_tied = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t prefix = members[i].prefix;
        uint32_t rank = 0;
        for (size_t j = 0; j < i; j++) {
            const uint32_t stays_before = members[j].prefix <= prefix;
            is_tied |= members[j].prefix == prefix;
            rank += stays_before;
            ranks[j] += 1 - stays_before;
        }
        ranks[i] = rank;
    }
    for (size_t i = 0; i < count; i++) {
        order[ranks[i]] = (uint32_t)i;
    }
    return !is_tied;
}

/* Sorts by insertion what is in order but for keys with equal prefixes. */
static OVT_NEVER_INLINE void settle_ties(const ovt_member *members, uint32_t *order, size_t count) {
    const key_set keys = {members, NULL, false};
    ovt_key_item items[RANKED];
    for (size_t i = 0; i < count; i++) {
        items[i] = (ovt_key_item){members[order[i]].prefix, order[i]};
    }
    insertion_sort(&keys, items, count, 0);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)items[i].at;
    }
}

/* The same for some more, and in either order. */
OVT_ALWAYS_INLINE void order_few(const ovt_member *members, uint32_t *order, size_t count,
                                 bool by_units) {
    const key_set keys = {members, NULL, by_units};
    ovt_key_item items[FEW], scratch[FEW];
    for (size_t i = 0; i < count; i++) {
        const uint64_t prefix = members[i].prefix;
        items[i] = (ovt_key_item){by_units ? units_of(prefix) : prefix, i};
    }
    sort_by_prefix(items, scratch, count);
    insertion_sort(&keys, items, count, 0);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)items[i].at;
    }
}

static ovt_status order_some_or_many(key_set keys, uint32_t *order, size_t count) {
    if (count >= MANY) {
        return order_many(keys, order, count);
    }
    order_some(keys, order, count);
    return OVT_OK;
}

static ovt_status order_by_bytes(const ovt_member *members, uint32_t *order, size_t count) {
    if (OVT_LIKELY(count <= RANKED)) {
        if (OVT_UNLIKELY(!rank_few(members, order, count))) {
            settle_ties(members, order, count);
        }
        return OVT_OK;
    }
    if (OVT_LIKELY(count <= FEW)) {
        order_few(members, order, count, false);
        return OVT_OK;
    }
    return order_some_or_many((key_set){members, NULL, false}, order, count);
}

/* ---- UTF-16 order of members ------------------------------------------------------------------
 */

/* What some keys hold that matters to their order: not 0 if it is there. */
typedef struct {
    uint64_t pairs; /* characters past U+FFFF */
    uint64_t high;  /* characters from U+E000 to U+FFFF */
    uint64_t surrogates;
} key_traits;

static inline void add_word(key_traits *traits, uint64_t word) {
    traits->pairs |= mark_pairs(word);
    traits->high |= mark_high(word);
    traits->surrogates |= mark_surrogates(word);
}

static inline void add_key(key_traits *traits, const ovt_member *key) {
    add_word(traits, key->prefix);
    if (key->length > PREFIX_BYTES) {
        /* Words that overlap by one byte: both of any two that follow each other are in one. */
        const size_t last = key->length - PREFIX_BYTES;
        for (size_t at = PREFIX_BYTES - 1; at < last; at += PREFIX_BYTES - 1) {
            add_word(traits, ovt_load_be64(key->text + at));
        }
        add_word(traits, ovt_load_be64(key->text + last));
    }
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

/* Where lone surrogates meet those of characters past U+FFFF: the keys are written out as units. */
static OVT_NEVER_INLINE ovt_status order_written_out(const ovt_member *members, uint32_t *order,
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
            char *const end = put_units(out, &members[i]);
            keys[i].text = out;
            keys[i].length = (size_t)(end - out);
            keys[i].prefix = ovt_key_prefix(out, keys[i].length);
            out = end;
        }
        status = order_by_bytes(keys, order, count);
    }
    free(keys);
    free(texts);
    return status;
}

static OVT_NEVER_INLINE ovt_status order_by_units(const ovt_member *members, uint32_t *order,
                                                  size_t count) {
    key_traits traits = {0};
    for (size_t i = 0; i < count; i++) {
        add_key(&traits, &members[i]);
    }
    if (traits.pairs == 0 || (traits.high | traits.surrogates) == 0) {
        return order_by_bytes(members, order, count);
    }
    if (traits.surrogates != 0) {
        return order_written_out(members, order, count);
    }
    if (count <= FEW) {
        order_few(members, order, count, true);
        return OVT_OK;
    }
    return order_some_or_many((key_set){members, NULL, true}, order, count);
}

ovt_status ovt_order_members(const ovt_member *members, uint32_t *order, size_t count, bool utf16) {
    if (OVT_UNLIKELY(count > UINT32_MAX || count > SIZE_MAX / 64)) {
        return OVT_NO_MEMORY;
    }
    return OVT_UNLIKELY(utf16) ? order_by_units(members, order, count)
                               : order_by_bytes(members, order, count);
}
