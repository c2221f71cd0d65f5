/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/fake_pages.h - page frames in a tree of files, with a bitmap of idle pages that
 * behaves like the kernel's: writing sets only bits of first pages of folios that are on an LRU
 * list, and it ends with the memory.
 *
 * For programs linked with --wrap of pread, pwrite, clock_gettime, malloc, calloc and
 * reallocarray. Any failure in here fails the test.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_WSS_FAKE_PAGES_H
#define HEADROOM_TESTS_COLLECTORS_WSS_FAKE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "memory/page_set.h"
#include "support/tree.h"

/* Of pagemap. */
#define PRESENT  ((uint64_t)1 << 63)
#define SWAPPED  ((uint64_t)1 << 62)
#define FILE_BIT ((uint64_t)1 << 61)
#define DIRTY    ((uint64_t)1 << 55)

/* Of kpageflags. */
#define LRU      ((uint64_t)1 << 5)
#define MAPPED   ((uint64_t)1 << 11)
#define HEAD     ((uint64_t)1 << 15)
#define TAIL     ((uint64_t)1 << 16)
#define HUGETLB  ((uint64_t)1 << 17)
#define POISONED ((uint64_t)1 << 19)
#define NOPAGE   ((uint64_t)1 << 20)
#define THP      ((uint64_t)1 << 22)
#define ZERO     ((uint64_t)1 << 24)
#define RESERVED ((uint64_t)1 << 32)
#define PLAIN    (LRU | MAPPED)

#define BITMAP "sys/kernel/mm/page_idle/bitmap"
#define TIB    ((uint64_t)1 << 28) /* the page frame at 1 TiB */
#define MEMORY (64 * TIB)

struct fake_pages {
    struct hr_page_set written; /* all bits that were ever written */
    uint64_t memory_end;        /* the first page frame that doesn't exist */
    size_t longest_read;        /* in bytes; 0: unlimited */
    size_t read_bytes;          /* that were read so far, but for the bitmap */
    uint64_t jump_ns;           /* by which the clock jumps */
    bool is_preempted;          /* by which only the clocks of threads don't jump */
    int clock_reads_left;       /* readings of the clock until it jumps */
    int allocations_left;       /* until one fails; -1: none does */
    ino_t own_inode;            /* of proc/self/pagemap, if it has any entries: all are own_entry */
    uint64_t own_entry;
};

extern struct fake_pages fake_pages;

/** Resets everything; memory ends at 64 TiB. */
void fake_pages_begin(struct tree *tree);

/** Frees the record of written bits. */
void fake_pages_end(void);

/** Writes or reads one of the 64-bit numbers of a file. */
void fake_pages_put(const char *path, uint64_t index, uint64_t value);
uint64_t fake_pages_get(const char *path, uint64_t index);

/** Sets all entries of proc/self/pagemap: a variable may be anywhere, as sanitizers move it. */
void fake_pages_set_own(uint64_t entry);

/** A page's bit in the bitmap. */
bool fake_pages_is_idle(uint64_t pfn);
void fake_pages_set_idle(uint64_t pfn, bool idle);

#endif
