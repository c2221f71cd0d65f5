/* SPDX-License-Identifier: MIT */
#include "collectors/perf_event/perf_event_harness.h"

#include <stdlib.h>
#include <string.h>

struct tree *tree;
struct hr_root *root;
struct hr_perf_vocabulary *vocabulary;
struct hr_perf_event *event;
struct hr_perf_event_error error;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    vocabulary = NULL;
    event = NULL;
    memset(&error, 0, sizeof(error));
}

static void tear_down(void)
{
    hr_perf_event_free(event);
    hr_perf_vocabulary_close(vocabulary);
    hr_root_close(root);
    tree_free(tree);
}

void open_vocabulary(const char *machine)
{
    if (machine != NULL)
        event_source_add(tree, machine, EVENT_SOURCE_LINKS);
    ck_assert_int_eq(hr_perf_vocabulary_open(root, &vocabulary), 0);
}

int find_event(const char *text)
{
    hr_perf_event_free(event);
    event = NULL;
    memset(&error, 0, sizeof(error));
    return hr_perf_event_find(vocabulary, text, &event, &error);
}

void assert_found(const char *text)
{
    int status = find_event(text);

    ck_assert_msg(status == 0, "%s: %d, %s", text, status, error.reason);
}

void assert_error(const char *text, int status, const char *reason)
{
    struct hr_perf_event *untouched = (struct hr_perf_event *)&error;
    struct hr_perf_event *made = untouched;
    int is = hr_perf_event_find(vocabulary, text, &made, &error);

    ck_assert_msg(is == status, "%s: %d, %s", text, is, error.reason);
    ck_assert_str_eq(error.reason, reason);
    ck_assert_ptr_eq(made, untouched);
}

TCase *perf_event_tests(void)
{
    TCase *tests = tcase_create("perf_event");

    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* enables events of other CPUs */
    tcase_add_checked_fixture(tests, set_up, tear_down);
    return tests;
}
