#include "string_units.h"

#include "character_put.h"
#include "key_order.h"
#include "string_put.h"
#include "string_write.h"

/* ---- the variant for every processor ------------------------------------------------------- */

/* Sixteen units from `index` on as bytes: plain ASCII as it is, and every other character as a byte
 * that ovt_special_marks marks. */
OVT_ALWAYS_INLINE ovt_block narrowed_units(const void *data, size_t index, int width) {
    if (width == 1) {
        return ovt_block_load((const uint8_t *)data + index);
    }
#if OVT_X86_64
    /* Saturation takes what is above 0x7FFF for negative and makes it 0, a control character. */
    const __m128i *const blocks =
        (const __m128i *)(const void *)((const char *)data + index * (size_t)width);
    if (width == 2) {
        return _mm_packus_epi16(_mm_loadu_si128(blocks), _mm_loadu_si128(blocks + 1));
    }
    return _mm_packus_epi16(
        _mm_packs_epi32(_mm_loadu_si128(blocks), _mm_loadu_si128(blocks + 1)),
        _mm_packs_epi32(_mm_loadu_si128(blocks + 2), _mm_loadu_si128(blocks + 3)));
#elif OVT_AARCH64
    if (width == 2) {
        const uint16_t *const units = (const uint16_t *)data + index;
        return vcombine_u8(vqmovn_u16(vld1q_u16(units)), vqmovn_u16(vld1q_u16(units + 8)));
    }
    const uint32_t *const units = (const uint32_t *)data + index;
    return vcombine_u8(
        vqmovn_u16(vcombine_u16(vqmovn_u32(vld1q_u32(units)), vqmovn_u32(vld1q_u32(units + 4)))),
        vqmovn_u16(
            vcombine_u16(vqmovn_u32(vld1q_u32(units + 8)), vqmovn_u32(vld1q_u32(units + 12)))));
#else
    uint8_t bytes[OVT_PUT_STEP];
    for (size_t i = 0; i < OVT_PUT_STEP; i++) {
        const uint32_t unit = ovt_unit_at(data, index + i, width);
        bytes[i] = unit < 0x80 ? (uint8_t)unit : 0x80;
    }
    return ovt_block_load(bytes);
#endif
}

/* Copies the plain ASCII units from `index` on; returns how many of the next sixteen are. */
OVT_ALWAYS_INLINE size_t copy_plain_units(char *out, const void *data, size_t index, int width) {
    const ovt_block block = narrowed_units(data, index, width);
    const uint64_t marks = ovt_special_marks(block);
    ovt_block_store(out, block);
    return marks == 0 ? OVT_PUT_STEP : ovt_first_mark(marks);
}

OVT_ALWAYS_INLINE ovt_units_written put_units(char *out, const void *data, size_t index, size_t end,
                                              int width, bool escapes) {
    while (index < end) {
        if (end - index >= OVT_PUT_STEP) {
            const size_t plain = copy_plain_units(out, data, index, width);
            out += plain;
            index += plain;
            if (plain == OVT_PUT_STEP) {
                continue;
            }
        }
        do {
            const uint32_t unit = ovt_unit_at(data, index, width);
            if (width > 1 && OVT_UNLIKELY(ovt_is_surrogate(unit))) {
                return (ovt_units_written){out, index};
            }
            const uint64_t as_it_is = UINT64_C(1) << 56 | unit;
            const uint64_t ascii = escapes ? ovt_ascii_texts[unit & 0x7F] : as_it_is;
            out = ovt_put_character(out, unit, ascii, width);
            index++;
        } while (index < end &&
                 (end - index < OVT_PUT_STEP || ovt_unit_at(data, index, width) >= 0x80));
    }
    return (ovt_units_written){out, index};
}

/* The same for the width that the text has. */
OVT_ALWAYS_INLINE ovt_units_written put_units_of(char *out, const void *data, size_t index,
                                                 size_t end, int width, bool escapes) {
    switch (width) {
    case 1:
        return put_units(out, data, index, end, 1, escapes);
    case 2:
        return put_units(out, data, index, end, 2, escapes);
    default:
        return put_units(out, data, index, end, 4, escapes);
    }
}

static ovt_units_written put_escaped(char *out, const void *data, size_t index, size_t end,
                                     int width) {
    return put_units_of(out, data, index, end, width, true);
}

static ovt_units_written put_bytes(char *out, const void *data, size_t index, size_t end,
                                   int width) {
    (void)width;
    const uint8_t *const bytes = (const uint8_t *)data + index;
    return (ovt_units_written){ovt_put_bytes(out, bytes, end - index, false), end};
}

static char *put_keys(char *out, ovt_units_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ovt_units_key *const key = &keys[i];
        const ovt_units_written written =
            put_units_of(out, key->data, 0, key->length, key->width, false);
        key->is_written = written.index == key->length;
        key->size = key->is_written ? (size_t)(written.end - out) : 0;
        key->prefix = ovt_key_prefix_of_loadable(out, key->size);
        out += key->size;
    }
    return out;
}

static char *put_few(char *out, const void *data, size_t count, int width) {
    *out = '"';
    const ovt_units_written written = put_units_of(out + 1, data, 0, count, width, true);
    *written.end = '"';
    return written.index == count ? written.end + 1 : NULL;
}

static bool always_available(void) {
    return true;
}

static const ovt_units_variant baseline = {"baseline", always_available, put_escaped,
                                           put_bytes,  put_keys,         put_few};

/* ---- the choice between the variants --------------------------------------------------------- */

static const ovt_units_variant *const variants[] = {
#if OVT_X86_64
    &ovt_units_avx512,
#endif
    &baseline,
};

enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

/* Set when the library is loaded and by ovt_units_select. Atomic, so that selecting a variant while
 * others write is defined. */
_Atomic(const ovt_units_variant *) ovt_units_chosen = &baseline;

const char *ovt_units_variant_name(void) {
    return ovt_units()->name;
}

const char *ovt_units_name_at(size_t place) {
    return place < VARIANT_COUNT ? variants[place]->name : NULL;
}

bool ovt_units_select(const char *name) {
    for (size_t i = 0; i < VARIANT_COUNT; i++) {
        if (strcmp(variants[i]->name, name) == 0 && variants[i]->available()) {
            atomic_store_explicit(&ovt_units_chosen, variants[i], memory_order_relaxed);
            return true;
        }
    }
    return false;
}

__attribute__((constructor)) static void choose_at_load(void) {
    for (size_t i = 0; i < VARIANT_COUNT && !ovt_units_select(variants[i]->name); i++) {
    }
}
