/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_records.c - pages of trace buffers. The contents of the recorded one are in
 * the text that the kernel itself printed of it (without task, CPU, flags and time of each record).
 * The others are made here, by include/linux/ring_buffer.h.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_pages.h"
#include "osnoise/records.h"
#include "support/suite.h"
#include "support/tree.h"

#define TRACING "sys/kernel/tracing"

#define COMMON "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

struct irq {
    struct nmi common;
    uint16_t desc_offset, desc_length;
    int32_t vector;
    char desc[200];
};

struct thread {
    uint16_t type;
    uint8_t flags, preempt_count;
    int32_t pid;
    char comm[16];
    uint64_t start, duration;
    int32_t of;
};

/* Decodes from memory of just that size. */
static int decode(struct hr_osnoise_decoder *decoder, const void *page, size_t size,
                  struct text *text, uint64_t *lost)
{
    void *exact = malloc(size);

    *text = (struct text){.length = 0};
    memcpy(exact, page, size);
    int status = hr_osnoise_decode(decoder, exact, size, print_record, text, lost);
    free(exact);
    return status;
}

static struct text text_of_test;

/* What a page of the recorded kernel has in it. */
static const char *text_of(struct page *page, uint64_t flags, int status, uint64_t lost)
{
    struct hr_osnoise_decoder *decoder = open_recorded();
    uint64_t lost_count = 0;
    size_t size = end_page(page, flags);

    ck_assert_int_eq(decode(decoder, page->bytes, size, &text_of_test, &lost_count), status);
    ck_assert_uint_eq(lost_count, lost);
    hr_osnoise_decoder_close(decoder);
    return text_of_test.bytes;
}

/* --- A recorded page ------------------------------------------------------ */

START_TEST(a_recorded_page_has_what_the_kernel_prints)
{
    static char page[8192], expected[65536];
    struct hr_osnoise_decoder *decoder = open_recorded();
    uint64_t lost = 3;

    ck_assert_uint_eq(hr_osnoise_decoder_page_size(decoder), 4096);
    size_t size = read_fixture("page", page, sizeof(page));
    size_t length = read_fixture("page.text", expected, sizeof(expected));
    ck_assert_int_eq(decode(decoder, page, size, &text_of_test, &lost), 0);
    ck_assert_uint_eq(text_of_test.length, length);
    ck_assert(memcmp(text_of_test.bytes, expected, length) == 0);
    ck_assert_uint_eq(text_of_test.record_count, 93);
    ck_assert_uint_eq(lost, 3 + 4417); /* its per_cpu/cpu1/stats: "overrun: 4417" */
    hr_osnoise_decoder_close(decoder);
}
END_TEST

/* Whatever the file gives is part of a page at best: used are 4060 bytes; 8 count the losses. */
START_TEST(a_page_that_is_cut_off_is_refused)
{
    static char page[8192];
    struct hr_osnoise_decoder *decoder = open_recorded();
    uint64_t lost = 0;

    read_fixture("page", page, sizeof(page));
    for (size_t size = 0; size < 16 + 4060 + 8; size++)
        ck_assert_int_eq(decode(decoder, page, size, &text_of_test, &lost), -EBADMSG);
    ck_assert_uint_eq(lost, 0);
    ck_assert_int_eq(decode(decoder, page, 16 + 4060 + 8, &text_of_test, &lost), 0);
    hr_osnoise_decoder_close(decoder);
}
END_TEST

/* Each is recorded when it has ended, which takes the emulated machine some 10 us: so no earlier,
 * and none before the one above it. */
static void check_time(const struct hr_osnoise_record *record, void *context)
{
    uint64_t *last_ns = context, end_ns = 0;

    if (record->type == HR_OSNOISE_RECORD_PART)
        end_ns = record->part.start_ns + record->part.duration_ns;
    else if (record->type == HR_OSNOISE_RECORD_SINGLE_NOISE)
        end_ns = record->single_noise.start_ns + record->single_noise.duration_ns;
    ck_assert_uint_ge(record->time_ns, end_ns);
    ck_assert_uint_ge(record->time_ns, *last_ns);
    if (record->type == HR_OSNOISE_RECORD_SINGLE_NOISE)
        ck_assert_uint_lt(record->time_ns, end_ns + 100000);
    *last_ns = record->time_ns;
}

