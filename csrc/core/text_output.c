#include "text_output.h"

#include <stdlib.h>

#include "key_order.h"

static const char END_OF_NAME = (char)0xFF; /* a byte that UTF-8 never has */

void ovt_text_release(ovt_text_output *output) {
    free((void *)(uintptr_t)output->data);
}

static int failed(ovt_text_output *output, ovt_status status, const ovt_text_error *error) {
    output->status = (int)status;
    output->reason = status == OVT_TEXT ? (int)error->reason : 0;
    output->offset = status == OVT_TEXT ? error->offset : 0;
    return OVT_OUTPUT_FAILED;
}

int ovt_text_canonical(ovt_text_output *output, int profile, const char *text, size_t length,
                       size_t max_depth) {
    const ovt_text_options options = {&ovt_profiles[profile], max_depth, NULL};
    ovt_buffer out;
    ovt_text_error error;
    ovt_buffer_init(&out, output->storage, sizeof output->storage, NULL);
    const ovt_status status = ovt_canonical_text(&out, text, length, &options, &error);
    if (status != OVT_OK) {
        ovt_buffer_release(&out);
        return failed(output, status, &error);
    }
    if (out.data == output->storage) {
        return (int)ovt_buffer_length(&out);
    }
    output->data = out.data;
    output->length = ovt_buffer_length(&out);
    return OVT_OUTPUT_ON_HEAP;
}

/* ---- names ----------------------------------------------------------------------------------- */

static size_t count_names(const char *names, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += names[i] == END_OF_NAME;
    }
    return count;
}

/* Takes the names apart, and puts them in order. NULL when memory runs out. */
static ovt_name *sorted_names(const char *names, size_t count) {
    ovt_name *const sorted = malloc(count * sizeof *sorted);
    ovt_member *const members = malloc(count * sizeof *members);
    uint32_t *const order = malloc(count * sizeof *order);
    bool is_fine = sorted != NULL && members != NULL && order != NULL;
    if (is_fine) {
        for (size_t i = 0; i < count; i++) {
            size_t length = 0;
            while (names[length] != END_OF_NAME) {
                length++;
            }
            members[i] = (ovt_member){
                .prefix = ovt_key_prefix(names, length), .text = names, .length = length};
            names += length + 1;
        }
        is_fine = ovt_order_members(members, order, count, false) == OVT_OK;
    }
    for (size_t i = 0; is_fine && i < count; i++) {
        sorted[i] = (ovt_name){members[order[i]].text, members[order[i]].length};
    }
    free(members);
    free(order);
    if (!is_fine) {
        free(sorted);
    }
    return is_fine ? sorted : NULL;
}

/* ---- digests --------------------------------------------------------------------------------- */

static ovt_status digest(char hex[OVT_SHA256_HEX_SIZE], const ovt_name prefix, const ovt_name text,
                         const ovt_text_options *options, ovt_text_error *error) {
    char storage[OVT_OUTPUT_STORAGE];
    ovt_sha256 hash;
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, &hash);
    ovt_status status =
        ovt_buffer_append(&out, prefix.text, prefix.length) ? OVT_OK : OVT_NO_MEMORY;
    if (status == OVT_OK) {
        status = ovt_canonical_text(&out, text.text, text.length, options, error);
    }
    if (status == OVT_OK) {
        uint8_t bytes[OVT_SHA256_DIGEST_SIZE];
        ovt_buffer_finish_hash(&out, bytes);
        ovt_sha256_hex(bytes, hex);
    }
    ovt_buffer_release(&out);
    return status;
}

int ovt_text_digest(ovt_text_output *output, int profile, const char *prefix, size_t prefix_length,
                    const char *text, size_t length, size_t max_depth, const char *names,
                    size_t names_length, bool drops) {
    const size_t count = count_names(names, names_length);
    ovt_name *const sorted = count != 0 ? sorted_names(names, count) : NULL;
    if (count != 0 && sorted == NULL) {
        return failed(output, OVT_NO_MEMORY, NULL);
    }
    const ovt_name_selection selection = {sorted, count, drops};
    const ovt_text_options options = {&ovt_profiles[profile], max_depth,
                                      count != 0 ? &selection : NULL};
    ovt_text_error error;
    const ovt_status status = digest(output->storage, (ovt_name){prefix, prefix_length},
                                     (ovt_name){text, length}, &options, &error);
    free(sorted);
    return status == OVT_OK ? OVT_SHA256_HEX_SIZE : failed(output, status, &error);
}
