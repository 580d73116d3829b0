/* How long a text is in UTF-16 code units, by itself and as a JSON string.
 *
 * Costs one pass over the text in vector steps, or none where a code point is one unit anyway. */
#ifndef OVT_UTF16_LENGTH_H
#define OVT_UTF16_LENGTH_H

#include "string_write.h"

/* The code units of a text; a surrogate code point is one. */
size_t ovt_utf16_length(ovt_text text);

/* The code units of a text as a JSON string: in quotes, with the seven short escapes, \u00xx for
 * the other control characters, and every other code point as it is, surrogates too. */
size_t ovt_utf16_length_quoted(ovt_text text);

#endif
