/* SPDX-License-Identifier: MIT */
#include "collectors/wss/fake_pages.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"

struct fake_pages fake_pages = {.allocations_left = -1};

static struct tree *place;

ssize_t __real_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void *buffer, size_t size, off_t offset);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *array, size_t count, size_t size);
ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *buffer, size_t size, off_t offset);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *array, size_t count, size_t size);

void fake_pages_begin(struct tree *tree)
{
    place = tree;
    fake_pages = (struct fake_pages){.memory_end = MEMORY, .allocations_left = -1};
}

void fake_pages_end(void)
{
    hr_page_set_free(&fake_pages.written);
}

static int open_in_tree(const char *path)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "%s/%s", tree_path(place), path);
    int fd = open(whole, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    return fd;
}

void fake_pages_put(const char *path, uint64_t index, uint64_t value)
{
    int fd = open_in_tree(path);

    ck_assert_int_eq(__real_pwrite(fd, &value, 8, (off_t)(8 * index)), 8);
    close(fd);
}

uint64_t fake_pages_get(const char *path, uint64_t index)
{
    uint64_t value = 0;
    int fd = open_in_tree(path);

    ck_assert_int_ge(__real_pread(fd, &value, 8, (off_t)(8 * index)), 0);
    close(fd);
    return value;
}

void fake_pages_set_own(uint64_t entry)
{
    struct stat file;

    int fd = open_in_tree("proc/self/pagemap");
    ck_assert_int_eq(fstat(fd, &file), 0);
    close(fd);
    fake_pages.own_inode = file.st_ino;
    fake_pages.own_entry = entry;
}

static bool is_own_pagemap(int fd)
{
    struct stat file;

    return fake_pages.own_inode != 0 && fstat(fd, &file) == 0 &&
           file.st_ino == fake_pages.own_inode;
}

static bool is_bitmap(int fd)
{
    return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

bool fake_pages_is_idle(uint64_t pfn)
{
    return fake_pages_get(BITMAP, pfn / 64) >> pfn % 64 & 1;
}

void fake_pages_set_idle(uint64_t pfn, bool idle)
{
    uint64_t bit = (uint64_t)1 << pfn % 64, word = fake_pages_get(BITMAP, pfn / 64);

    fake_pages_put(BITMAP, pfn / 64, idle ? word | bit : word & ~bit);
}

/* Limits a call to a page of words, and to complete words before the end. */
static size_t cut(size_t size, off_t offset)
{
    uint64_t end = fake_pages.memory_end / 64 * 8;
    size_t most = fake_pages.longest_read > 0 ? fake_pages.longest_read : 4096;

    size = size < most ? size : most;
    if ((uint64_t)offset >= end)
        return 0;
    return size < end - (uint64_t)offset ? size : end - (uint64_t)offset;
}

static ssize_t write_bitmap(const uint64_t *words, size_t size, off_t offset)
{
    ck_assert_uint_eq(size % 8, 0);
    ck_assert_int_eq(offset % 8, 0);
    if ((uint64_t)offset * 8 >= fake_pages.memory_end) {
        errno = ENXIO;
        return -1;
    }
    for (size_t i = 0; i < (size < 4096 ? size : 4096) * 8; i++) {
        uint64_t pfn = (uint64_t)offset * 8 + i;
        if ((words[i / 64] >> i % 64 & 1) == 0 || pfn >= fake_pages.memory_end)
            continue;
        ck_assert_int_eq(hr_page_set_add(&fake_pages.written, pfn), 0);
        uint64_t flags = fake_pages_get("proc/kpageflags", pfn);
        if ((flags & LRU) != 0 && (flags & TAIL) == 0)
            fake_pages_set_idle(pfn, true);
    }
    return (ssize_t)cut(size, offset);
}

static ssize_t read_bitmap(int fd, void *buffer, size_t size, off_t offset)
{
    ck_assert_uint_eq(size % 8, 0);
    ck_assert_int_eq(offset % 8, 0);
    size = cut(size, offset);
    memset(buffer, 0, size);
    return __real_pread(fd, buffer, size, offset) < 0 ? -1 : (ssize_t)size;
}

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    int left = fake_pages.allocations_left;

    if (!is_bitmap(fd))
        return __real_pwrite(fd, buffer, size, offset);
    fake_pages.allocations_left = -1; /* those of the test itself never fail */
    ssize_t done = write_bitmap(buffer, size, offset);
    fake_pages.allocations_left = left;
    return done;
}

static ssize_t read_own_pagemap(uint64_t *entries, size_t size)
{
    for (size_t i = 0; i < size / sizeof(*entries); i++)
        entries[i] = fake_pages.own_entry;
    return (ssize_t)size;
}

/* Short reads return complete 64-bit words; texts, which are read from offset 0, aren't cut. */
ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset)
{
    int left = fake_pages.allocations_left;

    if (is_own_pagemap(fd))
        return read_own_pagemap(buffer, size);
    if (!is_bitmap(fd)) {
        if (fake_pages.longest_read > 0 && offset > 0 && size > fake_pages.longest_read)
            size = fake_pages.longest_read;
        ssize_t done = __real_pread(fd, buffer, size, offset);
        fake_pages.read_bytes += done > 0 ? (size_t)done : 0;
        return done;
    }
    fake_pages.allocations_left = -1;
    ssize_t got = read_bitmap(fd, buffer, size, offset);
    fake_pages.allocations_left = left;
    return got;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    *now = (struct timespec){.tv_sec = 1000};
    if (fake_pages.clock_reads_left-- <= 0 &&
        !(fake_pages.is_preempted && clock == CLOCK_THREAD_CPUTIME_ID))
        now->tv_sec += (time_t)(fake_pages.jump_ns / HR_NS_PER_S);
    return 0;
}

static bool is_short(void)
{
    return fake_pages.allocations_left >= 0 && fake_pages.allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_short() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_short() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *array, size_t count, size_t size)
{
    return is_short() ? NULL : __real_reallocarray(array, count, size);
}
