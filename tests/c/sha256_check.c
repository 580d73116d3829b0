/* Checks one variant of the core's SHA-256 against NIST's vectors, the other calls and plain code.
 *
 *   sha256_check VARIANT FILE.rsp...   every vector of the files, then the library against itself
 *   sha256_check --variants            the variants that can run here, separated by commas
 *   sha256_check --chosen              the variant chosen at load; status 1 if the environment's
 *                                      choice was refused
 *   sha256_check --constants           the initial state and the round constants, one a line
 *   sha256_check --digest VARIANT      for each line of hexadecimal digits on stdin, its digest
 *   sha256_check --zeros VARIANT N     the digest of N MiB of zeros
 *
 * Status 0 if all is well, 1 if something differs, 2 if the arguments or a file cannot be used.
 * Build it with csrc/core/sha256.c, sha256_x86.c and sha256_arm.c. */
#include "sha256.h"

#include <stdio.h>
#include <stdlib.h>

enum { SUITE_LENGTHS = 301, SPLIT_SIZES = 201, SPLIT_MESSAGE = 450, MONTE_CHAIN = 1000 };

static int differences = 0;

static void differs(const char *what, long first, long second) {
    fprintf(stderr, "differs: %s (%ld, %ld)\n", what, first, second);
    differences++;
}

static _Noreturn void unusable(const char *reason, const char *subject) {
    fprintf(stderr, "sha256_check: %s: %s\n", reason, subject);
    exit(2);
}

static void *allocate(size_t size) {
    void *const memory = calloc(size > 0 ? size : 1, 1);
    if (memory == NULL)
        unusable("no memory", "calloc");
    return memory;
}

static void select_variant(const char *name) {
    if (!ovt_sha256_select(name))
        unusable("this variant cannot run here", name);
}

static bool equal(const uint8_t *one, const uint8_t *other) {
    return memcmp(one, other, OVT_SHA256_DIGEST_SIZE) == 0;
}

static void print_digest(const uint8_t *digest) {
    char hex[OVT_SHA256_HEX_SIZE + 1];
    ovt_sha256_hex(digest, hex);
    hex[OVT_SHA256_HEX_SIZE] = '\0';
    puts(hex);
}

/* ---- reading ---- */

/* The whole stream, with a NUL after it. */
static char *read_all(FILE *stream, const char *name) {
    size_t size = 0, room = 1 << 16;
    char *text = allocate(room);
    for (size_t got; (got = fread(text + size, 1, room - size, stream)) > 0;) {
        size += got;
        if (size == room) {
            char *const larger = realloc(text, room *= 2);
            if (larger == NULL)
                unusable("no memory", name);
            text = larger;
        }
    }
    if (ferror(stream))
        unusable("cannot be read", name);
    text[size] = '\0';
    return text;
}

/* Ends the line at *next with a NUL, moves *next behind it; NULL at the end of the text. */
static char *next_line(char **next) {
    char *const line = *next;
    if (*line == '\0')
        return NULL;
    const size_t length = strcspn(line, "\r\n");
    *next = line + length + strspn(line + length, "\r\n");
    line[length] = '\0';
    return line;
}

