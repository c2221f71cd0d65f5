/* SPDX-License-Identifier: MIT */
#include "headroom/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"

/* --- The boot ------------------------------------------------------------- */

bool hr_boot_id_is_valid(const char *text)
{
    return strlen(text) == HR_BOOT_ID_LENGTH &&
           strspn(text, "0123456789abcdef-") == HR_BOOT_ID_LENGTH;
}

int hr_boot_id_read(char boot_id[HR_BOOT_ID_LENGTH + 1])
{
    char text[64];
    size_t length;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    int status = hr_text_read_and_close(fd < 0 ? -errno : fd, text, sizeof(text), &length);
    if (status < 0)
        return status;
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (!hr_boot_id_is_valid(text))
        return -EBADMSG;
    memcpy(boot_id, text, HR_BOOT_ID_LENGTH + 1);
    return 0;
}

/* --- Reading -------------------------------------------------------------- */

/* What the file contains is acted upon, by root even in the kernel: so no other user may have been
 * able to write it. O_NONBLOCK is for a FIFO in its place. */
static int open_state_file(const char *path)
{
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return errno == ELOOP ? -EPERM : -errno;
    if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) ||
        (stat.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        (stat.st_uid != 0 && stat.st_uid != geteuid())) {
        close(fd);
        return -EPERM;
    }
    return fd;
}

int hr_state_file_read(const char *path, char *text, size_t size, size_t *length)
{
    int fd = open_state_file(path);

    if (fd < 0)
        return fd;
    int status = hr_text_read_file(fd, text, size, length);
    close(fd);
    return status;
}

/* --- Writing -------------------------------------------------------------- */

static int write_all(int fd, const char *text, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t written = write(fd, text + done, length - done);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0)
            done += (size_t)written;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* A process that died before it renamed the file has left it here. */
static int create_file(int folder, const char *name)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(folder, name, flags, 0600);

    if (fd < 0 && errno == EEXIST && unlinkat(folder, name, 0) == 0)
        fd = openat(folder, name, flags, 0600);
    return fd < 0 ? -errno : fd;
}

static int write_file_in(int folder, const char *name, const char *text, size_t length)
{
    char new_name[NAME_MAX + 1];

    if (snprintf(new_name, sizeof(new_name), "%s.new", name) >= (int)sizeof(new_name))
        return -ENAMETOOLONG;
    int fd = create_file(folder, new_name);
    if (fd < 0)
        return fd;
    int status = write_all(fd, text, length);
    close(fd);
    if (status == 0 && renameat(folder, new_name, folder, name) < 0)
        status = -errno;
    if (status < 0)
        unlinkat(folder, new_name, 0);
    else if (fsync(folder) < 0)
        status = -errno;
    return status;
}

/* Opens the directory of a file. @param name  receives the file's own name. */
static int open_folder(const char *path, const char **name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;

    if (length >= sizeof(folder))
        return -ENAMETOOLONG;
    memcpy(folder, path, length);
    folder[length] = '\0';
    int fd = open(length > 0 ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    *name = path + length;
    return fd;
}

int hr_state_file_write(const char *path, const char *text, size_t length)
{
    const char *name;
    int folder = open_folder(path, &name);

    if (folder < 0)
        return folder;
    int status = write_file_in(folder, name, text, length);
    hr_descriptor_close(&folder);
    return status;
}

int hr_state_file_remove(const char *path)
{
    const char *name;
    int folder = open_folder(path, &name);

    if (folder < 0)
        return folder == -ENOENT ? 0 : folder;
    int status = unlinkat(folder, name, 0) < 0 && errno != ENOENT ? -errno : 0;
    if (status == 0 && fsync(folder) < 0)
        status = -errno;
    hr_descriptor_close(&folder);
    return status;
}
