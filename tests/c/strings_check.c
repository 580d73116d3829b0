/* Writes strings with each variant of the core's writer, and compares with what they should be.
 *
 *   strings_check FILE VARIANT...   every case of the file with each of the variants
 *   strings_check --variants        the variants that can run here, the best one first
 *   strings_check --chosen          the one chosen at load
 *
 * A case is five numbers of 32 bits in the order of this machine: bytes a unit, units, and how many
 * bytes its escaped text, its WTF-8 and its escaped UTF-8 have; then the units and these texts. A
 * size of 0xFFFFFFFF stands for a text that there is none of: with surrogates in it a text has no
 * UTF-8. Every text is read from a block of exactly its size and written to one of exactly the size
 * that the header asks for, so that a sanitizer sees a byte too many.
 *
 * Status 0 if all is well, 1 if something differs, 2 if the arguments or a file cannot be used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key_order.h"
#include "string_units.h"
#include "string_write.h"

static const uint32_t NONE = UINT32_MAX;

enum {
    SHOWN_DIFFERENCES = 5,
    STORAGE = 64, /* so small that it is outgrown often */
};

static int differences = 0;

static _Noreturn void unusable(const char *reason, const char *subject) {
    fprintf(stderr, "strings_check: %s: %s\n", reason, subject);
    exit(2);
}

static void *allocated(size_t size) {
    void *block = malloc(size);
    if (block == NULL && size != 0) {
        unusable("no memory", "malloc");
    }
    return block;
}

static void *copy_of(const void *bytes, size_t size) {
    void *copy = allocated(size);
    if (size != 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

typedef struct {
    uint32_t width;
    uint32_t length;
    uint32_t escaped_size;
    uint32_t plain_size;
    uint32_t bytes_size;
    const char *units;
    const char *escaped;
    const char *plain;
    const char *bytes; /* the UTF-8 that is escaped to `escaped` */
} test_case;

static void compare(const test_case *c, size_t number, const char *what, const char *text,
                    size_t size, const char *expected, size_t expected_size) {
    if (size == expected_size && memcmp(text, expected, size) == 0) {
        return;
    }
    if (differences++ < SHOWN_DIFFERENCES) {
        fprintf(stderr, "%s, %s, case %zu (%u units of %u): %.*s, not %.*s\n",
                ovt_units_variant_name(), what, number, c->length, c->width, (int)size, text,
                (int)expected_size, expected);
    }
}

/* ---- the ways to write a string -------------------------------------------------------------- */

/* A string value; with a hash too, which takes the text in other pieces. */
static void check_value(const test_case *c, size_t number) {
    const ovt_profile profile = {.escape_surrogates = true};
    const size_t size = (size_t)c->length * c->width;
    void *const units = copy_of(c->units, size);
    const ovt_text text = {units, c->length, (int)c->width, false};
    char storage[STORAGE];
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, NULL);
    if (ovt_write_string(&out, &profile, text) != OVT_OK) {
        unusable("no memory", "ovt_write_string");
    }
    compare(c, number, "value", out.data, ovt_buffer_length(&out), c->escaped, c->escaped_size);
    ovt_buffer_release(&out);

    ovt_sha256 hash;
    uint8_t digest[OVT_SHA256_DIGEST_SIZE], expected[OVT_SHA256_DIGEST_SIZE];
    ovt_buffer_init(&out, storage, sizeof storage, &hash);
    if (ovt_write_string(&out, &profile, text) != OVT_OK) {
        unusable("no memory", "ovt_write_string");
    }
    ovt_buffer_finish_hash(&out, digest);
    ovt_sha256_digest(c->escaped, c->escaped_size, expected);
    compare(c, number, "hashed", (char *)digest, sizeof digest, (char *)expected, sizeof expected);
    ovt_buffer_release(&out);
    free(units);
}

/* The units by themselves, with no more room than is asked for. A surrogate stops it. */
static void check_units(const test_case *c, size_t number) {
    const size_t size = (size_t)c->length * c->width;
    void *const units = copy_of(c->units, size);
    char *const out = allocated((size_t)c->length * OVT_LONGEST_ESCAPE + OVT_UNITS_SLACK);
    const ovt_units_written written = ovt_units()->escaped(out, units, 0, c->length, (int)c->width);
    const size_t made = (size_t)(written.end - out);
    if (written.index == c->length) {
        compare(c, number, "units", out, made, c->escaped + 1, c->escaped_size - 2);
    } else {
        compare(c, number, "start", out, made, c->escaped + 1, made);
    }
    free(out);
    free(units);
}

static bool has_long_escape(const test_case *c) {
    for (size_t i = 0; i + 1 < c->escaped_size; i++) {
        if (c->escaped[i] == '\\' && c->escaped[i + 1] == 'u') {
            return true;
        }
    }
    return false;
}

/* A short text with its quotes; where it has surrogates or a long escape, that may be refused. */
static void check_few(const test_case *c, size_t number) {
    if (c->length > OVT_UNITS_FEW) {
        return;
    }
    const size_t size = (size_t)c->length * c->width;
    void *const units = copy_of(c->units, size);
    char *const out = allocated(ovt_quoted_room((size_t)c->length));
    const char *const end = ovt_units()->few(out, units, c->length, (int)c->width);
    if (end != NULL) {
        compare(c, number, "few", out, (size_t)(end - out), c->escaped, c->escaped_size);
    } else if (!has_long_escape(c)) {
        compare(c, number, "few, refused", "?", 1, "!", 1);
    }
    free(out);
    free(units);
}

static void check_bytes(const test_case *c, size_t number) {
    char *const bytes = copy_of(c->bytes, c->bytes_size);
    char storage[STORAGE];
    ovt_buffer out;
    ovt_buffer_init(&out, storage, sizeof storage, NULL);
    if (ovt_write_utf8(&out, bytes, c->bytes_size) != OVT_OK) {
        unusable("no memory", "ovt_write_utf8");
    }
    compare(c, number, "bytes", out.data, ovt_buffer_length(&out), c->escaped, c->escaped_size);
    ovt_buffer_release(&out);
    free(bytes);
}

/* The text as the second of three keys. */
static void check_key(const test_case *c, size_t number) {
    const size_t size = (size_t)c->length * c->width;
    void *const units = copy_of(c->units, size);
    ovt_units_key keys[] = {
        {.data = "\xE9", .length = 1, .width = 1},
        {.data = units, .length = c->length, .width = (int)c->width},
        {.data = "\xFF", .length = 1, .width = 1},
    };
    const size_t most = (size_t)c->length * ovt_units_growth((int)c->width);
    char *const out = allocated(most + 2 * ovt_units_growth(1) + OVT_UNITS_SLACK);
    const char *const end = ovt_units()->keys(out, keys, 3);
    const ovt_text text = {units, c->length, (int)c->width, false};
    const bool has_surrogates = ovt_has_surrogates(text);
    compare(c, number, "first key", out, keys[0].size, "\xC3\xA9", 2);
    if (keys[1].is_written == has_surrogates) {
        compare(c, number, "key with surrogates", "?", 1, "!", 1);
    }
    if (!has_surrogates) {
        compare(c, number, "key", out + 2, keys[1].size, c->plain, c->plain_size);
        if (keys[1].prefix != ovt_key_prefix(c->plain, c->plain_size)) {
            compare(c, number, "prefix", "?", 1, "!", 1);
        }
    }
    compare(c, number, "last key", end - 2, keys[2].size, "\xC3\xBF", 2);
    if (end != out + 2 + keys[1].size + 2 || (has_surrogates && keys[1].size != 0)) {
        compare(c, number, "size of the keys", "?", 1, "!", 1);
    }
    free(out);
    free(units);
}

/* ---- the file -------------------------------------------------------------------------------- */

static char *read_file(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        unusable("cannot be read", name);
    }
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = allocated(*size);
    if (fread(bytes, 1, *size, file) != *size) {
        unusable("cannot be read", name);
    }
    fclose(file);
    return bytes;
}

