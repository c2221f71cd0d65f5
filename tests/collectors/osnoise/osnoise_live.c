/* SPDX-License-Identifier: MIT */
#include "collectors/osnoise/osnoise_live.h"

#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"

struct live live;

/* --- The kernel's files --------------------------------------------------- */

static void find_path(const char *file, char *path, size_t size)
{
    snprintf(path, size, "%s%s", file[0] == '/' ? "" : TRACEFS "/", file);
}

/* Files of tracefs give a page at a time. */
static ssize_t read_whole(const char *file, char *text, size_t size)
{
    char path[256];
    size_t length = 0;
    ssize_t got;

    find_path(file, path, sizeof(path));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    while ((got = read(fd, text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    if (got < 0)
        got = -errno;
    close(fd);
    text[length] = '\0';
    ck_assert_msg(length < size - 1, "%s is too long", file);
    return got < 0 ? got : (ssize_t)length;
}

void live_get(const char *file, char *text, size_t size)
{
    ssize_t status = read_whole(file, text, size);

    ck_assert_msg(status >= 0, "%s: %s", file, strerror((int)-status));
}

int live_try(const char *file, const char *text)
{
    char path[256];

    find_path(file, path, sizeof(path));
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int status = write(fd, text, strlen(text)) < 0 ? -errno : 0;
    close(fd);
    return status;
}

void live_set(const char *file, const char *text)
{
    int status = live_try(file, text);

    ck_assert_msg(status == 0, "%s: %s: %s", file, text, strerror(-status));
}

bool live_has_word(const char *file, const char *word)
{
    char text[4096], *rest = NULL;

    live_get(file, text, sizeof(text));
    for (char *found = strtok_r(text, " \n", &rest); found != NULL;
         found = strtok_r(NULL, " \n", &rest))
        if (strcmp(found, word) == 0)
            return true;
    return false;
}

static void list(char *listing, const char *file)
{
    size_t length = strlen(listing);
    char text[4096];

    live_get(file, text, sizeof(text));
    text[strcspn(text, "\n")] = '\0';
    int printed = snprintf(listing + length, LIVE_LISTING - length, "%s: %s\n", file, text);
    ck_assert_int_lt(printed, (int)(LIVE_LISTING - length));
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void live_list(char listing[LIVE_LISTING])
{
    static const char *const files[] = {"tracing_thresh", "current_tracer", "tracing_on",
                                        "synthetic_events"};
    struct dirent **entries;
    char file[300];

    listing[0] = '\0';
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        list(listing, files[i]);
    int count = scandir(TRACEFS "/osnoise", &entries, is_visible, alphasort);
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "osnoise/%s", entries[i]->d_name);
        /* per_cpu/ holds no settings: a process that reads its files becomes a workload. */
        if (entries[i]->d_type != DT_DIR)
            list(listing, file);
        free(entries[i]);
    }
    free(entries);
    count = scandir(TRACEFS "/instances", &entries, is_visible, alphasort);
    ck_assert_int_ge(count, 0);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "instances/%s/current_tracer", entries[i]->d_name);
        list(listing, file);
        free(entries[i]);
    }
    free(entries);
}

/* Kernel threads have no threads of their own: /proc has all of them. */
static unsigned count_named(const char *begin, bool is_whole)
{
    DIR *processes = opendir("/proc");
    char file[300], name[64];
    struct dirent *entry;
    unsigned count = 0;

    ck_assert_ptr_nonnull(processes);
    while ((entry = readdir(processes)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(file, sizeof(file), "/proc/%s/comm", entry->d_name);
        if (read_whole(file, name, sizeof(name)) < 0)
            continue;
        name[strcspn(name, "\n")] = '\0';
        count += is_whole ? strcmp(name, begin) == 0 : strncmp(name, begin, strlen(begin)) == 0;
    }
    closedir(processes);
    return count;
}

unsigned live_count_workers(void)
{
    return count_named("osnoise/", false) + count_named("timerlat/", false);
}

bool live_has_worker(unsigned cpu)
{
    char name[32];

    snprintf(name, sizeof(name), "osnoise/%u", cpu);
    return count_named(name, true) > 0;
}

void live_instance_make(const char *name, const char *tracer)
{
    char path[256];

    snprintf(path, sizeof(path), TRACEFS "/instances/%s", name);
    ck_assert_msg(mkdir(path, 0700) == 0, "%s: %s", path, strerror(errno));
    snprintf(path, sizeof(path), "instances/%s/current_tracer", name);
    live_set(path, tracer);
}

void live_instance_remove(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "instances/%s/current_tracer", name);
    live_set(path, "nop");
    snprintf(path, sizeof(path), TRACEFS "/instances/%s", name);
    ck_assert_msg(rmdir(path) == 0, "%s: %s", path, strerror(errno));
}

