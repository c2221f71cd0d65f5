/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_open_alarms.c - the state file of open alarms: its text, which files are
 * ignored, which alarm goes on after a restart or a reboot, and what is written when.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "psi/open_alarms.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define BOOT_ID      "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11"
#define HEAD         "headroom's open pressure alarms 1\n"
#define BOOT         "boot " BOOT_ID "\n"
#define ALARM        "m\tmemory\tsome\t4711\ta_b.service\ta/b.service\n"
#define SYSTEM       "c\tcpu\tfull\t0\tsystem\n"
#define GOOD         HEAD BOOT ALARM SYSTEM "end\n"
#define PATIENCE_MS  20000

static char folder[64], path[128], new_path[160], our_boot[64];
static struct psi_open_alarms *alarms;

static const struct psi_rule of_memory = {
    .name = "m", .trigger = {.resource = HR_PSI_MEMORY, .level = HR_PSI_SOME}};
static const struct psi_rule of_cpu = {.name = "c",
                                       .trigger = {.resource = HR_PSI_CPU, .level = HR_PSI_FULL}};
static const struct psi_subject group = {&of_memory, "a_b.service", "a/b.service"};
static const struct psi_subject other = {&of_memory, "other", "other"};
static const struct psi_subject machine = {&of_cpu, "system", NULL};

static void set_up(void)
{
    char boot_id[HR_BOOT_ID_LENGTH + 1];

    fake_start_parts();
    snprintf(folder, sizeof(folder), "/tmp/check_psi_open_alarms.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/psi.state", folder);
    snprintf(new_path, sizeof(new_path), "%s.new", path);
    ck_assert_int_eq(hr_boot_id_read(boot_id), 0);
    snprintf(our_boot, sizeof(our_boot), "boot %s\n", boot_id);
    alarms = NULL;
}