static int nibble(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *const found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

/* The bytes that `hex` stands for, in a block of exactly their size, so that a sanitizer sees a
 * read beyond them. */
static uint8_t *parse_hex(const char *hex, size_t *count) {
    const size_t digits = strlen(hex);
    uint8_t *const bytes = allocate(digits / 2);
    if (digits % 2 != 0)
        unusable("odd number of hexadecimal digits", hex);
    for (size_t i = 0; i < digits; i += 2) {
        const int high = nibble(hex[i]), low = nibble(hex[i + 1]);
        if (high < 0 || low < 0)
            unusable("not a hexadecimal digit", hex + i);
        bytes[i / 2] = (uint8_t)(high * 16 + low);
    }
    *count = digits / 2;
    return bytes;
}

static void parse_digest(const char *hex, uint8_t *digest) {
    size_t count;
    uint8_t *const bytes = parse_hex(hex, &count);
    if (count != OVT_SHA256_DIGEST_SIZE)
        unusable("not a SHA-256 digest", hex);
    memcpy(digest, bytes, count);
    free(bytes);
}

/* ---- NIST's vectors ---- */

/* What a response file has said so far. */
typedef struct {
    long vectors;
    long bits;
    uint8_t *message; /* NULL before the first "Msg" */
    size_t message_size;
    bool chained;
    uint8_t seed[OVT_SHA256_DIGEST_SIZE];
} response;

/* One checkpoint of the Monte Carlo file: each digest is that of the three before it. */
static void next_seed(uint8_t *seed) {
    uint8_t last_three[3 * OVT_SHA256_DIGEST_SIZE];
    for (int i = 0; i < 3; i++)
        memcpy(last_three + i * OVT_SHA256_DIGEST_SIZE, seed, OVT_SHA256_DIGEST_SIZE);
    for (int i = 0; i < MONTE_CHAIN; i++) {
        ovt_sha256_digest(last_three, sizeof last_three, seed);
        memmove(last_three, last_three + OVT_SHA256_DIGEST_SIZE, 2 * OVT_SHA256_DIGEST_SIZE);
        memcpy(last_three + 2 * OVT_SHA256_DIGEST_SIZE, seed, OVT_SHA256_DIGEST_SIZE);
    }
}

static void check_digest(response *said, const char *hex) {
    uint8_t expected[OVT_SHA256_DIGEST_SIZE], digest[OVT_SHA256_DIGEST_SIZE];
    parse_digest(hex, expected);
    if (said->chained) {
        next_seed(said->seed);
        memcpy(digest, said->seed, sizeof digest);
    } else {
        if (said->message == NULL || (size_t)said->bits > said->message_size * 8)
            unusable("a digest without its message", hex);
        ovt_sha256_digest(said->message, (size_t)said->bits / 8, digest);
    }
    if (!equal(digest, expected))
        differs("vector (number, bits)", said->vectors, said->bits);
    said->vectors++;
}

static void take_line(response *said, const char *line) {
    if (strncmp(line, "Len = ", 6) == 0) {
        said->bits = strtol(line + 6, NULL, 10);
    } else if (strncmp(line, "Msg = ", 6) == 0) {
        free(said->message);
        said->message = parse_hex(line + 6, &said->message_size);
    } else if (strncmp(line, "Seed = ", 7) == 0) {
        parse_digest(line + 7, said->seed);
        said->chained = true;
    } else if (strncmp(line, "MD = ", 5) == 0) {
        check_digest(said, line + 5);
    } else if (line[0] != '#' && line[0] != '[' && strncmp(line, "COUNT = ", 8) != 0) {
        unusable("a line of an unknown kind", line);
    }
}

static long check_file(const char *path) {
    FILE *const stream = fopen(path, "rb");
    if (stream == NULL)
        unusable("cannot be opened", path);
    char *const text = read_all(stream, path);
    fclose(stream);
    response said = {0};
    char *next = text;
    for (const char *line; (line = next_line(&next)) != NULL;)
        take_line(&said, line);
    free(said.message);
    free(text);
    if (said.vectors == 0)
        unusable("no vectors", path);
    return said.vectors;
}

/* ---- the library against itself ---- */

static uint8_t *pattern(size_t count) {
    uint8_t *const bytes = allocate(count);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i * 167 + i / 256 + 13);
    return bytes;
}

/* Messages of each length, at each of several alignments, give what the portable variant gives. */
static void check_lengths(const char *variant) {
    for (size_t length = 0; length < SUITE_LENGTHS; length++) {
        for (size_t shift = 0; shift < 16; shift += 5) {
            uint8_t *const message = pattern(length + shift);
            uint8_t digest[OVT_SHA256_DIGEST_SIZE], portable[OVT_SHA256_DIGEST_SIZE];
            ovt_sha256_digest(message + shift, length, digest);
            select_variant("portable");
            ovt_sha256_digest(message + shift, length, portable);
            select_variant(variant);
            if (!equal(digest, portable))
                differs("one shot and portable (length, shift)", (long)length, (long)shift);
            free(message);
        }
    }
}

/* A message that arrives in a first part and a second, and one that arrives in equal pieces, have
 * the digest of the message in one shot. */
