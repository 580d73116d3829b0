/* Checks of the number writer and reader, and a way to run them from a test.
 *
 *   numbers_check random SEED COUNT   round trips of random numbers; prints a checksum of all texts
 *   numbers_check edges               round trips of powers and their neighbours; the same
 *   numbers_check write               lines of 16 hexadecimal digits (a double's bits) to texts
 *   numbers_check exact               the same with ovt_write_double_integral_exact
 *   numbers_check u64 | i64           lines of 16 hexadecimal digits to integers
 *   numbers_check big                 lines of 16 * n hexadecimal digits to integers
 *   numbers_check read                lines of text to "length integer negative magnitude bits",
 *                                     magnitude "-" unless it fits, or to "error offset"
 *
 * Exits with 1 at the first difference. Everything is written and read right before a page that
 * may not be touched, so one byte too many ends the program. */
#define _DEFAULT_SOURCE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "number_read.h"
#include "number_write.h"

enum { MAX_LINE = 1 << 17, COMMAS = 64 };

static char *guard; /* the start of the forbidden page */

static void die(const char *what, uint64_t bits) {
    printf("%s: %016" PRIx64 "\n", what, bits);
    exit(1);
}

static void map_guarded_room(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = ((size_t)2 * MAX_LINE + COMMAS + page - 1) / page * page;
    char *start =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(start + room, page, PROT_NONE) != 0)
        die("no memory", 0);
    guard = start + room;
}

/* ---- checksums --------------------------------------------------------------------------------
 */

static uint64_t checksum = 0xCBF29CE484222325u;

/* FNV-1a */
static void add_to_checksum(const char *text, size_t length) {
    for (size_t i = 0; i < length; ++i)
        checksum = (checksum ^ (unsigned char)text[i]) * 0x100000001B3u;
}

/* ---- round trips ------------------------------------------------------------------------------
 */

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Reads the text where it ends right before the guard, and where as many commas follow as the
 * reader may look at in one go; both must give the same. */
static ovt_number read_guarded(const char *text, size_t length) {
    char *alone = guard - length, *followed = alone - length - COMMAS;
    ovt_number number, other;
    memmove(alone, text, length);
    memcpy(followed, alone, length);
    memset(followed + length, ',', COMMAS);
    ovt_read_number(alone, guard, &number);
    ovt_read_number(followed, guard, &other);
    if (number.length != other.length || number.error_at != other.error_at ||
        number.is_integer != other.is_integer || number.negative != other.negative ||
        number.fits_u64 != other.fits_u64 || number.magnitude != other.magnitude ||
        bits_of(number.value) != bits_of(other.value))
        die("depends on what follows", bits_of(number.value));
    return number;
}

static void check_double(uint64_t bits) {
    if ((bits >> 52 & 0x7FF) == 0x7FF)
        return;
    char *out = guard - OVT_NUMBER_SIZE;
    char text[OVT_NUMBER_SIZE];
    const size_t length = ovt_write_double(out, double_of(bits));
    if (length == 0 || length > 25)
        die("length", bits);
    memcpy(text, out, length);
    add_to_checksum(text, length);
    const ovt_number number = read_guarded(text, length);
    const uint64_t expected = bits << 1 == 0 ? 0 : bits; /* -0 is written as 0 */
    if (number.length != length || bits_of(number.value) != expected)
        die("round trip", bits);

    const size_t exact_length = ovt_write_double_integral_exact(out, double_of(bits));
    memcpy(text, out, exact_length);
    add_to_checksum(text, exact_length);
    if (bits_of(read_guarded(text, exact_length).value) != expected)
        die("round trip of exact digits", bits);
}

static void check_integer(uint64_t value) {
    char *out = guard - OVT_NUMBER_SIZE;
    char text[OVT_NUMBER_SIZE];
    const size_t length = ovt_write_u64(out, value);
    memcpy(text, out, length);
    add_to_checksum(text, length);
    const ovt_number number = read_guarded(text, length);
    if (number.length != length || !number.is_integer || number.negative || !number.fits_u64 ||
        number.magnitude != value)
        die("integer", value);

    const size_t signed_length = ovt_write_i64(out, (int64_t)value);
    memcpy(text, out, signed_length);
    add_to_checksum(text, signed_length);
    const ovt_number back = read_guarded(text, signed_length);
    if (back.negative != (value >> 63 != 0) ||
        (back.negative ? 0 - back.magnitude : back.magnitude) != value)
        die("signed integer", value);
}