START_TEST(records_have_their_times)
{
    static char page[8192];
    struct hr_osnoise_decoder *decoder = open_recorded();
    uint64_t lost = 0, last_ns = 0;

    size_t size = read_fixture("page", page, sizeof(page));
    ck_assert_int_eq(hr_osnoise_decode(decoder, page, size, check_time, &last_ns, &lost), 0);
    ck_assert_uint_gt(last_ns, 0);
    hr_osnoise_decoder_close(decoder);
}
END_TEST

static uint64_t times_ns[8];
static size_t time_count;

static void keep_time(const struct hr_osnoise_record *record, void *context)
{
    (void)context;
    times_ns[time_count++] = record->time_ns;
}

/* ring_buffer.c, rb_update_read_stamp(): padding has no time; each other event adds its own. */
START_TEST(times_are_added_up)
{
    struct hr_osnoise_decoder *decoder = open_recorded();
    struct page page = {.used = 0};
    const uint64_t begin_ns = 5000000000;
    uint64_t lost = 0;
    static const uint64_t expected[] = {1, 2, 2 + ((UINT64_C(0x12345) << 27) + 77) + 1};

    put_nmi(&page, 1); /* each 1 ns later than the one before */
    put_padding(&page, 20);
    put_nmi(&page, 2);
    put_time(&page, 30);
    put_nmi(&page, 3);
    put_time(&page, 31);
    put_nmi(&page, 4);
    memcpy(page.bytes, &begin_ns, sizeof(begin_ns));
    size_t size = end_page(&page, 0);
    ck_assert_int_eq(hr_osnoise_decode(decoder, page.bytes, size, keep_time, NULL, &lost), 0);
    ck_assert_uint_eq(time_count, 4);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(times_ns[i], begin_ns + expected[i]);
    ck_assert_uint_eq(times_ns[3], (UINT64_C(0x12345) << 27) + 77 + 1);
    hr_osnoise_decoder_close(decoder);
}
END_TEST

/* --- Functions ------------------------------------------------------------ */

/* As Linux 6.12 lays them out. */
static const struct {
    const char *event;
    uint16_t type;
    size_t function_at, size; /* of what is behind the common fields, in numbers of 64 bits */
} functions[] = {
    {"workqueue_execute_start", WORK_START, 1, 2},
    {"hrtimer_expire_entry", HRTIMER_EXPIRE, 2, 3},
    {"timer_expire_entry", TIMER_EXPIRE, 2, 4},
    {"csd_function_entry", CALL, 0, 2},
};

static void check_function(const struct hr_osnoise_record *record, void *context)
{
    const int i = *(int *)context;

    ck_assert_int_eq(record->type, HR_OSNOISE_RECORD_CAUSE);
    ck_assert_str_eq(record->event, functions[i].event);
    ck_assert_uint_eq(record->cause.function, 0xffffffff81249dd0);
    ck_assert_str_eq(record->cause.name, "");
    ck_assert_int_eq(record->pid, -93);
    ck_assert_uint_eq(record->flags, 0x19);
    ck_assert_uint_eq(record->preempt_count, 2);
    *(int *)context = -1;
}

/* Each field of a synthetic event has 8 bytes. */
static const struct {
    uint64_t flags;
    bool in_interrupt;
    bool is_other; /* the last request was another one */
} senders[] = {
    {0x01, false, false}, /* with interrupts off */
    {0x05, false, true},  /* and to be rescheduled */
    {0x09, true, false},  {0x10, true, false}, {0x18, true, false},
};

static void check_sender(const struct hr_osnoise_record *record, void *context)
{
    const struct hr_osnoise_ipi_sender *sender = &record->cause.sender;

    ck_assert_int_eq(record->type, HR_OSNOISE_RECORD_IPI);
    ck_assert_str_eq(record->event, "headroom_ipi");
    ck_assert_uint_eq(record->cause.function, 0xffffffff81249dd0);
    ck_assert_uint_eq(record->cause.request,
                      senders[*(int *)context].is_other ? 0 : 0xffff888012345678);
    ck_assert_int_eq(sender->pid, 423);
    ck_assert_uint_eq(sender->cpu, 255);
    ck_assert_int_eq(sender->in_interrupt, senders[*(int *)context].in_interrupt);
    *(int *)context = -1;
}

