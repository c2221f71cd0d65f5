/* SPDX-License-Identifier: MIT */
#include "container/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file_text.h"
#include "headroom/root.h"

/* podman's list of some thousands of containers has megabytes. */
#define SIZE_MAX_READ (64 << 20)

int hr_container_read_json(struct hr_container_lookup *lookup, const char *path, json_t **json)
{
    struct hr_file_text text = {0};

    int status = hr_file_text_read_and_close(hr_root_openat(lookup->root, path, O_RDONLY),
                                             SIZE_MAX_READ, &text);
    if (status == 0) {
        *json = json_loadb(text.start, text.length, 0, NULL);
        if (*json == NULL)
            status = -EBADMSG;
    }
    free(text.start);
    if (status == -ENOTDIR)
        status = -ENOENT;
    if (status < 0 && status != -ENOENT)
        snprintf(lookup->failed, sizeof(lookup->failed), "%s", path);
    return status;
}
