/* SPDX-License-Identifier: MIT */
/*
 * base/text.h - reading and parsing the kernel's small text files.
 *
 * A parser walks a struct hr_text from its start to its end; each function takes what it recognises
 * off the front, or leaves the text as it was. None looks at the locale, and none reads past the
 * end.
 */
#ifndef HEADROOM_COLLECTORS_BASE_TEXT_H
#define HEADROOM_COLLECTORS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
int hr_text_read_file(int fd, char *buffer, size_t size, size_t *length);

/**
 * Reads a whole file that has just been opened, and closes it.
 *
 * @param fd  what opening it returned: of a negative errno nothing is read.
 * @return 0, that errno, or what hr_text_read_file() returns.
 */
int hr_text_read_and_close(int fd, char *buffer, size_t size, size_t *length);

/* The two that every word and number goes through are inline: with the words known at compile time
 * a pressure file is parsed in a third of the time. */

/** Takes a word off the front. @return whether the text began with it. */
static inline bool hr_text_skip(struct hr_text *text, const char *word)
{
    size_t length = strlen(word);

    if (text->length < length || memcmp(text->start, word, length) != 0)
        return false;
    text->start += length;
    text->length -= length;
    return true;
}

/** Takes the rest of the line and its newline off the front. @return false if no newline is left.
 */
bool hr_text_skip_line(struct hr_text *text);

/** Takes decimal digits off the front. @return false without a digit, or above 2^64-1. */
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

/** Tells whether a text, terminated, has a word between blanks and newlines. */
bool hr_text_has_word(const char *text, const char *word);

/**
 * Parses a file that holds one decimal number, with or without a newline after it.
 *
 * @return 0, or -EBADMSG for anything else, or above `max`; the value is then untouched.
 */
int hr_text_number_parse(const char *text, size_t length, uint64_t max, uint64_t *value);

#endif