START_TEST(senders_are_found_by_their_names)
{
    struct hr_osnoise_decoder *decoder = open_recorded();
    struct page page = {.used = 0};
    const struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t numbers[6];
    } event = {IPI,
               0x19,
               2,
               -93,
               {0xffffffff81249dd0, 0xffff888012345678,
                senders[_i].is_other ? 0xffff888012345600 : 0xffff888012345678, 423,
                senders[_i].flags, 255}};
    uint64_t lost = 0;
    int i = _i;

    put_event(&page, &event, sizeof(event));
    size_t size = end_page(&page, 0);
    ck_assert_int_eq(hr_osnoise_decode(decoder, page.bytes, size, check_sender, &i, &lost), 0);
    ck_assert_int_eq(i, -1);
    hr_osnoise_decoder_close(decoder);
}
END_TEST

START_TEST(functions_are_found_by_their_names)
{
    struct hr_osnoise_decoder *decoder = open_recorded();
    struct page page = {.used = 0};
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t numbers[4];
    } event = {functions[_i].type, 0x19, 2, -93, {1, 1, 1, 1}};
    uint64_t lost = 0;
    int i = _i;

    event.numbers[functions[_i].function_at] = 0xffffffff81249dd0;
    put_event(&page, &event, 8 + 8 * functions[_i].size);
    size_t size = end_page(&page, 0);
    ck_assert_int_eq(hr_osnoise_decode(decoder, page.bytes, size, check_function, &i, &lost), 0);
    ck_assert_int_eq(i, -1);
    hr_osnoise_decoder_close(decoder);
}
END_TEST

/* --- Pages of every kind -------------------------------------------------- */

START_TEST(an_empty_page_has_nothing)
{
    struct page page = {.used = 0};

    ck_assert_str_eq(text_of(&page, 0, 0, 0), "");
}
END_TEST

START_TEST(what_isnt_a_record_is_passed_over)
{
    struct page page = {.used = 0};
    struct irq other = {.common = {.type = 4711}};

    put_time(&page, 30);
    put_nmi(&page, 1);
    put_padding(&page, 20);
    put_padding(&page, 0);
    put_nmi(&page, 2);
    put_time(&page, 31);
    put_event(&page, &other, 8);
    put_event(&page, &other, 112);
    put_nmi(&page, 3);
    put_padding(&page, 4);
    ck_assert_str_eq(text_of(&page, 0, 0, 0), NMI_TEXT("1") NMI_TEXT("2") NMI_TEXT("3"));
}
END_TEST

START_TEST(a_long_event_has_its_length_in_a_word_of_its_own)
{
    struct page page = {.used = 0};
    struct irq irq = {{.type = IRQ_NOISE, .start = 1, .duration = 2}, 32, 200, -1, ""};

    memset(irq.desc, 'x', 150);
    put_long_event(&page, &irq, sizeof(irq));
    put_nmi(&page, 7);
    const char *text = text_of(&page, 0, 0, 0);
    ck_assert_uint_eq(strspn(text + strlen("irq_noise: "), "x"), HR_OSNOISE_NAME - 1);
    ck_assert_ptr_nonnull(strstr(text, "x:-1 start 0.000000001 duration 2 ns\n" NMI_TEXT("7")));
}
END_TEST

START_TEST(losses_are_reported)
{
    struct page page = {.used = 0};
    uint64_t count = UINT64_C(1) << 33;

    put_nmi(&page, 1);
    ck_assert_str_eq(text_of(&page, MISSED, 0, 1), NMI_TEXT("1"));
    text_of(&page, STORED, 0, 0); /* has no meaning without the other */

    struct hr_osnoise_decoder *decoder = open_recorded();
    uint64_t lost = 0;
    size_t size = end_page(&page, MISSED | STORED);
    memcpy(page.bytes + size, &count, sizeof(count));
    ck_assert_int_eq(decode(decoder, page.bytes, size + 8, &text_of_test, &lost), 0);
    ck_assert_uint_eq(lost, count);
    ck_assert_int_eq(decode(decoder, page.bytes, size + 7, &text_of_test, &lost), -EBADMSG);
    ck_assert_uint_eq(text_of_test.record_count, 0);
    hr_osnoise_decoder_close(decoder);
}
END_TEST

