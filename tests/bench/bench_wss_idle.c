/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_wss_idle.c - the cost of measuring a working set by idle pages, as a ratio against
 * one page at a time, as in Brendan Gregg's wss-v1: a system call for each page's entry in pagemap,
 * and another one for its bit. (His program marks 64 pages with each call; here it is one.)
 *
 *     bench_wss_idle [MIB…]      default: 512
 *
 * Besides: of 512 MiB reserved, every second page is there. Where the kernel is asked which parts
 * of an address space have memory, that is the worst it can answer; it may take three times what
 * all of the pages take.
 *
 * Few kernels have the bitmap. In the emulated machine, from the build's directory:
 *
 *     HEADROOM_VM_CLOCK=real tests/vm/run KERNEL 600 'echo n >/sys/kernel/mm/lru_gen/enabled;
 * ./bench_wss_idle'
 *
 * which is why the numbers are printed as TAP. The limit is a tenth of the time, of marking and
 * reading together.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "memory/pagemap.h"
#include "support/toucher_process.h"

#define ROUNDS 5
#define BAR    10

#define PRESENT  ((uint64_t)1 << 63)
#define PFN_MASK (((uint64_t)1 << 55) - 1)

/* --- A page at a time ----------------------------------------------------- */

struct bare {
    int pagemap, bitmap;
    bool marks;
    uint64_t touched;
};

static void handle_page(struct bare *bare, uint64_t page)
{
    uint64_t entry = 0, word;

    if (pread(bare->pagemap, &entry, 8, (off_t)(page * 8)) != 8 || (entry & PRESENT) == 0)
        return;
    uint64_t pfn = entry & PFN_MASK, bit = (uint64_t)1 << pfn % 64;
    off_t offset = (off_t)(pfn / 64 * 8);
    if (bare->marks)
        require(pwrite(bare->bitmap, &bit, 8, offset) == 8, "mark");
    else
        bare->touched += pread(bare->bitmap, &word, 8, offset) == 8 && (word & bit) == 0;
}

/* @return how many pages were touched, if it doesn't mark. */
static uint64_t walk_bare(pid_t pid, bool marks)
{
    char path[64], line[4096];
    uint64_t start, end;

    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
    struct bare bare = {.marks = marks,
                        .pagemap = open(path, O_RDONLY | O_CLOEXEC),
                        .bitmap = open("/sys/kernel/mm/page_idle/bitmap", O_RDWR | O_CLOEXEC)};
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    require(bare.pagemap >= 0 && bare.bitmap >= 0 && maps != NULL, "the kernel's files");
    while (fgets(line, sizeof(line), maps) != NULL)
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && start >> 63 == 0)
            for (uint64_t page = start / 4096; page < end / 4096; page++)
                handle_page(&bare, page);
    fclose(maps);
    close(bare.bitmap);
    close(bare.pagemap);
    return bare.touched;
}

/* --- One row of the table ------------------------------------------------- */

struct row {
    double mark_ms[ROUNDS], read_ms[ROUNDS], sum_ms[ROUNDS];
    double mib;
};

static void measure_bare(pid_t pid, struct row *row, int round)
{
    double from = read_ms(CLOCK_MONOTONIC);
    walk_bare(pid, true);
    double marked = read_ms(CLOCK_MONOTONIC);
    row->mib = (double)walk_bare(pid, false) / 256;
    row->mark_ms[round] = marked - from;
    row->read_ms[round] = read_ms(CLOCK_MONOTONIC) - marked;
    row->sum_ms[round] = read_ms(CLOCK_MONOTONIC) - from;
}

static void measure_collector(struct hr_wss *wss, struct row *row, int round)
{
    struct hr_wss_sample sample;

    double from = read_ms(CLOCK_MONOTONIC);
    require(hr_wss_begin(wss, 1, NULL) == 0, "begin");
    double marked = read_ms(CLOCK_MONOTONIC);
    require(hr_wss_read(wss, 1, &sample, NULL) == 0, "read");
    row->mib = (double)sample.referenced_bytes / TOUCHER_MIB;
    row->mark_ms[round] = marked - from;
    row->read_ms[round] = read_ms(CLOCK_MONOTONIC) - marked;
    row->sum_ms[round] = read_ms(CLOCK_MONOTONIC) - from;
}

