/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_room_files.c - parsing the files that causes of stalls come from.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "room/blkio.h"
#include "room/cpu_max.h"
#include "room/cpu_stat.h"
#include "room/disk_stat.h"
#include "room/io_max.h"
#include "room/io_stat.h"
#include "room/machine_cpus.h"
#include "room/meminfo.h"
#include "room/memory_events.h"
#include "room/memory_limit.h"
#include "room/memory_stat.h"
#include "room/memory_use.h"
#include "room/process_cgroup.h"
#include "room/vmstat.h"
#include "support/suite.h"

#define NONE UINT64_MAX

START_TEST(cpu_stat)
{
    static const struct {
        const char *text;
        int status;
        uint64_t count, us;
    } rows[] = {
        {"usage_usec 9\nnr_periods 5\nnr_throttled 3\nthrottled_usec 1200\nnr_bursts 0\n", 0, 3,
         1200},
        {"nr_periods 5\nnr_throttled 3\nthrottled_time 1200999\n", 0, 3, 1200},
        {"nr_throttled 18446744073709551615\nthrottled_usec 0\n", 0, NONE, 0},
        {"usage_usec 9\nuser_usec 1\n", -ENODATA, 0, 0},
        {"nr_throttled 3\n", -ENODATA, 0, 0},
        {"", -ENODATA, 0, 0},
        {"nr_throttled 3\nthrottled_usec 12", -EBADMSG, 0, 0},
        {"nr_throttled 3 4\nthrottled_usec 12\n", -EBADMSG, 0, 0},
        {"nr_throttled -3\nthrottled_usec 12\n", -EBADMSG, 0, 0},
        {"nr_throttled 3\nnr_throttled 3\nthrottled_usec 12\n", -EBADMSG, 0, 0},
        {"nr_throttled 18446744073709551616\nthrottled_usec 12\n", -EBADMSG, 0, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct hr_cpu_stat stat = {0};
        ck_assert_int_eq(hr_cpu_stat_parse(rows[i].text, strlen(rows[i].text), &stat),
                         rows[i].status);
        ck_assert_uint_eq(stat.throttled_count, rows[i].count);
        ck_assert_uint_eq(stat.throttled_us, rows[i].us);
    }
}
END_TEST

START_TEST(cpu_max)
{
    static const struct {
        const char *text;
        int status;
        uint64_t quota_us, period_us;
    } rows[] = {
        {"50000 100000\n", 0, 50000, 100000}, {"max 100000\n", 0, NONE, 100000},
        {"50000 0\n", -EBADMSG, 0, 0},        {"50000\n", -EBADMSG, 0, 0},
        {"50000 100000", -EBADMSG, 0, 0},     {"max 100000\n1", -EBADMSG, 0, 0},
        {"-1 100000\n", -EBADMSG, 0, 0},
    };
    uint64_t quota_us = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct hr_cpu_max max = {0};
        ck_assert_int_eq(hr_cpu_max_parse(rows[i].text, strlen(rows[i].text), &max),
                         rows[i].status);
        ck_assert_uint_eq(max.quota_us, rows[i].quota_us);
        ck_assert_uint_eq(max.period_us, rows[i].period_us);
    }
    ck_assert_int_eq(hr_cpu_quota_parse("-1\n", 3, &quota_us), 0);
    ck_assert_uint_eq(quota_us, NONE);
    ck_assert_int_eq(hr_cpu_quota_parse("5000\n", 5, &quota_us), 0);
    ck_assert_uint_eq(quota_us, 5000);
    ck_assert_int_eq(hr_cpu_quota_parse("-2\n", 3, &quota_us), -EBADMSG);
    ck_assert_int_eq(hr_cpu_quota_parse("-1\n7", 4, &quota_us), -EBADMSG);
}
END_TEST

