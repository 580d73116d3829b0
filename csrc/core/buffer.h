/* Growable output: make room once, then write unchecked.
 *
 * A buffer starts on storage of its caller (usually on the stack) and moves to the heap when it
 * outgrows it. Blocks of the heap can be kept from one buffer to the next: pages that the
 * system takes back and gives again would cost more than what is written on them. With a hash
 * attached it hands what it holds to the hash instead of growing, so a text of any length is hashed
 * in constant memory; `pins` holds the bytes in place while someone still has to read them. Making
 * room costs a comparison. */
#ifndef OVT_BUFFER_H
#define OVT_BUFFER_H

#include <stdbool.h>

#include "compiler.h"
#include "sha256.h"

enum {
    OVT_SPARE_BLOCKS = 2,      /* a text may be written twice, in the order read and in its own */
    OVT_SPARE_LIMIT = 8 << 20, /* bytes of a block that is kept, at most */
};

/* A few free blocks of the heap, safe to share between threads. All zero: none. */
typedef struct {
    void *blocks[OVT_SPARE_BLOCKS]; /* each has its capacity in its first bytes */
} ovt_spare;

/* Keeps a block that malloc gave, or frees it. `spare` may be NULL. */
void ovt_spare_give(ovt_spare *spare, void *block, size_t capacity);

/* Frees what is kept. */
void ovt_spare_release(ovt_spare *spare);

typedef struct {
    char *end;         /* where the next byte goes */
    char *limit;       /* one past the last byte there is room for */
    char *data;        /* the first byte */
    char *caller_data; /* the storage it started on, never freed here */
    ovt_sha256 *hash;  /* NULL: the buffer keeps everything */
    char *hashed;      /* how far the text has been handed to the hash */
    char *hash_due;    /* where `end` passes it, the hash may take more */
    ovt_spare *spare;  /* where a block may come from and go to, or NULL */
    size_t pins;       /* while not 0, nothing is handed to the hash */
} ovt_buffer;

/* An empty buffer on `capacity` bytes at `storage`. `hash`, if any, is initialised. `spare` may be
 * set afterwards. */
void ovt_buffer_init(ovt_buffer *buffer, char *storage, size_t capacity, ovt_sha256 *hash);

/* Keeps the text from the hash for as long as there is room: what is there at the end may be hashed
 * beside another text. For a buffer with a hash and nothing in it yet. */
static inline void ovt_buffer_hash_late(ovt_buffer *buffer) {
    buffer->hash_due = (char *)UINTPTR_MAX;
}

/* Frees or spares what the buffer holds; it may not be used afterwards. */
void ovt_buffer_release(ovt_buffer *buffer);

/* Makes room for `count` bytes the slow way. False when memory runs out. */
bool ovt_buffer_grow(ovt_buffer *buffer, size_t count);

/* Hands whole blocks up to `end` to the hash, but for the last bytes, and sets when more are due.
 */
void ovt_buffer_hash_ahead(ovt_buffer *buffer, char *end);

/* Hands everything to the hash. */
void ovt_buffer_flush(ovt_buffer *buffer);

/* Hands everything to the hash and finishes it. */
void ovt_buffer_finish_hash(ovt_buffer *buffer, uint8_t digest[OVT_SHA256_DIGEST_SIZE]);

/* Makes sure that `count` bytes can be written at `buffer->end`. False when memory runs out. */
static inline bool ovt_buffer_reserve(ovt_buffer *buffer, size_t count) {
    if (OVT_LIKELY((size_t)(buffer->limit - buffer->end) >= count)) {
        return true;
    }
    return ovt_buffer_grow(buffer, count);
}

/* Lets the hash take what has been written up to `end`, if it is enough. Called every few dozen
 * bytes, hashing costs little: the processor does it beside the writing, which waits for nothing.
 */
static inline void ovt_buffer_offer(ovt_buffer *buffer, char *end) {
    if (end >= buffer->hash_due) {
        ovt_buffer_hash_ahead(buffer, end);
    }
}

static inline size_t ovt_buffer_length(const ovt_buffer *buffer) {
    return (size_t)(buffer->end - buffer->data);
}

/* Appends one byte; room was made before. */
static inline void ovt_buffer_put(ovt_buffer *buffer, char byte) {
    *buffer->end++ = byte;
}

/* Appends bytes, making room for them. False when memory runs out. */
static inline bool ovt_buffer_append(ovt_buffer *buffer, const char *bytes, size_t count) {
    if (OVT_UNLIKELY(!ovt_buffer_reserve(buffer, count))) {
        return false;
    }
    if (count != 0) { /* `bytes` may be NULL then */
        memcpy(buffer->end, bytes, count);
    }
    buffer->end += count;
    return true;
}

#endif
