#include "buffer.h"

#include <stdlib.h>

/* ---- spare blocks ---------------------------------------------------------------------------- */

/* Takes a block of at least *capacity bytes and sets *capacity to what it has; NULL if there is
 * none. Smaller ones on the way are freed: what is written now is likely to be written again. */
static void *take_spare(ovt_spare *spare, size_t *capacity) {
    for (int i = 0; spare != NULL && i < OVT_SPARE_BLOCKS; i++) {
        void *block = __atomic_exchange_n(&spare->blocks[i], NULL, __ATOMIC_ACQUIRE);
        size_t found = 0;
        if (block != NULL) {
            memcpy(&found, block, sizeof found);
        }
        if (found >= *capacity) {
            *capacity = found;
            return block;
        }
        free(block);
    }
    return NULL;
}

void ovt_spare_give(ovt_spare *spare, void *block, size_t capacity) {
    if (spare != NULL && capacity >= sizeof capacity && capacity <= OVT_SPARE_LIMIT) {
        memcpy(block, &capacity, sizeof capacity);
        for (int i = 0; i < OVT_SPARE_BLOCKS; i++) {
            void *none = NULL;
            if (__atomic_compare_exchange_n(&spare->blocks[i], &none, block, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
                return;
            }
        }
    }
    free(block);
}

void ovt_spare_release(ovt_spare *spare) {
    for (int i = 0; i < OVT_SPARE_BLOCKS; i++) {
        free(__atomic_exchange_n(&spare->blocks[i], NULL, __ATOMIC_ACQUIRE));
    }
}

/* ---- the hash -------------------------------------------------------------------------------- */

enum {
    /* Bytes that the hash is not given yet: the processor could not read them before the writes to
     * them have left their queue. */
    HELD_BACK = 32,
    HASH_STEP = OVT_SHA256_BLOCK_SIZE + HELD_BACK, /* from one call of the hash to the next */
};

/* The hash has taken what stands before `at`. */
static void set_hashed(ovt_buffer *buffer, char *at) {
    buffer->hashed = at;
    buffer->hash_due = at + HASH_STEP;
}

void ovt_buffer_hash_ahead(ovt_buffer *buffer, char *end) {
    if (buffer->pins != 0) {
        return;
    }
    const size_t pending = (size_t)(end - buffer->hashed);
    const size_t blocks = (pending - HELD_BACK) / OVT_SHA256_BLOCK_SIZE;
    char *const at = buffer->hashed;
    set_hashed(buffer, at + blocks * OVT_SHA256_BLOCK_SIZE);
    ovt_sha256_update_blocks(buffer->hash, at, blocks);
}

/* Moves what the hash has not taken to the first byte. */
static void restart(ovt_buffer *buffer) {
    const size_t rest = (size_t)(buffer->end - buffer->hashed);
    memmove(buffer->data, buffer->hashed, rest);
    buffer->end = buffer->data + rest;
    set_hashed(buffer, buffer->data);
}

void ovt_buffer_flush(ovt_buffer *buffer) {
    ovt_sha256_update(buffer->hash, buffer->hashed, (size_t)(buffer->end - buffer->hashed));
    buffer->end = buffer->data;
    set_hashed(buffer, buffer->data);
}

/* ---- the buffer ------------------------------------------------------------------------------ */

void ovt_buffer_init(ovt_buffer *buffer, char *storage, size_t capacity, ovt_sha256 *hash) {
    *buffer = (ovt_buffer){
        .end = storage,
        .limit = storage + capacity,
        .data = storage,
        .caller_data = storage,
        .hash_due = (char *)UINTPTR_MAX, /* never */
        .hash = hash,
    };
    if (hash != NULL) {
        set_hashed(buffer, storage);
        ovt_sha256_init(hash);
    }
}

void ovt_buffer_release(ovt_buffer *buffer) {
    if (buffer->data != buffer->caller_data) {
        ovt_spare_give(buffer->spare, buffer->data, (size_t)(buffer->limit - buffer->data));
    }
}

OVT_NEVER_INLINE bool ovt_buffer_grow(ovt_buffer *buffer, size_t count) {
    if (buffer->hash != NULL && buffer->pins == 0) {
        ovt_buffer_offer(buffer, buffer->end);
        restart(buffer);
        if ((size_t)(buffer->limit - buffer->end) >= count) {
            return true;
        }
    }
    const size_t length = ovt_buffer_length(buffer);
    const size_t hashed = buffer->hash == NULL ? 0 : (size_t)(buffer->hashed - buffer->data);
    const size_t capacity = (size_t)(buffer->limit - buffer->data);
    if (count > SIZE_MAX / 4 || capacity > SIZE_MAX / 4) {
        return false;
    }
    /* By half, not double: a large text then wastes at most a third of its memory. */
    size_t wanted = capacity + capacity / 2;
    if (wanted < length + count) {
        wanted = length + count;
    }
    char *data;
    if (buffer->data == buffer->caller_data) {
        data = take_spare(buffer->spare, &wanted);
        if (data == NULL) {
            data = malloc(wanted);
        }
        if (data != NULL) {
            memcpy(data, buffer->data, length);
        }
    } else {
        data = realloc(buffer->data, wanted);
    }
    if (data == NULL) {
        return false;
    }
    buffer->data = data;
    buffer->end = data + length;
    buffer->limit = data + wanted;
    if (buffer->hash != NULL) {
        set_hashed(buffer, data + hashed);
    }
    return true;
}

void ovt_buffer_finish_hash(ovt_buffer *buffer, uint8_t digest[OVT_SHA256_DIGEST_SIZE]) {
    const size_t rest = (size_t)(buffer->end - buffer->hashed);
    const size_t room = (size_t)(buffer->limit - buffer->end);
    if (OVT_LIKELY(room >= OVT_SHA256_PAD_ROOM &&
                   buffer->hash->length % OVT_SHA256_BLOCK_SIZE == 0)) {
        ovt_sha256_finish_in_place(buffer->hash, (uint8_t *)buffer->hashed, rest, digest);
    } else {
        ovt_sha256_update(buffer->hash, buffer->hashed, rest);
        ovt_sha256_finish(buffer->hash, digest);
    }
}
