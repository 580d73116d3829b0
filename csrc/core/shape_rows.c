#include "shape_rows.h"

#include <stdlib.h>

#include "growth.h"
#include "key_order.h"
#include "string_write.h"

enum {
    INLINE_LEVELS = 16,
    INLINE_STEPS = 64,
    FEW_STEPS = 16, /* sorted by insertion */
    GROUPS = 5,     /* of steps: up to '.', from it, up to '[', from it, past it */
    STORAGE = 4096,
};

/* A way on from a path: the text that is added to it. Where that begins with a dot or a bracket,
 * this byte is kept apart, so that the key of a member is its text. */
typedef struct {
    uint64_t prefix; /* ovt_key_prefix of the text */
    const char *text;
    uint32_t length;
    uint32_t node;
    char lead; /* '.', '[', or 0 for neither */
} step;

/* The steps from one path, of which those before `next` are done. */
typedef struct {
    size_t first;
    size_t next;
    size_t end;
    size_t path_length;
    bool is_text; /* steps are taken by all nodes that their text fits */
} level;

typedef struct {
    const ovt_shape_tree *tree;
    ovt_buffer *out;
    ovt_buffer path;
    ovt_buffer *unwritable; /* where the first path with a surrogate goes */
    size_t row_bytes;
    ovt_status status; /* what is wrong, unless memory has run out */
    bool is_v2;
    bool is_digest;
    bool has_rows;
    level *levels;
    size_t depth;
    size_t level_capacity;
    step *steps;
    size_t step_count;
    size_t step_capacity;
    level inline_levels[INLINE_LEVELS];
    step inline_steps[INLINE_STEPS];
} writing;

/* ---- room ------------------------------------------------------------------------------------ */

static bool push_step(writing *w, step next) {
    if (OVT_UNLIKELY(w->step_count == w->step_capacity)) {
        step *const steps = ovt_grown(w->steps, w->inline_steps, w->step_count, &w->step_capacity,
                                      w->step_count + 1, sizeof *steps);
        if (steps == NULL) {
            return false;
        }
        w->steps = steps;
    }
    w->steps[w->step_count++] = next;
    return true;
}

static bool push_level(writing *w, level next) {
    if (OVT_UNLIKELY(w->depth == w->level_capacity)) {
        level *const levels = ovt_grown(w->levels, w->inline_levels, w->depth, &w->level_capacity,
                                        w->depth + 1, sizeof *levels);
        if (levels == NULL) {
            return false;
        }
        w->levels = levels;
    }
    w->levels[w->depth++] = next;
    return true;
}

/* ---- the order of steps ---------------------------------------------------------------------- */

static inline uint8_t first_byte(const step *s) {
    return (uint8_t)(s->lead != 0 ? s->lead : s->text[0]);
}

static inline bool comes_after(const step *a, const step *b) {
    if (OVT_UNLIKELY(a->lead != b->lead)) {
        return first_byte(a) > first_byte(b);
    }
    if (a->prefix != b->prefix) {
        return a->prefix > b->prefix;
    }
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order != 0 ? order > 0 : a->length > b->length;
}

static void insertion_sort(step *steps, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const step moved = steps[i];
        size_t j = i;
        for (; j > 0 && comes_after(&steps[j - 1], &moved); j--) {
            steps[j] = steps[j - 1];
        }
        steps[j] = moved;
    }
}

/* Where a step comes by its first byte, as far as that is known before its text is looked at. */
static inline size_t group_of(const step *s) {
    if (s->lead != 0) {
        return s->lead == '.' ? 1 : 3;
    }
    const uint8_t first = (uint8_t)s->text[0];
    return first < '.' ? 0 : first < '[' ? 2 : 4;
}

/* Sorts the steps of one group, which stand in order at `from`, to `to`. */
static bool sort_group(const step *from, step *to, size_t count, ovt_member *members,
                       uint32_t *order) {
    for (size_t i = 0; i < count; i++) {
        members[i] =
            (ovt_member){.prefix = from[i].prefix, .text = from[i].text, .length = from[i].length};
    }
    if (ovt_order_members(members, order, count, false) != OVT_OK) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = from[order[i]];
    }
    return true;
}

