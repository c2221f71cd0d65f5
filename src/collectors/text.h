/*
 * text.h - reading and parsing the kernel's small text files.
 *
 * A parser walks a struct hr_text from its start to its end; each function takes what it recognises
 * off the front, or leaves the text as it was. None looks at the locale, and none reads past the
 * end.
 */
#ifndef HEADROOM_TEXT_H
#define HEADROOM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is left of a text; not terminated. */
struct hr_text {
    const char *start;
    size_t length;
};

/**
 * Reads a whole file from its beginning, wherever the descriptor stands.
 *
 * @param size    of the buffer; the file must be shorter.
 * @param length  receives the number of bytes read.
 * @return 0, -EBADMSG if the file doesn't fit, or the negative errno of pread(2).
 */
int hr_text_read(int fd, char *buffer, size_t size, size_t *length);

/** Takes a word off the front. @return whether the text began with it. */
bool hr_text_skip(struct hr_text *text, const char *word);

/** Takes the rest of the line and its newline off the front. @return false if no newline is left.
 */
bool hr_text_skip_line(struct hr_text *text);

/** Takes decimal digits off the front. @return false without a digit, or above 2^64-1. */
bool hr_text_u64(struct hr_text *text, uint64_t *value);

#endif
