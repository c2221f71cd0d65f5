/* SPDX-License-Identifier: MIT */
/*
 * osnoise/osnoise_pages.h - pages of trace buffers, recorded or made by hand, and their text as the
 * kernel prints it. Pages are made by include/linux/ring_buffer.h. Any error in here fails the
 * test.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_OSNOISE_OSNOISE_PAGES_H
#define HEADROOM_TESTS_COLLECTORS_OSNOISE_OSNOISE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "osnoise/records.h"

/* IDs of events in the recorded kernel. */
enum {
    OSNOISE = 16,
    TIMERLAT,
    SAMPLE_THRESHOLD = 216,
    NMI_NOISE,
    IRQ_NOISE,
    SOFTIRQ_NOISE,
    THREAD_NOISE
};
enum { WORK_START = 83, HRTIMER_EXPIRE = 164, TIMER_EXPIRE = 170, CALL = 192, IPI = 693 };

/* Flags of a page: records were overwritten before it, and how many stands at its end. */
#define MISSED (UINT64_C(1) << 31)
#define STORED (UINT64_C(1) << 30)

/** Opens a directory as tracefs; the caller closes it. */
struct hr_tracefs open_tracefs(const char *path);

/** The path of a file in fixtures/osnoise/6.12-singles. */
void fixture_path(const char *file, char path[512]);

/** Reads such a file, and terminates it. @return its length. */
size_t read_fixture(const char *file, char *buffer, size_t size);

/** Opens a decoder of that kernel. */
struct hr_osnoise_decoder *open_recorded(void);

/** Records as text. All zeros is none. */
struct text {
    char bytes[65536];
    size_t length;
    size_t record_count;
};

/** Prints a record behind a text, as the kernel would but for task, CPU, flags and time. Is to be
 * called by hr_osnoise_decode(). @param text  struct text. */
void print_record(const struct hr_osnoise_record *record, void *text);

struct page {
    _Alignas(8) unsigned char bytes[4096];
    size_t used; /* of what is behind its 16 bytes */
};

void put_word(struct page *page, uint32_t word);

/** An event of up to 112 bytes. */
void put_event(struct page *page, const void *data, size_t size);

/** Likewise of any length. */
void put_long_event(struct page *page, const void *data, size_t size);

/** Padding with so many bytes behind its first eight. */
void put_padding(struct page *page, uint32_t size);

/** @param type  30: how much time went by; 31: the time. */
void put_time(struct page *page, uint32_t type);

struct nmi {
    uint16_t type;
    uint8_t flags, preempt_count;
    int32_t pid;
    uint64_t start, duration;
};

/** nmi_noise of the recorded kernel, and its text. */
void put_nmi(struct page *page, uint64_t duration);

#define NMI_TEXT(duration) "nmi_noise: start 5.000000007 duration " duration " ns\n"

/** A latency of timerlat in the recorded kernel. @param context  0: irq, 1: thread, 2: user. */
void put_latency(struct page *page, uint32_t number, uint32_t context, uint64_t ns);

/** Writes how much of the page is used, and flags. @return how many bytes it has. */
size_t end_page(struct page *page, uint64_t flags);

#endif
