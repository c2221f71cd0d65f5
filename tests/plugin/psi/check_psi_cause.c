/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_cause.c - the texts of causes.
 */
#include <check.h>
#include <string.h>

#include "headroom/stall_hour.h"
#include "psi/cause.h"
#include "support/suite.h"

static const struct {
    struct hr_stall_cause cause;
    const char *text;
} rows[] = {
    {{.kind = HR_STALL_OWN_LIMIT,
      .stalled_us = 1180400,
      .limit_kind = HR_STALL_CPU_MAX,
      .limit = 0.5},
     "its own limit (cpu.max 0.5: throttled 1180 ms)"},
    {{.kind = HR_STALL_OWN_LIMIT,
      .event_count = 1,
      .limit_kind = HR_STALL_MEMORY_HIGH,
      .limit = 4096},
     "its own limit (memory.high 4 KiB reached 1 time)"},
    {{.kind = HR_STALL_OWN_LIMIT,
      .limit_kind = HR_STALL_IO_MAX,
      .limit = 2097152,
      .io = HR_STALL_WRITTEN_BYTES,
      .device_major = 8,
      .device_minor = 16},
     "its own limit (io.max 8:16 wbps=2097152: reached)"},
    {{.kind = HR_STALL_ANCESTOR_LIMIT,
      .event_count = 12,
      .limit_kind = HR_STALL_MEMORY_MAX,
      .limit = 256 << 20,
      .group = "kubepods.slice"},
     "the limit of kubepods.slice (memory.max 256 MiB reached 12 times)"},
    {{.kind = HR_STALL_ANCESTOR_LIMIT,
      .event_count = 12,
      .limit_kind = HR_STALL_MEMORY_MAX,
      .limit = 1536 << 20,
      .group = "a\033\xff"},
     "the limit of a?? (memory.max 1.5 GiB reached 12 times)"},
    /* Version 1 has other files. */
    {{.kind = HR_STALL_OWN_LIMIT,
      .stalled_us = 1180400,
      .limit_kind = HR_STALL_CPU_MAX,
      .version = 1,
      .limit = 0.5},
     "its own limit (cpu.cfs_quota_us 0.5: throttled 1180 ms)"},
    {{.kind = HR_STALL_OWN_LIMIT,
      .event_count = 2,
      .limit_kind = HR_STALL_MEMORY_MAX,
      .version = 1,
      .limit = 4096},
     "its own limit (memory.limit_in_bytes 4 KiB reached 2 times)"},
    {{.kind = HR_STALL_LIMITS_BELOW, .version = 1, .stalled_us = 180000},
     "limits of groups below it (cpu.cfs_quota_us: throttled 180 ms)"},
    {{.kind = HR_STALL_LIMITS_BELOW, .stalled_us = 180000},
     "limits of groups below it (cpu.max: throttled 180 ms)"},
    {{.kind = HR_STALL_LIMITS_BELOW, .event_count = 12},
     "limits of groups below it (memory: reached 12 times)"},
    {{.kind = HR_STALL_NEIGHBOURS, .stalled_us = 240000}, "neighbours (240 ms)"},
    {{.kind = HR_STALL_NEIGHBOURS}, "neighbours"},
    {{.kind = HR_STALL_ITSELF, .stalled_us = 1999}, "itself (1 ms)"}, /* never rounded up */
    {{.kind = HR_STALL_ITSELF, .stalled_us = 999}, "itself"},
    {{.kind = HR_STALL_HYPERVISOR, .stalled_us = 300000}, "the hypervisor (steal 300 ms)"},
    {{.kind = HR_STALL_INTERRUPTS, .stalled_us = 300000}, "interrupts (300 ms)"},
    {{.kind = HR_STALL_MACHINE_RECLAIM, .event_count = 9},
     "the machine is short of memory (reclaim)"},
};

START_TEST(prints_each_kind)
{
    struct hr_stall_causes causes = {.count = 1};
    char text[256];

    causes.list[0] = rows[_i].cause;
    size_t length = psi_cause_print(&causes, text, sizeof(text));
    ck_assert_str_eq(text, rows[_i].text);
    ck_assert_uint_eq(length, strlen(text));
}
END_TEST

/* percent-cpu-by-limit is what an alert calls a limit: its text has the word of the series. */
START_TEST(has_the_words_of_the_series)
{
    bool seen[HR_STALL_PART_COUNT] = {[HR_STALL_BY_UNKNOWN] = true}; /* the rest: in no alert */

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const enum hr_stall_part part = hr_stall_part_of(rows[i].cause.kind);
        const char *word = hr_stall_part_name(part);
        if (strcmp(word, "irq") == 0)
            word = "interrupts"; /* irq is the name of the kernel's file, too */
        ck_assert_msg(strstr(rows[i].text, word) != NULL, "\"%s\" isn't in \"%s\"", word,
                      rows[i].text);
        seen[part] = true;
    }
    for (int i = 0; i < HR_STALL_PART_COUNT; i++)
        ck_assert_msg(seen[i], "no text is of by-%s", hr_stall_part_name(i));
}
END_TEST

START_TEST(prints_as_many_as_fit)
{
    const struct hr_stall_causes causes = {
        .count = 2,
        .list = {{.kind = HR_STALL_NEIGHBOURS, .stalled_us = 240000},
                 {.kind = HR_STALL_ITSELF, .stalled_us = 60000}},
    };
    static const char both[] = "neighbours (240 ms), itself (60 ms)";
    char text[sizeof(both)];

    ck_assert_uint_eq(psi_cause_print(&causes, text, sizeof(text)), strlen(both));
    ck_assert_str_eq(text, both);
    psi_cause_print(&causes, text, sizeof(both) - 1);
    ck_assert_str_eq(text, "neighbours (240 ms)");
    ck_assert_uint_eq(psi_cause_print(&causes, text, 5), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(prints_nothing_where_nothing_is_known)
{
    const struct hr_stall_causes causes = {0};
    char text[8] = "before";

    ck_assert_uint_eq(psi_cause_print(&causes, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(the_longest_name_fits)
{
    struct hr_stall_causes causes = {.count = 1};
    char text[1024];

    causes.list[0] = rows[3].cause;
    memset(causes.list[0].group, 'x', sizeof(causes.list[0].group) - 1);
    psi_cause_print(&causes, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "xx (memory.max 256 MiB reached 12 times)"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("cause");

    tcase_add_loop_test(tests, prints_each_kind, 0, sizeof(rows) / sizeof(*rows));
    tcase_add_test(tests, has_the_words_of_the_series);
    tcase_add_test(tests, prints_as_many_as_fit);
    tcase_add_test(tests, prints_nothing_where_nothing_is_known);
    tcase_add_test(tests, the_longest_name_fits);
    return run_suite("psi_cause", tests);
}
