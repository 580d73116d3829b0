/* Reads JSON texts from buffers of exactly their size, which a sanitizer watches.
 *
 *   text_check FILE...   each file, and every prefix of it, by itself and behind so much white
 * space that it is read in place; under every profile
 *
 * Prints "NAME DIGEST" for each file, the digest being over all answers. Exits with 1 where two
 * readings that must agree do not: skipping a value, examining it and canonicalizing it, and the
 * canonical form of a canonical form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_audit.h"
#include "call_line.h"
#include "canonical_text.h"

enum { MAX_DEPTH = 600, ALL_PREFIXES = 1200, SOME_PREFIXES = 40, IN_PLACE = OVT_SHORT_TEXT + 13 };

static void die(const char *what, size_t length) {
    printf("%s, at length %zu\n", what, length);
    exit(1);
}

static void *allocated(size_t size) {
    void *block = malloc(size);
    if (block == NULL && size != 0) {
        die("no memory", size);
    }
    return block;
}

/* Adds a number to the answers, alike on either byte order. */
static void note(ovt_sha256 *answers, uint64_t number) {
    uint8_t bytes[8];
    ovt_store_le64(bytes, number);
    ovt_sha256_update(answers, bytes, sizeof bytes);
}

typedef struct {
    ovt_status status;
    ovt_text_error error;
    ovt_buffer out;
    char storage[64]; /* so small that it is outgrown often */
} answer;

static void canonicalize(answer *a, const ovt_profile *profile, const char *text, size_t length) {
    const ovt_text_options options = {profile, MAX_DEPTH, NULL};
    a->error = (ovt_text_error){0, 0};
    ovt_buffer_init(&a->out, a->storage, sizeof a->storage, NULL);
    a->status = ovt_canonical_text(&a->out, text, length, &options, &a->error);
}

/* The digest of a text's canonical form, streamed, must be the digest of the form. */
static void check_stream(const answer *a, const ovt_profile *profile, const char *text,
                         size_t length) {
    const ovt_text_options options = {profile, MAX_DEPTH, NULL};
    uint8_t expected[OVT_SHA256_DIGEST_SIZE], digest[OVT_SHA256_DIGEST_SIZE];
    char storage[64];
    ovt_sha256 hash;
    ovt_buffer out;
    ovt_text_error error;
    ovt_buffer_init(&out, storage, sizeof storage, &hash);
    if (ovt_canonical_text(&out, text, length, &options, &error) != OVT_OK) {
        die("a text is refused when it is hashed", length);
    }
    ovt_buffer_finish_hash(&out, digest);
    ovt_buffer_release(&out);
    ovt_sha256_digest(a->out.data, ovt_buffer_length(&a->out), expected);
    if (memcmp(expected, digest, sizeof digest) != 0) {
        die("a text has another digest when it is streamed", length);
    }
}

static void check_again(const answer *a, const ovt_profile *profile, size_t length) {
    const size_t size = ovt_buffer_length(&a->out);
    char *const copy = allocated(size);
    memcpy(copy, a->out.data, size);
    answer again;
    canonicalize(&again, profile, copy, size);
    if (again.status != OVT_OK || ovt_buffer_length(&again.out) != size ||
        memcmp(again.out.data, copy, size) != 0) {
        die("a canonical form is not its own", length);
    }
    ovt_buffer_release(&again.out);
    free(copy);
}

/* Nothing is wrong with a text under the first profile but what is wrong with it as JSON. */
static void check_skip(const answer *a, const char *text, size_t length) {
    ovt_reader *const reader = allocated(sizeof *reader);
    const uint8_t *at = ovt_reader_start(reader, text, length);
    at = ovt_skip_value(reader, ovt_skip_space(reader, at), MAX_DEPTH);
    if (at != NULL) {
        at = ovt_skip_space(reader, at);
        if (at != reader->end) {
            ovt_reader_fail(reader, OVT_TEXT_EXTRA, at);
        }
    }
    if ((reader->error == 0) != (a->status == OVT_OK) || reader->error != a->error.reason ||
        reader->error_offset != a->error.offset) {
        die("skipping a value answers otherwise than canonicalizing it", length);
    }
    free(reader);
}

/* The text as a call: what is no JSON is refused as it is anywhere. */
static void check_call(ovt_sha256 *answers, const answer *a, const char *text, size_t length) {
    char hex[OVT_SHA256_HEX_SIZE];
    ovt_text_error error = {0, 0};
    ovt_call_error call_error = {0};
    const ovt_status status = ovt_call_digest(hex, text, length, MAX_DEPTH, &error, &call_error);
    if (a->status != OVT_OK && a->error.reason != OVT_TEXT_DEPTH &&
        (status != OVT_TEXT || error.reason != a->error.reason ||
         error.offset != a->error.offset)) {
        die("a call is refused otherwise than a value", length);
    }
    note(answers, (uint64_t)status);
    if (status == OVT_OK) {
        ovt_sha256_update(answers, hex, sizeof hex);
    }
}

