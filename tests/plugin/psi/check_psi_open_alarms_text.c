/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_open_alarms_text.c - the state file of open alarms: its text, and which
 * files are ignored.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/psi/open_alarms_harness.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

/* --- The text ------------------------------------------------------------- */

START_TEST(parses_a_text)
{
    struct open_alarms_text parsed;
    struct psi_rule rule;

    ck_assert_int_eq(open_alarms_parse(&psi_open_alarms_format, GOOD, strlen(GOOD), &parsed), 0);
    ck_assert_str_eq(parsed.boot_id, BOOT_ID);
    const struct open_alarm *alarm = TAILQ_FIRST(&parsed.list);
    psi_open_alarm_rule(alarm, &rule);
    ck_assert_str_eq(rule.name, "m");
    ck_assert_str_eq(rule.type_instance, "trigger_m");
    ck_assert_int_eq(rule.trigger.resource, HR_PSI_MEMORY);
    ck_assert_int_eq(rule.trigger.level, HR_PSI_SOME);
    ck_assert_str_eq(alarm->instance, "a_b.service");
    ck_assert_str_eq(alarm->path, "a/b.service");
    ck_assert_int_eq(alarm->sent, ALARM_SENT);
    ck_assert_uint_eq(alarm->id, 0);
    alarm = TAILQ_NEXT(alarm, entry);
    psi_open_alarm_rule(alarm, &rule);
    ck_assert_str_eq(rule.name, "c");
    ck_assert_int_eq(rule.trigger.resource, HR_PSI_CPU);
    ck_assert_int_eq(rule.trigger.level, HR_PSI_FULL);
    ck_assert_int_eq(alarm->sent, ALARM_INHERITED);
    ck_assert_ptr_null(alarm->path);
    ck_assert_ptr_null(TAILQ_NEXT(alarm, entry));
    open_alarms_free_list(&parsed.list);
    ck_assert(TAILQ_EMPTY(&parsed.list));
}
END_TEST

#define NAME_64      "0123456789012345678901234567890123456789012345678901234567890123"
#define INSTANCE_127 NAME_64 "012345678901234567890123456789012345678901234567890123456789012"

/* Part of a good text, and what it is replaced by. */
static const struct {
    const char *good, *replacement;
    int status;
} texts[] = {
    {"alarms 1", "alarms 2", -EBADMSG},
    {"headroom's", "something else's", -EBADMSG},
    {HEAD, "", -EBADMSG},
    {BOOT, "", -EBADMSG},
    {BOOT, BOOT BOOT, -EBADMSG},
    {"boot 6", "boot ", -EBADMSG},
    {"boot 6", "boot 66", -EBADMSG},
    {"boot 6", "boot G", -EBADMSG},
    {"boot 6", "boot  6", -EBADMSG},
    {"m\tmemory", "\tmemory", -EBADMSG},
    {"m\tmemory", "memory", -EBADMSG},
    {"m\tmemory", "m memory", -EBADMSG},
    {"m\tmemory", NAME_64 "\tmemory", 0},
    {"m\tmemory", NAME_64 "4\tmemory", -EBADMSG},
    {"m\tmemory", "end\tmemory", 0},
    {"memory", "Memory", -EBADMSG},
    {"memory", "", -EBADMSG},
    {"memory", "disk", -EBADMSG},
    {"memory", "irq", 0},
    {"some", "none", -EBADMSG},
    {"some", "some ", -EBADMSG},
    {"some\topen", "some", -EBADMSG},
    {"open\t", "\t", -EBADMSG},
    {"open\t", "opened\t", -EBADMSG},
    {"open\t", "Open\t", -EBADMSG},
    {"open\t", "open \t", -EBADMSG},
    {"open\t", "begins\t", 0},
    {"open\t", "4711\t", -EBADMSG},
    {"a_b.service", "", -EBADMSG},
    {"a_b.service", INSTANCE_127, 0},
    {"a_b.service", INSTANCE_127 "3", -EBADMSG},
    {"\ta_b.service\ta/b.service", "", -EBADMSG},
    {"a/b.service", "a/b\tc\t", 0},
    {"a/b.service", "\033\377 \r\"", 0},
    {ALARM, "", 0},
    {ALARM, ALARM ALARM, 0},
    {ALARM SYSTEM, "", 0},
    {ALARM, "\n", -EBADMSG},
    {SYSTEM, "c\tcpu\tfull\topen\n", -EBADMSG},
    {"end\n", "", -EBADMSG},
    {"end\n", "end", -EBADMSG},
    {"end\n", "end\n\n", -EBADMSG},
    {"end\n", "end\n" SYSTEM, -EBADMSG},
    {"end\n", "end\nend\n", -EBADMSG},
    {"end\n", "end \n", -EBADMSG},
};

START_TEST(refuses_other_text)
{
    struct open_alarms_text parsed;
    char text[1024];
    const char *at = strstr(GOOD, texts[_i].good);

    ck_assert_msg(at != NULL, "%s", texts[_i].good);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - GOOD), GOOD, texts[_i].replacement,
             at + strlen(texts[_i].good));
    ck_assert_msg(open_alarms_parse(&psi_open_alarms_format, text, strlen(text), &parsed) ==
                      texts[_i].status,
                  "%s", text);
    ck_assert(texts[_i].status == 0 || TAILQ_EMPTY(&parsed.list));
    open_alarms_free_list(&parsed.list);
}
END_TEST