/* Wrong lengths, after a good record: `words` are what follows it. */
static const struct {
    const char *name;
    uint32_t words[8];
    size_t count;
} wrong[] = {
    {"data beyond the end", {(1 << 5) | 6, NMI_NOISE, 0, 0, 0, 0}, 6},
    {"nothing but a head", {(1 << 5) | 28}, 1},
    {"a long event without length", {1 << 5}, 1},
    {"a long event without data", {1 << 5, 4, 0}, 3},
    {"a long event shorter than its length", {1 << 5, 0}, 2},
    {"a long event beyond the end", {1 << 5, 4 + 12, NMI_NOISE, 0}, 4},
    {"a long event that is endless", {1 << 5, 0xfffffffc, NMI_NOISE, 0}, 4},
    {"a long event that ends between words", {1 << 5, 7, NMI_NOISE}, 3},
    {"zeros", {0, 0, 0}, 3},
    {"padding without length", {(1 << 5) | 29}, 1},
    {"padding of nothing", {(1 << 5) | 29, 0, 0}, 3},
    {"padding beyond the end", {(1 << 5) | 29, 12, 0}, 3},
    {"padding that is endless", {(1 << 5) | 29, 0xfffffffc, 0}, 3},
    {"half of a time", {(1 << 5) | 30}, 1},
    {"half of a time stamp", {(1 << 5) | 31}, 1},
    {"a record shorter than its fields", {(1 << 5) | 5, NMI_NOISE, 0, 0, 0, 0}, 6},
    {"a sample shorter than its fields", {(1 << 5) | 6, OSNOISE, 0, 0, 0, 0, 0}, 7},
};

START_TEST(wrong_lengths_are_refused)
{
    struct page page = {.used = 0};

    put_nmi(&page, 1);
    for (size_t i = 0; i < wrong[_i].count; i++)
        put_word(&page, wrong[_i].words[i]);
    ck_assert_msg(strcmp(text_of(&page, MISSED, -EBADMSG, 1), NMI_TEXT("1")) == 0, "%s",
                  wrong[_i].name);
}
END_TEST

/* --- Names ---------------------------------------------------------------- */

static const struct {
    const char *name;
    uint16_t offset, length;
    const char *desc, *expected; /* NULL: refused */
} descriptions[] = {
    {"as always", 32, 8, "virtio0", "virtio0"},
    {"empty", 32, 1, "", ""},
    {"of no length", 32, 0, "junk", ""},
    {"not terminated", 32, 4, "abcdefgh", "abcd"},
    {"somewhere else", 36, 8, "abcdefg", "efg"},
    {"up to the end", 32, 40, "", ""},
    {"beyond the end", 32, 41, "abc", NULL},
    {"from beyond the end", 73, 0, "abc", NULL},
    {"from far beyond the end", 0xffff, 0xffff, "abc", NULL},
};

START_TEST(a_description_is_where_its_field_says)
{
    struct page page = {.used = 0};
    struct irq irq = {{.type = IRQ_NOISE, .start = 1, .duration = 2},
                      descriptions[_i].offset,
                      descriptions[_i].length,
                      236,
                      ""};
    char expected[128] = "";

    strcpy(irq.desc, descriptions[_i].desc);
    put_event(&page, &irq, 32 + 40);
    if (descriptions[_i].expected != NULL)
        snprintf(expected, sizeof(expected), "irq_noise: %s:236 start 0.000000001 duration 2 ns\n",
                 descriptions[_i].expected);
    ck_assert_msg(strcmp(text_of(&page, 0, expected[0] == '\0' ? -EBADMSG : 0, 0), expected) == 0,
                  "%s: %s", descriptions[_i].name, text_of_test.bytes);
}
END_TEST

