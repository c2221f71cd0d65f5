/* SPDX-License-Identifier: MIT */
/*
 * headroom/state_file.h - a small file that outlives the process, so that its successor can go on
 * or restore: written as a whole, and trusted only if no other user can have written it.
 *
 * Sources: rename(2), fsync(2); /proc/sys/kernel/random/boot_id in random(4).
 */
#ifndef HEADROOM_STATE_FILE_H
#define HEADROOM_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/** The length of a boot id: "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11". */
#define HR_BOOT_ID_LENGTH 36

/** Reads the running kernel's boot id. @return 0, -EBADMSG, or another negative errno. */
int hr_boot_id_read(char boot_id[HR_BOOT_ID_LENGTH + 1]);

/** Whether a text has the form of a boot id. */
bool hr_boot_id_is_valid(const char *text);

/**
 * Reads a state file.
 *
 * @param size    room in text; the text isn't terminated.
 * @param length  receives the number of bytes read.
 * @return 0; -ENOENT: there is none; -EPERM: it isn't a regular file, is a symbolic link, belongs
 * to a user other than root and ours, or others may write it; -EBADMSG: it is longer; or another
 * negative errno.
 */
int hr_state_file_read(const char *path, char *text, size_t size, size_t *length);

/**
 * The same; and if this process is root's, also trusts a file directly in a folder that belongs to
 * the folder's owner: to whom root has given the folder. Not if that is a symbolic link, or others
 * may write to it. What is above the folder must be root's alone.
 */
int hr_state_file_read_in(const char *folder, const char *path, char *text, size_t size,
                          size_t *length);

/** The same, of any length. @param bytes  receives it, for free(). @return also -ENOMEM; never
 * -EBADMSG, unless it grows meanwhile. */
int hr_state_file_read_all(const char *path, char **bytes, size_t *length);

/**
 * Replaces a state file atomically, also in case of a crash. Only the user may read or write it,
 * and a symbolic link in its place isn't followed. Waits for the disk.
 *
 * @return 0 or a negative errno; then the file is what it was before. But if it was replaced, and
 * only its directory couldn't be synchronized, it is the new one, and a crash of the machine may
 * undo that.
 */
int hr_state_file_write(const char *path, const char *text, size_t length);

/** The same, without waiting for the disk: for what is of no use after a crash of the machine. */
int hr_state_file_write_unsynced(const char *path, const char *text, size_t length);

/*
 * The same in two steps, for those who can't wait for the disk: from the first one on a process may
 * be killed, but only the second one survives a crash of the machine.
 */

/** Writes what is to replace a state file, beside it, as PATH.new. @return 0 or a negative errno;
 * then there is none. */
int hr_state_file_prepare(const char *path, const char *text, size_t length);

/** Replaces the file by what was prepared, and waits for the disk. @return as
 * hr_state_file_write(); if the file is what it was before, what was prepared is removed. */
int hr_state_file_commit(const char *path);

/** Reads what was prepared by a process that was killed before it replaced the file, as
 * hr_state_file_read(). It may have been killed while it wrote: so whether the text is whole must
 * be seen from it. */
int hr_state_file_read_prepared(const char *path, char *text, size_t size, size_t *length);

/** Removes a state file, if it is there. @return 0 or a negative errno. */
int hr_state_file_remove(const char *path);

#endif
