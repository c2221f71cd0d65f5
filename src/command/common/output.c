/* SPDX-License-Identifier: MIT */
#include "common/output.h"

#include <errno.h>
#include <string.h>

#include "common/usage.h"

int output_flush(FILE *out)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    return errno != 0 ? -errno : -EIO;
}

int output_finish(const char *title, int status)
{
    if (status == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: cannot write: %s\n", title, strerror(-status));
    return COMMAND_FAILED;
}
