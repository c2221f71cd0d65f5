/* SPDX-License-Identifier: MIT */
/*
 * memory/file_text.h - text files of any size, and the hexadecimal numbers in them.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_FILE_TEXT_H
#define HEADROOM_COLLECTORS_MEMORY_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

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

/** Takes lower-case hexadecimal digits off the front. @return false without a digit, or above
 * 2^64-1. */
bool hr_text_hexadecimal(struct hr_text *text, uint64_t *value);

#endif
