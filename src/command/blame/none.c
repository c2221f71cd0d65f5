/* SPDX-License-Identifier: MIT */
/*
 * blame/none.c - `headroom blame` where headroom was built without libbpf.
 */
#include <stdio.h>

#include "blame/blame.h"
#include "common/usage.h"

int blame_main(int argc, char **argv)
{
    (void)argc;
    fprintf(stderr,
            "%s: headroom was built without libbpf: build it with that library (libbpf-dev) and "
            "clang\n",
            argv[0]);
    return COMMAND_FAILED;
}
