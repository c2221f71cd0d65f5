/* SPDX-License-Identifier: MIT */
#include "memory/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/descriptor.h"
#include "memory/words.h"

#define PRESENT  ((uint64_t)1 << 63)
#define PFN_MASK (((uint64_t)1 << 55) - 1)

#define ENTRIES   65536
#define TEXT_SIZE 65536

/* Addresses from here on are the kernel's, such as [vsyscall]: pagemap ends below. */
#define KERNEL_START ((uint64_t)1 << 63)

/* --- /proc/PID/maps ------------------------------------------------------- */

/* "7f1c2a400000-7f1c2a422000 r--p 00000000 fe:01 1054  /usr/lib/…/libc.so.6\n" */
int hr_maps_parse(struct hr_text *text, struct hr_maps_range *range)
{
    struct hr_text rest = *text, line = *text;
    struct hr_maps_range found;

    if (!hr_text_skip_line(&rest))
        return -EAGAIN;
    line.length = (size_t)(rest.start - line.start);
    if (!hr_text_hex(&line, &found.start) || !hr_text_skip(&line, "-") ||
        !hr_text_hex(&line, &found.end) || !hr_text_skip(&line, " "))
        return -EBADMSG;
    if (found.start >= found.end)
        return -EBADMSG;
    *text = rest;
    *range = found;
    return 0;
}

/* --- /proc/PID/pagemap ---------------------------------------------------- */

struct walk {
    int maps, pagemap;
    uint64_t page_size, deadline_ns;
    struct hr_page_set *pages;
    struct hr_maps_range pending; /* merged with the next ranges as long as there is no gap */
    bool has_no_scan;
    bool has_range; /* maps wasn't empty */
    uint64_t entries[ENTRIES];
    char text[TEXT_SIZE];
};

static int add_entries(struct walk *walk, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t entry = walk->entries[i];
        if ((entry & PRESENT) == 0) /* none, or swapped out: no page frame number then */
            continue;
        if ((entry & PFN_MASK) == 0)
            return -EPERM;
        int status = hr_page_set_add(walk->pages, entry & PFN_MASK);
        /* Memory mapped from a device may have any address. */
        if (status < 0 && status != -EOVERFLOW)
            return status;
    }
    return 0;
}

static int read_range(struct walk *walk, uint64_t start, uint64_t end)
{
    uint64_t page = start / walk->page_size, last = end / walk->page_size;

    while (page < last) {
        if (hr_deadline_has_passed(walk->deadline_ns))
            return -ETIME;
        uint64_t count = last - page < ENTRIES ? last - page : ENTRIES;
        /* Nothing: at the end of the address space, or the process's memory is gone. */
        ssize_t got = hr_words_read(walk->pagemap, page, walk->entries, count);
        if (got <= 0)
            return got < 0 ? (int)got : -ESRCH;
        int status = add_entries(walk, (size_t)got);
        if (status < 0)
            return status;
        page += (uint64_t)got;
    }
    return 0;
}

/* --- PAGEMAP_SCAN --------------------------------------------------------- */

/* include/uapi/linux/fs.h; older systems' headers lack it. */
struct scan_region {
    uint64_t start, end, categories;
};
struct scan_request {
    uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
    uint64_t inverted, all_of, any_of, returned;
};
#define SCAN         _IOWR('f', 16, struct scan_request)
#define SCAN_PRESENT ((uint64_t)1 << 3)

/* Smaller ranges are read as a whole, in one or a few calls. */
#define SCAN_FROM ((uint64_t)256 << 20)
/* What one call scans at most, so that the deadline is checked: some 20 ms in a full range. */
#define SCAN_STEP    ((uint64_t)4 << 30)
#define SCAN_REGIONS 512
/* Gaps up to this are read, too: a system call costs as much as reading some hundreds of entries.
 */
#define SCAN_GAP_PAGES 64

/* Reads regions, and short gaps between them. */
static int read_regions(struct walk *walk, const struct scan_region *regions, int count)
{
    const uint64_t gap = SCAN_GAP_PAGES * walk->page_size;
    int status = 0;

    for (int i = 0, last; i < count && status == 0; i = last + 1) {
        last = i;
        while (last + 1 < count && regions[last + 1].start - regions[last].end <= gap)
            last++;
        status = read_range(walk, regions[i].start, regions[last].end);
    }
    return status;
}

