/* Recorded calls, one a line or as the items of an array, to counts of what other SDKs may read
 * otherwise in their arguments (portability_text.h): by tool, path and reason.
 *
 * A path is that of the arguments with every index of an array left open; of the first call with
 * it the whole path is kept as an example. No value is stored. Memory is bounded, whatever comes:
 * there are limits on tools and groups, names and paths are cut, and what finds no room is counted
 * without a place. Only one line or item is looked at at a time. */
#ifndef OVT_CALL_AUDIT_H
#define OVT_CALL_AUDIT_H

#include "call_line.h"
#include "portability_text.h"

enum {
    OVT_AUDIT_NAME = 256,  /* bytes of a tool's name, at most */
    OVT_AUDIT_STEPS = 64,  /* of a path, at most */
    OVT_AUDIT_PATH = 1000, /* bytes of a path as it is told apart from others, at most */
};

/* In a path: an index (which an example has behind it), the end of a key or an index, and the end
 * of a path that was cut. UTF-8 has none of these bytes. */
enum { OVT_PATH_INDEX = 0xFE, OVT_PATH_END = 0xFF, OVT_PATH_CUT = 0xFD };

typedef struct ovt_audit ovt_audit;

/* How often something was found, and in how many calls. */
typedef struct {
    uint64_t findings;
    uint64_t calls;
    uint64_t last; /* the number of the last of these calls */
} ovt_audit_count;

/* What one step of reading came to. */
typedef struct {
    int status;      /* an ovt_status */
    int reason;      /* an ovt_text_reason or ovt_call_reason */
    int field;       /* an ovt_call_field */
    size_t item;     /* of an array in a field */
    size_t start;    /* of the line or item that is wrong */
    size_t end;      /* of it */
    size_t offset;   /* of what is wrong in it, from its start */
    size_t consumed; /* bytes that need not be given again */
    bool is_over;    /* nothing after this can be read */
} ovt_audit_step;

typedef struct {
    uint64_t number;      /* of lines or items so far */
    uint64_t calls;       /* of them, those that are calls */
    uint64_t flagged;     /* of these, those with a finding */
    uint64_t other_calls; /* of tools for which there was no room */
    uint64_t other_flagged;
    size_t tool_count;
    size_t group_count;
    bool is_complete;            /* the array has ended */
    ovt_audit_count reasons[16]; /* by reason, all findings */
    ovt_audit_count others[16];  /* by reason, those for which there was no room */
} ovt_audit_totals;

typedef struct {
    const char *name; /* in WTF-8 */
    size_t name_length;
    bool is_cut;
    uint64_t calls;
    uint64_t flagged;
} ovt_audit_tool;

typedef struct {
    size_t tool; /* the number of it */
    int reason;  /* an ovt_portability_reason */
    const char *path;
    size_t path_length;
    const char *example;
    size_t example_length;
    uint64_t first; /* the number of the call that is the example */
    ovt_audit_count count;
} ovt_audit_group;

/* An empty audit, or NULL when memory runs out. `seed` is that of a hash, kept secret. */
ovt_audit *ovt_audit_new(uint64_t seed, size_t tool_limit, size_t group_limit);
void ovt_audit_free(ovt_audit *audit);

/* Takes the lines of a text, which end with LF and the last one perhaps without, up to and with the
 * first one that is no call: OVT_OK if there is none. */
int ovt_audit_lines(ovt_audit *audit, ovt_audit_step *step, const char *text, size_t length,
                    size_t max_depth);

/* Takes the items of an array that is given in parts: `text` is what follows the bytes that have
 * been consumed, and the array's last part if `is_last`. Stops behind the first item that is no
 * call; where the text is no JSON nothing more can be read. */
int ovt_audit_items(ovt_audit *audit, ovt_audit_step *step, const char *text, size_t length,
                    bool is_last, size_t max_depth);

void ovt_audit_sum(const ovt_audit *audit, ovt_audit_totals *totals);
void ovt_audit_tool_at(const ovt_audit *audit, size_t index, ovt_audit_tool *tool);
void ovt_audit_group_at(const ovt_audit *audit, size_t index, ovt_audit_group *group);

#endif
