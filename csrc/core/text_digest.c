#include "text_digest.h"

#include <stdlib.h>

#include "key_order.h"
#include "text_arrange.h"

static size_t count_names(const char *names, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += (uint8_t)names[i] == OVT_END_OF_NAME;
    }
    return count;
}

/* Takes the names apart, and puts them in order. NULL when memory runs out. */
static ovt_name *sorted_names(const char *names, size_t count) {
    ovt_name *const sorted = malloc(count * sizeof *sorted);
    ovt_member *const members = calloc(count, sizeof *members);
    uint32_t *const order = malloc(count * sizeof *order);
    bool is_fine = sorted != NULL && members != NULL && order != NULL;
    if (is_fine) {
        for (size_t i = 0; i < count; i++) {
            size_t length = 0;
            while ((uint8_t)names[length] != OVT_END_OF_NAME) {
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

/* The digest under a selection that has been made ready. */
static ovt_status digest(char hex[OVT_SHA256_HEX_SIZE], const ovt_digest_request *request,
                         const ovt_text_options *options, ovt_text_error *error) {
    char storage[4096];
    ovt_sha256 hash;
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, &hash);
    ovt_status status = ovt_append_span(&out, request->prefix.text, request->prefix.length);
    if (status == OVT_OK) {
        status = ovt_canonical_text(&out, request->text.text, request->text.length, options, error);
    }
    if (status == OVT_OK) {
        uint8_t bytes[OVT_SHA256_DIGEST_SIZE];
        ovt_buffer_finish_hash(&out, bytes);
        ovt_sha256_hex(bytes, hex);
    }
    ovt_buffer_release(&out);
    return status;
}

bool ovt_select_names(ovt_name_selection *selection, ovt_name names, bool drops) {
    *selection = (ovt_name_selection){.drops = drops};
    const size_t count = count_names(names.text, names.length);
    if (count == 0) {
        return true;
    }
    selection->names = sorted_names(names.text, count);
    selection->count = count;
    return selection->names != NULL;
}

void ovt_release_names(ovt_name_selection *selection) {
    free((void *)(uintptr_t)selection->names);
}

ovt_status ovt_digest_text(char hex[OVT_SHA256_HEX_SIZE], const ovt_digest_request *request,
                           ovt_text_error *error) {
    ovt_name_selection selection;
    if (!ovt_select_names(&selection, request->names, request->drops)) {
        return OVT_NO_MEMORY;
    }
    const ovt_text_options options = {request->profile, request->max_depth,
                                      selection.count != 0 ? &selection : NULL};
    const ovt_status status = digest(hex, request, &options, error);
    ovt_release_names(&selection);
    return status;
}
