/* The C core of overturn_fast: what canonical JSON and the digests over it are made of, without
 * Python.
 *
 * Every function is safe to call from any thread; none keeps state but the choices of a
 * SHA-256 variant and of a string writer, made when the library is loaded. Each header says what
 * its unit promises and what it costs. */
#ifndef OVT_OVERTURN_H
#define OVT_OVERTURN_H

#include "call_audit.h"
#include "number_read.h"
#include "number_write.h"
#include "profile.h"
#include "sha256.h"
#include "shape_output.h"
#include "status.h"
#include "string_units.h"
#include "text_output.h"

/* The version of the package that this library was built for: "0.1.0". */
const char *ovt_version(void);

#endif