START_TEST(a_task_name_need_not_be_terminated)
{
    struct page page = {.used = 0};
    struct thread thread = {.type = THREAD_NOISE, .start = 1, .duration = 2, .of = 4194304};

    memcpy(thread.comm, "0123456789abcdef", 16);
    put_event(&page, &thread, 44);
    ck_assert_str_eq(text_of(&page, 0, 0, 0), "thread_noise: 0123456789abcdef:4194304 "
                                              "start 0.000000001 duration 2 ns\n");
}
END_TEST

/* "#7     context    irq timer_latency      2964 ns" and so on, byte by byte. */
START_TEST(latencies_are_of_a_context)
{
    static const unsigned char irq[] = {17, 0, 1, 2, 125,  0,    0, 0, 7, 0, 0, 0,
                                        0,  0, 0, 0, 0x94, 0x0b, 0, 0, 0, 0, 0, 0};
    static const unsigned char thread[] = {17, 0, 0, 1, 125,  0,    0, 0, 7, 0, 0, 0,
                                           1,  0, 0, 0, 0xa0, 0x45, 0, 0, 1, 0, 0, 0};
    struct page page = {.used = 0};

    put_event(&page, irq, sizeof(irq));
    put_event(&page, thread, sizeof(thread));
    put_latency(&page, UINT32_MAX, 2, UINT64_MAX);
    ck_assert_str_eq(text_of(&page, 0, 0, 0),
                     "#7     context    irq timer_latency      2964 ns\n"
                     "#7     context thread timer_latency 4294985120 ns\n"
                     "#4294967295 context user-ret timer_latency 18446744073709551615 ns\n");
}
END_TEST

START_TEST(softirqs_have_names)
{
    static const struct {
        int vector;
        const char *name;
    } softirqs[] = {{0, "HI"},      {1, "TIMER"},    {2, "NET_TX"},  {3, "NET_RX"},
                    {4, "BLOCK"},   {5, "IRQ_POLL"}, {6, "TASKLET"}, {7, "SCHED"},
                    {8, "HRTIMER"}, {9, "RCU"},      {10, "10"},     {-1, "-1"}};
    char name[HR_OSNOISE_NAME];

    for (size_t i = 0; i < sizeof(softirqs) / sizeof(softirqs[0]); i++) {
        hr_osnoise_softirq_name(softirqs[i].vector, name);
        ck_assert_str_eq(name, softirqs[i].name);
    }
}
END_TEST

/* --- Other kernels -------------------------------------------------------- */

static void write_format(struct tree *tree, const char *event, int id, const char *fields)
{
    char path[256];

    snprintf(path, sizeof(path), TRACING "/events/%s/format", event);
    tree_write(tree, path, "name: %s\nID: %d\nformat:\n" COMMON "\n%s\nprint fmt: \"x\"\n",
               strchr(event, '/') + 1, id, fields);
}

#define FIELD(type, offset, size)                                                                  \
    "\tfield:" type ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

/* A kernel in which all is elsewhere, and of other sizes. */
static struct tree *other_kernel(void)
{
    struct tree *tree = tree_new();

    tree_write(tree, TRACING "/events/header_page", "%s",
               "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
               "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
               "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
               "\tfield: char data;\toffset:16;\tsize:65520;\tsigned:0;\n");
    write_format(tree, "ftrace/osnoise", 1,
                 FIELD("u16 thread_count", 4, 2) FIELD("u8 softirq_count", 6, 1)
                     FIELD("u8 irq_count", 7, 1) FIELD("u32 nmi_count", 8, 4)
                         FIELD("u64 hw_count", 16, 8) FIELD("u32 max_sample", 24, 4)
                             FIELD("u32 runtime", 28, 4) FIELD("u16 noise", 2, 2));
    write_format(tree, "osnoise/sample_threshold", 2,
                 FIELD("u8 interference", 2, 1) FIELD("u32 duration", 4, 4)
                     FIELD("u64 start", 8, 8));
    write_format(tree, "osnoise/irq_noise", 3,
                 FIELD("__rel_loc char[] desc", 4, 4) FIELD("int vector", 8, 4)
                     FIELD("u64 start", 16, 8) FIELD("u64 duration", 24, 8));
    write_format(tree, "osnoise/softirq_noise", 4,
                 FIELD("u8 vector", 2, 1) FIELD("u32 start", 4, 4) FIELD("u32 duration", 8, 4));
    write_format(tree, "osnoise/thread_noise", 5,
                 FIELD("__data_loc char[] comm", 4, 4) FIELD("u32 start", 8, 4)
                     FIELD("u32 duration", 12, 4) FIELD("pid_t pid", 16, 4));
    write_format(tree, "osnoise/nmi_noise", 6,
                 FIELD("u16 duration", 2, 2) FIELD("u32 start", 4, 4));
    return tree;
}