/* Reads what is present in a part of a range. @param next receives where that part ended. */
static int scan_part(struct walk *walk, uint64_t start, uint64_t end, uint64_t *next)
{
    struct scan_region regions[SCAN_REGIONS];
    struct scan_request request = {
        .size = sizeof(request),
        .start = start,
        .end = end,
        .regions = (uintptr_t)regions,
        .region_count = SCAN_REGIONS,
        .all_of = SCAN_PRESENT,
        .returned = SCAN_PRESENT,
    };

    int found = ioctl(walk->pagemap, SCAN, &request);
    if (found < 0)
        return -errno;
    int status = read_regions(walk, regions, found);
    *next = request.walk_end;
    return *next > start ? status : -EBADMSG;
}

static int scan_range(struct walk *walk, uint64_t start, uint64_t end)
{
    while (start < end && !walk->has_no_scan) {
        uint64_t step = end - start < SCAN_STEP ? end - start : SCAN_STEP;
        if (hr_deadline_has_passed(walk->deadline_ns))
            return -ETIME;
        int status = scan_part(walk, start, start + step, &start);
        if (status == -ENOTTY ||
            status == -EINVAL) /* an older kernel, or a file in a test's tree */
            walk->has_no_scan = true;
        else if (status < 0)
            return status;
    }
    return read_range(walk, start, end);
}

/* --- A whole process ------------------------------------------------------ */

static int read_pending(struct walk *walk)
{
    uint64_t start = walk->pending.start, end = walk->pending.end;

    walk->pending = (struct hr_maps_range){0};
    if (start >= KERNEL_START || start == end)
        return 0;
    return end - start >= SCAN_FROM ? scan_range(walk, start, end) : read_range(walk, start, end);
}

static int add_range(struct walk *walk, const struct hr_maps_range *range)
{
    walk->has_range = true;
    if (range->start == walk->pending.end && walk->pending.end > 0) {
        walk->pending.end = range->end;
        return 0;
    }
    int status = read_pending(walk);
    walk->pending = *range;
    return status;
}

/* Takes all complete lines off the text. */
static int read_lines(struct walk *walk, struct hr_text *text)
{
    struct hr_maps_range range;
    int status;

    while ((status = hr_maps_parse(text, &range)) == 0) {
        status = add_range(walk, &range);
        if (status < 0)
            return status;
    }
    return status == -EAGAIN ? 0 : status;
}

/* The buffer holds any line: its path has up to 4096 bytes, each of which may be escaped as four.
 */
static int read_maps(struct walk *walk)
{
    char *buffer = walk->text;
    size_t kept = 0;

    for (;;) {
        ssize_t got = read(walk->maps, buffer + kept, TEXT_SIZE - kept);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        struct hr_text text = {buffer, kept + (size_t)got};
        int status = read_lines(walk, &text);
        if (status < 0)
            return status;
        if (text.length == TEXT_SIZE)
            return -EBADMSG;
        kept = text.length;
        memmove(buffer, text.start, kept);
    }
    if (kept > 0)
        return -EBADMSG;
    return walk->has_range ? read_pending(walk) : -ESRCH;
}

/* When a process ends meanwhile, maps may just end early, and what was read is incomplete. */
static int check_end(const struct walk *walk)
{
    uint64_t entry;
    ssize_t got = hr_words_read(walk->pagemap, 0, &entry, 1);

    return got < 0 ? (int)got : got == 0 ? -ESRCH : 0;
}

/* The file is missing if the process ends at this moment. */
static int open_file(const struct hr_process *process, const char *name)
{
    int fd = hr_process_openat(process, name, O_RDONLY);

    return fd == -ENOENT ? -ESRCH : fd;
}

int hr_pagemap_read(const struct hr_process *process, uint64_t deadline_ns,
                    struct hr_page_set *pages)
{
    struct walk *walk = malloc(sizeof(*walk));

    if (walk == NULL)
        return -ENOMEM;
    walk->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    walk->deadline_ns = deadline_ns;
    walk->pages = pages;
    walk->pending = (struct hr_maps_range){0};
    walk->has_no_scan = walk->has_range = false;
    walk->maps = open_file(process, "maps");
    walk->pagemap = walk->maps < 0 ? walk->maps : open_file(process, "pagemap");
    int status = walk->pagemap < 0 ? walk->pagemap : read_maps(walk);
    if (status == 0)
        status = check_end(walk);
    hr_descriptor_close(&walk->pagemap);
    hr_descriptor_close(&walk->maps);
    free(walk);
    return status;
}

int hr_pagemap_find(int fd, uint64_t address, uint64_t *pfn)
{
    uint64_t entry;
    ssize_t got = hr_words_read(fd, address / (uint64_t)sysconf(_SC_PAGESIZE), &entry, 1);

    if (got < 0)
        return (int)got;
    if (got == 0 || (entry & PRESENT) == 0)
        return -ENODATA;
    if ((entry & PFN_MASK) == 0)
        return -EPERM;
    *pfn = entry & PFN_MASK;
    return 0;
}
