/* SHA-256: padding, the portable compression, and the choice between the variants.
 *
 * Section numbers are those of FIPS 180-4. */
#include "sha256.h"

#include <stdatomic.h>
#include <stdlib.h>

#if OVT_X86_64
#include <emmintrin.h>
#elif OVT_AARCH64
#include <arm_neon.h>
#endif

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2).
 * tests/test_sha256_core.py computes them again from that definition. */
_Alignas(64) const uint32_t ovt_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The first 32 bits of the fractional parts of the square roots of the first 8 primes (5.3.3). */
static const uint32_t initial_state[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static inline uint32_t load_be32(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

static inline void store_be64(uint8_t *bytes, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    ovt_store64(bytes, word);
}

/* ---- the portable compression (6.2.2) ---- */

/* `count` is between 1 and 31. */
OVT_ALWAYS_INLINE uint32_t rotate_right(uint32_t word, int count) {
    return word >> count | word << (32 - count);
}

/* Round number `round` modulo 8. The eight working variables stay where they are in `v` and change
 * their roles instead: a is v[0] in round 0, v[7] in round 1, and so on. */
OVT_ALWAYS_INLINE void one_round(uint32_t v[8], int round, uint32_t word_plus_constant) {
    const uint32_t a = v[(8 - round) & 7], b = v[(9 - round) & 7], c = v[(10 - round) & 7];
    const uint32_t e = v[(12 - round) & 7], f = v[(13 - round) & 7], g = v[(14 - round) & 7];
    uint32_t *const d = &v[(11 - round) & 7];
    uint32_t *const h = &v[(15 - round) & 7];
    const uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint32_t choice = g ^ (e & (f ^ g));
    /* The two terms never share a bit, so that a sum may replace the OR. */
    const uint32_t majority_only_bc = b & c;
    const uint32_t majority_with_a = a & (b ^ c);
    *h += word_plus_constant + choice + sum1;
    *d += *h;
    *h += sum0 + majority_only_bc + majority_with_a;
}

/* The schedule word sixteen places after the one at `i`, in its place; `w` is a ring. */
OVT_ALWAYS_INLINE uint32_t extend(uint32_t w[16], int i) {
    const uint32_t two_back = w[(i + 14) & 15], fifteen_back = w[(i + 1) & 15];
    const uint32_t sigma1 =
        rotate_right(two_back, 17) ^ rotate_right(two_back, 19) ^ two_back >> 10;
    const uint32_t sigma0 =
        rotate_right(fifteen_back, 7) ^ rotate_right(fifteen_back, 18) ^ fifteen_back >> 3;
    w[i] += sigma0 + w[(i + 9) & 15] + sigma1;
    return w[i];
}

/* Eight rounds on the message's own words `from` to `from` + 7. */
OVT_ALWAYS_INLINE void eight_first_rounds(uint32_t v[8], const uint32_t w[16], int from) {
    const uint32_t *const k = ovt_sha256_constants + from;
    one_round(v, 0, w[from] + k[0]);
    one_round(v, 1, w[from + 1] + k[1]);
    one_round(v, 2, w[from + 2] + k[2]);
    one_round(v, 3, w[from + 3] + k[3]);
    one_round(v, 4, w[from + 4] + k[4]);
    one_round(v, 5, w[from + 5] + k[5]);
    one_round(v, 6, w[from + 6] + k[6]);
    one_round(v, 7, w[from + 7] + k[7]);
}

/* Eight rounds on words that the schedule makes; `k` are their constants. */
OVT_ALWAYS_INLINE void eight_rounds(uint32_t v[8], uint32_t w[16], int from, const uint32_t *k) {
    one_round(v, 0, extend(w, from) + k[0]);
    one_round(v, 1, extend(w, from + 1) + k[1]);
    one_round(v, 2, extend(w, from + 2) + k[2]);
    one_round(v, 3, extend(w, from + 3) + k[3]);
    one_round(v, 4, extend(w, from + 4) + k[4]);
    one_round(v, 5, extend(w, from + 5) + k[5]);
    one_round(v, 6, extend(w, from + 6) + k[6]);
    one_round(v, 7, extend(w, from + 7) + k[7]);
}

static void compress_portable(uint32_t state[8], const uint8_t *blocks, size_t count) {
    for (; count > 0; count--, blocks += OVT_SHA256_BLOCK_SIZE) {
        uint32_t v[8], w[16];
        for (int i = 0; i < 8; i++)
            v[i] = state[ovt_sha256_place[i]];
        for (int i = 0; i < 16; i++)
            w[i] = load_be32(blocks + 4 * i);
        eight_first_rounds(v, w, 0);
        eight_first_rounds(v, w, 8);
        for (int round = 16; round < 64; round += 16) {
            eight_rounds(v, w, 0, ovt_sha256_constants + round);
            eight_rounds(v, w, 8, ovt_sha256_constants + round + 8);
        }
        for (int i = 0; i < 8; i++)
            state[ovt_sha256_place[i]] += v[i];
    }
}

/* ---- the choice between the variants ---- */

typedef struct {
    const char *name;
    bool (*available)(void);
    void (*compress)(uint32_t state[8], const uint8_t *blocks, size_t count);
    /* The same for two messages, with `strides` as in sha256.h; NULL where it would be no faster.
     */
    void (*compress_two)(uint32_t *const states[2], const uint8_t *const blocks[2], size_t count,
                         const size_t strides[2]);
} variant;

static bool always_available(void) {
    return true;
}

/* Fastest first. No processor has both of the first two, which ovt_sha256_variants relies on. */
static const variant variants[] = {
#if OVT_SHA256_HAS_X86
    {"sha-ni", ovt_sha256_x86_available, ovt_sha256_x86_compress, ovt_sha256_x86_compress_two},
#endif
#if OVT_SHA256_HAS_ARM
    {"armv8", ovt_sha256_arm_available, ovt_sha256_arm_compress, NULL},
#endif
    {"portable", always_available, compress_portable, NULL},
};

enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

/* Set when the library is loaded and by ovt_sha256_select. Atomic, so that selecting a variant
 * while others hash is defined; a relaxed load costs what a plain one does. */
static _Atomic(const variant *) chosen = &variants[VARIANT_COUNT - 1];
static char rejected[64];

bool ovt_sha256_select(const char *name) {
    for (int i = 0; i < VARIANT_COUNT; i++) {
        if (strcmp(variants[i].name, name) == 0 && variants[i].available()) {
            atomic_store_explicit(&chosen, &variants[i], memory_order_relaxed);
            return true;
        }
    }
    return false;
}

__attribute__((constructor)) static void choose_at_load(void) {
    int fastest = 0;
    while (!variants[fastest].available())
        fastest++;
    atomic_store_explicit(&chosen, &variants[fastest], memory_order_relaxed);
    const char *const wanted = getenv("OVERTURN_FAST_SHA256");
    if (wanted != NULL && wanted[0] != '\0' && !ovt_sha256_select(wanted))
        strncpy(rejected, wanted, sizeof rejected - 1);
}

const char *ovt_sha256_variant(void) {
    return atomic_load_explicit(&chosen, memory_order_relaxed)->name;
}

const char *ovt_sha256_variants(void) {
#if OVT_SHA256_HAS_X86
    if (ovt_sha256_x86_available())
        return "sha-ni,portable";
#endif
#if OVT_SHA256_HAS_ARM
    if (ovt_sha256_arm_available())
        return "armv8,portable";
#endif
    return "portable";
}

const char *ovt_sha256_rejected(void) {
    return rejected[0] == '\0' ? NULL : rejected;
}

static inline void compress(uint32_t state[8], const uint8_t *blocks, size_t count) {
    atomic_load_explicit(&chosen, memory_order_relaxed)->compress(state, blocks, count);
}

/* ---- messages ---- */

static inline void start_state(uint32_t state[8]) {
    for (int i = 0; i < 8; i++)
        state[ovt_sha256_place[i]] = initial_state[i];
}

void ovt_sha256_init(ovt_sha256 *hash) {
    start_state(hash->state);
    hash->length = 0;
}

void ovt_sha256_update(ovt_sha256 *hash, const void *bytes, size_t count) {
    if (count == 0)
        return;
    const uint8_t *next = bytes;
    const size_t fill = (size_t)(hash->length % OVT_SHA256_BLOCK_SIZE);
    hash->length += count;
    if (fill > 0) {
        const size_t room = OVT_SHA256_BLOCK_SIZE - fill;
        if (count < room) {
            memcpy(hash->block + fill, next, count);
            return;
        }
        memcpy(hash->block + fill, next, room);
        compress(hash->state, hash->block, 1);
        next += room;
        count -= room;
    }
    const size_t whole = count / OVT_SHA256_BLOCK_SIZE;
    if (whole > 0)
        compress(hash->state, next, whole);
    const size_t rest = count % OVT_SHA256_BLOCK_SIZE;
    if (rest > 0)
        memcpy(hash->block, next + whole * OVT_SHA256_BLOCK_SIZE, rest);
}

void ovt_sha256_update_blocks(ovt_sha256 *hash, const void *blocks, size_t count) {
    if (OVT_UNLIKELY(hash->length % OVT_SHA256_BLOCK_SIZE != 0)) {
        ovt_sha256_update(hash, blocks, count * OVT_SHA256_BLOCK_SIZE);
        return;
    }
    hash->length += count * OVT_SHA256_BLOCK_SIZE;
    compress(hash->state, blocks, count);
}

/* Copies fewer than 64 bytes into a block in pieces of the size in which a compression reads it, so
 * that its first reads need not wait for several small writes to reach memory. */
static inline void copy_rest(uint8_t *block, const uint8_t *rest, size_t count) {
    for (; count >= 16; count -= 16, block += 16, rest += 16)
        memcpy(block, rest, 16);
    if (count > 0)
        memcpy(block, rest, count);
}

enum { PADDED_SIZE = 2 * OVT_SHA256_BLOCK_SIZE, ZEROS = 32 };

/* Zeros for two blocks, in pieces that are a store or two each: all at once, gcc would make them an
 * instruction that is slow to start. */
static inline void clear_blocks(uint8_t *bytes) {
    for (int piece = 0; piece < PADDED_SIZE / ZEROS; piece++)
        memset(bytes + ZEROS * piece, 0, ZEROS);
}

/* Writes what is left of a message of `length` bytes, fewer than one block, with its padding
 * (5.1.1): a 1 bit, zeros, and the length in bits as the last eight bytes of a block. Returns how
 * many blocks that is. `padded` is all zeros before. */
static inline size_t pad_message(uint8_t padded[PADDED_SIZE], const uint8_t *rest,
                                 uint64_t length) {
    const size_t count = (size_t)(length % OVT_SHA256_BLOCK_SIZE);
    const size_t blocks = count + 1 + sizeof length <= OVT_SHA256_BLOCK_SIZE ? 1 : 2;
    copy_rest(padded, rest, count);
    padded[count] = 0x80;
    store_be64(padded + blocks * OVT_SHA256_BLOCK_SIZE - sizeof length, length * 8);
    return blocks;
}

static inline void store_digest(uint8_t *digest, const uint32_t state[8]) {
    for (int i = 0; i < 8; i += 2)
        store_be64(digest + 4 * i,
                   (uint64_t)state[ovt_sha256_place[i]] << 32 | state[ovt_sha256_place[i + 1]]);
}

static inline void finish_message(uint32_t state[8], const uint8_t *rest, uint64_t length,
                                  uint8_t *digest) {
    uint8_t padded[PADDED_SIZE];
    clear_blocks(padded);
    const size_t blocks = pad_message(padded, rest, length);
    compress(state, padded, blocks);
    store_digest(digest, state);
}

void ovt_sha256_finish(ovt_sha256 *hash, uint8_t digest[OVT_SHA256_DIGEST_SIZE]) {
    finish_message(hash->state, hash->block, hash->length, digest);
}

/* The same behind the last `count` bytes of the message, where they stand; returns how many blocks
 * they are then. */
static inline size_t pad_in_place(uint8_t *rest, size_t count, uint64_t length) {
    const size_t blocks =
        (count + 1 + sizeof length + OVT_SHA256_BLOCK_SIZE - 1) / OVT_SHA256_BLOCK_SIZE;
    clear_blocks(rest + count);
    rest[count] = 0x80;
    store_be64(rest + blocks * OVT_SHA256_BLOCK_SIZE - sizeof length, length * 8);
    return blocks;
}

void ovt_sha256_finish_in_place(ovt_sha256 *hash, uint8_t *rest, size_t count,
                                uint8_t digest[OVT_SHA256_DIGEST_SIZE]) {
    const size_t blocks = pad_in_place(rest, count, hash->length + count);
    compress(hash->state, rest, blocks);
    store_digest(digest, hash->state);
}

void ovt_sha256_digest(const void *bytes, size_t count, uint8_t digest[OVT_SHA256_DIGEST_SIZE]) {
    uint32_t state[8];
    start_state(state);
    const uint8_t *rest = bytes;
    const size_t whole = count / OVT_SHA256_BLOCK_SIZE;
    if (whole > 0) {
        compress(state, rest, whole);
        rest += whole * OVT_SHA256_BLOCK_SIZE;
    }
    finish_message(state, rest, count, digest);
}

/* ---- several messages ---- */

/* One of the two messages that are under way. */
typedef struct {
    const ovt_sha256_message *message; /* NULL: none */
    const uint8_t *next;
    size_t blocks; /* that follow one another at `next` */
    bool is_padding;
    uint8_t padded[PADDED_SIZE];
} lane;

static inline void start_message(lane *l, const ovt_sha256_message *message) {
    l->message = message;
    l->next = message->bytes;
    l->is_padding = false;
    message->hash->length += message->count;
    l->blocks = message->count / OVT_SHA256_BLOCK_SIZE;
}

/* Moves on to the padding, or ends the message, until there are blocks to compress. False when
 * there is no message left. */
static bool next_blocks(lane *l, const ovt_sha256_message **waiting,
                        const ovt_sha256_message *end) {
    while (l->message == NULL || l->blocks == 0) {
        if (l->message == NULL) {
            if (*waiting == end)
                return false;
            start_message(l, (*waiting)++);
        } else if (!l->is_padding) {
            clear_blocks(l->padded);
            l->blocks = pad_message(l->padded, l->next, l->message->hash->length);
            l->next = l->padded;
            l->is_padding = true;
        } else {
            store_digest(l->message->digest, l->message->hash->state);
            l->message = NULL;
        }
    }
    return true;
}

static void took_blocks(lane *l, size_t count) {
    l->next += count * OVT_SHA256_BLOCK_SIZE;
    l->blocks -= count;
}

static void finish_in_turn(const ovt_sha256_message *messages, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ovt_sha256_update(messages[i].hash, messages[i].bytes, messages[i].count);
        ovt_sha256_finish(messages[i].hash, messages[i].digest);
    }
}

static bool are_at_blocks(const ovt_sha256_message *messages, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (messages[i].hash->length % OVT_SHA256_BLOCK_SIZE != 0)
            return false;
    return true;
}

void ovt_sha256_finish_all(const ovt_sha256_message *messages, size_t count) {
    const variant *const used = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (used->compress_two == NULL || !are_at_blocks(messages, count)) {
        finish_in_turn(messages, count);
        return;
    }
    const ovt_sha256_message *waiting = messages;
    const ovt_sha256_message *const end = messages + count;
    lane a, b;
    a.message = NULL;
    b.message = NULL;
    while (next_blocks(&a, &waiting, end) && next_blocks(&b, &waiting, end)) {
        uint32_t *const states[2] = {a.message->hash->state, b.message->hash->state};
        const uint8_t *const blocks[2] = {a.next, b.next};
        const size_t both = a.blocks < b.blocks ? a.blocks : b.blocks;
        static const size_t in_place[2] = {0, 0};
        used->compress_two(states, blocks, both, in_place);
        took_blocks(&a, both);
        took_blocks(&b, both);
    }
    lane *const last = a.message != NULL ? &a : &b;
    while (next_blocks(last, &waiting, end)) {
        used->compress(last->message->hash->state, last->next, last->blocks);
        took_blocks(last, last->blocks);
    }
}

/* ---- states that are kept ---- */

ovt_sha256_padded ovt_sha256_pad(uint8_t *bytes, size_t count) {
    return (ovt_sha256_padded){bytes, pad_in_place(bytes, count, count)};
}

void ovt_sha256_trail_init(ovt_sha256_trail *trail, uint32_t (*states)[8]) {
    *trail = (ovt_sha256_trail){.states = states};
    start_state(states[0]);
}

static inline bool is_same_block(const uint8_t *a, const uint8_t *b) {
#if OVT_X86_64
    __m128i same = _mm_set1_epi8(-1);
    for (int i = 0; i < OVT_SHA256_BLOCK_SIZE; i += 16) {
        const __m128i of_a = _mm_loadu_si128((const __m128i *)(const void *)(a + i));
        const __m128i of_b = _mm_loadu_si128((const __m128i *)(const void *)(b + i));
        same = _mm_and_si128(same, _mm_cmpeq_epi8(of_a, of_b));
    }
    return _mm_movemask_epi8(same) == 0xFFFF;
#else
    uint64_t difference = 0;
    for (int i = 0; i < OVT_SHA256_BLOCK_SIZE; i += 8)
        difference |= ovt_load64(a + i) ^ ovt_load64(b + i);
    return difference == 0;
#endif
}

/* How many blocks both begin with. */
static inline size_t shared_blocks(ovt_sha256_padded a, ovt_sha256_padded b) {
    const size_t most = a.count < b.count ? a.count : b.count;
    size_t count = 0;
    for (; count < most && is_same_block(a.blocks, b.blocks); count++) {
        a.blocks += OVT_SHA256_BLOCK_SIZE;
        b.blocks += OVT_SHA256_BLOCK_SIZE;
    }
    return count;
}

/* A message without its first `count` blocks. It may have none, and be nowhere. */
static inline ovt_sha256_padded rest_of(ovt_sha256_padded message, size_t count) {
    if (count > 0) {
        message.blocks += count * OVT_SHA256_BLOCK_SIZE;
        message.count -= count;
    }
    return message;
}

void ovt_sha256_trail_two(ovt_sha256_trail *trail, const ovt_sha256_padded messages[2],
                          uint32_t finals[2][8]) {
    const variant *const used = atomic_load_explicit(&chosen, memory_order_relaxed);
    const size_t known = shared_blocks(messages[0], trail->last);
    size_t at = shared_blocks(messages[1], trail->last);
    ovt_sha256_padded one = rest_of(messages[0], known), other = rest_of(messages[1], at);
    memcpy(finals[0], trail->states[known], sizeof finals[0]);
    const size_t both = one.count < other.count ? one.count : other.count;
    if (used->compress_two != NULL && both > 0) {
        uint32_t *const states[2] = {finals[0], trail->states[at]};
        const uint8_t *const blocks[2] = {one.blocks, other.blocks};
        const size_t strides[2] = {0, sizeof *trail->states / sizeof **trail->states};
        used->compress_two(states, blocks, both, strides);
        one = rest_of(one, both);
        other = rest_of(other, both);
        at += both;
    }
    if (one.count > 0)
        used->compress(finals[0], one.blocks, one.count);
    for (; other.count > 0; other = rest_of(other, 1), at++) {
        memcpy(trail->states[at + 1], trail->states[at], sizeof *trail->states);
        used->compress(trail->states[at + 1], other.blocks, 1);
    }
    if (messages[1].count > 0)
        trail->last = messages[1];
    memcpy(finals[1], trail->states[at], sizeof finals[1]);
}

void ovt_sha256_state_digest(const uint32_t state[8], uint8_t digest[OVT_SHA256_DIGEST_SIZE]) {
    store_digest(digest, state);
}

/* ---- hexadecimal digits ---- */

enum { LETTER_GAP = 'a' - '0' - 10 }; /* from the character after '9' to 'a' */

#if OVT_X86_64

/* The sixteen characters of eight bytes. */
static inline void hex_of_eight(const uint8_t *bytes, char *hex) {
    const __m128i low_nibble = _mm_set1_epi8(0x0F);
    const __m128i eight = _mm_cvtsi64_si128((long long)ovt_load64(bytes));
    const __m128i high = _mm_and_si128(_mm_srli_epi16(eight, 4), low_nibble);
    const __m128i digits = _mm_unpacklo_epi8(high, _mm_and_si128(eight, low_nibble));
    const __m128i is_letter = _mm_cmpgt_epi8(digits, _mm_set1_epi8(9));
    const __m128i gap = _mm_and_si128(is_letter, _mm_set1_epi8(LETTER_GAP));
    const __m128i characters = _mm_add_epi8(_mm_add_epi8(digits, _mm_set1_epi8('0')), gap);
    _mm_storeu_si128((__m128i *)(void *)hex, characters);
}

#elif OVT_AARCH64

static inline void hex_of_eight(const uint8_t *bytes, char *hex) {
    const uint8x8_t eight = vld1_u8(bytes);
    const uint8x8x2_t digits = {{vshr_n_u8(eight, 4), vand_u8(eight, vdup_n_u8(0x0F))}};
    uint8x8x2_t characters;
    for (int i = 0; i < 2; i++) {
        const uint8x8_t is_letter = vcgt_u8(digits.val[i], vdup_n_u8(9));
        const uint8x8_t gap = vand_u8(is_letter, vdup_n_u8(LETTER_GAP));
        characters.val[i] = vadd_u8(vadd_u8(digits.val[i], vdup_n_u8('0')), gap);
    }
    vst2_u8((uint8_t *)hex, characters);
}

#else

/* Each byte takes the place of two, its high digit the first of them, and every digit moves up to
 * its character, by 64-bit operations on four bytes. */
static inline void hex_of_four(const uint8_t *four, char *hex) {
    const uint64_t ones = 0x0101010101010101;
    const uint64_t spread = (uint64_t)four[0] | (uint64_t)four[1] << 16 | (uint64_t)four[2] << 32 |
                            (uint64_t)four[3] << 48;
    const uint64_t high = spread >> 4 & 0x000F000F000F000F;
    const uint64_t digits = high | (spread & 0x000F000F000F000F) << 8;
    const uint64_t is_letter = (digits + ones * 6) >> 4 & ones;
    ovt_store_le64(hex, digits + ones * '0' + is_letter * LETTER_GAP);
}

static inline void hex_of_eight(const uint8_t *bytes, char *hex) {
    hex_of_four(bytes, hex);
    hex_of_four(bytes + 4, hex + 8);
}

#endif

void ovt_sha256_hex(const uint8_t digest[OVT_SHA256_DIGEST_SIZE], char hex[OVT_SHA256_HEX_SIZE]) {
    for (int i = 0; i < OVT_SHA256_DIGEST_SIZE; i += 8)
        hex_of_eight(digest + i, hex + 2 * i);
}
