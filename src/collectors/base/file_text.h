/* SPDX-License-Identifier: MIT */
/*
 * base/file_text.h - text files of any size.
 */
#ifndef HEADROOM_COLLECTORS_BASE_FILE_TEXT_H
#define HEADROOM_COLLECTORS_BASE_FILE_TEXT_H

#include <stddef.h>

struct hr_root;

/** The text of a file. Initially all zeros. */
struct hr_file_text {
    char *start; /**< owned; not terminated */
    size_t length, capacity;
};

/**
 * Reads a whole file.
 *
 * @param text  replaced, with its memory reused. The caller frees its start with free(3).
 * @return 0; -ENOMEM; or the negative errno of open(2) and read(2).
 */
int hr_file_text_read(const struct hr_root *root, const char *path, struct hr_file_text *text);

/**
 * Reads a whole file that has just been opened, and closes it.
 *
 * @param fd   a descriptor, or the negative errno of opening it, which is then returned.
 * @param max  the largest length in bytes.
 * @return as hr_file_text_read(); -EBADMSG for a larger file.
 */
int hr_file_text_read_and_close(int fd, size_t max, struct hr_file_text *text);

#endif