START_TEST(memory)
{
    static const char events_text[] = "low 0\nhigh 3\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n";
    static const char old_text[] = "low 0\nhigh 3\n";
    static const char bad_text[] = "high 3\nmax x\n";
    struct hr_memory_events events = {0};
    uint64_t bytes = 0;

    ck_assert_int_eq(hr_memory_events_parse(events_text, strlen(events_text), &events), 0);
    ck_assert_uint_eq(events.high_count, 3);
    ck_assert_uint_eq(events.max_count, 7);
    ck_assert_int_eq(hr_memory_events_parse(old_text, strlen(old_text), &events), -ENODATA);
    ck_assert_int_eq(hr_memory_events_parse(bad_text, strlen(bad_text), &events), -EBADMSG);
    ck_assert_int_eq(hr_memory_limit_parse("268435456\n", 10, &bytes), 0);
    ck_assert_uint_eq(bytes, 256 << 20);
    ck_assert_int_eq(hr_memory_limit_parse("max\n", 4, &bytes), 0);
    ck_assert_uint_eq(bytes, NONE);
    bytes = 0; /* version 1, without a limit */
    ck_assert_int_eq(hr_memory_limit_parse("9223372036854771712\n", 20, &bytes), 0);
    ck_assert_uint_eq(bytes, NONE);
    ck_assert_int_eq(hr_memory_limit_parse("-1\n", 3, &bytes), -EBADMSG);
    ck_assert_int_eq(hr_memory_limit_parse("max", 3, &bytes), -EBADMSG);
}
END_TEST

START_TEST(machine_cpus)
{
    static const char text[] = "cpu  100 20 30 4000 50 6 7 80 90 0\ncpu0 1 2 3";
    struct hr_stall_machine_cpus cpus = {0};

    ck_assert_int_eq(hr_machine_cpus_parse(text, strlen(text), &cpus), 0);
    ck_assert(cpus.known);
    ck_assert_uint_eq(cpus.busy_us, (100 + 20 + 30 + 6 + 7 + 80) * 10000);
    ck_assert_uint_eq(cpus.steal_us, 800000);
    ck_assert_uint_eq(cpus.irq_us, 130000);
    ck_assert_uint_eq(cpus.idle_us, 40500000);
    ck_assert_int_eq(hr_machine_cpus_parse(text, 20, &cpus), -EBADMSG); /* cut */
    ck_assert_int_eq(hr_machine_cpus_parse("cpu0 1 2 3 4 5 6 7 8\n", 21, &cpus), -EBADMSG);
    ck_assert_int_eq(hr_machine_cpus_parse("cpu  1 2 3 4 5 6 7\n", 19, &cpus), -EBADMSG);
}
END_TEST

/* Two CPUs for a second: 150 ticks of work, of these 30 stolen and 10 of interrupts; 40 idle, 10
 * for I/O. */
START_TEST(machine_idle)
{
    static const char first[] = "cpu  100 20 30 4000 50 6 7 80 90 0\n";
    static const char second[] = "cpu  200 20 40 4040 60 8 15 110 90 0\n";
    static const char shrunk[] = "cpu  200 20 40 4040 40 8 15 110 90 0\n";
    struct hr_stall_machine_cpus before = {0}, after = {0};
    double pct = -1;

    ck_assert_int_eq(hr_machine_cpus_parse(first, strlen(first), &before), 0);
    ck_assert_int_eq(hr_machine_cpus_idle(&before, &after, &pct), -ENODATA);
    ck_assert_int_eq(hr_machine_cpus_parse(second, strlen(second), &after), 0);
    ck_assert_int_eq(hr_machine_cpus_idle(&before, &after, &pct), 0);
    ck_assert_double_eq_tol(pct, 25, 1e-9);
    ck_assert_int_eq(hr_machine_cpus_idle(&after, &after, &pct), -ENODATA);
    ck_assert_int_eq(hr_machine_cpus_parse(shrunk, strlen(shrunk), &after), 0);
    ck_assert_int_eq(hr_machine_cpus_idle(&before, &after, &pct), 0);
    ck_assert_double_eq_tol(pct, 100 * 30. / 180, 1e-9);
}
END_TEST

START_TEST(vmstat)
{
    static const char text[] =
        "nr_free_pages 9\nallocstall_dma32 1\nallocstall_normal 20\nallocstall_movable 300\n"
        "pgsteal_kswapd 7\npgsteal_direct 2\npgsteal_anon 4\npgsteal_file 90\n"
        "workingset_refault_anon 4\nworkingset_refault_file 5\n";
    struct hr_vmstat parsed = {0};

    ck_assert_int_eq(hr_vmstat_parse(text, strlen(text), &parsed), 0);
    ck_assert_uint_eq(parsed.direct_reclaim_count, 321);
    ck_assert_uint_eq(parsed.machine_page_count, 9);
    ck_assert_uint_eq(parsed.limit_page_count, 85);
    ck_assert(parsed.memory.has_kswapd);
    ck_assert_uint_eq(parsed.memory.kswapd_page_count, 7);
    ck_assert_uint_eq(parsed.memory.refault_count, 9);
    ck_assert_int_eq(hr_vmstat_parse(text, 16, &parsed), -ENODATA);
    ck_assert_int_eq(hr_vmstat_parse(text, strlen(text) - 1, &parsed), -EBADMSG);
}
END_TEST

