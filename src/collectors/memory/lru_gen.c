/* SPDX-License-Identifier: MIT */
#include "memory/lru_gen.h"

#include <errno.h>

/* --- Parsing -------------------------------------------------------------- */

static bool skip_spaces(struct hr_text *text)
{
    bool any = false;

    while (hr_text_skip(text, " "))
        any = true;
    return any;
}

static bool take_number(struct hr_text *text, uint64_t *value)
{
    return skip_spaces(text) && hr_text_u64(text, value);
}

/* "memcg     2 /system.slice/a b.service\n" */
static bool take_group(struct hr_lru_gen_reader *reader)
{
    struct hr_text rest = reader->rest;
    uint64_t id;

    if (!hr_text_skip(&rest, "memcg") || !take_number(&rest, &id) || !hr_text_skip(&rest, " "))
        return false;
    struct hr_text path = rest;
    if (!hr_text_skip_line(&rest))
        return false;
    path.length -= rest.length + 1;
    if (path.length > 0 && *path.start != '/')
        return false;
    *reader = (struct hr_lru_gen_reader){rest, id, path, true};
    return true;
}

/* " node     0\n" */
static bool take_node(struct hr_text *text, unsigned *node)
{
    struct hr_text rest = *text;
    uint64_t number;

    if (!hr_text_skip(&rest, " node") || !take_number(&rest, &number) || number > UINT16_MAX ||
        !hr_text_skip(&rest, "\n"))
        return false;
    *text = rest;
    *node = (unsigned)number;
    return true;
}

/* A count and a flag, which is a space here and may be an x in lru_gen_full. */
static bool take_pages(struct hr_text *text, uint64_t *pages)
{
    return take_number(text, pages) && hr_text_skip(text, " ");
}

/* "          3       1473       4883           0 \n": number, age, anonymous pages, files' */
static bool take_generation(struct hr_text *text, struct hr_lru_gen_generation *generation)
{
    struct hr_text rest = *text;
    struct hr_lru_gen_generation taken;
    uint64_t anon, file;

    if (!take_number(&rest, &taken.seq) || !take_number(&rest, &taken.age_ms) ||
        !take_pages(&rest, &anon) || !take_pages(&rest, &file) || !hr_text_skip(&rest, "\n"))
        return false;
    if (taken.age_ms > UINT32_MAX || __builtin_add_overflow(anon, file, &taken.pages))
        return false;
    *text = rest;
    *generation = taken;
    return true;
}

static bool take_generations(struct hr_text *text, struct hr_lru_gen_list *list)
{
    struct hr_lru_gen_generation next;
    uint64_t sum = 0;

    for (list->count = 0; take_generation(text, &next); list->count++) {
        if (list->count == HR_LRU_GEN_MAX || __builtin_add_overflow(sum, next.pages, &sum))
            return false;
        if (list->count > 0 && next.seq - 1 != list->generations[list->count - 1].seq)
            return false;
        list->generations[list->count] = next;
    }
    return list->count > 0;
}

int hr_lru_gen_parse_next(struct hr_lru_gen_reader *reader, struct hr_lru_gen_list *list)
{
    struct hr_lru_gen_reader at = *reader;
    struct hr_lru_gen_list parsed = {0};

    if (at.rest.length == 0)
        return 0;
    if (*at.rest.start == 'm' && !take_group(&at))
        return -EBADMSG;
    if (!at.in_group || !take_node(&at.rest, &parsed.node) || !take_generations(&at.rest, &parsed))
        return -EBADMSG;
    parsed.memcg_id = at.memcg_id;
    parsed.path = at.path;
    *reader = at;
    *list = parsed;
    return 1;
}

/* --- Which groups --------------------------------------------------------- */

bool hr_lru_gen_is_below(const struct hr_lru_gen_list *list, const char *group)
{
    struct hr_text path = list->path;

    if (strcmp(group, "/") == 0)
        return true;
    if (!hr_text_skip(&path, group))
        return false;
    return path.length > 0 ? *path.start == '/' : list->memcg_id != 0;
}

bool hr_lru_gen_is_of(const struct hr_lru_gen_list *list, const char *group)
{
    struct hr_text path = list->path;

    if (path.length == 0) /* memory cgroups are off: all belongs to the root */
        return strcmp(group, "/") == 0;
    return list->memcg_id != 0 && hr_text_skip(&path, group) && path.length == 0;
}

/* --- Counting ------------------------------------------------------------- */

uint64_t hr_lru_gen_youngest(const struct hr_lru_gen_list *list)
{
    return list->generations[list->count - 1].seq;
}

uint64_t hr_lru_gen_pages_since(const struct hr_lru_gen_list *list, uint64_t seq)
{
    uint64_t pages = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->generations[i].seq >= seq)
            pages += list->generations[i].pages;
    return pages;
}

/* From the youngest on: an age below that of a younger generation is invalid, as the generation was
 * reclaimed and its slot reused while the text was printed. */
void hr_lru_gen_sum_window(const struct hr_lru_gen_list *list, uint64_t window_ms,
                           struct hr_lru_gen_window_sum *sum)
{
    uint64_t pages = 0, age_ms = 0, all = hr_lru_gen_pages_since(list, 0);
    size_t within = 0;

    for (size_t i = list->count; i-- > 0; within++) {
        const struct hr_lru_gen_generation *generation = &list->generations[i];
        if (generation->age_ms > window_ms || generation->age_ms < age_ms)
            break;
        pages += generation->pages;
        age_ms = generation->age_ms;
    }
    sum->all_pages += all;
    if (within < 2)
        return;
    sum->known_pages += all;
    sum->touched_pages += pages;
    if (age_ms > sum->window_ms)
        sum->window_ms = age_ms;
}
