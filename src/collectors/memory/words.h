/* SPDX-License-Identifier: MIT */
/*
 * memory/words.h - reading files that have a 64-bit word for each page: pagemap, kpageflags,
 * kpagecgroup.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_WORDS_H
#define HEADROOM_COLLECTORS_MEMORY_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Reads words from the page numbered `first` on.
 *
 * @return the number of words read, less than `count` only at the end of the file; or the negative
 *         errno of pread(2).
 */
ssize_t hr_words_read(int fd, uint64_t first, uint64_t *words, size_t count);

#endif