START_TEST(memory_stat)
{
    static const char old[] = "anon 1\nworkingset_refault 12\n";
    static const char large[] =
        "workingset_refault_anon 18446744073709551615\nworkingset_refault_file 1\n";
    struct hr_memory_stat stat = {0};

    ck_assert_int_eq(hr_memory_stat_parse(old, strlen(old), &stat), 0);
    ck_assert_uint_eq(stat.refault_count, 12);
    ck_assert(!stat.has_kswapd);
    ck_assert_int_eq(hr_memory_stat_parse(old, 7, &stat), -ENODATA);
    ck_assert_int_eq(hr_memory_stat_parse(large, strlen(large), &stat), -EBADMSG);
}
END_TEST

START_TEST(io_stat)
{
    static const char text[] = "7:0 \n"
                               "8:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0 cost.usage=7\n"
                               "(unknown) rbytes=9 wbytes=9 rios=9 wios=9\n"
                               "253:0 rbytes=5 wbytes=6 rios=7 wios=8 dbytes=0 dios=0\n";
    static const char bad_text[] = "8:16 rbytes=1 wbytes=x\n";
    struct hr_stall_devices devices = {0};
    const struct hr_stall_devices wanted = {.count = 2, .list = {{.major = 253}, {.major = 9}}};

    ck_assert_int_eq(hr_io_stat_parse(text, strlen(text), NULL, &devices), 0);
    ck_assert_uint_eq(devices.count, 2);
    ck_assert_uint_eq(devices.list[0].major, 8);
    ck_assert_uint_eq(devices.list[0].minor, 16);
    for (uint64_t i = 0; i < HR_STALL_IO_COUNT; i++) {
        ck_assert_uint_eq(devices.list[0].done[i], i + 1);
        ck_assert_uint_eq(devices.list[1].done[i], i + 5);
    }
    ck_assert_int_eq(hr_io_stat_parse(text, strlen(text), &wanted, &devices), 0);
    ck_assert_uint_eq(devices.count, 2);
    ck_assert_uint_eq(devices.list[0].done[HR_STALL_WRITES], 8);
    ck_assert_uint_eq(devices.list[1].done[HR_STALL_WRITES], 0);
    ck_assert_int_eq(hr_io_stat_parse(bad_text, strlen(bad_text), NULL, &devices), -EBADMSG);
    ck_assert_int_eq(hr_io_stat_parse(text, strlen(text) - 1, NULL, &devices), -EBADMSG);
}
END_TEST

START_TEST(more_devices_than_there_is_room_for)
{
    static const char text[] =
        "8:0 rbytes=1 wbytes=0 rios=0 wios=0\n8:1 rbytes=2 wbytes=0 rios=0 wios=0\n"
        "8:2 rbytes=3 wbytes=0 rios=0 wios=0\n8:3 rbytes=4 wbytes=0 rios=0 wios=0\n"
        "8:4 rbytes=5 wbytes=0 rios=0 wios=0\n";
    struct hr_stall_devices devices = {0};

    ck_assert_int_eq(hr_io_stat_parse(text, strlen(text), NULL, &devices), 0);
    ck_assert_uint_eq(devices.count, HR_STALL_DEVICES);
    ck_assert_uint_eq(devices.list[HR_STALL_DEVICES - 1].done[0], HR_STALL_DEVICES);
}
END_TEST