void live_sleep_ms(uint64_t ms)
{
    struct timespec rest = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};

    while (nanosleep(&rest, &rest) < 0)
        continue;
}

uint64_t live_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- A run ---------------------------------------------------------------- */

/* A test that failed leaves behind what it had. */
static void clean_instances(void)
{
    struct dirent **entries;
    char path[300];
    int count = scandir(TRACEFS "/instances", &entries, is_visible, alphasort);

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "instances/%s/current_tracer", entries[i]->d_name);
        live_try(path, "nop");
        snprintf(path, sizeof(path), TRACEFS "/instances/%s", entries[i]->d_name);
        rmdir(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

bool live_can_run(enum hr_osnoise_mode mode)
{
    struct hr_root *root;
    struct hr_reason reason = {.text = "/ can't be opened"};

    if (getenv("HEADROOM_EMULATED") == NULL) {
        puts("1..0 # SKIP the tracer's settings are this machine's: see tests/vm/emulated.test");
        return false;
    }
    clean_instances();
    if (hr_root_open("/", &root) == 0 && hr_osnoise_probe(root, mode, &reason) == 0) {
        hr_root_close(root);
        return true;
    }
    printf("1..0 # SKIP %s\n", reason.text);
    return false;
}

void live_set_up(void)
{
    static const struct {
        const char *file, *text;
    } defaults[] = {
        {"/sys/devices/system/cpu/cpu1/online", "1"},
        {"current_tracer", "nop"},
        {"tracing_thresh", "0"},
        {"osnoise/options", "DEFAULTS"},
        {"osnoise/cpus", "0-1"},
        {"osnoise/stop_tracing_us", "0"},
        {"osnoise/stop_tracing_total_us", "0"},
    };

    live = (struct live){
        .options = {.mode = HR_OSNOISE_WORKLOAD,
                    .period_us = 200000,
                    .runtime_us = 100000,
                    .threshold_us = 20,
                    .max_duty_pct = 50,
                    .state_path = LIVE_STATE_PATH},
    };
    unlink(LIVE_STATE_PATH);
    clean_instances();
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        int status = live_try(defaults[i].file, defaults[i].text);
        ck_assert_msg(status == 0 || status == -ENOENT, "%s", defaults[i].file); /* before 6.2 */
    }
    /* The one may not be above the other meanwhile. */
    if (live_try("osnoise/period_us", "1000000") == 0)
        live_set("osnoise/runtime_us", "1000000");
    live_choose_cpus("0-1");
    ck_assert_int_eq(hr_root_open("/", &live.root), 0);
    live_list(live.before);
    ck_assert_uint_eq(live_count_workers(), 0);
}

void live_assert_restored(void)
{
    char after[LIVE_LISTING];

    live_list(after);
    ck_assert_str_eq(live.before, after);
    ck_assert_uint_eq(live_count_workers(), 0);
    ck_assert_int_lt(access(LIVE_STATE_PATH, F_OK), 0);
}

void live_tear_down(void)
{
    hr_osnoise_close(live.osnoise);
    live_assert_restored();
    hr_root_close(live.root);
}

void live_choose_cpus(const char *cpus)
{
    ck_assert_int_eq(hr_cpu_set_parse(cpus, strlen(cpus), &live.options.cpus.list), 0);
}

void live_open(void)
{
    ck_assert_ptr_null(live.osnoise);
    ck_assert_msg(hr_osnoise_open(live.root, &live.options, &live.osnoise, &live.reason) == 0, "%s",
                  live.reason.text);
}

void live_begin(void)
{
    if (live.osnoise == NULL)
        live_open();
    live.read_ns = live_now_ns();
    ck_assert_msg(hr_osnoise_begin(live.osnoise, &live.reason) == 0, "%s", live.reason.text);
}

void live_read(void)
{
    uint64_t before_ns = live.read_ns;

    live.read_ns = live_now_ns();
    ck_assert_msg(hr_osnoise_read(live.osnoise, &live.reading, &live.reason) == 0, "%s",
                  live.reason.text);
    live.since_ns = live_now_ns() - before_ns;
}

void live_end(void)
{
    ck_assert_msg(hr_osnoise_end(live.osnoise, &live.reason) == 0, "%s", live.reason.text);
}

const struct hr_osnoise_cpu *live_cpu(unsigned cpu)
{
    for (size_t i = 0; i < live.reading.cpu_count; i++)
        if (live.reading.cpus[i].cpu == cpu)
            return &live.reading.cpus[i];
    ck_abort_msg("the reading has no CPU %u", cpu);
    return NULL;
}
