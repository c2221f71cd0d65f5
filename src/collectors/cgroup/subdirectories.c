/* SPDX-License-Identifier: MIT */
#include "cgroup/subdirectories.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/array.h"

static void clear_scan(struct hr_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        free(scan->entries[i].name);
    scan->count = 0;
}

static int append_entry(struct hr_scan *scan, uint64_t id, const char *name)
{
    if (HR_ARRAY_RESERVE(scan->entries, scan->capacity, scan->count + 1) < 0)
        return -ENOMEM;
    char *copy = strdup(name);
    if (copy == NULL)
        return -ENOMEM;
    scan->entries[scan->count++] = (struct hr_scan_entry){.id = id, .name = copy};
    return 0;
}

static bool is_subdirectory(int fd, const struct dirent64 *entry)
{
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return false;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;

    struct stat status;
    return fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/* Appends what one getdents64 returned. */
static int append_subdirectories(struct hr_scan *scan, int fd, const char *buffer, size_t length)
{
    for (size_t offset = 0; offset < length;) {
        const struct dirent64 *entry = (const void *)(buffer + offset);
        offset += entry->d_reclen;
        if (!is_subdirectory(fd, entry))
            continue;
        int status = append_entry(scan, entry->d_ino, entry->d_name);
        if (status < 0)
            return status;
    }
    return 0;
}

static int read_directory(int fd, struct hr_scan *scan)
{
    _Alignas(struct dirent64) char buffer[32768];

    for (;;) {
        ssize_t got = getdents64(fd, buffer, sizeof(buffer));
        if (got == 0)
            return 0;
        int status = got < 0 ? -errno : append_subdirectories(scan, fd, buffer, (size_t)got);
        if (status < 0)
            return status;
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct hr_scan_entry *left = a, *right = b;

    return strcmp(left->name, right->name);
}

int hr_scan_read(int fd, struct hr_scan *scan)
{
    struct stat status;

    clear_scan(scan);
    if (fstat(fd, &status) < 0)
        return -errno;
    if (status.st_nlink == 2)
        return 0;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;

    int result = read_directory(fd, scan);
    if (result < 0) {
        clear_scan(scan);
        return result == -ENOENT ? -ENODEV : result;
    }
    if (scan->count > 1)
        qsort(scan->entries, scan->count, sizeof(*scan->entries), compare_names);
    return 0;
}

void hr_scan_free(struct hr_scan *scan)
{
    clear_scan(scan);
    free(scan->entries);
    *scan = (struct hr_scan){0};
}
