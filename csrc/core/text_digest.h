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

/* Writes the digest in 64 hexadecimal digits: OVT_OK, OVT_NO_MEMORY, or OVT_TEXT with *error filled
 * in. */
ovt_status ovt_digest_text(char hex[OVT_SHA256_HEX_SIZE], const ovt_digest_request *request,
                           ovt_text_error *error);

#endif
