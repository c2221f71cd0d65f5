/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_osnoise_state.c - hr_osnoise_state_parse: what it accepts can be written, and is the
 * same when read again. root writes what it returns, so a name must not lead out of its directory.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "osnoise/state.h"

const char fuzz_corpus[] = "osnoise_state";

static void require_same(const struct hr_osnoise_state *a, const struct hr_osnoise_state *b)
{
    require(strcmp(a->boot_id, b->boot_id) == 0 && strcmp(a->instance, b->instance) == 0);
    require(a->pid == b->pid && a->pid_namespace == b->pid_namespace);
    require(memcmp(&a->ours, &b->ours, sizeof(a->ours)) == 0);
    require(memcmp(&a->original, &b->original, sizeof(a->original)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct hr_osnoise_state state, again;
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */

    if (path[0] == '\0')
        snprintf(path, sizeof(path), "%s/fuzz_osnoise_state.%d",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    memcpy(text, data, size);
    memset(&state, 0x55, sizeof(state));
    again = state;
    if (hr_osnoise_state_parse(text, size, &state) < 0) {
        require(memcmp(&state, &again, sizeof(state)) == 0);
    } else {
        require(strchr(state.instance, '/') == NULL && strcmp(state.instance, "..") != 0);
        require(hr_osnoise_state_write(path, &state) == 0);
        require(hr_osnoise_state_read(path, &again) == 0);
        require_same(&state, &again);
        require(hr_osnoise_state_remove(path) == 0);
    }
    free(text);
    return 0;
}