static void print_row(const char *name, struct row *row)
{
    printf("# %-16s %10.2f %10.2f %10.2f %10.2f\n", name, median(row->mark_ms, ROUNDS),
           median(row->read_ms, ROUNDS), median(row->sum_ms, ROUNDS), row->mib);
}

static void compare_with_bare(const struct hr_root *root, int mib, int number)
{
    struct toucher toucher = toucher_start(-1, "anon", mib, mib / 2, NULL);
    const struct hr_wss_options options = {
        .target = {.processes = {.by = HR_PROCESS_BY_PID, .pid = toucher.pid}},
        .method = HR_WSS_IDLE};
    struct row bare, ours;
    struct hr_wss *wss;

    require(hr_wss_open(root, &options, &wss, NULL) == 0, "the idle method");
    for (int round = 0; round < ROUNDS; round++) {
        measure_bare(toucher.pid, &bare, round);
        measure_collector(wss, &ours, round);
    }
    hr_wss_close(wss);
    toucher_end(&toucher);
    printf("# %d MiB            mark ms    read ms     sum ms touched MiB\n", mib);
    print_row("a page at a time", &bare);
    print_row("headroom", &ours);
    double ratio = median(bare.sum_ms, ROUNDS) / median(ours.sum_ms, ROUNDS);
    printf("%s %d - %d MiB: %.1f times as fast (the bar is %d)\n", ratio >= BAR ? "ok" : "not ok",
           number, mib, ratio, BAR);
    fflush(stdout);
}

/* --- Every second page ---------------------------------------------------- */

#define SPREAD_MIB 512
#define SPREAD_BAR 3

/* A process of our own, so that there is nothing else; it ends with us. @return its pid. */
static pid_t start_spread(size_t step)
{
    int ready[2];
    char byte;

    require(pipe(ready) == 0, "pipe");
    pid_t pid = fork();
    if (pid == 0) {
        const size_t size = (size_t)SPREAD_MIB << 20;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(memory, size, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < size; i += step)
            memory[i] = 1;
        require(write(ready[1], "", 1) == 1, "write");
        for (;;)
            pause();
    }
    require(read(ready[0], &byte, 1) == 1, "a process");
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static double walk_ms(const struct hr_root *root, pid_t pid)
{
    double took_ms[ROUNDS];
    struct hr_process process;

    require(hr_process_open(root, pid, &process) == 0, "the process");
    for (int round = 0; round < ROUNDS; round++) {
        struct hr_page_set pages = {0};
        double from = read_ms(CLOCK_MONOTONIC);
        require(hr_pagemap_read(&process, 0, &pages) == 0, "pagemap");
        took_ms[round] = read_ms(CLOCK_MONOTONIC) - from;
        hr_page_set_free(&pages);
    }
    hr_process_close(&process);
    return median(took_ms, ROUNDS);
}

static void compare_spread(const struct hr_root *root, int number)
{
    static const size_t steps[] = {4096, 8192};
    double took_ms[2];

    for (int i = 0; i < 2; i++) {
        pid_t pid = start_spread(steps[i]);
        took_ms[i] = walk_ms(root, pid);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    printf("%s %d - finding pages: all %.2f ms, every second one %.2f ms (the bar is %d times)\n",
           took_ms[1] <= SPREAD_BAR * took_ms[0] ? "ok" : "not ok", number, took_ms[0], took_ms[1],
           SPREAD_BAR);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct hr_reason reason;
    struct hr_root *root;

    require(hr_root_open("/", &root) == 0, "/");
    if (hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_PROCESSES, &reason) < 0) {
        printf("1..0 # SKIP %s\n", reason.text);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        compare_with_bare(root, atoi(argv[i]), i);
    if (argc == 1)
        compare_with_bare(root, 512, 1);
    compare_spread(root, argc > 1 ? argc : 2);
    printf("1..%d\n", argc > 1 ? argc : 2);
    hr_root_close(root);
    return 0;
}
