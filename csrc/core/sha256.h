/* SHA-256 (FIPS 180-4), with the processor's SHA instructions where it has them.
 *
 * Promise: the digest of any byte sequence shorter than 2^61 bytes, the same from every variant and
 * on either byte order. No allocation, no locks; each function may run in any number of threads at
 * once, one `ovt_sha256` belonging to one thread at a time.
 *
 * Cost: one compression per 64 bytes, counting 9 bytes of padding: about 130 cycles with SHA
 * instructions and 650 without. `ovt_sha256_digest` adds some 50 cycles to them, whatever the size.
 *
 * Variants: "sha-ni" (x86-64), "armv8" (little-endian AArch64) and "portable" (everywhere). The
 * fastest that the processor can run is chosen once, when the library is loaded. The environment
 * variable OVERTURN_FAST_SHA256, unless empty, names the variant to use instead. */
#ifndef OVT_SHA256_H
#define OVT_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

enum { OVT_SHA256_DIGEST_SIZE = 32, OVT_SHA256_HEX_SIZE = 64, OVT_SHA256_BLOCK_SIZE = 64 };

/* A message in progress. `block` holds the last length % 64 bytes of it, not yet compressed. */
typedef struct {
    uint32_t state[8]; /* at the places of ovt_sha256_place */
    uint64_t length;
    uint8_t block[OVT_SHA256_BLOCK_SIZE];
} ovt_sha256;

/* Starts a message. */
void ovt_sha256_init(ovt_sha256 *hash);

/* Appends `count` bytes. `bytes` may be NULL if `count` is 0. */
void ovt_sha256_update(ovt_sha256 *hash, const void *bytes, size_t count);

/* The same for `count` blocks, not 0: a shorter way to the compression. */
void ovt_sha256_update_blocks(ovt_sha256 *hash, const void *blocks, size_t count);

/* Writes the digest of everything appended. `hash` must be started anew before it is used again. */
void ovt_sha256_finish(ovt_sha256 *hash, uint8_t digest[OVT_SHA256_DIGEST_SIZE]);

enum { OVT_SHA256_PAD_ROOM = 2 * OVT_SHA256_BLOCK_SIZE };

/* The same for a message whose last `count` bytes stand at `rest`, after whole blocks that were
 * appended. The OVT_SHA256_PAD_ROOM bytes after them are overwritten. */
void ovt_sha256_finish_in_place(ovt_sha256 *hash, uint8_t *rest, size_t count,
                                uint8_t digest[OVT_SHA256_DIGEST_SIZE]);

/* The digest of one contiguous message; the message is read in place, only its tail is copied. */
void ovt_sha256_digest(const void *bytes, size_t count, uint8_t digest[OVT_SHA256_DIGEST_SIZE]);

/* A message whose end is contiguous: `hash` has what came before, which may be nothing. */
typedef struct {
    ovt_sha256 *hash;
    const void *bytes;
    size_t count;    /* of bytes */
    uint8_t *digest; /* where OVT_SHA256_DIGEST_SIZE bytes go */
} ovt_sha256_message;

/* Appends the ends of several messages and writes their digests, two messages at a time: with SHA
 * instructions two take hardly longer than the longer of them. Messages that have not taken whole
 * blocks before are finished one by one. */
void ovt_sha256_finish_all(const ovt_sha256_message *messages, size_t count);

/* A message that stands whole and padded in memory. */
typedef struct {
    const uint8_t *blocks;
    size_t count; /* of blocks; 0: no message */
} ovt_sha256_padded;

/* Pads the message of `count` bytes at `bytes`. The OVT_SHA256_PAD_ROOM bytes after it are
 * overwritten. */
ovt_sha256_padded ovt_sha256_pad(uint8_t *bytes, size_t count);

/* The last of several messages, and its states: states[i] is the intermediate hash value after its
 * first i blocks, its words at the places of ovt_sha256_place. A message that begins with the same
 * blocks need not compress them again. */
typedef struct {
    ovt_sha256_padded last;
    uint32_t (*states)[8];
} ovt_sha256_trail;

/* A trail of no message yet. There is room at `states` for one more than a message has blocks. */
void ovt_sha256_trail_init(ovt_sha256_trail *trail, uint32_t (*states)[8]);

/* Finds the final states of two messages, compressing both at once where that is faster, but not
 * what they begin with like the last one of the trail, whose blocks are unchanged. The trail goes
 * on with the second one, if it has blocks. A message without blocks has no final state. */
void ovt_sha256_trail_two(ovt_sha256_trail *trail, const ovt_sha256_padded messages[2],
                          uint32_t finals[2][8]);

/* Writes the digest that a final state is. */
void ovt_sha256_state_digest(const uint32_t state[8], uint8_t digest[OVT_SHA256_DIGEST_SIZE]);

/* The digest as 64 lower-case hexadecimal characters, without a terminator. */
void ovt_sha256_hex(const uint8_t digest[OVT_SHA256_DIGEST_SIZE], char hex[OVT_SHA256_HEX_SIZE]);

/* The name of the variant in use. */
const char *ovt_sha256_variant(void);

/* The names of the variants that this processor can run, separated by commas, fastest first. */
const char *ovt_sha256_variants(void);

/* Uses the named variant from now on, in messages in progress too. False, with nothing changed, if
 * this processor or this build lacks it. */
bool ovt_sha256_select(const char *name);

/* The value of OVERTURN_FAST_SHA256 (its first 63 bytes) if it named no variant that can run here,
 * otherwise NULL. The caller of the library must not go on with it: what would run is not what
 * was asked for. */
const char *ovt_sha256_rejected(void);

/* The rest is between sha256.c and the files of its variants. */

#pragma GCC visibility push(hidden)

#define OVT_SHA256_HAS_X86 OVT_X86_64

#if OVT_AARCH64 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OVT_SHA256_HAS_ARM 1
#else
#define OVT_SHA256_HAS_ARM 0
#endif

/* The round constants of FIPS 180-4, section 4.2.2, aligned to 64 bytes. */
extern const uint32_t ovt_sha256_constants[64];

/* Where each of the eight words of the state stands, in this build: as the instructions of the
 * processor want them in their registers, since moving them would lengthen the chain that every
 * block waits for. */
#if OVT_SHA256_HAS_X86
static const uint8_t ovt_sha256_place[8] = {3, 2, 7, 6, 1, 0, 5, 4};
#else
static const uint8_t ovt_sha256_place[8] = {0, 1, 2, 3, 4, 5, 6, 7};
#endif

/* Whether the processor has the instructions, and the compression of `count` consecutive blocks
 * into `state` by means of them, for one message and for two at a time. For two, the state after
 * block i, counted from 1, is written i * strides[m] words after states[m]: 8 keeps every state in
 * an array of them, 0 only the last, in place. */
#if OVT_SHA256_HAS_X86
bool ovt_sha256_x86_available(void);
void ovt_sha256_x86_compress(uint32_t state[8], const uint8_t *blocks, size_t count);
void ovt_sha256_x86_compress_two(uint32_t *const states[2], const uint8_t *const blocks[2],
                                 size_t count, const size_t strides[2]);
#endif
#if OVT_SHA256_HAS_ARM
bool ovt_sha256_arm_available(void);
void ovt_sha256_arm_compress(uint32_t state[8], const uint8_t *blocks, size_t count);
#endif

#pragma GCC visibility pop

#endif
