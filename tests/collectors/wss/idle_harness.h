/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/idle_harness.h - common parts of the tests of the idle method: a machine in a
 * tree of files, with the page frames of fake_pages.h, and scenes: pages of processes and cgroups.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_WSS_IDLE_HARNESS_H
#define HEADROOM_TESTS_COLLECTORS_WSS_IDLE_HARNESS_H

#include "collectors/wss/fake_pages.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

extern struct tree *tree;
extern struct hr_root *root;
extern struct hr_wss *wss;
extern struct hr_reason reason;
extern struct hr_wss_sample sample;
extern uint64_t page_size;

/* A machine with the processes 1 and 42, "mysqld", neither of which has any pages. */
void set_up(void);
void tear_down(void);

/* A process without maps, and its maps: the 16 pages at 64 KiB, of which none is present. */
void add_process(int pid, const char *name);
void add_maps(int pid);

/* Opens the method. */
void open_wss(const struct hr_wss_target *target, uint64_t max_scan_ns);
void open_process(void); /* 42 */
void open_group(void);   /* "a" */

/* Reads, which must work. @return the pages touched. */
uint64_t read_pages(void);

/* Pages side by side, in addresses and in memory. */
struct pages {
    uint64_t address, entry; /* without the page frame */
    uint64_t pfn;
    unsigned count;
    uint64_t first_flags, flags; /* of the first one, and of the others */
    enum { ALWAYS, GONE, FRESH } when;
    enum { LEFT_ALONE, TOUCHED } what;
    uint64_t head; /* the page whose bit must be written; 0: none */
};

#define MAX_ROWS 5

struct scene {
    const char *what;
    unsigned referenced;
    struct pages rows[MAX_ROWS];
};

/* The next row that has pages; NULL: there is none. */
const struct pages *next_row(const struct scene *scene, size_t *index);

/* Gives a process the pages that it has initially, or later. */
void place(int pid, const struct scene *scene, bool later);

/* Gives the pages of a scene to 42, opens it, and begins. */
void begin_scene(const struct scene *scene);

/* Charges a page to a group; NULL: to none. */
void charge(const char *group, uint64_t pfn, uint64_t flags);

/* Adds a process to a group, with the pages of a scene. */
void add_member(const char *group, int pid, const struct scene *scene);

/* Groups "a", with two below, and "ab" beside it, and pages of these. */
void set_groups(void);

#endif
