/* Python numbers to text, as the profile says: those that no short way writes, and keys.
 *
 * An int beyond 64 bits costs some objects of Python; no other allocates. */
#ifndef OVT_NUMBER_VALUE_H
#define OVT_NUMBER_VALUE_H

#include "walker.h"

/* An int, a float, or an object of a subclass. OVT_INTEGER_DOMAIN or OVT_FLOAT_DOMAIN where the
 * profile has no text for it. */
ovt_status ovt_write_int_value(ovt_buffer *out, const ovt_profile *profile, PyObject *value);
ovt_status ovt_write_float_value(ovt_buffer *out, const ovt_profile *profile, double value);

/* An int past what a double holds exactly, or one whose digits are not in sight. */
ovt_status ovt_write_other_int(ovt_buffer *out, const ovt_profile *profile, PyObject *value);

#endif