static size_t size_or_0(uint32_t size) {
    return size == NONE ? 0 : size;
}

static size_t check_all(const char *at, const char *end) {
    size_t count = 0;
    for (; at < end; count++) {
        test_case c;
        memcpy(&c, at, 5 * sizeof(uint32_t));
        c.units = at + 5 * sizeof(uint32_t);
        c.escaped = c.units + (size_t)c.length * c.width;
        c.plain = c.escaped + size_or_0(c.escaped_size);
        c.bytes = c.plain + size_or_0(c.plain_size);
        at = c.bytes + size_or_0(c.bytes_size);
        check_value(&c, count);
        check_units(&c, count);
        check_few(&c, count);
        check_key(&c, count);
        if (c.bytes_size != NONE) {
            check_bytes(&c, count);
        }
    }
    return count;
}

static void print_variants(void) {
    const char *const chosen = ovt_units_variant_name();
    for (size_t i = 0; ovt_units_name_at(i) != NULL; i++) {
        if (ovt_units_select(ovt_units_name_at(i))) {
            puts(ovt_units_name_at(i));
        }
    }
    ovt_units_select(chosen);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--variants") == 0) {
        print_variants();
        return 0;
    }
    if (count == 2 && strcmp(arguments[1], "--chosen") == 0) {
        puts(ovt_units_variant_name());
        return 0;
    }
    if (count < 3) {
        unusable("FILE and VARIANT are missing", "arguments");
    }
    size_t size;
    char *const cases = read_file(arguments[1], &size);
    for (int i = 2; i < count; i++) {
        if (!ovt_units_select(arguments[i])) {
            unusable("this variant cannot run here", arguments[i]);
        }
        printf("%s: %zu cases\n", arguments[i], check_all(cases, cases + size));
    }
    free(cases);
    if (differences != 0) {
        fprintf(stderr, "%d differences\n", differences);
    }
    return differences != 0;
}
