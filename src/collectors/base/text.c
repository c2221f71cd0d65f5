/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

int hr_text_read_file(int fd, char *buffer, size_t size, size_t *length)
{
    ssize_t got;

    /* One read returns all of such a file: a short read is its end, and another one, to see the
     * end, would cost as much again. */
    do
        got = pread(fd, buffer, size, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if ((size_t)got == size)
        return -EBADMSG;
    *length = (size_t)got;
    return 0;
}

int hr_text_read_and_close(int fd, char *buffer, size_t size, size_t *length)
{
    if (fd < 0)
        return fd;
    int status = hr_text_read_file(fd, buffer, size, length);
    close(fd);
    return status;
}

bool hr_text_skip_line(struct hr_text *text)
{
    const char *newline = memchr(text->start, '\n', text->length);

    if (newline == NULL)
        return false;
    text->length -= (size_t)(newline + 1 - text->start);
    text->start = newline + 1;
    return true;
}

bool hr_text_hex(struct hr_text *text, uint64_t *value)
{
    size_t count = 0;
    uint64_t sum = 0;
    int digit;

    for (; count < text->length && (digit = hr_text_hex_digit(text->start[count])) >= 0; count++) {
        if (sum >> 60 != 0)
            return false;
        sum = sum << 4 | (uint64_t)digit;
    }
    if (count == 0)
        return false;
    text->start += count;
    text->length -= count;
    *value = sum;
    return true;
}

int hr_text_number_parse(const char *text, size_t length, uint64_t max, uint64_t *value)
{
    struct hr_text rest = {text, length};
    uint64_t number;

    if (!hr_text_u64(&rest, &number) || number > max)
        return -EBADMSG;
    hr_text_skip(&rest, "\n");
    if (rest.length > 0)
        return -EBADMSG;
    *value = number;
    return 0;
}

bool hr_text_has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; *at != '\0'; at += strspn(at, " \n")) {
        size_t found = strcspn(at, " \n");
        if (found == length && memcmp(at, word, length) == 0)
            return true;
        at += found;
    }
    return false;
}
