/* SPDX-License-Identifier: MIT */
#include "plugin/psi/alerts_harness.h"

#include <fcntl.h>
#include <inttypes.h>

/* Totals have the same number of digits throughout, as the plugin may read a file while it is
 * overwritten. */
#define BEGINNING UINT64_C(1000000000)

/* The last that was written, of all groups: no total decreases. */
static uint64_t total_us;

void alerts_set_up(void)
{
    total_us = BEGINNING;
    harness_set_up();
}

/* --- Pressure ------------------------------------------------------------- */

/* The kernel's. */
struct averages {
    double avg10_pct, avg60_pct, avg300_pct;
};

static void write_pressure(const char *group, const char *resource, uint64_t us,
                           struct averages averages, int flags)
{
    char path[1024], text[256];

    if (group != NULL)
        snprintf(path, sizeof(path), "%s/" TREE_CGROUPS "/%s/%s.pressure", tree_path(tree), group,
                 resource);
    else
        snprintf(path, sizeof(path), "%s/proc/pressure/%s", tree_path(tree), resource);
    int length = 0;
    for (int level = 0; level < 2; level++)
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "%s avg10=%.2f avg60=%.2f avg300=%.2f total=%010" PRIu64 "\n",
                           level == 0 ? "some" : "full", averages.avg10_pct, averages.avg60_pct,
                           averages.avg300_pct, us);
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, text, (size_t)length, 0), length);
    close(fd);
}

void alerts_prepare(const char *group, const char *resource)
{
    write_pressure(group, resource, BEGINNING, (struct averages){0}, O_CREAT | O_TRUNC);
}

static void add_group(const char *group, bool populated)
{
    tree_add_group(tree, group, false);
    alerts_prepare(group, "memory");
    if (populated)
        tree_set_populated(tree, group, true);
}

/* Made elsewhere and then renamed, so that a running plugin never sees part of it. */
void alerts_add_group(const char *group, bool populated)
{
    char made[1024], from[512], to[512];
    int top = (int)strcspn(group, "/");

    snprintf(from, sizeof(from), TREE_CGROUPS "/../made/%.*s", top, group);
    snprintf(to, sizeof(to), TREE_CGROUPS "/%.*s", top, group);
    snprintf(made, sizeof(made), "%s/%s", tree_path(tree), to);
    if (access(made, F_OK) == 0) {
        add_group(group, populated);
        return;
    }
    snprintf(made, sizeof(made), "../made/%s", group);
    add_group(made, populated);
    tree_rename(tree, from, to);
    /* The plugin's inotify watch reports creations only, as the kernel's groups can't be renamed.
     */
    tree_write(tree, TREE_CGROUPS "/news", "%s", "");
    tree_remove(tree, TREE_CGROUPS "/news");
}

void alerts_stall(const char *group, const char *resource, uint64_t stalled_us)
{
    total_us += stalled_us;
    write_pressure(group, resource, total_us, (struct averages){0}, 0);
}

void alerts_stall_always(const char *group, const char *resource, uint64_t stalled_us)
{
    write_pressure(group, resource, BEGINNING + stalled_us, (struct averages){100, 100, 100}, 0);
}

void alerts_stall_until_lately(const char *group, const char *resource, uint64_t stalled_us,
                               double avg60_pct)
{
    write_pressure(group, resource, BEGINNING + stalled_us, (struct averages){0, avg60_pct, 100},
                   0);
}

void alerts_set_total(const char *group, const char *resource, uint64_t us)
{
    write_pressure(group, resource, us, (struct averages){0}, 0);
}

void alerts_set_growth(const char *group, const char *resource, uint64_t us)
{
    alerts_set_total(group, resource, BEGINNING + us);
}

/* --- Notifications and values --------------------------------------------- */

static bool fits(const notification_t *notice, const char *instance, int severity)
{
    return notice->severity == severity &&
           (instance == NULL || strcmp(notice->plugin_instance, instance) == 0);
}

size_t alerts_count(const char *instance, int severity)
{
    size_t count = 0;

    for (size_t i = 0; fake_notification(i) != NULL; i++)
        count += fits(fake_notification(i), instance, severity);
    return count;
}

const notification_t *alerts_await(const char *instance, int severity, size_t number)
{
    for (int waited = 0; waited < ALERTS_PATIENCE_MS; waited += 5) {
        size_t count = 0;
        for (size_t i = 0; fake_notification(i) != NULL; i++)
            if (fits(fake_notification(i), instance, severity) && ++count == number)
                return fake_notification(i);
        harness_sleep(5);
    }
    ck_abort_msg("no notification %zu of %s with severity %d", number, instance, severity);
}

void alerts_await_count(const char *pattern, size_t count)
{
    harness_read();
    for (int waited = 0; fake_count(pattern) != count; waited += 5) {
        ck_assert_msg(waited < ALERTS_PATIENCE_MS, "%zu instead of %zu of %s", fake_count(pattern),
                      count, pattern);
        harness_sleep(5);
        harness_read();
    }
}

void alerts_await_value(const char *identifier, bool there)
{
    alerts_await_count(identifier, there);
}

uint64_t alerts_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void alerts_stall_for(const char *instance, const char *group, int events, uint64_t least_ms)
{
    const uint64_t begun_ms = alerts_now_ms();
    char identifier[128];

    snprintf(identifier, sizeof(identifier), "psi-%s/derive-trigger_m", instance);
    do {
        ck_assert_uint_lt(alerts_now_ms() - begun_ms, 6 * ALERTS_PATIENCE_MS);
        alerts_stall(group, "memory", 300000);
        harness_sleep(20);
        harness_read();
    } while (harness_number(identifier) < events || alerts_now_ms() - begun_ms < least_ms);
}

/* --- Content of a notification -------------------------------------------- */

const notification_meta_t *alerts_meta(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = notice->meta;

    while (entry != NULL && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

size_t alerts_count_meta(const notification_t *notice)
{
    size_t count = 0;

    for (const notification_meta_t *entry = notice->meta; entry != NULL; entry = entry->next)
        count++;
    return count;
}

const char *alerts_meta_text(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = alerts_meta(notice, name);

    ck_assert_msg(entry != NULL && entry->type == NM_TYPE_STRING, "%s in: %s", name,
                  notice->message);
    return entry->nm_value.nm_string;
}

double alerts_meta_number(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = alerts_meta(notice, name);

    ck_assert_msg(entry != NULL && entry->type == NM_TYPE_DOUBLE, "%s in: %s", name,
                  notice->message);
    return entry->nm_value.nm_double;
}

void alerts_assert_message(const notification_t *notice, const char *part)
{
    ck_assert_msg(strstr(notice->message, part) != NULL, "no \"%s\" in: %s", part, notice->message);
}
