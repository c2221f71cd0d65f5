/* SPDX-License-Identifier: MIT */
#include "oom/kmsg_record.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

/* The facility is above the three bits of the level; the kernel's own is 0, and no program can
 * write with that. */
#define KERNEL_PRIORITIES 8

static bool take_escape(struct hr_text *text, char *byte)
{
    struct hr_text rest = *text;

    if (!hr_text_skip(&rest, "\\x") || rest.length < 2)
        return false;
    const int high = hr_text_hex_digit(rest.start[0]), low = hr_text_hex_digit(rest.start[1]);
    if (high < 0 || low < 0)
        return false;
    *byte = (char)(high * 16 + low);
    *text = (struct hr_text){rest.start + 2, rest.length - 2};
    return true;
}

/* A NUL, which no name has, would end the text. */
static int take_message(struct hr_text *text, char *message)
{
    size_t used = 0;
    char byte;

    while (text->length > 0 && *text->start != '\n') {
        if (used + 1 == HR_KMSG_SIZE)
            return -EBADMSG;
        if (!take_escape(text, &byte)) {
            byte = *text->start++;
            text->length--;
        }
        message[used++] = byte != '\0' ? byte : '?';
    }
    message[used] = '\0';
    return text->length > 0 ? 0 : -EBADMSG;
}

static bool take_number(struct hr_text *text, uint64_t *number)
{
    return hr_text_u64(text, number) && hr_text_skip(text, ",");
}

int hr_kmsg_record_parse(const char *start, size_t length, struct hr_kmsg_record *record)
{
    struct hr_text text = {start, length};
    uint64_t priority, sequence, time;

    if (!take_number(&text, &priority) || !take_number(&text, &sequence) ||
        !take_number(&text, &time))
        return -EBADMSG;
    const char *end = memchr(text.start, ';', text.length);
    if (end == NULL || memchr(text.start, '\n', (size_t)(end - text.start)) != NULL)
        return -EBADMSG;
    text.length -= (size_t)(end + 1 - text.start);
    text.start = end + 1;
    record->is_kernels = priority < KERNEL_PRIORITIES;
    return take_message(&text, record->message);
}