/* By groups, and in each by text as keys are. Stable. */
static OVT_NEVER_INLINE bool sort_many(step *steps, size_t count) {
    size_t sizes[GROUPS] = {0}, places[GROUPS] = {0};
    step *const grouped = malloc(count * sizeof *grouped);
    ovt_member *const members = malloc(count * sizeof *members);
    uint32_t *const order = malloc(count * sizeof *order);
    bool is_fine = grouped != NULL && members != NULL && order != NULL;
    for (size_t i = 0; i < count; i++) {
        sizes[group_of(&steps[i])]++;
    }
    for (size_t group = 1; group < GROUPS; group++) {
        places[group] = places[group - 1] + sizes[group - 1];
    }
    for (size_t i = 0; is_fine && i < count; i++) {
        grouped[places[group_of(&steps[i])]++] = steps[i];
    }
    for (size_t group = 0, start = 0; is_fine && group < GROUPS; start += sizes[group++]) {
        is_fine = sort_group(grouped + start, steps + start, sizes[group], members, order);
    }
    free(grouped);
    free(members);
    free(order);
    return is_fine;
}

static bool sort_steps(step *steps, size_t count) {
    if (count <= FEW_STEPS) {
        insertion_sort(steps, count);
        return true;
    }
    size_t sorted = 1;
    while (sorted < count && !comes_after(&steps[sorted - 1], &steps[sorted])) {
        sorted++;
    }
    return sorted == count || sort_many(steps, count);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool write_row(writing *w, const char *type, size_t length) {
    const size_t path_length = ovt_buffer_length(&w->path), size = path_length + length + 2;
    w->row_bytes += size;
    if (OVT_UNLIKELY(w->row_bytes > OVT_MAX_ROW_BYTES)) {
        w->status = OVT_SHAPE_SIZE;
        return false;
    }
    if (!ovt_buffer_reserve(w->out, size)) {
        return false;
    }
    if (w->is_digest && w->has_rows) {
        ovt_buffer_put(w->out, '\n');
    }
    w->has_rows = true;
    memcpy(w->out->end, w->path.data, path_length);
    w->out->end += path_length;
    ovt_buffer_put(w->out, w->is_digest ? ':' : (char)OVT_END_OF_PART);
    memcpy(w->out->end, type, length);
    w->out->end += length;
    if (!w->is_digest) {
        return ovt_buffer_append(w->out, "\xFF", 1);
    }
    return true;
}

/* Whether a surrogate stands in UTF-8 that was written without a look at them. */
static bool has_surrogates(ovt_shape_name name) {
    for (size_t i = 0; i + 1 < name.length; i++) {
        if ((uint8_t)name.text[i] == 0xED && (uint8_t)name.text[i + 1] >= 0xA0) {
            return true;
        }
    }
    return false;
}

static int compare_names(const void *left, const void *right) {
    const ovt_shape_name *a = left, *b = right;
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Takes note of the path at hand, if it is the first that has no UTF-8. What follows is looked at
 * all the same: that there is too much of it would count more. */
static OVT_NEVER_INLINE bool note_unwritable(writing *w, ovt_shape_name name) {
    if (w->status != OVT_OK) {
        return true;
    }
    w->status = OVT_KEY_SURROGATE;
    return ovt_buffer_append(w->unwritable, w->path.data, ovt_buffer_length(&w->path)) &&
           (name.length == 0 || (ovt_buffer_append(w->unwritable, ".", 1) &&
                                 ovt_buffer_append(w->unwritable, name.text, name.length)));
}

static bool write_named_row(writing *w, ovt_shape_name name) {
    if (OVT_UNLIKELY(w->is_digest && has_surrogates(name)) && !note_unwritable(w, name)) {
        return false;
    }
    return write_row(w, name.text, name.length);
}

/* The rows of nodes that have types which JSON does not have. */
static OVT_NEVER_INLINE bool write_named_rows(writing *w, const step *taken, size_t count,
                                              unsigned types) {
    size_t room = OVT_SHAPE_TYPES, found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t other = w->tree->nodes[taken[i].node].others;
        for (; other != 0; other = w->tree->others[other - 1].next) {
            room++;
        }
    }
    ovt_shape_name *const names = malloc(room * sizeof *names);
    if (names == NULL) {
        return false;
    }
    for (int type = 0; type < OVT_SHAPE_TYPES; type++) {
        if ((types >> type & 1) != 0) {
            names[found++] = ovt_shape_type_names[type];
        }
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t other = w->tree->nodes[taken[i].node].others;
        for (; other != 0; other = w->tree->others[other - 1].next) {
            names[found++] = w->tree->others[other - 1].name;
        }
    }
    qsort(names, found, sizeof *names, compare_names);
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < found; i++) {
        if (i == 0 || compare_names(&names[i - 1], &names[i]) != 0) {
            is_fine = write_named_row(w, names[i]);
        }
    }
    free(names);
    return is_fine;
}

