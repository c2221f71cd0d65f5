#include "common/output.h"

#include <errno.h>

int output_flush(FILE *out)
{
    errno = 0;
    if (fflush(out) == 0 && !ferror(out))
        return 0;
    return errno != 0 ? -errno : -EIO;
}
