/* Nanoseconds per number, written and read, for several kinds of values.
 *
 *   cc -O3 -std=c11 -Icsrc/core benchmarks/c/numbers_bench.c csrc/core/number_write.c \
 *      csrc/core/number_read.c csrc/core/power_table.c -o numbers_bench && ./numbers_bench
 *
 * Each figure is the best of several passes over 1,000,000 values. Texts are written one after the
 * other into a buffer that stays in the cache, as a JSON writer would, and read from one long text
 * with a comma after each. */
#define _POSIX_C_SOURCE 199309L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "number_read.h"
#include "number_write.h"

enum { COUNT = 1000000, PASSES = 9, BUFFER_SIZE = 1 << 14 };

typedef double generator(uint64_t random);

static uint64_t state = 0x9E3779B97F4A7C15u;

/* xorshift64* */
static uint64_t next_random(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Du;
}

static double random_bits(uint64_t random) {
    double value;
    if ((random >> 52 & 0x7FF) == 0x7FF)
        random ^= UINT64_C(1) << 60;
    memcpy(&value, &random, sizeof value);
    return value;
}

/* Any magnitude, cut to between 1 and 17 digits: what the well-known benchmarks of printing use. */
static double few_digits(uint64_t random) {
    double value;
    do { /* the largest ones may be rounded up to infinity */
        char text[32];
        snprintf(text, sizeof text, "%.*e", (int)(random % 17), random_bits(next_random()));
        value = strtod(text, NULL);
    } while (!isfinite(value));
    return value;
}

static double price(uint64_t random) {
    return (double)(random % 1000000) / 100;
}

static double coordinate(uint64_t random) {
    return (double)(int64_t)(random % 360000001 - 180000000) / 1000000;
}

static double unit_interval(uint64_t random) {
    return (double)(random >> 11) / 9007199254740992.0;
}

static double integral(uint64_t random) {
    return (double)(random >> (12 + random % 40));
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t write_all(const double *values, char *buffer) {
    size_t total = 0, used = 0;
    for (size_t i = 0; i < COUNT; ++i) {
        const size_t length = ovt_write_double(buffer + used, values[i]);
        buffer[used + length] = ',';
        used += length + 1;
        if (used > BUFFER_SIZE - OVT_NUMBER_SIZE) {
            total += used;
            used = 0;
        }
    }
    return total + used;
}

static double best_writing(const double *values) {
    static char buffer[BUFFER_SIZE];
    double best = INFINITY;
    volatile size_t sink = 0;
    for (int pass = 0; pass < PASSES; ++pass) {
        const double start = seconds();
        sink = sink + write_all(values, buffer);
        const double elapsed = seconds() - start;
        if (elapsed < best)
            best = elapsed;
    }
    return best / COUNT * 1e9;
}

static double best_reading(const char *texts, const char *end) {
    double best = INFINITY;
    volatile double sink = 0;
    for (int pass = 0; pass < PASSES; ++pass) {
        const double start = seconds();
        double sum = 0;
        for (const char *at = texts; at < end;) {
            ovt_number number;
            ovt_read_number(at, end, &number);
            sum += number.value;
            at += number.length + 1;
        }
        sink = sink + sum;
        const double elapsed = seconds() - start;
        if (elapsed < best)
            best = elapsed;
    }
    return best / COUNT * 1e9;
}

static void measure(const char *name, generator *generate) {
    double *values = malloc(COUNT * sizeof *values);
    char *texts = malloc((size_t)COUNT * OVT_NUMBER_SIZE);
    if (values == NULL || texts == NULL)
        exit(1);
    char *end = texts;
    for (size_t i = 0; i < COUNT; ++i) {
        values[i] = generate(next_random());
        end += ovt_write_double(end, values[i]);
        *end++ = ',';
    }
    const double write = best_writing(values);
    const double read = best_reading(texts, end);
    printf("%-14s  write %6.2f ns  read %6.2f ns  %5.2f bytes\n", name, write, read,
           (double)(end - texts) / COUNT - 1);
    free(values);
    free(texts);
}

int main(void) {
    measure("random bits", random_bits);
    measure("1-17 digits", few_digits);
    measure("unit interval", unit_interval);
    measure("prices", price);
    measure("coordinates", coordinate);
    measure("integers", integral);
    return 0;
}
