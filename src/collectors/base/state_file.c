/* SPDX-License-Identifier: MIT */
#include "headroom/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* --- Directories and names ------------------------------------------------ */

/* A state file, and what replaces it, in its directory. */
struct place {
    int directory;
    const char *name;
    char new_name[NAME_MAX + 1];
};

static int open_directory(const char *path, size_t length)
{
    char directory[PATH_MAX];

    if (length >= sizeof(directory))
        return -ENAMETOOLONG;
    memcpy(directory, path, length);
    directory[length] = '\0';
    int fd = open(length > 0 ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int open_place(const char *path, struct place *place)
{
    const char *slash = strrchr(path, '/');

    place->name = slash == NULL ? path : slash + 1;
    if (snprintf(place->new_name, sizeof(place->new_name), "%s.new", place->name) >=
        (int)sizeof(place->new_name))
        return -ENAMETOOLONG;
    place->directory = open_directory(path, (size_t)(place->name - path));
    return place->directory < 0 ? place->directory : 0;
}

/* --- Reading -------------------------------------------------------------- */

/* Of no file. */
static const uid_t no_user = (uid_t)-1;

/* What the file contains is acted upon, by root even in the kernel: so no other user may have been
 * able to write it. O_NONBLOCK is for a FIFO in its place. */
static int open_state_file(int directory, const char *path, uid_t trusted)
{
    struct stat stat;
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return errno == ELOOP ? -EPERM : -errno;
    if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) ||
        (stat.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        (stat.st_uid != 0 && stat.st_uid != geteuid() && stat.st_uid != trusted)) {
        close(fd);
        return -EPERM;
    }
    return fd;
}

int hr_state_file_read(const char *path, char *text, size_t size, size_t *length)
{
    return hr_text_read_and_close(open_state_file(AT_FDCWD, path, no_user), text, size, length);
}

static uid_t owner_of(int directory)
{
    struct stat stat;

    if (fstat(directory, &stat) < 0 || (stat.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return no_user;
    return stat.st_uid;
}

/* The file's name, if it is directly in the folder. */
static const char *name_in(const char *folder, const char *path)
{
    const size_t length = strlen(folder);

    if (strncmp(path, folder, length) != 0 || path[length] != '/' ||
        strchr(path + length + 1, '/') != NULL)
        return NULL;
    return path + length + 1;
}

int hr_state_file_read_in(const char *folder, const char *path, char *text, size_t size,
                          size_t *length)
{
    const char *name = geteuid() == 0 ? name_in(folder, path) : NULL;
    int directory = -1;

    if (name != NULL)
        directory = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return hr_state_file_read(path, text, size, length);
    int status = hr_text_read_and_close(open_state_file(directory, name, owner_of(directory)), text,
                                        size, length);
    close(directory);
    return status;
}

int hr_state_file_read_all(const char *path, char **bytes, size_t *length)
{
    struct stat stat_of;

    if (lstat(path, &stat_of) < 0)
        return -errno;
    const size_t size = (size_t)stat_of.st_size + 1;
    char *made = malloc(size);
    int status = made == NULL ? -ENOMEM : hr_state_file_read(path, made, size, length);
    if (status == 0)
        *bytes = made;
    else
        free(made);
    return status;
}

int hr_state_file_read_prepared(const char *path, char *text, size_t size, size_t *length)
{
    struct place place;

    int status = open_place(path, &place);
    if (status < 0)
        return status;
    status = hr_text_read_and_close(open_state_file(place.directory, place.new_name, no_user), text,
                                    size, length);
    close(place.directory);
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
    return 0;
}

/* A process that died before it renamed the file has left it here. */
static int create_file(int directory, const char *name)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(directory, name, flags, 0600);

    if (fd < 0 && errno == EEXIST && unlinkat(directory, name, 0) == 0)
        fd = openat(directory, name, flags, 0600);
    return fd < 0 ? -errno : fd;
}

int hr_state_file_prepare(const char *path, const char *text, size_t length)
{
    struct place place;

    int status = open_place(path, &place);
    if (status < 0)
        return status;
    int fd = create_file(place.directory, place.new_name);
    status = fd < 0 ? fd : write_all(fd, text, length);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && status < 0)
        unlinkat(place.directory, place.new_name, 0);
    close(place.directory);
    return status;
}

static int sync_file(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int status = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return status;
}

/* Some filesystems have nothing to synchronize of a directory, and say so by EINVAL. */
static int sync_directory(int directory)
{
    return fsync(directory) < 0 && errno != EINVAL ? -errno : 0;
}

static int replace_file(const char *path, bool is_synced)
{
    struct place place;

    int status = open_place(path, &place);
    if (status < 0)
        return status;
    if (is_synced)
        status = sync_file(place.directory, place.new_name);
    if (status == 0 && renameat(place.directory, place.new_name, place.directory, place.name) < 0)
        status = -errno;
    if (status < 0)
        unlinkat(place.directory, place.new_name, 0);
    else if (is_synced)
        status = sync_directory(place.directory);
    close(place.directory);
    return status;
}

int hr_state_file_commit(const char *path)
{
    return replace_file(path, true);
}

int hr_state_file_write_unsynced(const char *path, const char *text, size_t length)
{
    int status = hr_state_file_prepare(path, text, length);

    return status == 0 ? replace_file(path, false) : status;
}

int hr_state_file_write(const char *path, const char *text, size_t length)
{
    int status = hr_state_file_prepare(path, text, length);

    return status == 0 ? hr_state_file_commit(path) : status;
}

int hr_state_file_remove(const char *path)
{
    struct place place;

    int status = open_place(path, &place);
    if (status < 0)
        return status == -ENOENT ? 0 : status;
    status = unlinkat(place.directory, place.name, 0) < 0 && errno != ENOENT ? -errno : 0;
    if (status == 0)
        status = sync_directory(place.directory);
    close(place.directory);
    return status;
}
