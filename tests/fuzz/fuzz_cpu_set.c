/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_cpu_set.c - hr_cpu_set_parse: what it accepts must be the same set when written out and
 * parsed again, and when hr_cpu_set_format() prints it for the kernel.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "headroom/cpu_set.h"

const char fuzz_corpus[] = "cpu_set";

/* "1,2,7", one by one */
static char *print_list(const struct hr_cpu_set *set, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    size_t count = 0;

    require(out != NULL);
    for (unsigned cpu = 0; (cpu = hr_cpu_set_next(set, cpu)) < HR_CPU_MAX; cpu++) {
        require(hr_cpu_set_has(set, cpu));
        fprintf(out, "%s%u", count++ > 0 ? "," : "", cpu);
    }
    require(count == hr_cpu_set_count(set));
    require(fclose(out) == 0);
    return text;
}

/* As the kernel reads it: a range, or of each group of it the first so many. */
static const char *read_region(const char *text, struct hr_cpu_set *set)
{
    char *at;
    unsigned long first = strtoul(text, &at, 10), last = first, used = 1, group = 1;

    if (*at == '-')
        last = strtoul(at + 1, &at, 10);
    if (*at == ':') {
        used = strtoul(at + 1, &at, 10);
        require(*at == '/');
        group = strtoul(at + 1, &at, 10);
    }
    require(first <= last && last < HR_CPU_MAX && group > 0 && used <= group);
    for (unsigned long cpu = first; cpu <= last; cpu++)
        if ((cpu - first) % group < used)
            hr_cpu_set_add(set, (unsigned)cpu);
    require(*at == '\0' || (*at == ',' && at[1] != '\0'));
    return at + (*at == ',');
}

/* What is printed for the kernel is the same set, and no longer than a list of single CPUs. */
static void look_at_format(const struct hr_cpu_set *set, size_t longest)
{
    char text[32 * 1024];
    struct hr_cpu_set again = {{0}};

    require(hr_cpu_set_format(set, text, sizeof(text)) == 0);
    for (const char *at = text; *at != '\0';)
        at = read_region(at, &again);
    require(hr_cpu_set_equal(set, &again));
    require(strlen(text) <= longest);
    if (strchr(text, ':') == NULL) {
        require(hr_cpu_set_parse(text, strlen(text), &again) == 0);
        require(hr_cpu_set_equal(set, &again));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_cpu_set set, again;
    size_t length;

    memset(&set, 0x55, sizeof(set));
    again = set;
    if (hr_cpu_set_parse((const char *)data, size, &set) < 0) {
        require(memcmp(&set, &again, sizeof(set)) == 0);
        return 0;
    }
    char *text = print_list(&set, &length);
    require(hr_cpu_set_parse(text, length, &again) == 0);
    require(memcmp(&set, &again, sizeof(set)) == 0);
    look_at_format(&set, length);
    free(text);
    return 0;
}