static void tear_down(void)
{
    psi_open_alarms_close(alarms);
    remove(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is in it */
    fake_stop();
}

/* --- Files ---------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    FILE *stream = fopen(path, "w");
    va_list arguments;

    ck_assert_ptr_nonnull(stream);
    va_start(arguments, format);
    ck_assert_int_ge(vfprintf(stream, format, arguments), 0);
    va_end(arguments);
    fclose(stream);
    ck_assert_int_eq(chmod(path, 0600), 0);
}

__attribute__((format(printf, 1, 2))) static void assert_file(const char *format, ...)
{
    char expected[16384], text[16384];
    FILE *stream = fopen(path, "r");
    va_list arguments;

    ck_assert_ptr_nonnull(stream);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    va_start(arguments, format);
    vsnprintf(expected, sizeof(expected), format, arguments);
    va_end(arguments);
    ck_assert_str_eq(text, expected);
}

static void open_alarms(void)
{
    ck_assert_int_eq(psi_open_alarms_open(path, &alarms), 0);
}

static void close_alarms(void)
{
    psi_open_alarms_close(alarms);
    alarms = NULL;
}

/* Commits the open alarms: a subject each, or NULL. */
static void save(const struct psi_subject *first, const struct psi_subject *second)
{
    psi_open_alarms_begin(alarms);
    if (first != NULL)
        psi_open_alarms_add(alarms, first, 4711);
    if (second != NULL)
        psi_open_alarms_add(alarms, second, 0);
    psi_open_alarms_commit(alarms);
}

static void await_log(const char *text)
{
    for (int waited = 0; fake_logs(0, text) == 0; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

static size_t count_unclaimed(void)
{
    size_t count = 0;

    for (const struct psi_open_alarm *alarm = psi_open_alarms_unclaimed(alarms); alarm != NULL;
         alarm = TAILQ_NEXT(alarm, entry))
        count++;
    return count;
}

/* --- The text ------------------------------------------------------------- */

START_TEST(parses_a_text)
{
    struct psi_open_alarms_text parsed;

    ck_assert_int_eq(psi_open_alarms_parse(GOOD, strlen(GOOD), &parsed), 0);
    ck_assert_str_eq(parsed.boot_id, BOOT_ID);
    const struct psi_open_alarm *alarm = TAILQ_FIRST(&parsed.list);
    ck_assert_str_eq(alarm->rule.name, "m");
    ck_assert_str_eq(alarm->rule.type_instance, "trigger_m");
    ck_assert_int_eq(alarm->rule.trigger.resource, HR_PSI_MEMORY);
    ck_assert_int_eq(alarm->rule.trigger.level, HR_PSI_SOME);
    ck_assert_str_eq(alarm->instance, "a_b.service");
    ck_assert_str_eq(alarm->path, "a/b.service");
    ck_assert_uint_eq(alarm->inode, 4711);
    ck_assert_uint_eq(alarm->id, 0);
    alarm = TAILQ_NEXT(alarm, entry);
    ck_assert_str_eq(alarm->rule.name, "c");
    ck_assert_int_eq(alarm->rule.trigger.resource, HR_PSI_CPU);
    ck_assert_int_eq(alarm->rule.trigger.level, HR_PSI_FULL);
    ck_assert_ptr_null(alarm->path);
    ck_assert_ptr_null(TAILQ_NEXT(alarm, entry));
    psi_open_alarms_free_list(&parsed.list);
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
    {"some\t4711", "some", -EBADMSG},
    {"4711", "", -EBADMSG},
    {"4711", "-4711", -EBADMSG},
    {"4711", "+4711", -EBADMSG},
    {"4711", " 4711", -EBADMSG},
    {"4711", "4711 ", -EBADMSG},
    {"4711", "0x4711", -EBADMSG},
    {"4711", "18446744073709551615", 0},
    {"4711", "18446744073709551616", -EBADMSG},
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
    {SYSTEM, "c\tcpu\tfull\t0\n", -EBADMSG},
    {"end\n", "", -EBADMSG},
    {"end\n", "end", -EBADMSG},
    {"end\n", "end\n\n", -EBADMSG},
    {"end\n", "end\n" SYSTEM, -EBADMSG},
    {"end\n", "end\nend\n", -EBADMSG},
    {"end\n", "end \n", -EBADMSG},
};

START_TEST(refuses_other_text)
{
    struct psi_open_alarms_text parsed;
    char text[1024];
    const char *at = strstr(GOOD, texts[_i].good);

    ck_assert_msg(at != NULL, "%s", texts[_i].good);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - GOOD), GOOD, texts[_i].replacement,
             at + strlen(texts[_i].good));
    ck_assert_msg(psi_open_alarms_parse(text, strlen(text), &parsed) == texts[_i].status, "%s",
                  text);
    ck_assert(texts[_i].status == 0 || TAILQ_EMPTY(&parsed.list));
    psi_open_alarms_free_list(&parsed.list);
}
END_TEST

START_TEST(one_that_is_cut_off_or_has_zeros_is_none)
{
    struct psi_open_alarms_text parsed;
    char text[] = GOOD;

    for (size_t cut = 0; cut < strlen(GOOD); cut++) {
        char *copy = malloc(cut + 1); /* of just this size, so that reading past it is seen */
        memcpy(copy, GOOD, cut);
        ck_assert_int_eq(psi_open_alarms_parse(copy, cut, &parsed), -EBADMSG);
        ck_assert(TAILQ_EMPTY(&parsed.list));
        free(copy);
    }
    for (size_t at = 0; at < strlen(GOOD); at++) {
        text[at] = '\0';
        ck_assert_int_eq(psi_open_alarms_parse(text, strlen(GOOD), &parsed), -EBADMSG);
        text[at] = GOOD[at];
    }
    ck_assert_int_eq(psi_open_alarms_parse(GOOD, sizeof(GOOD), &parsed), -EBADMSG);
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
        {&of_memory, "tabs", "a\tb/\t\tc\t"}, {&of_memory, "tab", "\t"}, {&of_memory, "any", any},
        {&of_cpu, "longest", longest},        {&of_cpu, "boot", "end"},  {&of_cpu, "empty", ""},
        {&of_memory, "system", NULL},         {&of_cpu, "system", NULL},
    };

    print_any_bytes(any);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    open_alarms();
    psi_open_alarms_begin(alarms);
    for (int i = 0; i < COUNT(subjects); i++)
        psi_open_alarms_add(alarms, &subjects[i], UINT64_MAX - (uint64_t)i);
    psi_open_alarms_commit(alarms);
    close_alarms();
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), COUNT(subjects));
    for (int i = COUNT(subjects) - 1; i >= 0; i--) {
        ck_assert(psi_open_alarms_claim(alarms, &subjects[i]));
        ck_assert(!psi_open_alarms_claim(alarms, &subjects[i]));
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
    snprintf(expected, sizeof(expected),
             "warning: psi: the open alarms of the run before are lost, as %s can't be used: %s. "
             "Alarms that it left open at the receivers must be closed there.",
             path, unusable[_i].cause);
    ck_assert_str_eq(fake_log(0), expected);
    ck_assert_uint_eq(count_unclaimed(), 0);
    ck_assert(!psi_open_alarms_claim(alarms, &group));
    save(&group, NULL);
    close_alarms();
    assert_file(HEAD "%s" ALARM "end\n", our_boot); /* it has been replaced */
    ck_assert_ptr_null(fake_log(1));
}
END_TEST

