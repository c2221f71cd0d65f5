/* SPDX-License-Identifier: MIT */
#include "headroom/priority.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    char letter;
    int min, max;
} policies[] = {
    [HR_POLICY_OTHER] = {'o', -20, 19},
    [HR_POLICY_ROUND_ROBIN] = {'r', 1, 99},
    [HR_POLICY_FIFO] = {'f', 1, 99},
};

/* A number without blanks or a plus. */
static int parse_value(const char *text, int min, int max, int *value)
{
    char *end;

    if (text[strspn(text, "-0123456789")] != '\0' || text[0] == '\0' || strlen(text) > 3)
        return -EINVAL;
    long number = strtol(text, &end, 10);
    if (*end != '\0' || end == text || number < min || number > max)
        return -EINVAL;
    *value = (int)number;
    return 0;
}

int hr_priority_parse(const char *text, struct hr_priority *priority)
{
    if (strcmp(text, "idle") == 0) {
        *priority = (struct hr_priority){HR_POLICY_IDLE, 0};
        return 0;
    }
    for (int i = HR_POLICY_OTHER; i <= HR_POLICY_FIFO; i++) {
        struct hr_priority parsed = {.policy = i};
        if (text[0] != policies[i].letter || text[1] != ':')
            continue;
        int status = parse_value(text + 2, policies[i].min, policies[i].max, &parsed.value);
        if (status == 0)
            *priority = parsed;
        return status;
    }
    return -EINVAL;
}

const char *hr_priority_format(const struct hr_priority *priority, char text[16])
{
    if (priority->policy == HR_POLICY_IDLE)
        snprintf(text, 16, "idle");
    else
        snprintf(text, 16, "%c:%d", policies[priority->policy].letter, priority->value);
    return text;
}
