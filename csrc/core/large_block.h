/* Memory for the large tables of a sort, which are written and read all over.
 *
 * On Linux a block of some size asks for huge pages: the system hands them out a few hundred times
 * faster than small ones, and the processor finds its way in them without looking up each. */
#ifndef OVT_LARGE_BLOCK_H
#define OVT_LARGE_BLOCK_H

#include <stddef.h>

/* As malloc does; the block is given back with free. */
void *ovt_large_block(size_t size);

#endif