/* ---- what is checked --------------------------------------------------------------------------
 */

/* xorshift64* */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

static void check_random(uint64_t seed, uint64_t count) {
    uint64_t state = seed * 2 + 1;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t random = next_random(&state), other = next_random(&state);
        check_double(random);
        check_double(random >> (12 + other % 52) | (other & 1) << 63); /* subnormal */
        check_double(bits_of((double)(random >> other % 64)));         /* integral */
        check_double(bits_of((double)(random % 1000000000) / 100));    /* prices */
        check_double(bits_of((double)(random >> 11) * (other & 1 ? 0x1p-53 : 0x1p-60)));
        check_integer(random >> other % 64);
    }
}

static void check_neighbourhood(uint64_t bits) {
    for (uint64_t offset = 0; offset < 5; ++offset)
        if (bits + offset >= 2) {
            check_double(bits + offset - 2);
            check_double((bits + offset - 2) | UINT64_C(1) << 63);
        }
}

static void check_edges(void) {
    for (uint64_t exponent = 0; exponent < 0x7FF; ++exponent)
        check_neighbourhood(exponent << 52);
    for (int bit = 0; bit < 52; ++bit)
        check_neighbourhood(UINT64_C(1) << bit);
    for (int exponent = -330; exponent <= 308; ++exponent)
        for (int digit = 1; digit <= 9; ++digit) {
            char text[16];
            const int length = snprintf(text, sizeof text, "%de%d", digit, exponent);
            check_neighbourhood(bits_of(read_guarded(text, (size_t)length).value));
        }
    uint64_t power = 1;
    for (int exponent = 0; exponent < 20; ++exponent, power *= 10)
        for (uint64_t offset = 0; offset < 3; ++offset)
            check_integer(power + offset - 1);
    for (int bit = 0; bit < 64; ++bit)
        for (uint64_t offset = 0; offset < 3; ++offset)
            check_integer((UINT64_C(1) << bit) + offset - 1);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static void write_big(const char *line, size_t length) {
    const size_t count = length / 16;
    uint64_t *limbs = malloc((count + 1) * sizeof *limbs);
    if (limbs == NULL || ovt_big_decimal_bound(count) > MAX_LINE)
        die("too large", count);
    for (size_t i = 0; i < count; ++i) {
        char digits[17] = {0};
        memcpy(digits, line + 16 * (count - 1 - i), 16);
        limbs[i] = strtoull(digits, NULL, 16);
    }
    char *out = guard - ovt_big_decimal_bound(count);
    const size_t written = ovt_write_big(out, limbs, count);
    printf("%.*s\n", (int)written, out);
    free(limbs);
}

static void write_line(const char *mode, const char *line) {
    char *out = guard - OVT_NUMBER_SIZE;
    const uint64_t bits = strtoull(line, NULL, 16);
    size_t length;
    if (strcmp(mode, "write") == 0)
        length = ovt_write_double(out, double_of(bits));
    else if (strcmp(mode, "exact") == 0)
        length = ovt_write_double_integral_exact(out, double_of(bits));
    else if (strcmp(mode, "u64") == 0)
        length = ovt_write_u64(out, bits);
    else
        length = ovt_write_i64(out, (int64_t)bits);
    printf("%.*s\n", (int)length, out);
}

static void read_line(const char *line, size_t length) {
    const ovt_number number = read_guarded(line, length);
    if (number.length == 0) {
        printf("error %zu\n", number.error_at);
        return;
    }
    printf("%zu %d %d ", number.length, number.is_integer, number.negative);
    if (number.fits_u64)
        printf("%" PRIu64, number.magnitude);
    else
        printf("-");
    printf(" %016" PRIx64 "\n", bits_of(number.value));
}

static void process_lines(const char *mode) {
    static char line[MAX_LINE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const size_t length = strcspn(line, "\n");
        line[length] = '\0';
        if (strcmp(mode, "read") == 0)
            read_line(line, length);
        else if (strcmp(mode, "big") == 0)
            write_big(line, length);
        else
            write_line(mode, line);
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "edges";
    map_guarded_room();
    if (strcmp(mode, "random") == 0 && count == 4) {
        check_random(strtoull(arguments[2], NULL, 10), strtoull(arguments[3], NULL, 10));
        printf("%016" PRIx64 "\n", checksum);
    } else if (strcmp(mode, "edges") == 0) {
        check_edges();
        printf("%016" PRIx64 "\n", checksum);
    } else {
        process_lines(mode);
    }
    return 0;
}