/* --- The alarms of the run before ------------------------------------------- */

static const struct psi_rule of_io = {.name = "io"};
static const struct psi_subject claimant_of_io = {&of_io, "a_b.service", "a/b.service"};
static const struct psi_subject machine_of_memory = {&of_memory, "system", NULL};

static const struct psi_subject group_made_again = {&of_memory, "a_b.service", "a/again.service"};
static const struct psi_rule same_name = {.name = "m", .trigger = {.resource = HR_PSI_CPU}};
static const struct psi_subject other_resource = {&same_name, "a_b.service", "a/b.service"};

static const struct {
    const struct psi_subject *subject;
    bool goes_on;
} claims[] = {
    {&group, true},
    {&group_made_again, true},
    {&other, false},
    {&claimant_of_io, false},
    {&other_resource, false},
    {&machine, true},
    {&machine_of_memory, false},
};

START_TEST(alarms_go_on_after_a_restart)
{
    put(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), 2);
    ck_assert(psi_open_alarms_claim(alarms, claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
    ck_assert(!psi_open_alarms_claim(alarms, claims[_i].subject));
}
END_TEST

START_TEST(alarms_go_on_after_a_reboot)
{
    put(GOOD);
    open_alarms();
    ck_assert(psi_open_alarms_claim(alarms, claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
}
END_TEST

/* Those that weren't claimed yet were saved with the new boot's id. */
START_TEST(alarms_go_on_after_a_reboot_and_a_restart)
{
    put(GOOD);
    open_alarms();
    save(NULL, NULL);
    close_alarms();
    open_alarms();
    ck_assert(psi_open_alarms_claim(alarms, claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
}
END_TEST

/* --- Ends that wait --------------------------------------------------------- */

/* The dispatcher: the ids whose end waits are bits. */
static bool has_end(void *context, uint64_t id)
{
    return (*(const unsigned *)context & 1U << id) != 0;
}

START_TEST(keeps_alarms_until_their_end_is_dispatched)
{
    unsigned waiting = 1U << 1 | 1U << 2 | 1U << 3;

    put(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    open_alarms();
    psi_open_alarms_set_ending(alarms, psi_open_alarms_unclaimed(alarms), 1);
    psi_open_alarms_add_ending(alarms, 2, &other, 99);
    psi_open_alarms_add_ending(alarms, 3, &machine_of_memory, 0);
    ck_assert_uint_eq(count_unclaimed(), 1);
    ck_assert(!psi_open_alarms_claim(alarms, &group));
    ck_assert(!psi_open_alarms_claim(alarms, &other));
    ck_assert_uint_eq(psi_open_alarms_remove_ended(alarms, has_end, &waiting), 3);
    waiting = 1U << 1 | 1U << 3;
    ck_assert_uint_eq(psi_open_alarms_remove_ended(alarms, has_end, &waiting), 2);
    save(NULL, NULL);
    close_alarms();
    assert_file(HEAD "%s" SYSTEM ALARM "m\tmemory\tsome\t0\tsystem\nend\n", our_boot);
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), 3);
    while (count_unclaimed() > 0)
        psi_open_alarms_set_ending(alarms, psi_open_alarms_unclaimed(alarms), 5);
    ck_assert_uint_eq(psi_open_alarms_remove_ended(alarms, has_end, &waiting), 0);
    save(NULL, NULL);
    close_alarms();
    assert_file(HEAD "%send\n", our_boot);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* --- Writing -------------------------------------------------------------- */

START_TEST(the_last_text_is_written_on_closing)
{
    struct stat stat_of;

    open_alarms();
    for (int i = 0; i < 100; i++)
        save(&other, i % 2 == 0 ? &machine : NULL);
    save(&group, &machine);
    close_alarms();
    assert_file(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    ck_assert_int_eq(stat(path, &stat_of), 0);
    ck_assert_uint_eq(stat_of.st_mode & 0777, 0600);
    ck_assert_int_ne(access(new_path, F_OK), 0);
    psi_open_alarms_close(NULL);
}
END_TEST

START_TEST(writes_without_being_closed)
{
    open_alarms();
    save(&group, NULL);
    for (int waited = 0; access(path, F_OK) != 0; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
    assert_file(HEAD "%s" ALARM "end\n", our_boot);
}
END_TEST

START_TEST(what_has_not_changed_is_not_written)
{
    put(GOOD);
    open_alarms();
    ck_assert(psi_open_alarms_claim(alarms, &group));
    close_alarms();
    assert_file(GOOD);
}
END_TEST

#define NOT_SAVED "the open alarms can't be saved to "

START_TEST(a_missing_folder_is_logged_once)
{
    ck_assert_int_eq(rmdir(folder), 0);
    open_alarms();
    ck_assert_ptr_null(fake_log(0));
    save(&group, NULL);
    await_log(NOT_SAVED);
    save(&other, NULL);
    save(&group, NULL);
    close_alarms();
    ck_assert_uint_eq(fake_logs(LOG_WARNING, NOT_SAVED), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "No such file or directory (option StateFile)."), 1);
    ck_assert_uint_eq(fake_logs(0, NULL), 1);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}
END_TEST

START_TEST(a_folder_that_comes_is_logged)
{
    ck_assert_int_eq(rmdir(folder), 0);
    open_alarms();
    save(&group, NULL);
    await_log(NOT_SAVED);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    save(&group, NULL);
    close_alarms();
    ck_assert_str_eq(fake_log(1), "info: psi: the open alarms are being saved again.");
    ck_assert_ptr_null(fake_log(2));
    assert_file(HEAD "%s" ALARM "end\n", our_boot);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("open alarms");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, parses_a_text);
    tcase_add_loop_test(tests, refuses_other_text, 0, COUNT(texts));
    tcase_add_test(tests, one_that_is_cut_off_or_has_zeros_is_none);
    tcase_add_test(tests, reads_what_it_wrote);
    tcase_add_loop_test(tests, ignores_files_that_it_did_not_write, 0, COUNT(unusable));
    tcase_add_loop_test(tests, alarms_go_on_after_a_restart, 0, COUNT(claims));
    tcase_add_loop_test(tests, alarms_go_on_after_a_reboot, 0, COUNT(claims));
    tcase_add_loop_test(tests, alarms_go_on_after_a_reboot_and_a_restart, 0, COUNT(claims));
    tcase_add_test(tests, keeps_alarms_until_their_end_is_dispatched);
    tcase_add_test(tests, the_last_text_is_written_on_closing);
    tcase_add_test(tests, writes_without_being_closed);
    tcase_add_test(tests, what_has_not_changed_is_not_written);
    tcase_add_test(tests, a_missing_folder_is_logged_once);
    tcase_add_test(tests, a_folder_that_comes_is_logged);
    return run_suite("psi open alarms", tests);
}
