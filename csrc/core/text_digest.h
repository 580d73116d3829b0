/* The digest over the canonical form of a JSON text, or of a part of it, behind a prefix. */
#ifndef OVT_TEXT_DIGEST_H
#define OVT_TEXT_DIGEST_H

#include "canonical_text.h"

/* What follows each name in a list of names: a byte that UTF-8 never has. */
enum { OVT_END_OF_NAME = 0xFF };

typedef struct {
    const ovt_profile *profile;
    size_t max_depth;
    ovt_name prefix;
    ovt_name text;
    ovt_name names; /* of members of an outermost object; none selects everything */
    bool drops;     /* these members are left out, else they alone are kept */
} ovt_digest_request;

/* A selection of names that are each followed by a byte OVT_END_OF_NAME, which it refers to; there
 * may be none. False when memory runs out. */
bool ovt_select_names(ovt_name_selection *selection, ovt_name names, bool drops);

void ovt_release_names(ovt_name_selection *selection);

/* Writes the digest in 64 hexadecimal digits: OVT_OK, OVT_NO_MEMORY, or OVT_TEXT with *error filled
 * in. */
ovt_status ovt_digest_text(char hex[OVT_SHA256_HEX_SIZE], const ovt_digest_request *request,
                           ovt_text_error *error);

#endif
