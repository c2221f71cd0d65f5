/* SPDX-License-Identifier: MIT */
#include "headroom/cpu_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "headroom/root.h"

#define WORD_BITS 64

/* Parses a CPU's number. @return 0, -EBADMSG, -ERANGE. */
static int parse_cpu(struct hr_text *rest, unsigned *cpu)
{
    uint64_t number;

    if (rest->length == 0 || *rest->start < '0' || *rest->start > '9')
        return -EBADMSG;
    if (!hr_text_u64(rest, &number) || number >= HR_CPU_MAX)
        return -ERANGE;
    *cpu = (unsigned)number;
    return 0;
}

/* Parses "3" or "0-3". */
static int parse_range(struct hr_text *rest, struct hr_cpu_set *set)
{
    unsigned first, last;
    int status = parse_cpu(rest, &first);

    if (status < 0)
        return status;
    last = first;
    if (hr_text_skip(rest, "-"))
        status = parse_cpu(rest, &last);
    if (status < 0)
        return status;
    if (last < first)
        return -EBADMSG;
    for (unsigned cpu = first; cpu <= last; cpu++)
        hr_cpu_set_add(set, cpu);
    return 0;
}

/*
 * The kernel prints ascending ranges, separated by commas, and a newline (bitmap_print_to_pagebuf):
 *
 *     0-3,8,10-11
 */
int hr_cpu_set_parse(const char *text, size_t length, struct hr_cpu_set *set)
{
    struct hr_text rest = {text, length};
    struct hr_cpu_set parsed = {0};

    if (rest.length > 0 && rest.start[rest.length - 1] == '\n')
        rest.length--;
    while (rest.length > 0) {
        int status = parse_range(&rest, &parsed);
        if (status < 0)
            return status;
        if (rest.length > 0 && (!hr_text_skip(&rest, ",") || rest.length == 0))
            return -EBADMSG;
    }
    *set = parsed;
    return 0;
}

int hr_cpu_set_read(const struct hr_root *root, const char *path, struct hr_cpu_set *set)
{
    char text[4096];
    size_t length;
    int status =
        hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, sizeof(text), &length);

    return status < 0 ? status : hr_cpu_set_parse(text, length, set);
}

bool hr_cpu_set_has(const struct hr_cpu_set *set, unsigned cpu)
{
    return cpu < HR_CPU_MAX && (set->words[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

void hr_cpu_set_add(struct hr_cpu_set *set, unsigned cpu)
{
    set->words[cpu / WORD_BITS] |= (uint64_t)1 << cpu % WORD_BITS;
}

void hr_cpu_set_merge(struct hr_cpu_set *set, const struct hr_cpu_set *added)
{
    for (size_t i = 0; i < HR_CPU_MAX / WORD_BITS; i++)
        set->words[i] |= added->words[i];
}

void hr_cpu_set_keep(struct hr_cpu_set *set, const struct hr_cpu_set *kept)
{
    for (size_t i = 0; i < HR_CPU_MAX / WORD_BITS; i++)
        set->words[i] &= kept->words[i];
}

void hr_cpu_set_remove(struct hr_cpu_set *set, const struct hr_cpu_set *removed)
{
    for (size_t i = 0; i < HR_CPU_MAX / WORD_BITS; i++)
        set->words[i] &= ~removed->words[i];
}

size_t hr_cpu_set_count(const struct hr_cpu_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < HR_CPU_MAX / WORD_BITS; i++)
        count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

unsigned hr_cpu_set_next(const struct hr_cpu_set *set, unsigned from)
{
    if (from >= HR_CPU_MAX)
        return HR_CPU_MAX;

    uint64_t word = set->words[from / WORD_BITS] >> from % WORD_BITS << from % WORD_BITS;
    for (size_t i = from / WORD_BITS;; word = set->words[i]) {
        if (word != 0)
            return (unsigned)(i * WORD_BITS) + (unsigned)__builtin_ctzll(word);
        if (++i == HR_CPU_MAX / WORD_BITS)
            return HR_CPU_MAX;
    }
}

bool hr_cpu_set_equal(const struct hr_cpu_set *a, const struct hr_cpu_set *b)
{
    return memcmp(a->words, b->words, sizeof(a->words)) == 0;
}

/* --- Printing ------------------------------------------------------------- */

/* Consecutive CPUs. */
struct run {
    unsigned first, last;
};

/* Runs of equal length at equal distances. */
struct pattern {
    struct run first, last;
    unsigned distance;  /* from one run's first CPU to that of the next; 0: there is only one run */
    size_t list_length; /* of the same runs as ranges, including the commas between */
};

static bool find_run(const struct hr_cpu_set *set, unsigned from, struct run *run)
{
    run->first = hr_cpu_set_next(set, from);
    if (run->first == HR_CPU_MAX)
        return false;
    run->last = run->first;
    while (hr_cpu_set_has(set, run->last + 1))
        run->last++;
    return true;
}

static size_t print_run(const struct run *run, char *text, size_t size)
{
    int length = run->first == run->last ? snprintf(text, size, "%u", run->first)
                                         : snprintf(text, size, "%u-%u", run->first, run->last);
    return (size_t)length;
}

static void find_pattern(const struct hr_cpu_set *set, const struct run *first,
                         struct pattern *pattern)
{
    struct run run;

    *pattern = (struct pattern){.first = *first, .last = *first};
    pattern->list_length = print_run(first, NULL, 0);
    while (find_run(set, pattern->last.last + 1, &run)) {
        unsigned distance = run.first - pattern->last.first;
        if (run.last - run.first != first->last - first->first ||
            (pattern->distance != 0 && distance != pattern->distance))
            break;
        pattern->distance = distance;
        pattern->last = run;
        pattern->list_length += 1 + print_run(&run, NULL, 0);
    }
}

/* bitmap_parselist() takes "first-last:used/group": the first `used` CPUs of each `group` CPUs. */
static size_t print_pattern(const struct pattern *pattern, char *text, size_t size)
{
    return (size_t)snprintf(text, size, "%u-%u:%u/%u", pattern->first.first, pattern->last.last,
                            pattern->first.last - pattern->first.first + 1, pattern->distance);
}

int hr_cpu_set_format(const struct hr_cpu_set *set, char *text, size_t size)
{
    char printed[32 * 1024], item[64]; /* no list of ranges is longer */
    size_t length = 0;
    struct pattern pattern;

    for (struct run run = {0}; find_run(set, run.last, &run); run.last++) {
        find_pattern(set, &run, &pattern);
        size_t item_length = print_pattern(&pattern, item, sizeof(item));
        if (pattern.distance != 0 && item_length < pattern.list_length)
            run = pattern.last;
        else
            item_length = print_run(&run, item, sizeof(item));
        if (length + 1 + item_length >= sizeof(printed))
            return -E2BIG;
        if (length > 0)
            printed[length++] = ',';
        memcpy(printed + length, item, item_length);
        length += item_length;
    }
    if (length >= size)
        return -E2BIG;
    memcpy(text, printed, length);
    text[length] = '\0';
    return 0;
}
