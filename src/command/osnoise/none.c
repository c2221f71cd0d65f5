/* SPDX-License-Identifier: MIT */
/*
 * osnoise/none.c - `headroom osnoise` where headroom was built without libtraceevent.
 */
#include <stdio.h>

#include "common/usage.h"
#include "osnoise/osnoise.h"

int osnoise_main(int argc, char **argv)
{
    (void)argc;
    fprintf(stderr,
            "%s: headroom was built without libtraceevent: build it with that "
            "library (libtraceevent-dev)\n",
            argv[0]);
    return COMMAND_FAILED;
}
