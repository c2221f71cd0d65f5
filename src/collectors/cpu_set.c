#include "headroom/cpu_set.h"

#include <errno.h>

#include "text.h"

#define WORD_BITS 64

/* A CPU's number. @return 0, -EBADMSG, -ERANGE. */
static int take_cpu(struct hr_text *rest, unsigned *cpu)
{
    uint64_t number;

    if (rest->length == 0 || *rest->start < '0' || *rest->start > '9')
        return -EBADMSG;
    if (!hr_text_u64(rest, &number) || number >= HR_CPU_MAX)
        return -ERANGE;
    *cpu = (unsigned)number;
    return 0;
}

/* "3" or "0-3" */
static int take_range(struct hr_text *rest, struct hr_cpu_set *set)
{
    unsigned first, last;
    int status = take_cpu(rest, &first);

    if (status < 0)
        return status;
    last = first;
    if (hr_text_skip(rest, "-"))
        status = take_cpu(rest, &last);
    if (status < 0)
        return status;
    if (last < first)
        return -EBADMSG;
    for (unsigned cpu = first; cpu <= last; cpu++)
        hr_cpu_set_add(set, cpu);
    return 0;
}

/*
 * The kernel prints ranges upwards, separated by commas, and a newline (bitmap_print_to_pagebuf):
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
        int status = take_range(&rest, &parsed);
        if (status < 0)
            return status;
        if (rest.length > 0 && (!hr_text_skip(&rest, ",") || rest.length == 0))
            return -EBADMSG;
    }
    *set = parsed;
    return 0;
}

bool hr_cpu_set_has(const struct hr_cpu_set *set, unsigned cpu)
{
    return cpu < HR_CPU_MAX && (set->words[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

void hr_cpu_set_add(struct hr_cpu_set *set, unsigned cpu)
{
    set->words[cpu / WORD_BITS] |= (uint64_t)1 << cpu % WORD_BITS;
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
