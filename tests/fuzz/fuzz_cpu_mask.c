/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_cpu_mask.c - hr_cpu_mask_parse: what it accepts must have the CPUs that it has when it
 * is read from the left, group by group, and be the same set when printed and parsed again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "isolation/mask.h"

const char fuzz_corpus[] = "cpu_mask";

enum { GROUP_BITS = 32, LONGEST = 4096 };

/* Whether a mask has a CPU: the first group is the highest. */
static bool has_cpu(const char *text, size_t group_count, unsigned cpu)
{
    const size_t group = cpu / GROUP_BITS;

    if (group >= group_count)
        return false;
    for (size_t skipped = group_count - 1; skipped > group; skipped--)
        text = strchr(text, ',') + 1;
    return strtoul(text, NULL, 16) >> cpu % GROUP_BITS & 1;
}

/* Without commas a mask may have any number of digits: it gets them, as the kernel prints it. */
static size_t put_commas(const char *text, char *grouped)
{
    const size_t digits = strcspn(text, "\n");
    size_t groups = 1;

    for (size_t i = 0; i < digits; i++) {
        if (i > 0 && (digits - i) % 8 == 0) {
            *grouped++ = ',';
            groups++;
        }
        *grouped++ = text[i];
    }
    *grouped = '\0';
    return groups;
}

static void look_at_set(const char *text, const struct hr_cpu_set *set)
{
    char digits[LONGEST] = "", grouped[2 * LONGEST];

    for (size_t length = 0; *text != '\0'; text++)
        if (*text != ',')
            digits[length++] = *text;
    const size_t groups = put_commas(digits, grouped);
    for (unsigned cpu = 0; cpu < HR_CPU_MAX; cpu++)
        require(hr_cpu_set_has(set, cpu) == has_cpu(grouped, groups, cpu));
}

static void look_at_format(const struct hr_cpu_set *set)
{
    char text[LONGEST];
    struct hr_cpu_set again = {{0}};

    require(hr_cpu_mask_format(set, text, sizeof(text)) == 0);
    require(hr_cpu_mask_parse(text, strlen(text), &again) == 0);
    require(hr_cpu_set_equal(set, &again));
    require(hr_cpu_mask_format(set, text, strlen(text)) == -E2BIG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_cpu_set set, untouched;
    char text[LONGEST];

    if (size >= sizeof(text))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&set, 0x55, sizeof(set));
    untouched = set;
    if (hr_cpu_mask_parse((const char *)data, size, &set) < 0) {
        require(memcmp(&set, &untouched, sizeof(set)) == 0);
        return 0;
    }
    look_at_set(text, &set);
    look_at_format(&set);
    return 0;
}
