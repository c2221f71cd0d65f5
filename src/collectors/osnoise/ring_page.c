/* SPDX-License-Identifier: MIT */
#include "osnoise/ring_page.h"

#include <errno.h>

/* include/linux/ring_buffer.h: an event begins with a word of which five bits are its type, and the
 * rest the time since the last event: the low five bits, or in big-endian kernels the high ones.
 * Types up to 28 have that many words of data; with 0 the length in bytes is in the next word,
 * which it includes. */
enum event_type { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

#define TYPE_BITS  5
#define DELTA_BITS 27
#define WORD       ((size_t)4)

/* kernel/trace/ring_buffer.c: the used size; whether events were overwritten before this page; and
 * whether their number is stored behind the used part. */
#define COMMIT_MASK   ((UINT64_C(1) << 27) - 1)
#define MISSED        (UINT64_C(1) << 31)
#define MISSED_STORED (UINT64_C(1) << 30)

static unsigned event_type_of(uint32_t head)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return head >> (32 - TYPE_BITS);
#else
    return head & ((1u << TYPE_BITS) - 1);
#endif
}

static uint32_t event_delta_of(uint32_t head)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return head & ((1u << DELTA_BITS) - 1);
#else
    return head >> TYPE_BITS;
#endif
}

/* As rb_update_read_stamp() does. @param next  the word behind the head. */
static uint64_t advance_time(uint64_t time_ns, uint32_t head, uint64_t next)
{
    const uint32_t delta = event_delta_of(head);

    switch (event_type_of(head)) {
    case TYPE_PADDING:
        return time_ns;
    case TYPE_TIME_EXTEND:
        return time_ns + (next << DELTA_BITS) + delta;
    case TYPE_TIME_STAMP:
        return (next << DELTA_BITS) + delta;
    default:
        return time_ns + delta;
    }
}

/* Removes an event from the front. @param data  receives its contents; empty for padding and times.
 */
static int parse_event(struct hr_ring_page *ring_page, struct hr_field *data)
{
    const unsigned char *page = ring_page->bytes;
    struct hr_field *rest = &ring_page->rest;
    size_t head = WORD, length;
    uint64_t next = 0;

    if (rest->size < WORD)
        return -EBADMSG;
    const uint32_t word = (uint32_t)hr_field_get(page, (struct hr_field){rest->offset, WORD});
    const unsigned type = event_type_of(word);
    if (type == TYPE_LONG || type >= TYPE_PADDING) {
        if (rest->size < 2 * WORD)
            return -EBADMSG;
        next = hr_field_get(page, (struct hr_field){rest->offset + WORD, WORD});
        if (type < TYPE_TIME_EXTEND && (next < WORD + (type == TYPE_LONG) || next % WORD != 0))
            return -EBADMSG;
        head = 2 * WORD;
        length = type < TYPE_TIME_EXTEND ? next - WORD : 0;
    } else {
        length = type * WORD;
    }
    if (length > rest->size - head)
        return -EBADMSG;
    *data = (struct hr_field){rest->offset + head, type < TYPE_PADDING ? length : 0};
    ring_page->time_ns = advance_time(ring_page->time_ns, word, next);
    rest->offset += head + length;
    rest->size -= head + length;
    return 0;
}

/* Finds the range of the events, and counts what was lost before them. */
static int parse_header(struct hr_ring_page *ring_page, size_t size, size_t commit_size,
                        uint64_t *lost)
{
    const size_t header_size = sizeof(uint64_t) + commit_size;
    uint64_t missed = 0;

    if (size < header_size)
        return -EBADMSG;
    uint64_t commit =
        hr_field_get(ring_page->bytes, (struct hr_field){sizeof(uint64_t), commit_size});
    struct hr_field events = {header_size, commit & COMMIT_MASK};
    size_t room = size - header_size;
    if (events.size > room)
        return -EBADMSG;
    if (commit & MISSED)
        missed = 1;
    if ((commit & MISSED) && (commit & MISSED_STORED)) {
        if (room - events.size < commit_size)
            return -EBADMSG;
        missed = hr_field_get(ring_page->bytes,
                              (struct hr_field){events.offset + events.size, commit_size});
    }
    ring_page->rest = events;
    *lost += missed > 0 || !(commit & MISSED) ? missed : 1;
    return 0;
}

int hr_ring_page_begin(struct hr_ring_page *ring_page, const void *page, size_t size,
                       size_t commit_size, uint64_t *lost)
{
    ring_page->bytes = page;
    int status = parse_header(ring_page, size, commit_size, lost);
    if (status == 0)
        ring_page->time_ns = hr_field_get(page, (struct hr_field){0, sizeof(uint64_t)});
    return status;
}

int hr_ring_page_next(struct hr_ring_page *ring_page, const unsigned char **data, size_t *size)
{
    struct hr_field contents = {0};

    while (ring_page->rest.size > 0 && contents.size == 0) {
        int status = parse_event(ring_page, &contents);
        if (status < 0)
            return status;
    }
    *data = ring_page->bytes + contents.offset;
    *size = contents.size;
    return contents.size > 0;
}