static int open_tree(const struct tree *tree, struct hr_osnoise_decoder **decoder,
                     struct hr_reason *reason)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/" TRACING, tree_path(tree));
    struct hr_tracefs tracefs = open_tracefs(path);
    int status = hr_osnoise_decoder_open(&tracefs, decoder, reason);
    close(tracefs.fd);
    return status;
}

START_TEST(fields_are_found_by_their_names)
{
    const struct {
        uint16_t id, noise, thread_count;
        uint8_t softirq_count, irq_count;
        uint32_t nmi_count, pad;
        uint64_t hw_count;
        uint32_t max_sample, runtime;
    } sample = {1, 250, 15, 14, 13, 12, 0, 11, 99, 1000};
    const struct {
        uint16_t id;
        uint8_t interference, pad;
        uint32_t duration;
        uint64_t start;
    } single_noise = {2, 200, 0, 4000000000, 1000000002};
    const struct {
        uint16_t id, pad, from, length;
        int32_t vector, pad2;
        uint64_t start, duration;
        char desc[8];
    } irq = {3, 0, 24, 8, 236, 0, 3, 4, "eth0"};
    const struct {
        uint16_t id;
        uint8_t vector, pad;
        uint32_t start, duration;
    } softirq = {4, 9, 0, 5, 6};
    const struct {
        uint16_t id, pad, from, length;
        uint32_t start, duration;
        int32_t pid;
        char comm[8];
    } thread = {5, 0, 20, 8, 7, 8, 321, "bash"};
    const struct {
        uint16_t id, duration;
        uint32_t start;
    } nmi = {6, 9, 10};
    struct tree *tree = other_kernel();
    struct page page = {.used = 0};
    struct hr_osnoise_decoder *decoder;
    uint64_t lost = 0;

    put_event(&page, &sample, sizeof(sample));
    put_event(&page, &single_noise, sizeof(single_noise));
    put_event(&page, &irq, sizeof(irq));
    put_event(&page, &softirq, sizeof(softirq));
    put_event(&page, &thread, sizeof(thread));
    put_event(&page, &nmi, sizeof(nmi));
    ck_assert_int_eq(open_tree(tree, &decoder, NULL), 0);
    ck_assert_uint_eq(hr_osnoise_decoder_page_size(decoder), 65536);
    ck_assert_int_eq(decode(decoder, page.bytes, end_page(&page, 0), &text_of_test, &lost), 0);
    ck_assert_str_eq(text_of_test.bytes,
                     "1000        250  75.00000      99     11     12     13     14     15\n"
                     "sample_threshold: start 1.000000002 duration 4000000000 ns interference 200\n"
                     "irq_noise: eth0:236 start 0.000000003 duration 4 ns\n"
                     "softirq_noise:      RCU:9 start 0.000000005 duration 6 ns\n"
                     "thread_noise:     bash:321 start 0.000000007 duration 8 ns\n"
                     "nmi_noise: start 0.000000010 duration 9 ns\n");
    hr_osnoise_decoder_close(decoder);
    tree_free(tree);
}
END_TEST

static void add_up(const struct hr_osnoise_record *record, void *context)
{
    *(uint64_t *)context += record->part.duration_ns;
}

