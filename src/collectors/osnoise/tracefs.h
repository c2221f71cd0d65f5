/* SPDX-License-Identifier: MIT */
/*
 * osnoise/tracefs.h - tracefs, the directory of the kernel's tracers, and its small files.
 *
 * Source: Documentation/trace/ftrace.rst.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_TRACEFS_H
#define HEADROOM_COLLECTORS_OSNOISE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/reason.h"

struct hr_root;

struct hr_tracefs {
    int fd; /**< the directory; -1 if it isn't open */
};

/** The size of a path of hr_tracefs_path(). */
#define HR_TRACEFS_PATH 32

/**
 * Opens the directory: /sys/kernel/tracing, or /sys/kernel/debug/tracing.
 *
 * @param tracefs  receives it; to be closed by hr_tracefs_close().
 * @return 0; -ENOENT: it isn't mounted, or the kernel has none; -EACCES, -EPERM, -EMFILE; with the
 *         reason.
 */
int hr_tracefs_open(const struct hr_root *root, struct hr_tracefs *tracefs,
                    struct hr_reason *reason);

/** Closes the directory, if it is open. */
void hr_tracefs_close(struct hr_tracefs *tracefs);

/** A path of the directory for calls that need one; valid while it is open. */
void hr_tracefs_path(const struct hr_tracefs *tracefs, char path[HR_TRACEFS_PATH]);

/** Whether there is a file, or a directory. @param name  its path below the directory. */
bool hr_tracefs_exists(const struct hr_tracefs *tracefs, const char *name);

/**
 * Reads a whole file, with one read(2) if the kernel allows.
 *
 * @param name    the file's path below the directory.
 * @param buffer  receives the text, terminated; @param size  -EBADMSG if the text is longer.
 * @param length  receives its length; may be NULL.
 * @return 0, or a negative errno.
 */
int hr_tracefs_read(const struct hr_tracefs *tracefs, const char *name, char *buffer, size_t size,
                    size_t *length);

/** Reads a file that holds one number. @return 0, -EBADMSG, or the negative errno of reading. */
int hr_tracefs_read_number(const struct hr_tracefs *tracefs, const char *name, uint64_t *value);

/** Writes a text and a newline with one write(2), as the kernel expects. @return 0 or a negative
 * errno. */
int hr_tracefs_write(const struct hr_tracefs *tracefs, const char *name, const char *text);

/** Writes a number. @return 0 or a negative errno. */
int hr_tracefs_write_number(const struct hr_tracefs *tracefs, const char *name, uint64_t value);

/** Appends a text and a newline without truncating the file: opening a `trigger` with O_TRUNC
 * removes all triggers. @return 0 or a negative errno. */
int hr_tracefs_append(const struct hr_tracefs *tracefs, const char *name, const char *text);

/** Opens a file with O_TRUNC, and writes nothing: of a `trigger` that removes all triggers. @return
 * 0 or a negative errno. */
int hr_tracefs_clear(const struct hr_tracefs *tracefs, const char *name);

#endif
