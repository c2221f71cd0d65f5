/*
 * osnoise/tracefs.h - the folder of the kernel's tracers, and its small files.
 *
 * Source: Documentation/trace/ftrace.rst.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_TRACEFS_H
#define HEADROOM_COLLECTORS_OSNOISE_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "headroom/reason.h"

struct hr_root;

struct hr_tracefs {
    int fd; /**< the folder; -1 if it isn't open */
};

/** Room for what hr_tracefs_path() tells. */
#define HR_TRACEFS_PATH 32

/**
 * Finds the folder: /sys/kernel/tracing, or /sys/kernel/debug/tracing.
 *
 * @param tracefs  receives it; ended by hr_tracefs_close().
 * @return 0; -ENOENT: it isn't mounted, or the kernel has none; -EACCES, -EPERM, -EMFILE; with the
 *         reason.
 */
int hr_tracefs_open(const struct hr_root *root, struct hr_tracefs *tracefs,
                    struct hr_reason *reason);

/** Closes the folder, if it is open. */
void hr_tracefs_close(struct hr_tracefs *tracefs);

/** A path to the folder for calls that want one; it holds while the folder is open. */
void hr_tracefs_path(const struct hr_tracefs *tracefs, char path[HR_TRACEFS_PATH]);

/**
 * Reads a file whole, in one read(2) as far as the kernel allows.
 *
 * @param name    the file's path below the folder.
 * @param buffer  receives the text, terminated; @param size  -EBADMSG if the text is longer.
 * @param length  receives its length; may be NULL.
 * @return 0, or a negative errno.
 */
int hr_tracefs_read(const struct hr_tracefs *tracefs, const char *name, char *buffer, size_t size,
                    size_t *length);

/** Reads a file that holds one number. @return 0, -EBADMSG, or the negative errno of reading. */
int hr_tracefs_read_number(const struct hr_tracefs *tracefs, const char *name, uint64_t *value);

/** Writes a text and a newline with one write(2), as the kernel wants it. @return 0 or the negative
 * errno. */
int hr_tracefs_write(const struct hr_tracefs *tracefs, const char *name, const char *text);

/** Likewise a number. */
int hr_tracefs_write_number(const struct hr_tracefs *tracefs, const char *name, uint64_t value);

/** Likewise a text, without doing away with what the file has already: opening a `trigger` to write
 * it anew removes all triggers. */
int hr_tracefs_append(const struct hr_tracefs *tracefs, const char *name, const char *text);

#endif
