#include "call_audit.h"

#include <stdlib.h>

#include "byte_table.h"
#include "growth.h"
#include "number_write.h"
#include "text_digest.h"

/* How far before the end of a part of a text it may be wrong only for being a part: no token that
 * is wrong when cut, and no escape, is longer. */
enum { CUT_MARGIN = 16 };

typedef enum { BEFORE_ARRAY, BEFORE_FIRST_ITEM, BEFORE_ITEM, BEHIND_ARRAY } array_state;

typedef struct {
    uint64_t calls;
    uint64_t flagged;
    bool is_cut;
} tool_counts;

/* How a group's key begins: what is before the path. */
typedef struct {
    uint32_t tool;
    uint32_t reason;
} group_head;

typedef struct {
    ovt_audit_count count;
    uint64_t first;
    const char *example;
    size_t example_length;
} group_counts;

struct ovt_audit {
    ovt_audit_totals totals;
    ovt_byte_table tools;
    tool_counts *tool_counts;
    size_t tool_capacity;
    ovt_byte_table groups;
    group_counts *group_counts;
    size_t group_capacity;
    ovt_arena examples;
    array_state state;
    ptrdiff_t tool; /* of the call at hand, or OVT_TABLE_FULL */
    bool is_flagged;
};

/* ---- making and looking ---------------------------------------------------------------------- */

ovt_audit *ovt_audit_new(uint64_t seed, size_t tool_limit, size_t group_limit) {
    ovt_audit *const audit = calloc(1, sizeof *audit);
    if (audit != NULL) {
        ovt_byte_table_init(&audit->tools, seed, tool_limit);
        ovt_byte_table_init(&audit->groups, seed, group_limit);
    }
    return audit;
}

void ovt_audit_free(ovt_audit *audit) {
    if (audit != NULL) {
        ovt_byte_table_release(&audit->tools);
        ovt_byte_table_release(&audit->groups);
        ovt_arena_release(&audit->examples, (ovt_arena_mark){0});
        free(audit->tool_counts);
        free(audit->group_counts);
        free(audit);
    }
}

void ovt_audit_sum(const ovt_audit *audit, ovt_audit_totals *totals) {
    *totals = audit->totals;
    totals->tool_count = audit->tools.count;
    totals->group_count = audit->groups.count;
    totals->is_complete = audit->state == BEHIND_ARRAY;
}

void ovt_audit_tool_at(const ovt_audit *audit, size_t index, ovt_audit_tool *tool) {
    const ovt_byte_entry *const name = &audit->tools.entries[index];
    const tool_counts *const counts = &audit->tool_counts[index];
    *tool =
        (ovt_audit_tool){name->bytes, name->length, counts->is_cut, counts->calls, counts->flagged};
}

void ovt_audit_group_at(const ovt_audit *audit, size_t index, ovt_audit_group *group) {
    const ovt_byte_entry *const key = &audit->groups.entries[index];
    const group_counts *const counts = &audit->group_counts[index];
    group_head head;
    memcpy(&head, key->bytes, sizeof head);
    *group = (ovt_audit_group){
        .tool = head.tool,
        .reason = (int)head.reason,
        .path = key->bytes + sizeof head,
        .path_length = key->length - sizeof head,
        .example = counts->example,
        .example_length = counts->example_length,
        .first = counts->first,
        .count = counts->count,
    };
}

/* ---- findings -------------------------------------------------------------------------------- */

static void count_finding(ovt_audit_count *count, uint64_t number) {
    count->findings++;
    count->calls += count->last != number;
    count->last = number;
}

/* Writes the path of a group, as far as it is told apart; returns its length. */
static size_t write_path(char *out, const ovt_path_step *steps, size_t depth) {
    char *const start = out;
    for (size_t i = 0; i < depth; i++) {
        const size_t length = steps[i].key == NULL ? 0 : steps[i].length;
        if (i == OVT_AUDIT_STEPS || (size_t)(out - start) + length + 1 > OVT_AUDIT_PATH) {
            *out++ = (char)OVT_PATH_CUT;
            break;
        }
        if (steps[i].key == NULL) {
            *out++ = (char)OVT_PATH_INDEX;
            continue;
        }
        memcpy(out, steps[i].key, length);
        out += length;
        *out++ = (char)OVT_PATH_END;
    }
    return (size_t)(out - start);
}

