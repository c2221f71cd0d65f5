/* SPDX-License-Identifier: MIT */
#include "isolation/mask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define GROUP_BITS   32
#define GROUP_DIGITS 8
#define GROUPS       (HR_CPU_MAX / GROUP_BITS)

/* From the right, digit by digit: of a group all but the first have eight. */
static int add_digit(struct hr_cpu_set *set, size_t place, char c)
{
    const int digit = hr_text_hex_digit(c);

    if (digit < 0)
        return -EBADMSG;
    for (unsigned bit = 0; bit < 4; bit++) {
        if ((digit >> bit & 1) == 0)
            continue;
        if (4 * place + bit >= HR_CPU_MAX)
            return -ERANGE;
        hr_cpu_set_add(set, (unsigned)(4 * place + bit));
    }
    return 0;
}

/*
 * The kernel prints groups of eight digits, the highest first (bitmap_print_to_pagebuf):
 *
 *     ffffffff,00000003
 */
int hr_cpu_mask_parse(const char *text, size_t length, struct hr_cpu_set *set)
{
    struct hr_cpu_set parsed = {0};
    size_t place = 0;
    int status = 0;

    if (length > 0 && text[length - 1] == '\n')
        length--;
    if (length == 0 || text[0] == ',' || text[length - 1] == ',')
        return -EBADMSG;
    while (status == 0 && length-- > 0) {
        if (text[length] != ',')
            status = add_digit(&parsed, place++, text[length]);
        else if (place % GROUP_DIGITS != 0 || text[length - 1] == ',')
            status = -EBADMSG;
    }
    if (status == 0)
        *set = parsed;
    return status;
}

static uint32_t group_of(const struct hr_cpu_set *set, size_t group)
{
    return (uint32_t)(set->words[group / 2] >> (group % 2 * GROUP_BITS));
}

int hr_cpu_mask_format(const struct hr_cpu_set *set, char *text, size_t size)
{
    char printed[GROUPS * (GROUP_DIGITS + 1) + 1];
    size_t length = 0, groups = GROUPS;

    while (groups > 1 && group_of(set, groups - 1) == 0)
        groups--;
    for (size_t i = groups; i-- > 0;)
        length += (size_t)snprintf(printed + length, sizeof(printed) - length,
                                   i + 1 == groups ? "%x" : ",%08x", group_of(set, i));
    if (length >= size)
        return -E2BIG;
    memcpy(text, printed, length + 1);
    return 0;
}
