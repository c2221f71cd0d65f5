/* SPDX-License-Identifier: MIT */
#include "room/disk_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "headroom/root.h"

/* Counted from 1. */
#define READ_TIME     4
#define TIME_IN_QUEUE 11

/* Before a device's name in the file of all. */
#define DEVICE_NUMBERS 2

static void skip_blanks(struct hr_text *text)
{
    while (hr_text_skip(text, " "))
        continue;
}

/* @param value  receives the last. */
static bool read_numbers(struct hr_text *text, int count, uint64_t *value)
{
    for (int i = 0; i < count; i++) {
        skip_blanks(text);
        if (!hr_text_u64(text, value))
            return false;
    }
    return true;
}

int hr_disk_stat_parse(const char *start, size_t length, uint64_t *request_ms)
{
    struct hr_text text = {start, length};
    uint64_t value = 0;

    if (!read_numbers(&text, TIME_IN_QUEUE, &value) || text.length == 0 ||
        (*text.start != ' ' && *text.start != '\n'))
        return -EBADMSG;
    *request_ms = value;
    return 0;
}

static void skip_name(struct hr_text *text)
{
    skip_blanks(text);
    while (text->length > 0 && *text->start != ' ' && *text->start != '\n') {
        text->start++;
        text->length--;
    }
}

int hr_disk_reads_parse(const char *start, size_t length, double *read_us)
{
    struct hr_text text = {start, length};
    double all_count = 0, all_ms = 0;

    while (text.length > 0) {
        uint64_t number, count, ms;
        if (!read_numbers(&text, DEVICE_NUMBERS, &number))
            return -EBADMSG;
        skip_name(&text);
        if (!read_numbers(&text, 1, &count) || !read_numbers(&text, READ_TIME - 1, &ms) ||
            !hr_text_skip_line(&text))
            return -EBADMSG;
        all_count += (double)count;
        all_ms += (double)ms;
    }
    if (all_count == 0 || all_ms == 0)
        return -ENODATA;
    *read_us = 1000 * all_ms / all_count;
    return 0;
}

int hr_disk_stat_read(const struct hr_root *root, uint32_t major, uint32_t minor,
                      uint64_t *request_ms)
{
    char path[64], text[512];
    size_t length;

    snprintf(path, sizeof(path), "sys/dev/block/%" PRIu32 ":%" PRIu32 "/stat", major, minor);
    int status =
        hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, sizeof(text), &length);
    return status < 0 ? status : hr_disk_stat_parse(text, length, request_ms);
}
