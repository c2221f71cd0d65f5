/* SPDX-License-Identifier: MIT */
#include "process/stat.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

/* include/linux/sched.h */
#define PF_EXITING        0x00000004
#define PF_KTHREAD        0x00200000
#define PF_NO_SETAFFINITY 0x04000000

/* The numbers of fields in proc(5); the name is the second. */
enum { FIELD_STATE = 3, FIELD_FLAGS = 9, FIELD_STARTED = 22 };

/* The name is in parentheses and may itself contain some, so that it ends at the last one. */
static int parse_name(struct hr_text *text, struct hr_process_stat *stat)
{
    uint64_t pid;

    if (!hr_text_u64(text, &pid) || !hr_text_skip(text, " ("))
        return -EBADMSG;
    const char *end = memrchr(text->start, ')', text->length);
    if (end == NULL)
        return -EBADMSG;
    size_t length = (size_t)(end - text->start), kept = length;
    /* Names of kernel threads may be longer here than in comm. */
    if (kept > sizeof(stat->name) - 1)
        kept = sizeof(stat->name) - 1;
    memcpy(stat->name, text->start, kept);
    stat->name[kept] = '\0';
    text->start = end + 1;
    text->length -= length + 1;
    return 0;
}

/* Fields may be negative. */
static bool skip_number(struct hr_text *text)
{
    uint64_t value;

    hr_text_skip(text, "-");
    return hr_text_u64(text, &value);
}

static bool parse_field(struct hr_text *text, int field, struct hr_process_stat *stat)
{
    uint64_t flags;

    switch (field) {
    case FIELD_STATE:
        if (text->length == 0 || *text->start < 'A')
            return false;
        stat->is_zombie = memchr("ZXx", *text->start, 3) != NULL;
        text->start++;
        text->length--;
        return true;
    case FIELD_FLAGS:
        if (!hr_text_u64(text, &flags))
            return false;
        stat->is_exiting = (flags & PF_EXITING) != 0;
        stat->is_kernel_thread = (flags & PF_KTHREAD) != 0;
        stat->is_bound = (flags & PF_NO_SETAFFINITY) != 0;
        return true;
    case FIELD_STARTED:
        return hr_text_u64(text, &stat->started_ticks);
    default:
        return skip_number(text);
    }
}

int hr_process_stat_parse(const char *text, size_t length, struct hr_process_stat *stat)
{
    struct hr_text rest = {text, length};
    struct hr_process_stat parsed;

    int status = parse_name(&rest, &parsed);
    if (status < 0)
        return status;
    for (int field = FIELD_STATE; field <= FIELD_STARTED; field++)
        if (!hr_text_skip(&rest, " ") || !parse_field(&rest, field, &parsed))
            return -EBADMSG;
    if (!hr_text_skip(&rest, " ") && !hr_text_skip(&rest, "\n"))
        return -EBADMSG;
    *stat = parsed;
    return 0;
}

int hr_process_stat_read_and_close(int fd, struct hr_process_stat *stat)
{
    char text[2048];
    size_t length;

    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : hr_process_stat_parse(text, length, stat);
}
