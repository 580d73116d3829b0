#include "buffer.h"

#include <stdlib.h>

void ovt_buffer_init(ovt_buffer *buffer, char *storage, size_t capacity, ovt_sha256 *hash) {
    *buffer = (ovt_buffer){
        .end = storage,
        .limit = storage + capacity,
        .data = storage,
        .caller_data = storage,
        .hash = hash,
        .pins = 0,
    };
    if (hash != NULL) {
        ovt_sha256_init(hash);
    }
}

void ovt_buffer_release(ovt_buffer *buffer) {
    if (buffer->data != buffer->caller_data) {
        free(buffer->data);
    }
}

OVT_NEVER_INLINE bool ovt_buffer_grow(ovt_buffer *buffer, size_t count) {
    if (buffer->hash != NULL && buffer->pins == 0) {
        ovt_sha256_update(buffer->hash, buffer->data, ovt_buffer_length(buffer));
        buffer->end = buffer->data;
        if ((size_t)(buffer->limit - buffer->end) >= count) {
            return true;
        }
    }
    const size_t length = ovt_buffer_length(buffer);
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
        data = malloc(wanted);
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
    return true;
}

void ovt_buffer_finish_hash(ovt_buffer *buffer, uint8_t digest[OVT_SHA256_DIGEST_SIZE]) {
    ovt_sha256_update(buffer->hash, buffer->data, ovt_buffer_length(buffer));
    ovt_sha256_finish(buffer->hash, digest);
}
