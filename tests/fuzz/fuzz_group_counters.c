/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_group_counters.c - files of names and numbers: whatever the text, an accepted one says
 * what printing the result says, and a refusal changes nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "room/cpu_stat.h"
#include "room/disk_stat.h"
#include "room/machine_cpus.h"
#include "room/meminfo.h"
#include "room/memory_events.h"
#include "room/memory_stat.h"
#include "room/memory_use.h"
#include "room/vmstat.h"

const char fuzz_corpus[] = "group_counters";

static void try_cpu_stat(const char *text, size_t size)
{
    struct hr_cpu_stat stat = {7, 7, 7}, again;
    char printed[128];

    if (hr_cpu_stat_parse(text, size, &stat) < 0) {
        require(stat.throttled_count == 7 && stat.throttled_us == 7);
        return;
    }
    int length =
        snprintf(printed, sizeof(printed),
                 "nr_periods %" PRIu64 "\nnr_throttled %" PRIu64 "\nthrottled_usec %" PRIu64 "\n",
                 stat.period_count, stat.throttled_count, stat.throttled_us);
    require(hr_cpu_stat_parse(printed, (size_t)length, &again) == 0);
    require(memcmp(&stat, &again, sizeof(stat)) == 0);
}

static void try_memory_events(const char *text, size_t size)
{
    struct hr_memory_events events = {7, 7}, again;
    char printed[128];

    if (hr_memory_events_parse(text, size, &events) < 0) {
        require(events.high_count == 7 && events.max_count == 7);
        return;
    }
    int length = snprintf(printed, sizeof(printed), "max %" PRIu64 "\nhigh %" PRIu64 "\n",
                          events.max_count, events.high_count);
    require(hr_memory_events_parse(printed, (size_t)length, &again) == 0);
    require(memcmp(&events, &again, sizeof(events)) == 0);
}

static void try_machine(const char *text, size_t size)
{
    struct hr_stall_machine_cpus cpus = {0};
    struct hr_vmstat vmstat = {.machine_page_count = 7};
    struct hr_memory_stat stat = {.refault_count = 7};

    if (hr_machine_cpus_parse(text, size, &cpus) == 0)
        require(cpus.known && cpus.steal_us <= cpus.busy_us &&
                cpus.irq_us <= cpus.busy_us - cpus.steal_us);
    else
        require(!cpus.known);
    require(hr_vmstat_parse(text, size, &vmstat) == 0 || vmstat.machine_page_count == 7);
    require(hr_memory_stat_parse(text, size, &stat) == 0 || stat.refault_count == 7);
}

static void try_room(const char *text, size_t size)
{
    struct hr_memory_use use = {7, 7, 7, 7, 7, false, {7, 7, 7}};
    struct hr_meminfo meminfo = {7, 7, 7, 7};
    uint64_t count = 7, busy_us[4];
    double read_us = 7;
    size_t cpus = 7;

    for (int version = 1; version <= 2; version++)
        if (hr_memory_parts_parse(text, size, version, &use.parts) < 0)
            require(use.parts.anon_bytes == 7);
        else
            use.parts.anon_bytes = 7;
    for (int version = 1; version <= 2; version++)
        if (hr_memory_use_parse(text, size, version, &use) < 0)
            require(use.active_file_bytes == 7);
        else
            use.active_file_bytes = 7;
    require(hr_meminfo_parse(text, size, &meminfo) == 0 || meminfo.total_bytes == 7);
    require(hr_cpu_usage_parse(text, size, &count) == 0 || count == 7);
    require(hr_disk_reads_parse(text, size, &read_us) == 0 || read_us == 7);
    count = 7;
    require(hr_oom_kills_parse(text, size, &count) == 0 || count == 7);
    require(hr_machine_cpus_parse_each(text, size, busy_us, 4, &cpus) == 0 || cpus == 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */

    memcpy(text, data, size);
    try_cpu_stat(text, size);
    try_memory_events(text, size);
    try_machine(text, size);
    try_room(text, size);
    free(text);
    return 0;
}
