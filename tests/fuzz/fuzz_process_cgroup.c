/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_process_cgroup.c - hr_process_cgroup_is: a process is in one group of a hierarchy, and
 * a line at the end that isn't complete changes nothing.
 */
#include <string.h>

#include "fuzz.h"
#include "room/process_cgroup.h"

const char fuzz_corpus[] = "process_cgroup";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */
    const char *last;

    memcpy(text, data, size);
    bool is_in = hr_process_cgroup_is(text, size, "cpu", "a/b");
    last = size > 0 ? memrchr(text, '\n', size) : NULL;
    size_t complete = last != NULL ? (size_t)(last + 1 - text) : 0;
    require(hr_process_cgroup_is(text, complete, "cpu", "a/b") == is_in);
    free(text);
    return 0;
}
