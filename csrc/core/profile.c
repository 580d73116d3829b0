#include "profile.h"

const ovt_profile ovt_profiles[OVT_PROFILE_COUNT] = {
    {
        .name = "overturn",
        .drop_none = true,
        .trim_strings = true,
        .integers = OVT_INTEGERS_EXACT_BELOW_1E21,
        .exact_integral_floats = true,
        .non_finite_null = true,
        .escape_surrogates = true,
        .join_surrogates = true,
        .any_key = true,
        .last_duplicate_wins = true,
    },
    {
        .name = "jcs",
        .utf16_key_order = true,
        .integers = OVT_INTEGERS_SAFE_ONLY,
    },
    {
        .name = "jcs-double",
        .utf16_key_order = true,
        .integers = OVT_INTEGERS_AS_DOUBLE,
    },
    {
        .name = "mcpulse",
        .utf16_key_order = true,
        .integers = OVT_INTEGERS_AS_DOUBLE,
        .escape_surrogates = true,
    },
    {
        .name = "pleach",
        .utf16_key_order = true,
        .integers = OVT_INTEGERS_AS_DOUBLE,
        .escape_surrogates = true,
        .join_surrogates = true,
    },
    {
        .name = "compat",
        .drop_none = true,
        .trim_strings = true,
        .integers = OVT_INTEGERS_ALL_DIGITS,
        .exact_integral_floats = true,
        .non_finite_null = true,
        .any_key = true,
        .str_keys = true,
        .repeat_members = true,
        .convert_subclasses = true,
        .last_duplicate_wins = true,
    },
};