static void check_splits(void) {
    uint8_t *const message = pattern(SPLIT_MESSAGE);
    uint8_t whole[OVT_SHA256_DIGEST_SIZE], digest[OVT_SHA256_DIGEST_SIZE];
    ovt_sha256_digest(message, SPLIT_MESSAGE, whole);
    for (size_t size = 0; size < SPLIT_SIZES; size++) {
        ovt_sha256 hash;
        ovt_sha256_init(&hash);
        ovt_sha256_update(&hash, message, size);
        ovt_sha256_update(&hash, message + size, SPLIT_MESSAGE - size);
        ovt_sha256_finish(&hash, digest);
        if (!equal(digest, whole))
            differs("two parts and one shot (first part)", (long)size, 0);
        ovt_sha256_init(&hash);
        for (size_t at = 0; at < SPLIT_MESSAGE;) {
            const size_t left = SPLIT_MESSAGE - at;
            const size_t piece = size == 0 || size > left ? left : size;
            ovt_sha256_update(&hash, message + at, piece);
            ovt_sha256_update(&hash, NULL, 0);
            at += piece;
        }
        ovt_sha256_finish(&hash, digest);
        if (!equal(digest, whole))
            differs("equal pieces and one shot (piece)", (long)size, 0);
    }
    free(message);
}

/* Messages of each length give the same in one update as in one shot. */
static void check_one_update(void) {
    for (size_t length = 0; length < SUITE_LENGTHS; length++) {
        uint8_t *const message = pattern(length);
        uint8_t whole[OVT_SHA256_DIGEST_SIZE], digest[OVT_SHA256_DIGEST_SIZE];
        ovt_sha256 hash;
        ovt_sha256_digest(message, length, whole);
        ovt_sha256_init(&hash);
        ovt_sha256_update(&hash, message, length);
        ovt_sha256_finish(&hash, digest);
        if (!equal(digest, whole))
            differs("one update and one shot (length)", (long)length, 0);
        free(message);
    }
}

enum { TOGETHER = 5, TOGETHER_STEP = 193 };

/* Messages of each length, whose whole blocks went before or not, finished where they stand. */
static void check_in_place(void) {
    for (size_t length = 0; length < SUITE_LENGTHS; length++) {
        for (size_t blocks = 0; blocks <= length / OVT_SHA256_BLOCK_SIZE; blocks++) {
            uint8_t *const message = pattern(length);
            uint8_t *const room = malloc(length + OVT_SHA256_PAD_ROOM);
            uint8_t whole[OVT_SHA256_DIGEST_SIZE], digest[OVT_SHA256_DIGEST_SIZE];
            const size_t before = blocks * OVT_SHA256_BLOCK_SIZE;
            ovt_sha256 hash;
            ovt_sha256_digest(message, length, whole);
            memcpy(room, message, length);
            memset(room + length, 0xA5, OVT_SHA256_PAD_ROOM);
            ovt_sha256_init(&hash);
            ovt_sha256_update(&hash, room, before);
            ovt_sha256_finish_in_place(&hash, room + before, length - before, digest);
            if (!equal(digest, whole))
                differs("in place and one shot (length, blocks before)", (long)length,
                        (long)blocks);
            free(room);
            free(message);
        }
    }
}

/* Messages that are finished together, of lengths that differ and with a start that went before,
 * have the digests that each has in one shot. */
static void check_together(size_t count, size_t shortest, size_t start) {
    const size_t longest = SUITE_LENGTHS + TOGETHER * TOGETHER_STEP;
    uint8_t *const bytes = pattern(longest);
    ovt_sha256 hashes[TOGETHER];
    ovt_sha256_message messages[TOGETHER];
    uint8_t digests[TOGETHER][OVT_SHA256_DIGEST_SIZE], whole[OVT_SHA256_DIGEST_SIZE];
    for (size_t i = 0; i < count; i++) {
        const size_t length = shortest + (i * 3 + 1) % TOGETHER * TOGETHER_STEP;
        const size_t before = start < length ? start : length;
        ovt_sha256_init(&hashes[i]);
        ovt_sha256_update(&hashes[i], bytes + i, before);
        messages[i] =
            (ovt_sha256_message){&hashes[i], bytes + i + before, length - before, digests[i]};
    }
    ovt_sha256_finish_all(messages, count);
    for (size_t i = 0; i < count; i++) {
        ovt_sha256_digest(bytes + i, shortest + (i * 3 + 1) % TOGETHER * TOGETHER_STEP, whole);
        if (!equal(digests[i], whole))
            differs("together and one shot (shortest, message)", (long)shortest, (long)i);
    }
    free(bytes);
}

static void check_all_together(void) {
    for (size_t count = 0; count <= TOGETHER; count++) {
        for (size_t shortest = 0; shortest < 2 * OVT_SHA256_BLOCK_SIZE; shortest++) {
            for (size_t start = 0; start <= OVT_SHA256_BLOCK_SIZE; start += OVT_SHA256_BLOCK_SIZE) {
                check_together(count, shortest, start);
            }
            check_together(count, shortest, 1);
        }
    }
}