/* As large as Linux 6.8 and later can make them. */
START_TEST(a_page_may_be_large)
{
    static unsigned char large[65536];
    struct tree *tree = other_kernel();
    struct hr_osnoise_decoder *decoder;
    const uint32_t event[] = {(1 << 5) | 2, 6 | 9 << 16, 10};
    uint64_t lost = 0, commit = 65520;

    memcpy(large + 8, &commit, sizeof(commit));
    for (size_t at = 16; at < sizeof(large); at += sizeof(event))
        memcpy(large + at, event, sizeof(event));
    ck_assert_int_eq(open_tree(tree, &decoder, NULL), 0);
    uint64_t sum_ns = 0;
    ck_assert_int_eq(hr_osnoise_decode(decoder, large, sizeof(large), add_up, &sum_ns, &lost), 0);
    ck_assert_uint_eq(sum_ns, 65520 / 12 * 9);
    hr_osnoise_decoder_close(decoder);
    tree_free(tree);
}
END_TEST

/* Of each event one field, renamed or made into what isn't understood. */
static const struct {
    const char *event, *fields, *expected;
} lacking[] = {
    {"ftrace/osnoise", FIELD("u64 runtime", 8, 8) FIELD("u64 noise", 16, 8), "ftrace:osnoise"},
    {"ftrace/osnoise", FIELD("u64 runtime", 8, 8) FIELD("u64 noise", 16, 8), "max_sample"},
    {"osnoise/sample_threshold", FIELD("u64 start", 8, 8) FIELD("u64 duration", 16, 8),
     "interference"},
    {"osnoise/irq_noise",
     FIELD("u64 start", 8, 8) FIELD("u64 duration", 16, 8) FIELD("int vector", 24, 4), "desc"},
    {"osnoise/irq_noise",
     FIELD("u64 start", 8, 8) FIELD("u64 duration", 16, 8) FIELD("int vector", 24, 4)
         FIELD("int desc", 28, 4),
     "desc"},
    {"osnoise/softirq_noise", FIELD("u64 start", 8, 8) FIELD("int vector", 24, 4), "duration"},
    {"osnoise/thread_noise",
     FIELD("char comm[16]", 8, 16) FIELD("u64 start", 24, 8) FIELD("u64 duration", 32, 8), "pid"},
    {"osnoise/nmi_noise", FIELD("u64 start", 8, 3) FIELD("u64 duration", 16, 8), "start"},
    {"osnoise/nmi_noise", FIELD("u64 start[2]", 8, 16) FIELD("u64 duration", 24, 8), "start"},
};

START_TEST(a_field_that_is_missing_is_named)
{
    struct tree *tree = other_kernel();
    struct hr_osnoise_decoder *decoder = NULL;
    struct hr_reason reason = {0};

    write_format(tree, lacking[_i].event, 9, lacking[_i].fields);
    ck_assert_int_eq(open_tree(tree, &decoder, &reason), -EBADMSG);
    ck_assert_ptr_null(decoder);
    ck_assert_int_eq(reason.error, -EBADMSG);
    ck_assert_msg(strstr(reason.text, lacking[_i].expected) != NULL, "%s", reason.text);
    ck_assert_ptr_nonnull(strstr(reason.text, strchr(lacking[_i].event, '/') + 1));
    tree_free(tree);
}
END_TEST

START_TEST(an_event_that_is_missing_is_named)
{
    struct tree *tree = other_kernel();
    struct hr_osnoise_decoder *decoder = NULL;
    struct hr_reason reason = {0};

    tree_remove(tree, TRACING "/events/osnoise/softirq_noise");
    ck_assert_int_eq(open_tree(tree, &decoder, &reason), -ENOENT);
    ck_assert_str_eq(reason.text, "the kernel has no events/osnoise/softirq_noise/format in "
                                  "tracefs: it needs CONFIG_OSNOISE_TRACER");
    tree_remove(tree, TRACING "/events/osnoise");
    ck_assert_int_eq(open_tree(tree, &decoder, NULL), -ENOENT);
    tree_remove(tree, TRACING "/events");
    ck_assert_int_eq(open_tree(tree, &decoder, NULL), -ENOENT);
    ck_assert_ptr_null(decoder);
    tree_free(tree);
}
END_TEST

