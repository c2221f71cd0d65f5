/* SPDX-License-Identifier: MIT */
#include "common/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* strtod() would also accept "nan", "0x10" and " 1". */
int number_parse_decimal(const char *text, double least, double most, double *value)
{
    char *end;
    if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
        return -EINVAL;
    double parsed = strtod(text, &end);
    if (end == text || *end != '\0' || parsed < least || parsed > most)
        return -EINVAL;
    *value = parsed;
    return 0;
}

int number_parse_whole(const char *text, int least, int most, int *value)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return -EINVAL;
    errno = 0;
    long parsed = strtol(text, NULL, 10);
    if (errno != 0 || parsed < least || parsed > most)
        return -EINVAL;
    *value = (int)parsed;
    return 0;
}