enum { TRAIL_LENGTHS = 5 * OVT_SHA256_BLOCK_SIZE, TRAIL_BLOCKS = 8, NOWHERE = TRAIL_LENGTHS };

/* A message as it is, and as it stands padded. */
typedef struct {
    uint8_t message[TRAIL_LENGTHS];
    size_t length;
    uint8_t bytes[TRAIL_LENGTHS + OVT_SHA256_PAD_ROOM];
    ovt_sha256_padded padded;
} kept_message;

static const ovt_sha256_padded nothing = {NULL, 0};

/* A message of `length` bytes which is the pattern but for the byte at `other`. */
static void keep(kept_message *kept, size_t length, size_t other) {
    uint8_t *const bytes = pattern(length);
    if (other < length)
        bytes[other] ^= 0x10;
    memcpy(kept->message, bytes, length);
    memcpy(kept->bytes, bytes, length);
    free(bytes);
    kept->length = length;
    kept->padded = ovt_sha256_pad(kept->bytes, length);
}

static bool is_digest_of(const kept_message *kept, const uint32_t final[8]) {
    uint8_t digest[OVT_SHA256_DIGEST_SIZE], whole[OVT_SHA256_DIGEST_SIZE];
    ovt_sha256_state_digest(final, digest);
    ovt_sha256_digest(kept->message, kept->length, whole);
    return equal(digest, whole);
}

/* Two messages that part with the one before them at bytes all over them have the digests of one
 * shot, and so has one that follows them. */
static void check_trails(void) {
    static kept_message before, one, other, after;
    for (size_t length = 0; length < TRAIL_LENGTHS; length += 13) {
        for (size_t parting = 0; parting <= length; parting += 7) {
            uint32_t states[TRAIL_BLOCKS][8], finals[2][8];
            ovt_sha256_trail trail;
            ovt_sha256_trail_init(&trail, states);
            keep(&before, length, NOWHERE);
            ovt_sha256_trail_two(&trail, (ovt_sha256_padded[]){nothing, before.padded}, finals);
            if (!is_digest_of(&before, finals[1]))
                differs("the first of a trail and one shot (length)", (long)length, 0);
            keep(&one, length, parting);
            keep(&other, TRAIL_LENGTHS - 1 - length, parting * 3);
            ovt_sha256_trail_two(&trail, (ovt_sha256_padded[]){one.padded, other.padded}, finals);
            if (!is_digest_of(&one, finals[0]) || !is_digest_of(&other, finals[1]))
                differs("with a trail and one shot (length, parting)", (long)length, (long)parting);
            keep(&after, TRAIL_LENGTHS - 1 - length, parting);
            ovt_sha256_trail_two(&trail, (ovt_sha256_padded[]){after.padded, nothing}, finals);
            if (!is_digest_of(&after, finals[0]))
                differs("after a trail and one shot (length, parting)", (long)length,
                        (long)parting);
        }
    }
}

/* The state of the blocks that a message begins with like the last one of the trail is taken from
 * there: a wrong one makes a wrong digest, and one that is not asked for does not. */
static void check_taken_states(void) {
    enum { LENGTH = 4 * OVT_SHA256_BLOCK_SIZE, BLOCKS = LENGTH / OVT_SHA256_BLOCK_SIZE + 1 };
    static kept_message before, one;
    for (size_t parting = 0; parting <= LENGTH; parting++) {
        const size_t same = parting < LENGTH ? parting / OVT_SHA256_BLOCK_SIZE : BLOCKS;
        for (size_t wrong = 0; wrong <= BLOCKS; wrong++) {
            for (int place = 0; place < 2; place++) {
                uint32_t states[TRAIL_BLOCKS][8], finals[2][8];
                ovt_sha256_padded messages[2] = {nothing, nothing};
                ovt_sha256_trail trail;
                ovt_sha256_trail_init(&trail, states);
                keep(&before, LENGTH, NOWHERE);
                keep(&one, LENGTH, parting);
                messages[1] = before.padded;
                ovt_sha256_trail_two(&trail, messages, finals);
                states[wrong][0] ^= 1;
                messages[1] = nothing;
                messages[place] = one.padded;
                ovt_sha256_trail_two(&trail, messages, finals);
                if (is_digest_of(&one, finals[place]) == (wrong == same))
                    differs("states taken from a trail (parting, wrong state)", (long)parting,
                            (long)wrong);
            }
        }
    }
}

