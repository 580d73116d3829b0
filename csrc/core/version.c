#include "overturn.h"

#ifndef OVT_VERSION
#error "define OVT_VERSION as the package's version, a string literal"
#endif

const char *ovt_version(void) {
    return OVT_VERSION;
}
