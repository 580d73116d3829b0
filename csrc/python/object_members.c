#include "object_members.h"

#include "key_text.h"
#include "wide_object.h"

/* Whether a key is left out. Only an exact str can be one of the names. */
static bool is_dropped(const ovt_selection *selection, PyObject *key) {
    for (Py_ssize_t i = 0; PyUnicode_CheckExact(key) && i < selection->count; i++) {
        PyObject *name = selection->dropped[i];
        if (name == key || (PyUnicode_GET_LENGTH(name) == PyUnicode_GET_LENGTH(key) &&
                            PyUnicode_Compare(name, key) == 0)) {
            return true;
        }
    }
    return false;
}

/* The three functions that follow add members of which only key and value are known. */

static bool add_entries(walk *w, const ovt_dict_entry *entries, size_t count) {
    if (!reserve_members(w, count)) {
        return false;
    }
    ovt_member *const members = w->members + w->member_count;
    for (size_t i = 0; i < count; i++) {
        members[i].key = entries[i].key;
        members[i].value = entries[i].value;
        __builtin_prefetch(entries[i].value); /* its type is read soon, in another order */
    }
    hold_members(w, w->member_count + count);
    return true;
}

static bool add_members_of_dict(walk *w, PyObject *dict, const ovt_selection *selection) {
    Py_ssize_t left = PyDict_GET_SIZE(dict);
    if (!reserve_members(w, (size_t)left)) {
        return false;
    }
    ovt_member *member = w->members + w->member_count;
    PyObject *key, *value;
    Py_ssize_t position = 0;
    for (; left > 0 && PyDict_Next(dict, &position, &key, &value); left--) {
        if (OVT_LIKELY(selection == NULL) || !is_dropped(selection, key)) {
            member->key = key;
            member->value = value;
            __builtin_prefetch(value); /* its type is read soon, in another order */
            member++;
        }
    }
    hold_members(w, (size_t)(member - w->members));
    return true;
}

static bool add_members_of_pairs(walk *w, PyObject *pairs) {
    const size_t count = (size_t)PyList_GET_SIZE(pairs);
    if (!reserve_members(w, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *pair = PyList_GET_ITEM(pairs, (Py_ssize_t)i);
        ovt_member *member = &w->members[w->member_count + i];
        member->key = PyTuple_GET_ITEM(pair, 0);
        member->value = PyTuple_GET_ITEM(pair, 1);
    }
    hold_members(w, w->member_count + count);
    return true;
}

static bool add_members(walk *w, PyObject *container, bool is_dict,
                        const ovt_selection *selection) {
    if (!is_dict) {
        return add_members_of_pairs(w, container);
    }
    if (selection != NULL && selection->kept != NULL) {
        return add_entries(w, selection->kept, (size_t)selection->count);
    }
    bool is_added;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(container);
#endif
    is_added = add_members_of_dict(w, container, selection);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return is_added;
}

/* Of members with one text the last one counts. Shortens the order and returns how many remain;
 * the members stay where they are. */
static size_t keep_last_of_equals(const ovt_member *members, uint32_t *order, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || !ovt_same_key(&members[order[i]], &members[order[i + 1]])) {
            order[kept++] = order[i];
        }
    }
    return kept;
}

/* Of members with one text each one counts that is not None, and all have the value of the last,
 * which is written even if it is None. Changes the order and returns how many remain. */
static size_t repeat_last_of_equals(const walk *w, ovt_member *members, uint32_t *order,
                                    size_t count) {
    size_t kept = 0;
    for (size_t first = 0, end; first < count; first = end) {
        size_t present = 0;
        for (end = first; end < count; end++) {
            if (!ovt_same_key(&members[order[first]], &members[order[end]])) {
                break;
            }
            present += members[order[end]].value != Py_None;
        }
        const uint32_t last = order[end - 1];
        if (present != 0 && members[last].value == Py_None) {
            /* Keys collide only after Python code ran: the references are strong. */
            Py_DECREF((PyObject *)members[last].value);
            members[last].value = Py_NewRef(w->options->python->null_text);
        }
        for (; present != 0; present--) {
            order[kept++] = last;
        }
    }
    return kept;
}

/* Reads and orders the keys of the members that `open` has from its first one on. */
static outcome order_keys(walk *w, frame *open, bool is_dict, bool is_worth) {
    const size_t first = open->first, count = w->member_count - first;
    bool may_collide = !is_dict, is_ascii = true;
    if (ovt_read_keys(w, first, &may_collide, &is_ascii) == FAILED) {
        return FAILED;
    }
    ovt_member *members = w->members + first;
    uint32_t *order = w->order + first;
    const bool by_units = w->profile->utf16_key_order && !is_ascii;
    if (ovt_order_members(members, order, count, by_units) != OVT_OK) {
        return no_memory();
    }
    if (OVT_UNLIKELY(may_collide)) {
        open->end =
            first + (w->profile->repeat_members ? repeat_last_of_equals(w, members, order, count)
                                                : keep_last_of_equals(members, order, count));
    } else if (OVT_UNLIKELY(is_worth)) {
        ovt_key_memory_learn(w->memory, w->profile, members, order, count);
    }
    return DONE;
}

outcome ovt_collect_object(walk *w, frame *open, bool is_dict, const ovt_selection *selection) {
    const size_t first = w->member_count;
    open->mark = w->arena;
    if (is_dict && OVT_UNLIKELY(PyDict_GET_SIZE(open->container) >= WIDE_MEMBERS) &&
        selection == NULL &&
        (w->out->hash == NULL || PyDict_GET_SIZE(open->container) >= WIDE_MEMBERS_WITH_HASH)) {
        bool is_taken;
        if (ovt_wide_collect(w, open, &is_taken) == FAILED) {
            return FAILED;
        }
        if (is_taken) {
            return DONE;
        }
    }
    open->first = first;
    open->next = first;
    open->kind = KIND_DICT;
    bool is_worth = false;
    size_t count;
    const ovt_dict_entry *const entries =
        is_dict ? entries_of(w, open->container, selection, &count) : NULL;
    if (entries != NULL) {
        open->end = first + count;
        open->layout = ovt_key_memory_find(w->memory, w->profile, (ovt_key_row){&entries->key, 2},
                                           count, &is_worth);
        if (OVT_LIKELY(open->layout != NULL)) {
            if (!reserve_members(w, count)) {
                return no_memory();
            }
            w->member_count += count;
            open->entries = entries;
            return DONE;
        }
        return add_entries(w, entries, count) ? order_keys(w, open, true, is_worth) : no_memory();
    }
    if (!add_members(w, open->container, is_dict, selection)) {
        return no_memory();
    }
    open->end = w->member_count;
    if (is_dict) {
        open->layout = ovt_key_memory_find(w->memory, w->profile, ovt_keys_of(w->members + first),
                                           w->member_count - first, &is_worth);
    }
    return open->layout != NULL ? DONE : order_keys(w, open, is_dict, is_worth);
}
