/* SPDX-License-Identifier: MIT */
#include "common/state_wanted.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

static bool is_missing(const char *path)
{
    return access(path, F_OK) < 0 && errno == ENOENT;
}

/* @return NULL: not known; a relative path would be that of another folder by now. */
static const char *find_own_file(void)
{
    Dl_info info;

    if (dladdr((void *)(intptr_t)find_own_file, &info) == 0 || info.dli_fname == NULL ||
        info.dli_fname[0] != '/')
        return NULL;
    return info.dli_fname;
}

bool state_is_wanted(const char *path)
{
    const char *own = find_own_file();

    return own == NULL || !is_missing(own) || !is_missing(path);
}