/* Every byte, at every place of a digest, becomes its two digits and nothing after them changes. */
static void check_hex(void) {
    static const char digits[] = "0123456789abcdef";
    for (int first = 0; first < 256; first++) {
        uint8_t digest[OVT_SHA256_DIGEST_SIZE];
        char hex[OVT_SHA256_HEX_SIZE + 1];
        for (int i = 0; i < OVT_SHA256_DIGEST_SIZE; i++)
            digest[i] = (uint8_t)(first + i * 37);
        hex[OVT_SHA256_HEX_SIZE] = '!';
        ovt_sha256_hex(digest, hex);
        for (int i = 0; i < OVT_SHA256_DIGEST_SIZE; i++) {
            if (hex[2 * i] != digits[digest[i] / 16] || hex[2 * i + 1] != digits[digest[i] % 16])
                differs("hexadecimal digits (byte, place)", digest[i], i);
        }
        if (hex[OVT_SHA256_HEX_SIZE] != '!')
            differs("the byte after the hexadecimal digits", first, 0);
    }
}

static int check_variant(const char *variant, int count, char **paths) {
    select_variant(variant);
    if (strcmp(ovt_sha256_variant(), variant) != 0)
        differs("the variant selected and the variant reported", 0, 0);
    long vectors = 0;
    for (int i = 0; i < count; i++)
        vectors += check_file(paths[i]);
    check_lengths(variant);
    check_splits();
    check_all_together();
    check_trails();
    check_taken_states();
    check_one_update();
    check_in_place();
    check_hex();
    printf("%ld vectors, variant %s\n", vectors, variant);
    return differences == 0 ? 0 : 1;
}

/* ---- what a test in another language compares ---- */

static int print_chosen(void) {
    const char *const refused = ovt_sha256_rejected();
    if (refused != NULL)
        printf("refused %s\n", refused);
    else
        puts(ovt_sha256_variant());
    return refused == NULL ? 0 : 1;
}

static int print_constants(void) {
    ovt_sha256 hash;
    ovt_sha256_init(&hash);
    for (int i = 0; i < 8; i++)
        printf("%08lx\n", (unsigned long)hash.state[ovt_sha256_place[i]]);
    for (int i = 0; i < 64; i++)
        printf("%08lx\n", (unsigned long)ovt_sha256_constants[i]);
    return 0;
}

/* Unlike in a response file, an empty line stands for something: the empty message. */
static int print_digests(const char *variant) {
    select_variant(variant);
    char *const text = read_all(stdin, "stdin");
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        uint8_t digest[OVT_SHA256_DIGEST_SIZE];
        size_t count;
        *end = '\0';
        uint8_t *const message = parse_hex(line, &count);
        ovt_sha256_digest(message, count, digest);
        print_digest(digest);
        free(message);
    }
    free(text);
    return 0;
}

static int print_zeros(const char *variant, const char *mebibytes) {
    select_variant(variant);
    const size_t size = (size_t)1 << 20;
    uint8_t *const zeros = allocate(size);
    uint8_t digest[OVT_SHA256_DIGEST_SIZE];
    ovt_sha256 hash;
    memset(zeros, 0, size);
    ovt_sha256_init(&hash);
    for (long left = strtol(mebibytes, NULL, 10); left > 0; left--)
        ovt_sha256_update(&hash, zeros, size);
    ovt_sha256_finish(&hash, digest);
    print_digest(digest);
    free(zeros);
    return 0;
}

int main(int count, char **arguments) {
    const char *const command = count > 1 ? arguments[1] : "";
    if (count == 2 && strcmp(command, "--variants") == 0)
        return puts(ovt_sha256_variants()) < 0 ? 2 : 0;
    if (count == 2 && strcmp(command, "--chosen") == 0)
        return print_chosen();
    if (count == 2 && strcmp(command, "--constants") == 0)
        return print_constants();
    if (count == 3 && strcmp(command, "--digest") == 0)
        return print_digests(arguments[2]);
    if (count == 4 && strcmp(command, "--zeros") == 0)
        return print_zeros(arguments[2], arguments[3]);
    if (count > 2 && command[0] != '-')
        return check_variant(command, count - 2, arguments + 2);
    unusable("arguments", "VARIANT FILE.rsp..., or an option named at the top of sha256_check.c");
}