START_TEST(io_max)
{
    static const char text[] = "8:16 rbps=2097152 wbps=max riops=max wiops=120\n";
    struct hr_stall_devices devices = {0};

    ck_assert_int_eq(hr_io_max_parse(text, strlen(text), &devices), 0);
    ck_assert_uint_eq(devices.count, 1);
    ck_assert_uint_eq(devices.list[0].limit[HR_STALL_READ_BYTES], 2097152);
    ck_assert_uint_eq(devices.list[0].limit[HR_STALL_WRITTEN_BYTES], HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(devices.list[0].limit[HR_STALL_READS], HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(devices.list[0].limit[HR_STALL_WRITES], 120);
    ck_assert_int_eq(hr_io_max_parse("", 0, &devices), 0);
    ck_assert_uint_eq(devices.count, 0);
    ck_assert_int_eq(hr_io_max_parse("8:16 rbps=max rbps=1\n", 21, &devices), -EBADMSG);
    ck_assert_int_eq(hr_io_max_parse("8:16 rbps=1x\n", 13, &devices), -EBADMSG);
}
END_TEST

START_TEST(blkio)
{
    static const char done[] = "8:16 Read 5\n8:16 Write 6\n8:16 Sync 11\n8:16 Async 0\n"
                               "8:16 Discard 0\n8:16 Total 11\n8:0 Read 9\nTotal 20\n";
    struct hr_stall_devices devices = {0};
    const struct hr_stall_device *device = &devices.list[0];

    ck_assert_int_eq(hr_blkio_parse_limits("8:16 1000\n", 10, HR_STALL_READ_BYTES, &devices), 0);
    ck_assert_int_eq(hr_blkio_parse_limits("8:16 70\n", 8, HR_STALL_WRITES, &devices), 0);
    ck_assert_int_eq(hr_blkio_parse_limits("", 0, HR_STALL_READS, &devices), 0);
    ck_assert_int_eq(hr_blkio_parse_limits("8:16 x\n", 7, HR_STALL_READS, &devices), -EBADMSG);
    ck_assert_int_eq(hr_blkio_parse_limits("8:16 7", 6, HR_STALL_READS, &devices), -EBADMSG);
    ck_assert_int_eq(hr_blkio_parse_done(done, strlen(done), HR_STALL_READ_BYTES,
                                         HR_STALL_WRITTEN_BYTES, &devices),
                     0);
    ck_assert_int_eq(
        hr_blkio_parse_done("8:16 Read -1\n", 13, HR_STALL_READS, HR_STALL_WRITES, &devices),
        -EBADMSG);
    ck_assert_uint_eq(devices.count, 1);
    ck_assert_uint_eq(device->minor, 16);
    ck_assert_uint_eq(device->limit[HR_STALL_READ_BYTES], 1000);
    ck_assert_uint_eq(device->limit[HR_STALL_WRITTEN_BYTES], HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(device->limit[HR_STALL_WRITES], 70);
    ck_assert_uint_eq(device->done[HR_STALL_READ_BYTES], 5);
    ck_assert_uint_eq(device->done[HR_STALL_WRITTEN_BYTES], 6);
    ck_assert_uint_eq(device->done[HR_STALL_READS], 0);
}
END_TEST

START_TEST(disk_stat)
{
    static const char old[] = "     1        2    3      4  5 6 7 8 9 10 11\n";
    uint64_t ms = 0;

    ck_assert_int_eq(hr_disk_stat_parse(old, strlen(old), &ms), 0);
    ck_assert_uint_eq(ms, 11);
    ck_assert_int_eq(hr_disk_stat_parse(old, strlen(old) - 1, &ms), -EBADMSG);
    ck_assert_int_eq(hr_disk_stat_parse("1 2 3 4 5 6 7 8 9 10 12 13\n", 27, &ms), 0);
    ck_assert_uint_eq(ms, 12);
    ck_assert_int_eq(hr_disk_stat_parse("1 2 3 4 5 6 7 8 9 10\n", 21, &ms), -EBADMSG);
    ck_assert_int_eq(hr_disk_stat_parse("1 2 3 4 5 6 7 8 9 10 x\n", 23, &ms), -EBADMSG);
}
END_TEST

START_TEST(disk_reads)
{
    static const char text[] = "   8       0 sda 400 1 2 100 9 9 9 9 0 9 9\n"
                               "   8       1 sda1 100 0 2 150 9 9 9 9 0 9 9 1 2\n",
                      unused[] = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n";
    double us = 7;

    ck_assert_int_eq(hr_disk_reads_parse(unused, strlen(unused), &us), -ENODATA);
    ck_assert_int_eq(hr_disk_reads_parse("", 0, &us), -ENODATA);
    ck_assert_int_eq(hr_disk_reads_parse(text, strlen(text) - 1, &us), -EBADMSG);
    ck_assert_int_eq(hr_disk_reads_parse("8 0 sda 400 1 2\n", 16, &us), -EBADMSG);
    ck_assert_double_eq(us, 7);
    ck_assert_int_eq(hr_disk_reads_parse(text, strlen(text), &us), 0);
    ck_assert_double_eq(us, 500);
}
END_TEST

START_TEST(memory_parts)
{
    static const char version_2[] = "anon 9\nactive_anon 3\ninactive_anon 8\nfile_mapped 4\n"
                                    "workingset_refault_anon 10\nworkingset_refault_file 5\n",
                      version_1[] = "total_active_anon 3\ntotal_inactive_anon 8\n"
                                    "total_mapped_file 4\ntotal_workingset_refault 15\n",
                      without[] = "active_anon 3\nfile_mapped 4\nworkingset_refault 1\n";
    struct hr_memory_parts parts = {.anon_bytes = 7};

    ck_assert_int_eq(hr_memory_parts_parse(without, strlen(without), 2, &parts), -ENODATA);
    ck_assert_uint_eq(parts.anon_bytes, 7);
    for (int version = 1; version <= 2; version++) {
        const char *text = version == 1 ? version_1 : version_2;
        ck_assert_int_eq(hr_memory_parts_parse(text, strlen(text), version, &parts), 0);
        ck_assert_uint_eq(parts.anon_bytes, 11);
        ck_assert_uint_eq(parts.mapped_file_bytes, 4);
        ck_assert_uint_eq(parts.refault_count, 15);
    }
}
END_TEST

START_TEST(process_cgroup)
{
    static const char text[] = "5:cpu,cpuacct:/a/b\n4:memory:/\n1:name=systemd:/a/c\n0::/a/b\n";
    const size_t length = strlen(text);

    ck_assert(hr_process_cgroup_is(text, length, "cpu", "a/b"));
    ck_assert(hr_process_cgroup_is(text, length, "cpuacct", "a/b"));
    ck_assert(!hr_process_cgroup_is(text, length, "cp", "a/b"));
    ck_assert(!hr_process_cgroup_is(text, length, "cpu", "a"));
    ck_assert(!hr_process_cgroup_is(text, length, "cpu", "a/b/c"));
    ck_assert(!hr_process_cgroup_is(text, length, "memory", "a/b"));
    ck_assert(hr_process_cgroup_is(text, length, "memory", "")); /* the root cgroup */
    ck_assert(!hr_process_cgroup_is(text, length, "cpu", ""));
    ck_assert(!hr_process_cgroup_is(text, length, "io", "a/b"));
    ck_assert(!hr_process_cgroup_is(text, 10, "cpu", "a/b"));
}
END_TEST

START_TEST(cpu_usage)
{
    static const char known[] = "usage_usec 1200\nuser_usec 9\n", cut[] = "usage_usec 12";
    uint64_t used_us = 0;

    ck_assert_int_eq(hr_cpu_usage_parse(known, strlen(known), &used_us), 0);
    ck_assert_uint_eq(used_us, 1200);
    ck_assert_int_eq(hr_cpu_usage_parse(known + 16, strlen(known) - 16, &used_us), -ENODATA);
    ck_assert_int_eq(hr_cpu_usage_parse(cut, strlen(cut), &used_us), -EBADMSG);
    ck_assert_uint_eq(used_us, 1200);
}
END_TEST

START_TEST(oom_kills)
{
    static const char known[] = "max 1\noom 3\noom_kill 2\noom_group_kill 0\n",
                      old[] = "oom_kill_disable 0\nunder_oom 0\n";
    uint64_t count = 7;

    ck_assert_int_eq(hr_oom_kills_parse(old, strlen(old), &count), -ENODATA);
    ck_assert_uint_eq(count, 7);
    ck_assert_int_eq(hr_oom_kills_parse(known, strlen(known), &count), 0);
    ck_assert_uint_eq(count, 2);
}
END_TEST

START_TEST(memory_use)
{
    static const char version_2[] = "anon 9\ninactive_file 30\nactive_file 20\n"
                                    "slab_reclaimable 4\nslab_unreclaimable 5\n",
                      version_1[] = "inactive_file 1\nactive_file 1\ntotal_inactive_file 30\n"
                                    "total_active_file 20\n",
                      without[] = "anon 9\ninactive_file 30\n",
                      wrong[] = "inactive_file 30\nactive_file x\n";
    struct hr_memory_use use = {.current_bytes = 7};

    ck_assert_int_eq(hr_memory_use_parse(version_2, strlen(version_2), 2, &use), 0);
    ck_assert_uint_eq(use.active_file_bytes, 20);
    ck_assert_uint_eq(use.inactive_file_bytes, 30);
    ck_assert_uint_eq(use.slab_reclaimable_bytes, 4);
    ck_assert_int_eq(hr_memory_use_parse(version_1, strlen(version_1), 1, &use), 0);
    ck_assert_uint_eq(use.active_file_bytes, 20);
    ck_assert_uint_eq(use.inactive_file_bytes, 30);
    ck_assert_uint_eq(use.slab_reclaimable_bytes, 0);
    ck_assert_int_eq(hr_memory_use_parse(version_2, strlen(version_2), 1, &use), -ENODATA);
    ck_assert_int_eq(hr_memory_use_parse(without, strlen(without), 2, &use), -ENODATA);
    ck_assert_int_eq(hr_memory_use_parse(wrong, strlen(wrong), 2, &use), -EBADMSG);
    ck_assert_uint_eq(use.current_bytes, 7);
}
END_TEST

#define MEMINFO "MemTotal:       4046824 kB\nMemAvailable:    600000 kB\nHugePages_Total:   3\n"

START_TEST(meminfo)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {MEMINFO "SwapTotal:        1000 kB\nSwapFree:            8 kB\n", 0},
        {MEMINFO "SwapTotal:        1000 kB\n", -ENODATA},
        {MEMINFO "SwapTotal: 1000 kB\nSwapFree: 8", -EBADMSG},
        {MEMINFO "SwapTotal: 1000 kB\nSwapFree: 8 MB\n", -EBADMSG},
        {MEMINFO "SwapTotal: 1000 kB\nSwapFree: kB\n", -EBADMSG},
        {MEMINFO "SwapTotal: 1000 kB\nSwapTotal: 1000 kB\n", -EBADMSG},
        {MEMINFO "SwapTotal: 1 kB\nSwapFree: 18446744073709551615 kB\n", -EBADMSG},
        {"", -ENODATA},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct hr_meminfo parsed = {0};
        ck_assert_int_eq(hr_meminfo_parse(rows[i].text, strlen(rows[i].text), &parsed),
                         rows[i].status);
        ck_assert_uint_eq(parsed.total_bytes, i == 0 ? 4046824ull * 1024 : 0);
        ck_assert_uint_eq(parsed.available_bytes, i == 0 ? 600000ull * 1024 : 0);
        ck_assert_uint_eq(parsed.swap_total_bytes, i == 0 ? 1000ull * 1024 : 0);
        ck_assert_uint_eq(parsed.swap_free_bytes, i == 0 ? 8ull * 1024 : 0);
    }
}
END_TEST

/* CPU 1 is offline, and the text is cut in a line that isn't needed. */
START_TEST(each_cpu)
{
    static const char text[] = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 4 100 50 8 16 32 64 128\n"
                               "cpu2 1 0 0 100 50 0 0 0 0 0\nintr 5 6 7 8",
                      wrong[] = "cpu  9\ncpu0 1 2 x\n", far[] = "cpu9 1 0 0 0 0 0 0 0 0 0\n";
    uint64_t busy_us[3] = {7, 7, 7};
    size_t count = 0;

    ck_assert_int_eq(hr_machine_cpus_parse_each(text, strlen(text), busy_us, 3, &count), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(busy_us[0], (1 + 2 + 4 + 8 + 16 + 32) * 10000);
    ck_assert_uint_eq(busy_us[1], 7);
    ck_assert_uint_eq(busy_us[2], 10000);
    ck_assert_int_eq(hr_machine_cpus_parse_each(wrong, strlen(wrong), busy_us, 3, &count),
                     -EBADMSG);
    ck_assert_int_eq(hr_machine_cpus_parse_each(far, strlen(far), busy_us, 3, &count), -ENODATA);
    ck_assert_int_eq(hr_machine_cpus_parse_each("", 0, busy_us, 3, &count), -ENODATA);
    ck_assert_uint_eq(count, 2);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("files");

    tcase_add_test(tests, cpu_stat);
    tcase_add_test(tests, cpu_max);
    tcase_add_test(tests, memory);
    tcase_add_test(tests, machine_cpus);
    tcase_add_test(tests, machine_idle);
    tcase_add_test(tests, vmstat);
    tcase_add_test(tests, memory_stat);
    tcase_add_test(tests, io_stat);
    tcase_add_test(tests, more_devices_than_there_is_room_for);
    tcase_add_test(tests, io_max);
    tcase_add_test(tests, blkio);
    tcase_add_test(tests, disk_stat);
    tcase_add_test(tests, process_cgroup);
    tcase_add_test(tests, cpu_usage);
    tcase_add_test(tests, oom_kills);
    tcase_add_test(tests, memory_use);
    tcase_add_test(tests, memory_parts);
    tcase_add_test(tests, disk_reads);
    tcase_add_test(tests, meminfo);
    tcase_add_test(tests, each_cpu);
    return run_suite("room", tests);
}
