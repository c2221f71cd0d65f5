/* SPDX-License-Identifier: MIT */
#include "room/disk_stack.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "headroom/root.h"

static int open_directory(const struct hr_root *root, uint32_t major, uint32_t minor,
                          const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "sys/dev/block/%" PRIu32 ":%" PRIu32 "/%s", major, minor, name);
    return hr_root_openat(root, path, O_RDONLY | O_DIRECTORY);
}

static bool has_entries(int fd)
{
    const struct dirent *entry;
    DIR *directory = fdopendir(fd);

    if (directory == NULL) {
        close(fd);
        return false;
    }
    do
        entry = readdir(directory);
    while (entry != NULL && entry->d_name[0] == '.');
    const bool has = entry != NULL;
    closedir(directory);
    return has;
}

bool hr_disk_is_counted_twice(const struct hr_root *root, uint32_t major, uint32_t minor)
{
    int fd = open_directory(root, major, minor, "slaves");

    if (fd < 0 || !has_entries(fd))
        return false;
    fd = open_directory(root, major, minor, "mq");
    if (fd >= 0)
        close(fd);
    return fd < 0;
}
