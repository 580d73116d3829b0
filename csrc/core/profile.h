/* The policies that tell one contract's canonical form from another's.
 *
 * A profile is a constant record, passed by pointer; no function branches on a contract's name.
 * overturn_fast/_profiles.py has the same records and says what each field means. */
#ifndef OVT_PROFILE_H
#define OVT_PROFILE_H

#include <stdbool.h>

typedef enum {
    OVT_INTEGERS_EXACT_BELOW_1E21 = 0, /* then the nearest double, null past the double range */
    OVT_INTEGERS_SAFE_ONLY = 1,        /* up to 2**53 - 1 in magnitude, else an error */
    OVT_INTEGERS_AS_DOUBLE = 2,        /* the nearest double, an error past the double range */
    OVT_INTEGERS_ALL_DIGITS = 3,       /* however many; an error where str(int) is one */
} ovt_integers;

typedef struct {
    const char *name;
    bool utf16_key_order;       /* else by code point */
    bool drop_none;             /* else written null */
    bool trim_strings;          /* values only, as by str.strip */
    ovt_integers integers;      /* how an int is written */
    bool exact_integral_floats; /* all digits of an integral float below 1e21 */
    bool non_finite_null;       /* else an error */
    bool escape_surrogates;     /* lone ones as \udxxx, else an error */
    bool join_surrogates;       /* two code points of a pair are read as one character */
    bool any_key;               /* int, float, bool and None keys as their JSON text */
    bool str_keys;              /* every key that is no exact str as its str(), any_key or not */
    bool repeat_members;        /* each of keys with one text, all with the last one's value */
    bool convert_subclasses;    /* of str, int and float, else read by their underlying data */
    bool last_duplicate_wins;   /* of names that JSON text repeats, else an error */
} ovt_profile;

enum { OVT_PROFILE_COUNT = 6 };

/* overturn, jcs, jcs-double, mcpulse, pleach, compat */
extern const ovt_profile ovt_profiles[OVT_PROFILE_COUNT];

enum {
    OVT_PROFILE_OVERTURN = 0,
    OVT_PROFILE_JCS = 1,
    OVT_PROFILE_JCS_DOUBLE = 2,
    OVT_PROFILE_MCPULSE = 3,
    OVT_PROFILE_PLEACH = 4,
    OVT_PROFILE_COMPAT = 5,
};

#endif