/* An ovt_finding_sink that notes everything. */
static bool note_finding(void *answers, ovt_portability_reason reason, const ovt_path_step *steps,
                         size_t depth) {
    note(answers, (uint64_t)reason);
    for (size_t i = 0; i < depth; i++) {
        note(answers, steps[i].key == NULL ? steps[i].index : steps[i].length);
        if (steps[i].key != NULL) {
            ovt_sha256_update(answers, steps[i].key, steps[i].length);
        }
    }
    return true;
}

/* What is no JSON is refused as it is anywhere, whatever was found before. */
static void check_portability(ovt_sha256 *answers, const answer *a, const char *text,
                              size_t length) {
    const ovt_portability_options options = {MAX_DEPTH, NULL, note_finding, answers};
    ovt_text_error error = {0, 0};
    const ovt_status status = ovt_portability_text(text, length, &options, &error);
    if (status != a->status ||
        (status != OVT_OK && (error.reason != a->error.reason || error.offset != a->error.offset))) {
        die("a text is refused otherwise when it is examined", length);
    }
}

/* The text as lines of calls, and as an array of them; neither says more than a watcher sees. */
static void check_audit(ovt_sha256 *answers, const char *text, size_t length) {
    ovt_audit *const audit = ovt_audit_new(5, 3, 3);
    ovt_audit_step step = {0};
    ovt_audit_totals totals;
    if (audit == NULL) {
        die("no memory", length);
    }
    for (size_t at = 0; at < length; at += step.consumed) {
        note(answers, (uint64_t)ovt_audit_lines(audit, &step, text + at, length - at, MAX_DEPTH));
    }
    note(answers, (uint64_t)ovt_audit_items(audit, &step, text, length, false, MAX_DEPTH));
    note(answers, step.consumed);
    ovt_audit_sum(audit, &totals);
    note(answers, totals.calls);
    note(answers, totals.group_count);
    ovt_audit_free(audit);
}

/* `spaces` spaces and the first `length` bytes of a text. */
static void check_text(ovt_sha256 *answers, const char *text, size_t length, size_t spaces) {
    const size_t size = spaces + length;
    char *const exact = allocated(size);
    memset(exact, ' ', spaces);
    memcpy(exact + spaces, text, length);
    for (int i = 0; i < OVT_PROFILE_COUNT; i++) {
        const ovt_profile *profile = &ovt_profiles[i];
        answer a;
        canonicalize(&a, profile, exact, size);
        const size_t place = a.status == OVT_OK ? 0 : a.error.offset - spaces;
        note(answers, (uint64_t)a.status);
        note(answers, (uint64_t)a.error.reason);
        note(answers, place);
        if (a.status == OVT_OK) {
            ovt_sha256_update(answers, a.out.data, ovt_buffer_length(&a.out));
            if (!profile->drop_none) { /* else a null for 1e400 would be dropped */
                check_again(&a, profile, size);
            }
            check_stream(&a, profile, exact, size);
        }
        if (i == OVT_PROFILE_OVERTURN) {
            check_skip(&a, exact, size);
            check_call(answers, &a, exact, size);
            check_portability(answers, &a, exact, size);
            check_audit(answers, exact, size);
        }
        ovt_buffer_release(&a.out);
    }
    free(exact);
}

static char *read_file(const char *path, size_t *length) {
    FILE *const file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *length = (size_t)ftell(file);
    rewind(file);
    char *const text = allocated(*length + 1);
    if (fread(text, 1, *length, file) != *length) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

static void check_file(const char *path) {
    size_t length;
    char *const text = read_file(path, &length);
    ovt_sha256 answers;
    ovt_sha256_init(&answers);
    for (size_t prefix = 0; prefix <= length; prefix++) {
        const bool is_near_end = length - prefix < SOME_PREFIXES;
        if (prefix <= ALL_PREFIXES || is_near_end) {
            check_text(&answers, text, prefix, 0);
            check_text(&answers, text, prefix, IN_PLACE);
        }
    }
    uint8_t digest[OVT_SHA256_DIGEST_SIZE];
    char hex[OVT_SHA256_HEX_SIZE + 1] = {0};
    ovt_sha256_finish(&answers, digest);
    ovt_sha256_hex(digest, hex);
    const char *const slash = strrchr(path, '/');
    printf("%s %s\n", slash == NULL ? path : slash + 1, hex);
    free(text);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        check_file(arguments[i]);
    }
    return 0;
}
