/* JSON text to canonical JSON text, and to the digest over it.
 *
 * One pass reads the text strictly and writes what is canonical about it but the order of members
 * (json_read.h, text_string.h); small objects are put in order as they end, the rest in a second
 * pass that copies (text_arrange.h). Nothing recurses: nesting costs memory and no stack. Time is
 * linear in the length of the text, but for sorting the keys of each object; memory is the length
 * of the text, that of the canonical text if it has to be put in order, some 80 bytes for each
 * member of an object that is open and 40 for each level of nesting.
 *
 * Numbers: where the profile writes ints exactly below 10^21, a literal without fraction and
 * exponent is an int, of any length; every other one is the nearest double. A member given null
 * by a profile that drops None is left out, after the last of several with one name has been
 * chosen. */
#ifndef OVT_CANONICAL_TEXT_H
#define OVT_CANONICAL_TEXT_H

#include "buffer.h"
#include "json_read.h"
#include "key_order.h"
#include "profile.h"
#include "status.h"

/* A key in WTF-8. */
typedef struct {
    const char *text;
    size_t length;
} ovt_name;

/* Which members of the outermost object take part. */
typedef struct {
    const ovt_name *names; /* ascending by their bytes */
    size_t count;
    bool drops; /* the names are left out, else only they are kept */
} ovt_name_selection;

/* Whether a member, of which the key counts, takes part. */
bool ovt_is_selected(const ovt_name_selection *selection, const ovt_member *member);

typedef struct {
    const ovt_profile *profile;
    size_t max_depth;
    const ovt_name_selection *selection; /* NULL: everything */
} ovt_text_options;

typedef struct {
    ovt_text_reason reason;
    size_t offset; /* in bytes, of what is wrong or repeated */
} ovt_text_error;

/* Appends the canonical form of a text to `out`: OVT_OK, OVT_NO_MEMORY, or OVT_TEXT with *error
 * filled in. Only on success has anything been appended. */
ovt_status ovt_canonical_text(ovt_buffer *out, const char *text, size_t length,
                              const ovt_text_options *options, ovt_text_error *error);

#endif
