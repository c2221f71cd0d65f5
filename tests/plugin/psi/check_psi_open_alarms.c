/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_open_alarms.c - the state file of open alarms: its text, which files are
 * ignored, which alarm goes on after a restart or a reboot, and what is written when.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "psi/open_alarms.h"
#include "support/fake_collectd.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))
#define BOOT_ID      "6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11"
#define HEAD         "headroom's open pressure alarms 1\n"
#define BOOT         "boot " BOOT_ID "\n"
#define ALARM        "m\tmemory\tsome\topen\ta_b.service\ta/b.service\n"
#define SYSTEM       "c\tcpu\tfull\tbegins\tsystem\n"
#define GOOD         HEAD BOOT ALARM SYSTEM "end\n"
#define PATIENCE_MS  20000

static char folder[64], path[128], new_path[160], our_boot[64];
static struct psi_open_alarms *alarms;
static struct dispatcher *dispatcher;

static const struct psi_rule of_memory = {
    .name = "m", .trigger = {.resource = HR_PSI_MEMORY, .level = HR_PSI_SOME}};
static const struct psi_rule of_cpu = {
    .name = "c", .of_system = true, .trigger = {.resource = HR_PSI_CPU, .level = HR_PSI_FULL}};
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
    ck_assert_int_eq(dispatcher_open("x", 1000, &dispatcher), 0);
}

static void tear_down(void)
{
    psi_open_alarms_close(alarms);
    dispatcher_close(dispatcher);
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
    ck_assert_int_eq(psi_open_alarms_open(path, dispatcher, &alarms), 0);
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
        psi_open_alarms_add(alarms, first, PSI_SENT);
    if (second != NULL)
        psi_open_alarms_add(alarms, second, PSI_UNSENT);
    psi_open_alarms_commit(alarms);
}