START_TEST(one_that_is_cut_off_or_has_zeros_is_none)
{
    struct open_alarms_text parsed;
    char text[] = GOOD;

    for (size_t cut = 0; cut < strlen(GOOD); cut++) {
        char *copy = malloc(cut + 1); /* of just this size, so that reading past it is seen */
        memcpy(copy, GOOD, cut);
        ck_assert_int_eq(open_alarms_parse(&psi_open_alarms_format, copy, cut, &parsed), -EBADMSG);
        ck_assert(TAILQ_EMPTY(&parsed.list));
        free(copy);
    }
    for (size_t at = 0; at < strlen(GOOD); at++) {
        text[at] = '\0';
        ck_assert_int_eq(open_alarms_parse(&psi_open_alarms_format, text, strlen(GOOD), &parsed),
                         -EBADMSG);
        text[at] = GOOD[at];
    }
    ck_assert_int_eq(open_alarms_parse(&psi_open_alarms_format, GOOD, sizeof(GOOD), &parsed),
                     -EBADMSG);
}
END_TEST

/* All bytes but newlines, which the kernel doesn't allow in names. */
static void print_any_bytes(char *any)
{
    for (int byte = 1; byte < 256; byte++)
        if (byte != '\n')
            *any++ = (char)byte;
    *any = '\0';
}

START_TEST(reads_what_it_wrote)
{
    char any[256], longest[PATH_MAX];
    const struct psi_subject subjects[] = {
        {&of_memory, "tabs", "a\tb/\t\tc\t"},
        {&of_memory, "tab", "\t"},
        {&of_memory, "any", any},
        {&of_memory, "longest", longest},
        {&of_memory, "boot", "end"},
        {&of_memory, "empty", ""},
        {&of_cpu, "system", NULL},
    };

    print_any_bytes(any);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    open_alarms();
    open_alarms_begin(alarms);
    for (int i = 0; i < COUNT(subjects); i++)
        psi_open_alarms_add(alarms, &subjects[i], i % 2 == 0 ? ALARM_SENT : ALARM_UNSENT);
    open_alarms_commit(alarms);
    close_alarms();
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), COUNT(subjects));
    for (int i = COUNT(subjects) - 1; i >= 0; i--) {
        ck_assert(claim(&subjects[i]));
        ck_assert_int_eq(claimed_sent, i % 2 == 0 ? ALARM_SENT : ALARM_INHERITED);
        ck_assert(!claim(&subjects[i]));
    }
    ck_assert_uint_eq(count_unclaimed(), 0);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* --- Files that aren't ours ------------------------------------------------- */

static void make_symlink(void)
{
    ck_assert_int_eq(symlink("/dev/null", path), 0);
}

static void make_fifo(void)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void make_foreign(void)
{
    put(GOOD);
    ck_assert_int_eq(chown(path, 65534, 0), 0);
}

static void make_writable_by_group(void)
{
    put(GOOD);
    ck_assert_int_eq(chmod(path, 0660), 0);
}

static void make_writable_by_others(void)
{
    put(GOOD);
    ck_assert_int_eq(chmod(path, 0602), 0);
}

static void make_bad(void)
{
    put(HEAD BOOT ALARM);
}

static void make_empty(void)
{
    put("%s", "");
}

static void make_too_long(void)
{
    put(GOOD);
    ck_assert_int_eq(truncate(path, 16 * 1024 * 1024), 0);
}

#define NOT_OURS "it may have been written by another user, or isn't a file"
#define NOT_TEXT "it isn't what this plugin writes"

static const struct {
    void (*make)(void);
    const char *cause;
    bool needs_root;
} unusable[] = {
    {make_symlink, NOT_OURS, false},
    {make_fifo, NOT_OURS, false},
    {make_foreign, NOT_OURS, true},
    {make_writable_by_group, NOT_OURS, false},
    {make_writable_by_others, NOT_OURS, false},
    {make_bad, NOT_TEXT, false},
    {make_empty, NOT_TEXT, false},
    {make_too_long, NOT_TEXT, false},
};

START_TEST(ignores_files_that_it_did_not_write)
{
    char expected[512];

    if (unusable[_i].needs_root && geteuid() != 0)
        return;
    unusable[_i].make();
    open_alarms();
    snprintf(
        expected, sizeof(expected),
        "warning: psi: the open alarms of collectd's previous run are lost, as %s can't be used: "
        "%s. Close alarms that are still open at the receivers by hand.",
        path, unusable[_i].cause);
    ck_assert_str_eq(fake_log(0), expected);
    ck_assert_uint_eq(count_unclaimed(), 0);
    ck_assert(!claim(&group));
    save(&group, NULL);
    close_alarms();
    assert_file(HEAD "%s" ALARM "end\n", our_boot); /* it has been replaced */
    ck_assert_ptr_null(fake_log(1));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    add_open_alarms_fixture(tests);
    tcase_add_test(tests, parses_a_text);
    tcase_add_loop_test(tests, refuses_other_text, 0, COUNT(texts));
    tcase_add_test(tests, one_that_is_cut_off_or_has_zeros_is_none);
    tcase_add_test(tests, reads_what_it_wrote);
    tcase_add_loop_test(tests, ignores_files_that_it_did_not_write, 0, COUNT(unusable));
    return run_suite("psi open alarms text", tests);
}
