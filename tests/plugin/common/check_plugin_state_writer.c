/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_state_writer.c - a state file is written in a thread of its own.
 */
#include "common/state_writer.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_collectd.h"
#include "support/suite.h"

static struct state_writer *writer;
static sem_t begun, may_end; /* of writing */
static char written[64];     /* the texts, each with its number */

static void write_text(__attribute__((unused)) void *context, const struct state_text *text)
{
    sem_post(&begun);
    sem_wait(&may_end);
    const size_t used = strlen(written);
    snprintf(written + used, sizeof(written) - used, "%.*s%d ", (int)text->length, text->bytes,
             (int)text->number);
}

static void set_up(void)
{
    written[0] = '\0';
    sem_init(&begun, 0, 0);
    sem_init(&may_end, 0, 0);
    ck_assert_int_eq(state_writer_open("writer", write_text, NULL, &writer), 0);
}

static void put(const char *bytes, uint64_t number)
{
    const struct state_text text = {strdup(bytes), strlen(bytes), number};

    state_writer_put(writer, &text);
}

/* While the disk is stalled. */
START_TEST(lets_no_one_wait)
{
    put("a", 1);
    sem_wait(&begun);
    put("bb", 2);
    put("ccc", 3); /* takes its place */
    ck_assert_str_eq(written, "");
    sem_post(&may_end);
    sem_wait(&begun);
    ck_assert_str_eq(written, "a1 ");
    sem_post(&may_end);
    state_writer_close(writer);
    ck_assert_str_eq(written, "a1 ccc3 ");
}
END_TEST

START_TEST(writes_the_last_at_its_end)
{
    put("a", 1);
    sem_wait(&begun);
    put("b", 2);
    sem_post(&may_end);
    sem_post(&may_end);
    state_writer_close(writer);
    ck_assert_str_eq(written, "a1 b2 ");
}
END_TEST

START_TEST(ends_without_a_text)
{
    state_writer_close(writer);
    state_writer_close(NULL);
    ck_assert_str_eq(written, "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("state_writer");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, lets_no_one_wait);
    tcase_add_test(tests, writes_the_last_at_its_end);
    tcase_add_test(tests, ends_without_a_text);
    return run_suite("state_writer", tests);
}
