/* SPDX-License-Identifier: MIT */
/*
 * base/text.h - reading and parsing the kernel's small text files.
 *
 * A parser goes through a struct hr_text from start to end. Each function removes what it
 * recognises from the front, or leaves the text unchanged. None uses the locale, and none reads
 * past the end.
 */
#ifndef HEADROOM_COLLECTORS_BASE_TEXT_H
#define HEADROOM_COLLECTORS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The rest of a text; not terminated. */
struct hr_text {
    const char *start;
    size_t length;
};

/**
 * Reads a whole file from its beginning, whatever the position of the descriptor.
 *
 * @param size    of the buffer; the file must be shorter.
 * @param length  receives the number of bytes.
 * @return 0, -EBADMSG if the file doesn't fit, or the negative errno of pread(2).
 */
int hr_text_read_file(int fd, char *buffer, size_t size, size_t *length);

/**
 * Reads a whole file that has just been opened, and closes it.
 *
 * @param fd  a descriptor, or the negative errno of opening it, which is then returned.
 * @return as hr_text_read_file().
 */
int hr_text_read_and_close(int fd, char *buffer, size_t size, size_t *length);

/* The two functions that parse every word and number are inline: with words known at compile time,
 * a pressure file is parsed in a third of the time. */

/** Removes a word from the front. @return whether the text began with it. */
static inline bool hr_text_skip(struct hr_text *text, const char *word)
{
    size_t length = strlen(word);

    if (text->length < length || memcmp(text->start, word, length) != 0)
        return false;
    text->start += length;
    text->length -= length;
    return true;
}

/** Removes the rest of the line, and its newline. @return false if no newline is left. */
bool hr_text_skip_line(struct hr_text *text);

/** Removes decimal digits from the front. @return false without a digit, or above 2^64-1. */
static inline bool hr_text_u64(struct hr_text *text, uint64_t *value)
{
    const char *digit = text->start, *end = digit + text->length;
    uint64_t sum = 0;

    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        uint64_t add = (uint64_t)(*digit - '0');
        /* nineteen digits always fit */
        if (digit - text->start >= 19 && (sum > UINT64_MAX / 10 || 10 * sum > UINT64_MAX - add))
            return false;
        sum = 10 * sum + add;
    }
    if (digit == text->start)
        return false;
    text->length -= (size_t)(digit - text->start);
    text->start = digit;
    *value = sum;
    return true;
}

/** @return the value of a hexadecimal digit of either case; -1 for anything else. */
static inline int hr_text_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/** Removes hexadecimal digits from the front. @return false without a digit, or above 2^64-1. */
bool hr_text_hex(struct hr_text *text, uint64_t *value);

/** Whether a terminated text contains a word, delimited by blanks and newlines. */
bool hr_text_has_word(const char *text, const char *word);

/**
 * Parses the text of a file with one decimal number, with or without a newline after it.
 *
 * @return 0, or -EBADMSG for anything else, or above `max`; the value is then unchanged.
 */
int hr_text_number_parse(const char *text, size_t length, uint64_t max, uint64_t *value);

#endif
