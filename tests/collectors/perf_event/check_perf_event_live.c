/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/check_perf_event_live.c - names of perf events on the running kernel: the
 * same encodings as the perf tool's.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "support/own_mounts.h"
#include "support/suite.h"

static const char *const names[] = {
    "cycles",
    "instructions:u",
    "cache-misses:k",
    "L1-dcache-load-misses",
    "LLC-loads",
    "dTLB-store-misses",
    "task-clock",
    "cpu-clock:u",
    "faults",
    "minor-faults",
    "cs",
    "migrations",
    "cgroup-switches",
    "r01c2",
    "r01c2:k",
    "sched:sched_switch",
    "raw_syscalls:sys_enter",
    "msr/tsc/",
    "msr/tsc,name=cycles_of_the_clock/",
    "msr/event=0x0/",
    "msr/config=0x4/",
    "power/energy-psys/",
    "cpu/cpu-cycles/",
    "cpu/event=0xc0,umask=0x1/u",
};

struct attr {
    uint32_t type;
    uint64_t config;
    bool exclude_user, exclude_kernel;
};

/* A block starts with "perf_event_attr:" and ends with dashes; members of 0 aren't printed. */
static size_t read_blocks(FILE *stream, struct attr *attrs, size_t most)
{
    char line[1024];
    size_t count = 0;
    bool within = false;

    while (fgets(line, sizeof(line), stream) != NULL) {
        struct attr *attr = &attrs[count - (count > 0)];
        char *after = line + strcspn(line, " \t");
        uint64_t value;
        if (strncmp(line, "perf_event_attr:", 16) == 0 && count < most) {
            attrs[count++] = (struct attr){0};
            within = true;
        } else if (*line == '-') {
            within = false;
        }
        if (!within)
            continue;
        after += strspn(after, " \t");
        char key[32];
        if (sscanf(after, "%31s %" SCNi64, key, (int64_t *)&value) != 2)
            continue;
        if (strcmp(key, "type") == 0)
            attr->type = (uint32_t)value;
        attr->config = strcmp(key, "config") == 0 ? value : attr->config;
        attr->exclude_user |= strcmp(key, "exclude_user") == 0;
        attr->exclude_kernel |= strcmp(key, "exclude_kernel") == 0;
    }
    return count;
}

/* Whether an event PMU/.../ has a PMU. Newer versions of perf take "cpu" for one where the kernel
 * has none. */
static bool has_pmu(const char *name)
{
    static const char devices[] = "/sys/bus/event_source/devices/";
    char directory[512];

    snprintf(directory, sizeof(directory), "%s%s", devices, name);
    char *end = strchr(directory + strlen(devices), '/');
    if (end == NULL)
        return true;
    *end = '\0';
    return access(directory, F_OK) == 0;
}

/* How perf encodes an event; empty if it doesn't know it, or the machine has no such PMU. */
static size_t ask_perf(const char *name, struct attr *attrs, size_t most)
{
    char command[512];

    if (!has_pmu(name))
        return 0;
    snprintf(command, sizeof(command), "LC_ALL=C perf stat -vv -e '%s' true 2>&1", name);
    FILE *stream = popen(command, "r");
    ck_assert_ptr_nonnull(stream);
    size_t count = read_blocks(stream, attrs, most);
    pclose(stream);
    return count;
}

static bool is_among(const struct perf_event_attr *attr, const struct attr *attrs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (attrs[i].type == attr->type && attrs[i].config == attr->config &&
            attrs[i].exclude_user == attr->exclude_user &&
            attrs[i].exclude_kernel == attr->exclude_kernel)
            return true;
    return false;
}

START_TEST(encodes_as_perf_does)
{
    struct hr_perf_vocabulary *vocabulary;
    struct hr_perf_event_error error;
    struct hr_perf_event *event = NULL;
    struct hr_root *root;
    struct attr attrs[64];

    ck_assert_int_eq(hr_root_open("/", &root), 0);
    ck_assert_int_eq(hr_perf_vocabulary_open(root, &vocabulary), 0);
    size_t count = ask_perf(names[_i], attrs, sizeof(attrs) / sizeof(attrs[0]));
    int status = hr_perf_event_find(vocabulary, names[_i], &event, &error);
    ck_assert_msg((status == 0) == (count > 0), "%s: %d, but perf says %zu; %s", names[_i], status,
                  count, status < 0 ? error.reason : "");
    for (size_t i = 0; status == 0 && i < event->encoding_count; i++)
        ck_assert_msg(is_among(&event->encodings[i].attr, attrs, count), "%s: %u, 0x%" PRIx64,
                      names[_i], event->encodings[i].attr.type,
                      (uint64_t)event->encodings[i].attr.config);
    hr_perf_event_free(event);
    hr_perf_vocabulary_close(vocabulary);
    hr_root_close(root);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("perf_event_live");

    if (!own_mounts_with_tracefs() || system("perf stat -e task-clock true >/dev/null 2>&1") != 0) {
        puts("1..0 # SKIP no tracefs that can be mounted (root is needed), or no perf tool that "
             "works here");
        return 0;
    }
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, encodes_as_perf_does, 0, (int)(sizeof(names) / sizeof(names[0])));
    return run_suite("perf_event_live", tests);
}
