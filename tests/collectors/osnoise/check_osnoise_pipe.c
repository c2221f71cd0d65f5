/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_pipe.c - reading the trace buffers of CPUs.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_pages.h"
#include "osnoise/pipe.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"
#include "support/tree.h"

#define TRACING "sys/kernel/tracing"

static struct text text_of_test;

#define BUFFERS TRACING "/instances/ours/per_cpu"

static void write_buffer(const struct tree *tree, unsigned cpu, const struct page *pages,
                         size_t count)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/" BUFFERS "/cpu%u", tree_path(tree), cpu);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    strcat(path, "/trace_pipe_raw");
    FILE *stream = fopen(path, "w");
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(fwrite(pages[i].bytes, sizeof(pages[i].bytes), 1, stream), 1);
    fclose(stream);
}

/* A tree in which instances/ours has buffers of the recorded kernel. */
struct buffers {
    struct tree *tree;
    struct hr_tracefs tracefs;
    struct hr_osnoise_decoder *decoder;
    struct hr_osnoise_pipe *pipe;
};

static void make_buffers(struct buffers *buffers)
{
    char path[512];

    buffers->tree = tree_new();
    tree_add_directory(buffers->tree, BUFFERS);
    snprintf(path, sizeof(path), "%s/" TRACING, tree_path(buffers->tree));
    buffers->tracefs = open_tracefs(path);
    buffers->decoder = open_recorded();
}

static void open_pipe(struct buffers *buffers, const char *list)
{
    struct hr_cpu_set cpus;

    ck_assert_int_eq(hr_cpu_set_parse(list, strlen(list), &cpus), 0);
    ck_assert_int_eq(hr_osnoise_pipe_open(&buffers->tracefs, "ours", &cpus, &cpus, buffers->decoder,
                                          &buffers->pipe),
                     0);
}

static int read_pipe(struct buffers *buffers, unsigned cpu, uint64_t *lost)
{
    text_of_test = (struct text){.length = 0};
    return hr_osnoise_pipe_read(buffers->pipe, &buffers->tracefs, cpu, print_record, &text_of_test,
                                lost);
}

static void free_buffers(struct buffers *buffers)
{
    hr_osnoise_pipe_close(buffers->pipe);
    hr_osnoise_decoder_close(buffers->decoder);
    close(buffers->tracefs.fd);
    tree_free(buffers->tree);
}

static struct page page_of(uint64_t duration, uint64_t flags)
{
    struct page page = {.used = 0};

    put_nmi(&page, duration);
    end_page(&page, flags);
    return page;
}

START_TEST(a_buffer_is_read_to_its_end)
{
    struct buffers buffers;
    struct page of_1[] = {page_of(1, 0), page_of(2, MISSED), page_of(3, MISSED)};
    struct page of_8191[] = {page_of(4, 0)};
    uint64_t lost;

    make_buffers(&buffers);
    write_buffer(buffers.tree, 1, of_1, 3);
    write_buffer(buffers.tree, 8191, of_8191, 1);
    open_pipe(&buffers, "1,8191");
    ck_assert_int_eq(read_pipe(&buffers, 1, &lost), 0);
    ck_assert_str_eq(text_of_test.bytes, NMI_TEXT("1") NMI_TEXT("2") NMI_TEXT("3"));
    ck_assert_uint_eq(lost, 2);
    ck_assert_int_eq(read_pipe(&buffers, 8191, &lost), 0);
    ck_assert_str_eq(text_of_test.bytes, NMI_TEXT("4"));
    ck_assert_uint_eq(lost, 0);
    ck_assert_int_eq(read_pipe(&buffers, 1, &lost), 0);
    ck_assert_str_eq(text_of_test.bytes, "");
    ck_assert_uint_eq(lost, 0);
    free_buffers(&buffers);
}
END_TEST

/* The caller must know of a loss before it gets what follows. */
struct order {
    const uint64_t *lost;
    uint64_t seen[3];
    size_t count;
};

static void note_losses(const struct hr_osnoise_record *record, void *context)
{
    struct order *order = context;

    ck_assert_uint_eq(record->part.duration_ns, order->count + 1);
    order->seen[order->count++] = *order->lost;
}

