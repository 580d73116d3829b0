/* What an operation of the core can answer. overturn_fast/_errors.py has the same numbers and
 * turns each into an exception. */
#ifndef OVT_STATUS_H
#define OVT_STATUS_H

typedef enum {
    OVT_OK = 0,
    OVT_NO_MEMORY = 1,
    OVT_UNSUPPORTED_TYPE = 2,
    OVT_KEY_TYPE = 3,
    OVT_INTEGER_DOMAIN = 4,
    OVT_FLOAT_DOMAIN = 5,
    OVT_SURROGATE = 6,
    OVT_KEY_SURROGATE = 7,
    OVT_CIRCULAR_REFERENCE = 8,
    OVT_DEPTH = 9,
    OVT_TEXT = 10,       /* of JSON text: an ovt_text_reason says what */
    OVT_CALL = 11,       /* of JSON text that should be a call: an ovt_call_reason says what */
    OVT_SHAPE_SIZE = 12, /* of a shape whose rows have more than OVT_MAX_ROW_BYTES */
} ovt_status;

#endif