/* Writes that path again, with the indices; returns its length. */
static size_t write_example(char *out, const char *path, size_t path_length,
                            const ovt_path_step *steps) {
    char *const start = out;
    for (size_t i = 0; i < path_length; i++) {
        *out++ = path[i];
        if ((uint8_t)path[i] == OVT_PATH_INDEX) {
            out += ovt_write_u64(out, steps->index);
            *out++ = (char)OVT_PATH_END;
        }
        steps += (uint8_t)path[i] == OVT_PATH_INDEX || (uint8_t)path[i] == OVT_PATH_END;
    }
    return (size_t)(out - start);
}

/* Makes room for the counts of one more group, before it comes in. False when memory runs out. */
static bool reserve_group(ovt_audit *audit) {
    if (audit->groups.count < audit->group_capacity) {
        return true;
    }
    group_counts *const counts = ovt_grown(audit->group_counts, NULL, 0, &audit->group_capacity,
                                           audit->groups.count + 1, sizeof *counts);
    if (counts != NULL) {
        audit->group_counts = counts;
    }
    return counts != NULL;
}

/* Makes the counts of a group that has just come in. False when memory runs out; then it has no
 * example. */
static bool start_group(ovt_audit *audit, const char *path, size_t path_length,
                        const ovt_path_step *steps) {
    char example[OVT_AUDIT_PATH + 2 + OVT_AUDIT_STEPS * OVT_NUMBER_SIZE];
    const size_t length = write_example(example, path, path_length, steps);
    char *const own = ovt_arena_take(&audit->examples, length + 1);
    if (own != NULL) {
        memcpy(own, example, length);
    }
    audit->group_counts[audit->groups.count - 1] = (group_counts){
        .first = audit->totals.number,
        .example = own,
        .example_length = own == NULL ? 0 : length,
    };
    return own != NULL;
}