static void await_log(const char *text)
{
    for (int waited = 0; fake_logs(0, text) == 0; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

static enum psi_sent claimed_sent;

static bool claim(const struct psi_subject *subject)
{
    return psi_open_alarms_claim(alarms, subject, &claimed_sent);
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
    ck_assert_int_eq(alarm->sent, PSI_SENT);
    ck_assert_uint_eq(alarm->id, 0);
    alarm = TAILQ_NEXT(alarm, entry);
    ck_assert_str_eq(alarm->rule.name, "c");
    ck_assert_int_eq(alarm->rule.trigger.resource, HR_PSI_CPU);
    ck_assert_int_eq(alarm->rule.trigger.level, HR_PSI_FULL);
    ck_assert_int_eq(alarm->sent, PSI_INHERITED);
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
    psi_open_alarms_begin(alarms);
    for (int i = 0; i < COUNT(subjects); i++)
        psi_open_alarms_add(alarms, &subjects[i], i % 2 == 0 ? PSI_SENT : PSI_UNSENT);
    psi_open_alarms_commit(alarms);
    close_alarms();
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), COUNT(subjects));
    for (int i = COUNT(subjects) - 1; i >= 0; i--) {
        ck_assert(claim(&subjects[i]));
        ck_assert_int_eq(claimed_sent, i % 2 == 0 ? PSI_SENT : PSI_INHERITED);
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

/* --- The alarms of the previous run --------------------------------------- */

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
    ck_assert(!psi_open_alarms_has_rebooted(alarms));
    ck_assert_uint_eq(count_unclaimed(), 2);
    ck_assert(claim(claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
    ck_assert(!claim(claims[_i].subject));
}
END_TEST

START_TEST(alarms_go_on_after_a_reboot)
{
    put(GOOD);
    open_alarms();
    ck_assert(psi_open_alarms_has_rebooted(alarms));
    ck_assert(claim(claims[_i].subject) == claims[_i].goes_on);
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
    ck_assert(!psi_open_alarms_has_rebooted(alarms));
    ck_assert(claim(claims[_i].subject) == claims[_i].goes_on);
    ck_assert_uint_eq(count_unclaimed(), claims[_i].goes_on ? 1 : 2);
}
END_TEST

/* --- Ends that wait --------------------------------------------------------- */

static uint64_t waiting_beginnings[4], waiting_ends[4];
static struct dispatcher_waiting waiting = {.beginnings = waiting_beginnings, .ends = waiting_ends};

static void set_list(uint64_t *list, size_t *count, const char *text)
{
    *count = strlen(text);
    for (size_t i = 0; i < *count; i++)
        list[i] = (uint64_t)(text[i] - '0');
}

/* What waits in the dispatcher, a digit an alarm. @return how many of the ends are left. */
static size_t update(const char *beginnings, const char *ends, uint64_t current, bool is_last,
                     bool changes)
{
    bool has_changed = false;

    set_list(waiting_beginnings, &waiting.beginning_count, beginnings);
    set_list(waiting_ends, &waiting.end_count, ends);
    waiting.current = current;
    size_t left = psi_open_alarms_update_ending(alarms, &waiting, is_last, &has_changed);
    ck_assert(has_changed == changes);
    return left;
}

START_TEST(keeps_alarms_until_their_end_is_dispatched)
{
    put(HEAD "%s" ALARM SYSTEM "end\n", our_boot);
    open_alarms();
    psi_open_alarms_set_ending(alarms, psi_open_alarms_unclaimed(alarms), 1);
    psi_open_alarms_add_ending(alarms, 2, &other, PSI_SENT);
    psi_open_alarms_add_ending(alarms, 3, &machine_of_memory, PSI_INHERITED);
    ck_assert_uint_eq(count_unclaimed(), 1);
    ck_assert(!claim(&group));
    ck_assert(!claim(&other));
    ck_assert_uint_eq(update("", "123", 0, false, false), 3);
    ck_assert_uint_eq(update("", "13", 2, false, false), 3); /* a handler has it */
    ck_assert_uint_eq(update("", "13", 0, false, true), 2);
    save(NULL, NULL);
    close_alarms();
    assert_file(HEAD "%s" SYSTEM ALARM "m\tmemory\tsome\tbegins\tsystem\nend\n", our_boot);
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), 3);
    while (count_unclaimed() > 0)
        psi_open_alarms_set_ending(alarms, psi_open_alarms_unclaimed(alarms), 5);
    ck_assert_uint_eq(update("", "13", 0, false, true), 0);
    save(NULL, NULL);
    close_alarms();
    assert_file(HEAD "%send\n", our_boot);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* What is known of an alarm whose end waits: what it was, what waits, and what it is then; and
 * whether it is kept at the shutdown. */
static const struct {
    enum psi_sent was;
    const char *beginnings;
    uint64_t current;
    enum psi_sent is;
    bool is_kept;
} sent_cases[] = {
    {PSI_UNSENT, "2", 0, PSI_UNSENT, false},
    {PSI_UNSENT, "2", 9, PSI_UNSENT, false},
    {PSI_UNSENT, "2", 2, PSI_UNSURE, true},
    {PSI_UNSENT, "", 2, PSI_UNSURE, true},
    {PSI_UNSENT, "19", 0, PSI_SENT, true},
    {PSI_INHERITED, "", 0, PSI_INHERITED, true},
    {PSI_INHERITED, "", 2, PSI_INHERITED, true}, /* its end */
    {PSI_UNSURE, "2", 0, PSI_UNSURE, true},
    {PSI_UNSURE, "2", 2, PSI_UNSURE, true},
    {PSI_UNSURE, "", 2, PSI_UNSURE, true},
    {PSI_UNSURE, "", 0, PSI_SENT, true},
    {PSI_SENT, "", 0, PSI_SENT, true},
    {PSI_SENT, "2", 0, PSI_SENT, true}, /* that it lasts waits */
    {PSI_SENT, "2", 2, PSI_SENT, true},
};

START_TEST(knows_whether_an_ending_alarm_was_sent)
{
    const bool changes = sent_cases[_i].is != sent_cases[_i].was;

    open_alarms();
    psi_open_alarms_add_ending(alarms, 2, &other, sent_cases[_i].was);
    ck_assert_uint_eq(
        update(sent_cases[_i].beginnings, "2", sent_cases[_i].current, false, changes), 1);
    psi_open_alarms_add_ending(alarms, 2, &other, sent_cases[_i].was); /* its twin, to be closed */
    ck_assert_int_eq(psi_open_alarms_take_ending(alarms, 2), sent_cases[_i].is);
    ck_assert_uint_eq(update(sent_cases[_i].beginnings, "2", sent_cases[_i].current, true,
                             changes || !sent_cases[_i].is_kept),
                      sent_cases[_i].is_kept);
}
END_TEST

START_TEST(an_end_that_is_withdrawn_is_forgotten)
{
    open_alarms();
    psi_open_alarms_add_ending(alarms, 2, &other, PSI_UNSURE);
    psi_open_alarms_add_ending(alarms, 3, &group, PSI_SENT);
    ck_assert_int_eq(psi_open_alarms_take_ending(alarms, 2), PSI_UNSURE);
    ck_assert_int_eq(psi_open_alarms_take_ending(alarms, 2), PSI_SENT); /* it isn't there */
    ck_assert_uint_eq(update("", "3", 0, false, false), 1);
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

static void await_dispatched(size_t count)
{
    for (int waited = 0; fake_notifications() < count; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

static bool begin(uint64_t record)
{
    notification_t notice = {.severity = NOTIF_WARNING};

    return dispatcher_queue_beginning(dispatcher, 7, record, &notice);
}

static char content[256]; /* of the file, or what replaces it, when a notification was dispatched */

/* What replaces it comes first: if it is gone, it has become the file. */
static void read_content(__attribute__((unused)) const notification_t *notice,
                         __attribute__((unused)) void *context)
{
    size_t length = 0;

    if (hr_state_file_read_prepared(path, content, sizeof(content), &length) < 0)
        hr_state_file_read(path, content, sizeof(content), &length);
    content[length] = '\0';
}

/* While the disk is stalled. */
static _Atomic bool hangs;

int fsync(__attribute__((unused)) int fd)
{
    while (hangs)
        usleep(1000);
    return 0;
}

START_TEST(an_alarm_is_on_record_before_it_is_dispatched)
{
    char expected[256];

    frozen_ns = hr_clock_ns();
    snprintf(expected, sizeof(expected), HEAD "%s" ALARM "end\n", our_boot);
    open_alarms();
    fake_on_notification(read_content, NULL);
    hangs = _i == 1;
    uint64_t record = psi_open_alarms_next_record(alarms);
    ck_assert(begin(record));
    save(&group, NULL);
    ck_assert_uint_eq(psi_open_alarms_next_record(alarms), record + 1);
    await_dispatched(1);
    frozen_ns = 0;
    hangs = false;
    ck_assert_str_eq(content, expected);
}
END_TEST

/* It was killed before it replaced the file, or while it wrote. */
static const struct {
    const char *file, *prepared, *newest; /* NULL: there is none */
} left[] = {
    {GOOD, HEAD BOOT ALARM "end\n", HEAD BOOT ALARM "end\n"},
    {NULL, GOOD, GOOD},
    {GOOD, HEAD BOOT ALARM "en", GOOD},
    {GOOD, "", GOOD},
};

START_TEST(takes_the_newest_that_is_whole)
{
    char text[512];
    size_t length;

    ck_assert_int_eq(hr_state_file_prepare(path, left[_i].prepared, strlen(left[_i].prepared)), 0);
    if (left[_i].file != NULL)
        put("%s", left[_i].file);
    open_alarms();
    ck_assert_uint_eq(count_unclaimed(), strstr(left[_i].newest, SYSTEM) != NULL ? 2 : 1);
    assert_file("%s", left[_i].newest); /* it isn't lost by what is prepared next */
    save(NULL, NULL);
    close_alarms();
    ck_assert_int_eq(hr_state_file_read_prepared(path, text, sizeof(text), &length), -ENOENT);
    ck_assert_ptr_null(fake_log(0));
}
END_TEST

/* What can't be saved delays nothing. */
START_TEST(an_alarm_that_can_not_be_recorded_is_dispatched)
{
    struct dispatcher_waiting now;

    ck_assert_int_eq(rmdir(folder), 0);
    open_alarms();
    save(&group, NULL);
    await_log("the open alarms can't be saved to ");
    for (int i = 0; i < 100; i++) { /* each would take half a second */
        ck_assert(begin(1));
        await_dispatched((size_t)i + 1);
    }
    ck_assert_int_eq(dispatcher_list_waiting(dispatcher, &now), 0);
    dispatcher_waiting_free(&now);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}
END_TEST

/* A text that is too long would be refused as a whole. */
START_TEST(writes_what_can_be_read)
{
    enum { ALARMS = 4200 };
    char long_path[PATH_MAX];
    const struct psi_subject longest = {&of_memory, "x", long_path};

    memset(long_path, 'x', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    open_alarms();
    psi_open_alarms_begin(alarms);
    for (int i = 0; i < ALARMS; i++)
        psi_open_alarms_add(alarms, &longest, PSI_SENT);
    psi_open_alarms_commit(alarms);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "of the open alarms aren't saved"), 1);
    save(&group, NULL);
    ck_assert_str_eq(fake_log(1), "info: psi: all open alarms can be saved again.");
    psi_open_alarms_begin(alarms);
    for (int i = 0; i < ALARMS; i++)
        psi_open_alarms_add(alarms, &longest, PSI_SENT);
    psi_open_alarms_commit(alarms);
    close_alarms();
    open_alarms();
    ck_assert_uint_gt(count_unclaimed(), 4000);
    ck_assert_uint_lt(count_unclaimed(), ALARMS);
    ck_assert_uint_eq(fake_logs(0, NULL), 3);
}
END_TEST

START_TEST(what_has_not_changed_is_not_written)
{
    put(GOOD);
    open_alarms();
    ck_assert(claim(&group));
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
    tcase_add_loop_test(tests, knows_whether_an_ending_alarm_was_sent, 0, COUNT(sent_cases));
    tcase_add_test(tests, an_end_that_is_withdrawn_is_forgotten);
    tcase_add_test(tests, the_last_text_is_written_on_closing);
    tcase_add_loop_test(tests, an_alarm_is_on_record_before_it_is_dispatched, 0, 2);
    tcase_add_loop_test(tests, takes_the_newest_that_is_whole, 0, COUNT(left));
    tcase_add_test(tests, an_alarm_that_can_not_be_recorded_is_dispatched);
    tcase_add_test(tests, writes_what_can_be_read);
    tcase_add_test(tests, writes_without_being_closed);
    tcase_add_test(tests, what_has_not_changed_is_not_written);
    tcase_add_test(tests, a_missing_folder_is_logged_once);
    tcase_add_test(tests, a_folder_that_comes_is_logged);
    return run_suite("psi open alarms", tests);
}
