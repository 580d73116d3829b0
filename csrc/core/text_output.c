#include "text_output.h"

#include "text_digest.h"

void ovt_text_release(ovt_text_output *output) {
    ovt_spare_give(&output->spare, (void *)(uintptr_t)output->data, output->capacity);
}

void ovt_text_take(ovt_text_output *output, char *to) {
    memcpy(to, output->data, output->length);
    ovt_text_release(output);
}

void ovt_text_close(ovt_text_output *output) {
    ovt_spare_release(&output->spare);
}

static int failed(ovt_text_output *output, ovt_status status, const ovt_text_error *error) {
    output->status = (int)status;
    output->reason = status == OVT_TEXT ? (int)error->reason : 0;
    output->offset = status == OVT_TEXT ? error->offset : 0;
    return OVT_OUTPUT_FAILED;
}

static int on_heap(ovt_text_output *output, const void *data, size_t length, size_t capacity) {
    output->data = data;
    output->length = length;
    output->capacity = capacity;
    return OVT_OUTPUT_ON_HEAP;
}

int ovt_text_canonical(ovt_text_output *output, int profile, const char *text, size_t length,
                       size_t max_depth) {
    const ovt_text_options options = {&ovt_profiles[profile], max_depth, NULL};
    ovt_buffer out;
    ovt_text_error error;
    ovt_buffer_init(&out, output->storage, sizeof output->storage, NULL);
    out.spare = &output->spare;
    const ovt_status status = ovt_canonical_text(&out, text, length, &options, &error);
    if (status != OVT_OK) {
        ovt_buffer_release(&out);
        return failed(output, status, &error);
    }
    const size_t size = ovt_buffer_length(&out);
    return out.data == output->storage
               ? (int)size
               : on_heap(output, out.data, size, (size_t)(out.limit - out.data));
}

int ovt_text_digest(ovt_text_output *output, int profile, const char *prefix, size_t prefix_length,
                    const char *text, size_t length, size_t max_depth, const char *names,
                    size_t names_length, bool drops) {
    const ovt_digest_request request = {
        .profile = &ovt_profiles[profile],
        .max_depth = max_depth,
        .prefix = {prefix, prefix_length},
        .text = {text, length},
        .names = {names, names_length},
        .drops = drops,
    };
    ovt_text_error error;
    const ovt_status status = ovt_digest_text(output->storage, &request, &error);
    return status == OVT_OK ? OVT_SHA256_HEX_SIZE : failed(output, status, &error);
}

int ovt_text_call(ovt_text_output *output, const char *text, size_t length, size_t max_depth) {
    ovt_text_error error;
    ovt_call_error call_error;
    const ovt_status status =
        ovt_call_digest(output->storage, text, length, max_depth, &error, &call_error);
    if (status == OVT_OK) {
        return OVT_SHA256_HEX_SIZE;
    }
    failed(output, status, &error);
    if (status == OVT_CALL) {
        output->reason = (int)call_error.reason;
        output->offset = call_error.offset;
        output->field = (int)call_error.field;
        output->item = call_error.item;
    }
    return OVT_OUTPUT_FAILED;
}

int ovt_text_members(ovt_text_output *output, const char *text, size_t length, size_t max_depth) {
    ovt_text_error error;
    ovt_member_spans members;
    const ovt_status status = ovt_read_members(&members, text, length, max_depth, &error);
    if (status != OVT_OK) {
        return failed(output, status, &error);
    }
    const size_t size = members.count * sizeof *members.spans;
    return size == 0 ? 0 : on_heap(output, members.spans, size, size);
}