START_TEST(a_format_that_is_no_format_is_named)
{
    struct tree *tree = other_kernel();
    struct hr_osnoise_decoder *decoder = NULL;
    struct hr_reason reason = {0};

    tree_write(tree, TRACING "/events/osnoise/thread_noise/format", "%s", "gibberish {\n");
    ck_assert_int_eq(open_tree(tree, &decoder, &reason), -EBADMSG);
    ck_assert_msg(strstr(reason.text, "osnoise:thread_noise") != NULL, "%s", reason.text);
    ck_assert_ptr_null(decoder);
    tree_free(tree);
}
END_TEST

START_TEST(a_page_header_that_is_none_is_refused)
{
    struct tree *tree = other_kernel();
    struct hr_osnoise_decoder *decoder = NULL;
    struct hr_reason reason = {0};

    tree_write(tree, TRACING "/events/header_page", "%s", "gibberish\n");
    ck_assert_int_eq(open_tree(tree, &decoder, &reason), -EBADMSG);
    ck_assert_msg(strstr(reason.text, "header_page") != NULL, "%s", reason.text);
    ck_assert_ptr_null(decoder);
    tree_free(tree);
}
END_TEST

/* How an event is to be printed is nothing to us. Nothing is printed here, either. */
START_TEST(what_is_not_needed_may_be_what_it_likes)
{
    struct tree *tree = other_kernel();
    struct hr_osnoise_decoder *decoder;
    char path[512];

    tree_write(tree, TRACING "/events/osnoise/nmi_noise/format",
               "name: nmi_noise\nID: 6\nformat:\n" COMMON "\n" FIELD("u16 duration", 2, 2)
                   FIELD("u32 start", 4, 4) "\nprint fmt: \"%%d\", __new_function(REC->x");
    snprintf(path, sizeof(path), "%s/errors", tree_path(tree));
    int saved = dup(STDERR_FILENO), errors = open(path, O_RDWR | O_CREAT, 0600);
    dup2(errors, STDERR_FILENO);
    int status = open_tree(tree, &decoder, NULL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq((int)lseek(errors, 0, SEEK_END), 0);
    close(errors);
    close(saved);
    hr_osnoise_decoder_close(decoder);
    tree_free(tree);
}
END_TEST

static TCase *pages(void)
{
    TCase *tests = tcase_create("records");

    tcase_add_test(tests, a_recorded_page_has_what_the_kernel_prints);
    tcase_add_test(tests, a_page_that_is_cut_off_is_refused);
    tcase_add_test(tests, records_have_their_times);
    tcase_add_test(tests, times_are_added_up);
    tcase_add_loop_test(tests, functions_are_found_by_their_names, 0, COUNT(functions));
    tcase_add_loop_test(tests, senders_are_found_by_their_names, 0, COUNT(senders));
    tcase_add_test(tests, an_empty_page_has_nothing);
    tcase_add_test(tests, what_isnt_a_record_is_passed_over);
    tcase_add_test(tests, a_long_event_has_its_length_in_a_word_of_its_own);
    tcase_add_test(tests, losses_are_reported);
    tcase_add_loop_test(tests, wrong_lengths_are_refused, 0, COUNT(wrong));
    tcase_add_loop_test(tests, a_description_is_where_its_field_says, 0, COUNT(descriptions));
    tcase_add_test(tests, a_task_name_need_not_be_terminated);
    tcase_add_test(tests, latencies_are_of_a_context);
    tcase_add_test(tests, softirqs_have_names);
    tcase_add_test(tests, fields_are_found_by_their_names);
    tcase_add_test(tests, a_page_may_be_large);
    tcase_add_loop_test(tests, a_field_that_is_missing_is_named, 0, COUNT(lacking));
    tcase_add_test(tests, an_event_that_is_missing_is_named);
    tcase_add_test(tests, a_format_that_is_no_format_is_named);
    tcase_add_test(tests, a_page_header_that_is_none_is_refused);
    tcase_add_test(tests, what_is_not_needed_may_be_what_it_likes);
    return tests;
}

int main(void)
{
    return run_suite("osnoise_records", pages());
}
