/* SPDX-License-Identifier: MIT */
#include "command/alert_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char path[128], old_path[128];
struct alerts *alerts;
struct known_series known;

static char directory[64];

static void make_directory(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.40s/alert_log-XXXXXX",
             temporary ? temporary : "/tmp");
    if (mkdtemp(directory) == NULL) {
        perror(directory);
        abort();
    }
    snprintf(path, sizeof(path), "%s/log", directory);
    snprintf(old_path, sizeof(old_path), "%s/log.1", directory);
}

static void remove_directory(void)
{
    remove(path);
    remove(old_path);
    rmdir(directory);
}

static void open_alerts(void)
{
    remove(path);
    remove(old_path);
    ck_assert_int_eq(alerts_open(path, &alerts), 0);
}

static void close_alerts(void)
{
    alerts_close(alerts);
    known_series_free(&known);
}

__attribute__((format(printf, 1, 2))) void append(const char *format, ...)
{
    va_list arguments;
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fclose(file);
}

void append_alerts(int first, int last)
{
    for (int number = first; number <= last; number++)
        append(LINE "%d\n", number);
}

void expect_alerts(int status, const char *expected)
{
    char found[4096] = "";
    size_t used = 0;
    ck_assert_int_eq(alerts_read(alerts, &known, NULL), status);
    const struct alert_list *list = alerts_found(alerts);
    ck_assert_uint_le(list->fresh, list->count);
    for (size_t i = 0; i < list->count && used < sizeof(found); i++) {
        bool fresh = i >= list->count - list->fresh;
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s ", fresh ? "" : "|",
                                 list->entries[i].message);
    }
    ck_assert_str_eq(found, expected);
}

void add_alert_log(TCase *tests)
{
    /* Unchecked: the directory goes also when a test fails. */
    tcase_add_unchecked_fixture(tests, make_directory, remove_directory);
    tcase_add_checked_fixture(tests, open_alerts, close_alerts);
}
