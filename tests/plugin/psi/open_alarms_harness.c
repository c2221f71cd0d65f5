/* SPDX-License-Identifier: MIT */
#include "plugin/psi/open_alarms_harness.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/state_file.h"
#include "support/fake_collectd.h"

char folder[64], path[128], new_path[160], our_boot[64];
struct open_alarms *alarms;
struct dispatcher *dispatcher;

const struct psi_rule of_memory = {.name = "m",
                                   .trigger = {.resource = HR_PSI_MEMORY, .level = HR_PSI_SOME}};
const struct psi_rule of_cpu = {
    .name = "c", .of_system = true, .trigger = {.resource = HR_PSI_CPU, .level = HR_PSI_FULL}};
const struct psi_subject group = {&of_memory, "a_b.service", "a/b.service"};
const struct psi_subject other = {&of_memory, "other", "other"};
const struct psi_subject machine = {&of_cpu, "system", NULL};

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
    ck_assert_int_eq(dispatcher_open("x", 1000, NULL, &dispatcher), 0);
}

static void tear_down(void)
{
    open_alarms_close(alarms);
    dispatcher_close(dispatcher);
    remove(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is in it */
    fake_stop();
}

void put(const char *format, ...)
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

void assert_file(const char *format, ...)
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

void open_alarms(void)
{
    ck_assert_int_eq(open_alarms_open(&psi_open_alarms_format, path, dispatcher, &alarms), 0);
}

void close_alarms(void)
{
    open_alarms_close(alarms);
    alarms = NULL;
}

void save(const struct psi_subject *first, const struct psi_subject *second)
{
    open_alarms_begin(alarms);
    if (first != NULL)
        psi_open_alarms_add(alarms, first, ALARM_SENT);
    if (second != NULL)
        psi_open_alarms_add(alarms, second, ALARM_UNSENT);
    open_alarms_commit(alarms);
}

void await_log(const char *text)
{
    for (int waited = 0; fake_logs(0, text) == 0; waited++) {
        ck_assert_int_lt(waited, PATIENCE_MS);
        usleep(1000);
    }
}

enum alarm_sent claimed_sent;

bool claim(const struct psi_subject *subject)
{
    return psi_open_alarms_claim(alarms, subject, &claimed_sent);
}

size_t count_unclaimed(void)
{
    size_t count = 0;

    for (const struct open_alarm *alarm = open_alarms_unclaimed(alarms); alarm != NULL;
         alarm = TAILQ_NEXT(alarm, entry))
        count++;
    return count;
}

void add_open_alarms_fixture(TCase *tests)
{
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
}
