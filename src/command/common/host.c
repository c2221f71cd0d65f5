/* SPDX-License-Identifier: MIT */
#include "common/host.h"

#include <string.h>
#include <strings.h>

bool host_is(const char *host, const char *own)
{
    size_t length = strcspn(host, ".");

    return strcasecmp(host, own) == 0 ||
           ((host[length] == '\0' || strchr(own, '.') == NULL) && strcspn(own, ".") == length &&
            strncasecmp(host, own, length) == 0);
}