/* An ovt_finding_sink. */
static bool take_finding(void *context, ovt_portability_reason reason, const ovt_path_step *steps,
                         size_t depth) {
    ovt_audit *const audit = context;
    const uint64_t number = audit->totals.number;
    audit->is_flagged = true;
    count_finding(&audit->totals.reasons[reason], number);
    if (audit->tool == OVT_TABLE_FULL) {
        count_finding(&audit->totals.others[reason], number);
        return true;
    }
    const group_head head = {(uint32_t)audit->tool, (uint32_t)reason};
    char key[sizeof head + OVT_AUDIT_PATH + 2];
    memcpy(key, &head, sizeof head);
    const size_t path_length = write_path(key + sizeof head, steps, depth);
    const size_t known = audit->groups.count;
    if (!reserve_group(audit)) {
        return false;
    }
    const ptrdiff_t group = ovt_byte_table_number(&audit->groups, key, sizeof head + path_length);
    if (group == OVT_TABLE_NO_MEMORY) {
        return false;
    }
    if (group == OVT_TABLE_FULL) {
        count_finding(&audit->totals.others[reason], number);
        return true;
    }
    if (audit->groups.count != known &&
        !start_group(audit, key + sizeof head, path_length, steps)) {
        return false;
    }
    count_finding(&audit->group_counts[group].count, number);
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Finds the tool of the call at hand among those known. False when memory runs out. */
static bool find_tool(ovt_audit *audit, const char *name, size_t length) {
    const bool is_cut = length > OVT_AUDIT_NAME;
    if (is_cut) {
        length = OVT_AUDIT_NAME;
        while (((uint8_t)name[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    if (audit->tools.count == audit->tool_capacity) {
        tool_counts *const counts = ovt_grown(audit->tool_counts, NULL, 0, &audit->tool_capacity,
                                              audit->tools.count + 1, sizeof *counts);
        if (counts == NULL) {
            return false;
        }
        audit->tool_counts = counts;
    }
    const size_t known = audit->tools.count;
    audit->tool = ovt_byte_table_number(&audit->tools, name, length);
    if (audit->tools.count != known) {
        audit->tool_counts[audit->tool] = (tool_counts){.is_cut = false};
    }
    if (audit->tool >= 0) {
        audit->tool_counts[audit->tool].is_cut |= is_cut;
    }
    return audit->tool != OVT_TABLE_NO_MEMORY;
}

static void count_call(ovt_audit *audit) {
    const uint64_t flagged = audit->is_flagged;
    audit->totals.calls++;
    audit->totals.flagged += flagged;
    if (audit->tool == OVT_TABLE_FULL) {
        audit->totals.other_calls++;
        audit->totals.other_flagged += flagged;
    } else {
        audit->tool_counts[audit->tool].calls++;
        audit->tool_counts[audit->tool].flagged += flagged;
    }
}

/* Looks at the arguments of a call that is one. */
static ovt_status examine(ovt_audit *audit, const ovt_call *c, ovt_name names, bool drops,
                          size_t max_depth) {
    ovt_name_selection selection;
    if (!ovt_select_names(&selection, names, drops)) {
        return OVT_NO_MEMORY;
    }
    const ovt_portability_options options = {
        .max_depth = max_depth,
        .selection = selection.count != 0 ? &selection : NULL,
        .sink = take_finding,
        .context = audit,
    };
    const ovt_call_part args = c->fields[OVT_CALL_ARGS];
    ovt_text_error error;
    audit->is_flagged = false;
    const ovt_status status = ovt_portability_text(args.start, args.length, &options, &error);
    ovt_release_names(&selection);
    if (status == OVT_OK) {
        count_call(audit);
    }
    return status;
}

/* Takes one call; the text of a call that is none changes nothing but the number of calls. */
static ovt_status take_call(ovt_audit *audit, const char *text, size_t length, size_t max_depth,
                            ovt_text_error *error, ovt_call_error *call_error) {
    char prefix_storage[512], match_storage[256], ignore_storage[256];
    ovt_buffer prefix, match, ignore;
    ovt_call c;
    audit->totals.number++;
    ovt_status status = ovt_call_read(&c, text, length, max_depth, error, call_error);
    if (status != OVT_OK) {
        return status;
    }
    ovt_buffer_init(&prefix, prefix_storage, sizeof prefix_storage, NULL);
    ovt_buffer_init(&match, match_storage, sizeof match_storage, NULL);
    ovt_buffer_init(&ignore, ignore_storage, sizeof ignore_storage, NULL);
    status = ovt_call_write_prefix(&prefix, &c); /* for its checks */
    if (status == OVT_OK) {
        status = ovt_call_write_names(&match, &c, OVT_CALL_MATCH_ON);
    }
    if (status == OVT_OK) {
        status = ovt_call_write_names(&ignore, &c, OVT_CALL_IGNORE_ARGS);
    }
    if (status == OVT_OK) {
        prefix.end = prefix.data;
        const bool has_name =
            ovt_call_append_string(&prefix, c.fields[OVT_CALL_NAME], OVT_KEEP_LONE) &&
            find_tool(audit, prefix.data, ovt_buffer_length(&prefix));
        status = has_name ? OVT_OK : OVT_NO_MEMORY;
    }
    if (status == OVT_OK) {
        const bool drops = ovt_buffer_length(&match) == 0;
        const ovt_buffer *const names = drops ? &ignore : &match;
        status =
            examine(audit, &c, (ovt_name){names->data, ovt_buffer_length(names)}, drops, max_depth);
    }
    ovt_buffer_release(&prefix);
    ovt_buffer_release(&match);
    ovt_buffer_release(&ignore);
    return status;
}

/* Takes the call from `start` to `end`, and says in `step` what came of it. */
static ovt_status take_part(ovt_audit *audit, ovt_audit_step *step, const char *text, size_t start,
                            size_t end, size_t max_depth) {
    ovt_text_error error;
    ovt_call_error call_error;
    const ovt_status status =
        take_call(audit, text + start, end - start, max_depth, &error, &call_error);
    *step = (ovt_audit_step){.status = (int)status, .start = start, .end = end};
    if (status == OVT_TEXT) {
        step->reason = (int)error.reason;
        step->offset = error.offset;
    } else if (status == OVT_CALL) {
        step->reason = (int)call_error.reason;
        step->field = (int)call_error.field;
        step->item = call_error.item;
        step->offset = call_error.offset;
    }
    return status;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') {
            return false;
        }
    }
    return true;
}

int ovt_audit_lines(ovt_audit *audit, ovt_audit_step *step, const char *text, size_t length,
                    size_t max_depth) {
    *step = (ovt_audit_step){0};
    for (size_t start = 0; start < length;) {
        const char *const feed = memchr(text + start, '\n', length - start);
        const size_t end = feed == NULL ? length : (size_t)(feed - text);
        const size_t next = feed == NULL ? length : end + 1;
        if (is_blank(text + start, end - start)) {
            audit->totals.number++;
        } else {
            const ovt_status status = take_part(audit, step, text, start, end, max_depth);
            if (status != OVT_OK) {
                step->consumed = next;
                return (int)status;
            }
        }
        start = next;
    }
    step->consumed = length;
    return OVT_OK;
}

/* ---- items ----------------------------------------------------------------------------------- */

typedef struct {
    ovt_audit *audit;
    ovt_audit_step *step;
    ovt_reader reader;
    const char *text;
    size_t consumed;
    size_t max_depth;
    bool is_last;
} itemising;

/* Ends the reading where the text is wrong, or lacks what a further part may bring. */
static int stop(itemising *i) {
    const bool may_be_cut = i->reader.error_offset + CUT_MARGIN >= i->reader.length;
    *i->step = (ovt_audit_step){.consumed = i->consumed};
    if (i->reader.error == 0) {
        i->step->status = OVT_NO_MEMORY;
    } else if (i->is_last || !may_be_cut) {
        const bool is_mark = i->reader.error == OVT_TEXT_BYTE_ORDER_MARK; /* not in a part */
        i->step->status = OVT_TEXT;
        i->step->reason = is_mark ? OVT_TEXT_EXPECTED_VALUE : (int)i->reader.error;
        i->step->offset = i->reader.error_offset;
        i->step->is_over = true;
    }
    return i->step->status;
}

/* Takes the item at hand; returns the position past the comma or bracket behind it, or NULL if the
 * reading ends before or behind that. */
static const uint8_t *take_item(itemising *i, const uint8_t *at) {
    /* The members of the item itself may be nested that deep. */
    const size_t depth = i->max_depth == SIZE_MAX ? SIZE_MAX : i->max_depth + 1;
    const size_t start = ovt_reader_offset(&i->reader, at);
    at = ovt_skip_value(&i->reader, at, depth);
    if (at == NULL) {
        stop(i);
        return NULL;
    }
    const size_t end = ovt_reader_offset(&i->reader, at);
    at = ovt_skip_space(&i->reader, at);
    if (*at != ',' && *at != ']') {
        ovt_reader_fail(&i->reader, OVT_TEXT_EXPECTED_COMMA_OR_BRACKET, at);
        stop(i);
        return NULL;
    }
    i->audit->state = *at == ',' ? BEFORE_ITEM : BEHIND_ARRAY;
    i->consumed = ovt_reader_offset(&i->reader, at) + 1;
    const ovt_status status = take_part(i->audit, i->step, i->text, start, end, i->max_depth);
    i->step->consumed = i->consumed;
    return status == OVT_OK ? at + 1 : NULL;
}

/* Past the token at hand, where it is no item; NULL if the text ends or is wrong. */
static const uint8_t *pass(itemising *i, const uint8_t *at) {
    if (i->audit->state == BEHIND_ARRAY) {
        ovt_reader_fail(&i->reader, OVT_TEXT_EXTRA, at);
        return NULL;
    }
    if (i->audit->state == BEFORE_ARRAY) {
        i->audit->state = BEFORE_FIRST_ITEM;
        return at + 1;
    }
    i->audit->state = BEHIND_ARRAY;
    return at + 1;
}

int ovt_audit_items(ovt_audit *audit, ovt_audit_step *step, const char *text, size_t length,
                    bool is_last, size_t max_depth) {
    itemising i = {
        .audit = audit, .step = step, .text = text, .max_depth = max_depth, .is_last = is_last};
    const uint8_t *at = ovt_reader_start(&i.reader, text, length);
    for (;;) {
        at = ovt_skip_space(&i.reader, at);
        i.consumed = ovt_reader_offset(&i.reader, at);
        if (at == i.reader.end) {
            if (audit->state == BEHIND_ARRAY || !is_last) {
                *step = (ovt_audit_step){.consumed = i.consumed};
                return OVT_OK;
            }
            ovt_reader_fail(&i.reader, OVT_TEXT_UNEXPECTED_END, at);
            return stop(&i);
        }
        const bool is_item =
            audit->state == BEFORE_ITEM || (audit->state == BEFORE_FIRST_ITEM && *at != ']');
        at = is_item ? take_item(&i, at) : pass(&i, at);
        if (at == NULL) {
            return is_item ? step->status : stop(&i);
        }
    }
}