START_TEST(losses_are_reported_before_what_follows)
{
    struct buffers buffers;
    struct page pages[] = {page_of(1, 0), page_of(2, MISSED), page_of(3, 0)};
    uint64_t lost = 77;
    struct order order = {.lost = &lost};

    make_buffers(&buffers);
    write_buffer(buffers.tree, 0, pages, 3);
    open_pipe(&buffers, "0");
    ck_assert_int_eq(
        hr_osnoise_pipe_read(buffers.pipe, &buffers.tracefs, 0, note_losses, &order, &lost), 0);
    ck_assert_uint_eq(order.seen[0], 0);
    ck_assert_uint_eq(order.seen[1], 1);
    ck_assert_uint_eq(order.seen[2], 1);
    free_buffers(&buffers);
}
END_TEST

START_TEST(a_broken_page_takes_no_other_along)
{
    struct buffers buffers;
    struct page pages[] = {page_of(1, 0), page_of(2, 5000), page_of(3, 0)};
    uint64_t lost;

    make_buffers(&buffers);
    write_buffer(buffers.tree, 0, pages, 3);
    open_pipe(&buffers, "0");
    ck_assert_int_eq(read_pipe(&buffers, 0, &lost), -EBADMSG);
    ck_assert_str_eq(text_of_test.bytes, NMI_TEXT("1") NMI_TEXT("3"));
    ck_assert_uint_eq(lost, 1);
    ck_assert_int_eq(read_pipe(&buffers, 0, &lost), 0);
    ck_assert_uint_eq(lost, 0);
    free_buffers(&buffers);
}
END_TEST

START_TEST(a_buffer_that_cannot_be_opened_is_tried_again)
{
    struct buffers buffers;
    struct page page = page_of(1, 0);
    uint64_t lost = 77;

    make_buffers(&buffers);
    open_pipe(&buffers, "0-1");
    ck_assert_int_eq(read_pipe(&buffers, 1, &lost), -ENOENT);
    ck_assert_uint_eq(lost, 0);
    write_buffer(buffers.tree, 1, &page, 1);
    ck_assert_int_eq(read_pipe(&buffers, 1, &lost), 0);
    ck_assert_str_eq(text_of_test.bytes, NMI_TEXT("1"));
    ck_assert_int_eq(read_pipe(&buffers, 1, &lost), 0); /* it was kept, and is at its end */
    ck_assert_str_eq(text_of_test.bytes, "");
    free_buffers(&buffers);
}
END_TEST

/* A regular file that is reopened is read from its beginning. */
START_TEST(short_of_descriptors_buffers_are_closed_after_use)
{
    struct buffers buffers;
    struct page page = page_of(1, 0);
    struct rlimit limit;
    uint64_t lost;

    make_buffers(&buffers);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        write_buffer(buffers.tree, cpu, &page, 1);
    getrlimit(RLIMIT_NOFILE, &limit);
    leave_descriptors(2);
    int before = count_descriptors();
    open_pipe(&buffers, "0-3");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        ck_assert_int_eq(read_pipe(&buffers, cpu % 4, &lost), 0);
        ck_assert_str_eq(text_of_test.bytes, NMI_TEXT("1"));
    }
    ck_assert_int_eq(count_descriptors(), before);
    setrlimit(RLIMIT_NOFILE, &limit);
    free_buffers(&buffers);
}
END_TEST

START_TEST(an_instance_may_have_larger_pages)
{
    struct buffers buffers;
    struct page pages[2] = {{.used = 0}};
    uint64_t lost;

    make_buffers(&buffers);
    tree_write(buffers.tree, TRACING "/instances/ours/buffer_subbuf_size_kb", "8\n");
    put_nmi(&pages[0], 1);
    put_padding(&pages[0], 4096 - 16 - 28 - 8);
    uint64_t commit = pages[0].used;
    struct page end = page_of(2, 0);
    memcpy(pages[1].bytes, end.bytes + 16, 28); /* goes on where the first leaves off */
    commit += 28;
    memcpy(pages[0].bytes + 8, &commit, sizeof(commit));
    write_buffer(buffers.tree, 0, pages, 2);
    open_pipe(&buffers, "0");
    ck_assert_int_eq(read_pipe(&buffers, 0, &lost), 0);
    ck_assert_str_eq(text_of_test.bytes, NMI_TEXT("1") NMI_TEXT("2"));
    free_buffers(&buffers);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("pipe");

    tcase_add_test(tests, a_buffer_is_read_to_its_end);
    tcase_add_test(tests, losses_are_reported_before_what_follows);
    tcase_add_test(tests, a_broken_page_takes_no_other_along);
    tcase_add_test(tests, a_buffer_that_cannot_be_opened_is_tried_again);
    tcase_add_test(tests, short_of_descriptors_buffers_are_closed_after_use);
    tcase_add_test(tests, an_instance_may_have_larger_pages);
    return run_suite("osnoise_pipe", tests);
}