/* The rows of the path at hand, to which `count` steps lead. */
static inline bool write_rows(writing *w, const step *taken, size_t count) {
    const ovt_shape_node *const nodes = w->tree->nodes;
    if (OVT_UNLIKELY(nodes[taken->node].key.has_surrogates && w->is_digest && !w->is_v2) &&
        !note_unwritable(w, (ovt_shape_name){"", 0})) {
        return false;
    }
    unsigned types = 0;
    bool has_others = false;
    for (size_t i = 0; i < count; i++) {
        types |= nodes[taken[i].node].types;
        has_others |= nodes[taken[i].node].others != 0;
    }
    if (OVT_UNLIKELY(has_others)) {
        return write_named_rows(w, taken, count, types);
    }
    for (; types != 0; types &= types - 1) {
        const ovt_shape_name *name = &ovt_shape_type_names[ovt_trailing_zeros(types)];
        if (!write_row(w, name->text, name->length)) {
            return false;
        }
    }
    return true;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static inline bool is_plain_byte(uint8_t byte, bool is_first) {
    const uint8_t letter = byte | 0x20;
    return (letter >= 'a' && letter <= 'z') || byte == '_' ||
           (!is_first && ((byte >= '0' && byte <= '9') || byte == '-'));
}

static bool is_plain_key(const char *text, size_t length) {
    bool is_plain = length != 0 && is_plain_byte((uint8_t)text[0], true);
    for (size_t i = 1; is_plain && i < length; i++) {
        is_plain = is_plain_byte((uint8_t)text[i], false);
    }
    return is_plain;
}

static bool append_step(writing *w, const step *taken) {
    const ovt_shape_key *const key = &w->tree->nodes[taken->node].key;
    if (!w->is_v2 || key->text == NULL || is_plain_key(taken->text, taken->length)) {
        return (taken->lead == 0 || ovt_buffer_append(&w->path, &taken->lead, 1)) &&
               ovt_buffer_append(&w->path, taken->text, taken->length);
    }
    if (!ovt_buffer_append(&w->path, "[", 1) ||
        ovt_write_key(&w->path, key->text, key->length, key->has_surrogates) != OVT_OK) {
        return false;
    }
    w->path.end[-1] = ']'; /* in the place of the colon behind a key */
    return true;
}

/* What is left of a step after another one that it begins with. */
static step rest_of(const step *longer, const step *taken) {
    step rest = *longer;
    rest.text += taken->length;
    rest.length -= taken->length;
    rest.lead = 0;
    if (rest.text[0] == '.' || rest.text[0] == '[') {
        rest.lead = *rest.text++;
        rest.length--;
    }
    rest.prefix = ovt_key_prefix(rest.text, rest.length);
    return rest;
}

static inline bool begins_with(const step *longer, const step *taken) {
    return longer->lead == taken->lead && longer->length >= taken->length &&
           memcmp(longer->text, taken->text, taken->length) == 0;
}

/* Adds the steps that lead on from a node. */
static bool push_steps_of(writing *w, uint32_t index) {
    const ovt_shape_node *const nodes = w->tree->nodes;
    for (uint32_t i = nodes[index].first; i != 0; i = nodes[i].sibling) {
        const ovt_shape_key *const key = &nodes[i].key;
        if (!push_step(w, (step){key->prefix, key->text, key->length, i, '.'})) {
            return false;
        }
    }
    const uint32_t items = nodes[index].items;
    return items == 0 || push_step(w, (step){ovt_key_prefix("]", 1), "]", 1, items, '['});
}

/* Opens the level of what follows after `count` steps that have led to one path, the first of which
 * is `taken`; the steps up to `longer` begin with it. */
static bool open_level(writing *w, size_t taken, size_t count, size_t longer, bool is_text) {
    const size_t first = w->step_count;
    for (size_t i = 0; i < count; i++) {
        if (!push_steps_of(w, w->steps[taken + i].node)) {
            return false;
        }
    }
    for (size_t i = taken + count; i < longer; i++) {
        if (!push_step(w, rest_of(&w->steps[i], &w->steps[taken]))) {
            return false;
        }
    }
    const size_t end = w->step_count;
    if (end == first) {
        return true;
    }
    const bool is_ordered = count == 1 && w->tree->nodes[w->steps[taken].node].is_ordered;
    if (!is_ordered && !sort_steps(w->steps + first, end - first)) {
        return false;
    }
    return push_level(w, (level){first, first, end, ovt_buffer_length(&w->path), is_text});
}

/* Takes the next step from the level at hand, and writes the rows that it leads to. */
static bool take_step(writing *w) {
    level *const top = &w->levels[w->depth - 1];
    const step *const steps = w->steps;
    const size_t taken = top->next;
    size_t same = taken + 1, longer;
    if (top->is_text) {
        while (same < top->end && steps[same].length == steps[taken].length &&
               begins_with(&steps[same], &steps[taken])) {
            same++;
        }
        longer = same;
        while (longer < top->end && begins_with(&steps[longer], &steps[taken])) {
            longer++;
        }
    } else {
        longer = same;
    }
    top->next = longer;
    w->path.end = w->path.data + top->path_length;
    if (!append_step(w, &steps[taken]) || !write_rows(w, &steps[taken], same - taken)) {
        return false;
    }
    const ovt_shape_node *const node = &w->tree->nodes[steps[taken].node];
    const bool is_text = top->is_text || (!w->is_v2 && node->items != 0);
    return open_level(w, taken, same - taken, longer, is_text);
}

static bool write_all(writing *w) {
    const step root = {0, "$", 1, 0, 0};
    if (!push_step(w, root) || !push_level(w, (level){0, 0, 1, 0, false})) {
        return false;
    }
    while (w->depth != 0) {
        const level *const top = &w->levels[w->depth - 1];
        if (top->next == top->end) {
            w->step_count = top->first;
            w->depth--;
        } else if (!take_step(w)) {
            return false;
        }
    }
    return true;
}

/* `unwritable` is NULL unless what is written is hashed. */
static ovt_status write_tree(ovt_buffer *out, const ovt_shape_tree *tree, ovt_shape_profile profile,
                             ovt_buffer *unwritable) {
    char storage[STORAGE];
    writing w;
    w.tree = tree;
    w.out = out;
    ovt_buffer_init(&w.path, storage, sizeof storage, NULL);
    w.unwritable = unwritable;
    w.row_bytes = 0;
    w.status = OVT_OK;
    w.is_v2 = profile == OVT_SHAPE_V2;
    w.is_digest = unwritable != NULL;
    w.has_rows = w.is_v2; /* a line stands before them */
    w.levels = w.inline_levels;
    w.depth = 0;
    w.level_capacity = INLINE_LEVELS;
    w.steps = w.inline_steps;
    w.step_count = 0;
    w.step_capacity = INLINE_STEPS;
    const bool is_whole = write_all(&w);
    ovt_buffer_release(&w.path);
    if (w.levels != w.inline_levels) {
        free(w.levels);
    }
    if (w.steps != w.inline_steps) {
        free(w.steps);
    }
    return is_whole || w.status == OVT_SHAPE_SIZE ? w.status : OVT_NO_MEMORY;
}

ovt_status ovt_shape_rows(ovt_buffer *out, const ovt_shape_tree *tree, ovt_shape_profile profile) {
    return write_tree(out, tree, profile, NULL);
}

static const char v2_line[] = "shape2";

ovt_status ovt_shape_digest(char digest[OVT_SHAPE_DIGEST], size_t *length,
                            const ovt_shape_tree *tree, ovt_shape_profile profile,
                            ovt_buffer *unwritable) {
    char storage[STORAGE];
    ovt_sha256 hash;
    ovt_buffer out;
    const size_t line_length = profile == OVT_SHAPE_V2 ? sizeof v2_line - 1 : 0;
    ovt_buffer_init(&out, storage, sizeof storage, &hash);
    ovt_buffer_append(&out, v2_line, line_length);
    const ovt_status status = write_tree(&out, tree, profile, unwritable);
    if (status == OVT_OK) {
        uint8_t bytes[OVT_SHA256_DIGEST_SIZE];
        ovt_buffer_finish_hash(&out, bytes);
        memcpy(digest, v2_line, line_length);
        if (line_length != 0) {
            digest[line_length] = ':';
        }
        ovt_sha256_hex(bytes, digest + line_length + (line_length != 0));
    }
    ovt_buffer_release(&out);
    *length = line_length + (line_length != 0) + OVT_SHA256_HEX_SIZE;
    return status;
}
