/* hr_cpu_set_parse: what it accepts must be the same set when written out and parsed again. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "headroom/cpu_set.h"

const char fuzz_corpus[] = "cpu_set";

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* "1,2,7", one by one */
static char *print(const struct hr_cpu_set *set, size_t *length)
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
    char *text = print(&set, &length);
    require(hr_cpu_set_parse(text, length, &again) == 0);
    require(memcmp(&set, &again, sizeof(set)) == 0);
    free(text);
    return 0;
}
