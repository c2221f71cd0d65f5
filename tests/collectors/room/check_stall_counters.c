/* SPDX-License-Identifier: MIT */
/*
 * collectors/room/check_stall_counters.c - reading the counters of a group in a tree of files: of
 * cgroup2, and of version 1 beside it.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "headroom/stall_cause.h"
#include "support/one_group.h"
#include "support/suite.h"
#include "support/tree.h"

#define GROUP "kubepods/pod/main"

static struct tree *tree;
static struct hr_root *root;
static struct hr_cgroup_set *set;
static const struct hr_cgroup *group;
static struct hr_stall_counters counters;

static void set_up(void)
{
    tree = tree_new();
    tree_add_group(tree, GROUP, true);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    group = one_group_open(root, GROUP, &set);
    tree_write(tree, "proc/stat", "cpu  100 20 30 4000 50 6 7 80 90 0\n");
    tree_write(tree, "proc/vmstat",
               "allocstall_normal 20\npgsteal_kswapd 30\nworkingset_refault_anon 1\n");
}

static void tear_down(void)
{
    hr_cgroup_set_close(set);
    hr_root_close(root);
    tree_free(tree);
}

static void write_file(const char *of, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/%s", of, name);
    tree_write(tree, path, "%s", text);
}

static int read_counters(enum hr_psi_resource resource)
{
    memset(&counters, 0x55, sizeof(counters));
    return hr_stall_counters_read(root, group, resource, &counters);
}

START_TEST(cpu_of_version_2)
{
    write_file(GROUP, "cpu.max", "50000 100000\n");
    write_file(GROUP, "cpu.stat", "nr_throttled 3\nthrottled_usec 1200\n");
    write_file("kubepods", "cpu.max", "max 100000\n");
    write_file("kubepods", "cpu.stat", "nr_throttled 4\nthrottled_usec 1300\n");
    tree_pressure(tree, GROUP, "cpu", 500, 400);
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert_str_eq(counters.group, GROUP);
    ck_assert_uint_gt(counters.time_ns, 0);
    ck_assert(counters.level[0].known);
    ck_assert_uint_eq(counters.level[0].cpu.quota_us, 50000);
    ck_assert_uint_eq(counters.level[0].cpu.throttled_us, 1200);
    ck_assert(!counters.level[1].known);
    ck_assert(counters.level[2].known);
    ck_assert_uint_eq(counters.level[2].cpu.quota_us, HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(counters.level[2].cpu.throttled_count, 4);
    ck_assert(!counters.level[3].known);
    ck_assert(counters.has_cpu_full);
    ck_assert_uint_eq(counters.cpu_full_us, 400);
    ck_assert(counters.cpus.known);
    ck_assert_uint_eq(counters.cpus.steal_us, 800000);
    ck_assert(!counters.has_reclaim);
}
END_TEST

/* A limit nine levels up isn't read, and may be what it waited for. */
START_TEST(a_group_far_below)
{
    const char *deep = "a/b/c/d/e/f/g/h/i";
    struct hr_stall_counters before;
    struct hr_stall_causes causes;

    tree_add_group(tree, deep, true);
    write_file("a", "cpu.max", "50000 100000\n");
    write_file(deep, "cpu.max", "max 100000\n");
    write_file(deep, "cpu.stat", "nr_throttled 0\nthrottled_usec 0\n");
    hr_cgroup_set_close(set);
    group = one_group_open(root, deep, &set);
    tree_pressure(tree, deep, "cpu", 0, 0);
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    before = counters;
    tree_pressure(tree, deep, "cpu", 600000, 600000);
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    hr_stall_attribute(&before, &counters, HR_PSI_CPU, 600000, 2000000, &causes);
    ck_assert_uint_eq(causes.count, 0);
}
END_TEST

/* /proc/stat of a machine with two CPUs, of which the hypervisor takes half of what they want: two
 * seconds apart. */
START_TEST(a_hypervisor_that_steals)
{
    struct hr_stall_counters before;
    struct hr_stall_causes causes;

    tree_write(tree, "proc/stat", "cpu  882459 700735 394581 725911 6823 0 4339 143072 0 0\n");
    tree_pressure(tree, GROUP, "cpu", 0, 0);
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    before = counters;
    tree_write(tree, "proc/stat", "cpu  882659 700735 394581 725911 6823 0 4339 143272 0 0\n");
    tree_pressure(tree, GROUP, "cpu", 600000, 600000);
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    hr_stall_attribute(&before, &counters, HR_PSI_CPU, 600000, 2000000, &causes);
    ck_assert_uint_eq(causes.count, 2);
    ck_assert_uint_eq(causes.list[0].stalled_us, 300000);
    ck_assert_uint_eq(causes.list[1].stalled_us, 300000);
    ck_assert_int_eq(causes.list[0].kind, HR_STALL_HYPERVISOR);
    ck_assert_int_eq(causes.list[1].kind, HR_STALL_NEIGHBOURS);
}
END_TEST

START_TEST(the_top_is_not_a_level)
{
    tree_write(tree, TREE_CGROUPS "/cpu.max", "50000 100000\n");
    tree_write(tree, TREE_CGROUPS "/cpu.stat", "nr_throttled 3\nthrottled_usec 1200\n");
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    for (size_t i = 0; i < HR_STALL_LEVELS; i++)
        ck_assert(!counters.level[i].known);
}
END_TEST

START_TEST(memory_of_version_2)
{
    write_file(GROUP, "memory.max", "max\n");
    write_file(GROUP, "memory.high", "4096\n");
    write_file(GROUP, "memory.events", "low 0\nhigh 90\nmax 90\n");
    write_file(GROUP, "memory.events.local", "low 0\nhigh 3\nmax 7\n");
    write_file(GROUP, "memory.stat",
               "anon 5\nworkingset_refault_anon 4\nworkingset_refault_file 5\n");
    ck_assert_int_eq(read_counters(HR_PSI_MEMORY), 0);
    ck_assert(counters.has_refaults);
    ck_assert_uint_eq(counters.refault_count, 9);
    ck_assert(!counters.has_own_kswapd); /* then it is the machine's */
    ck_assert_uint_eq(counters.kswapd_page_count, 30);
    write_file(GROUP, "memory.stat", "workingset_refault_anon 4\npgsteal_kswapd 8\n");
    ck_assert_int_eq(read_counters(HR_PSI_MEMORY), 0);
    ck_assert(counters.has_own_kswapd);
    ck_assert_uint_eq(counters.kswapd_page_count, 8);
    ck_assert(counters.level[0].known);
    ck_assert_uint_eq(counters.level[0].memory.high_bytes, 4096);
    ck_assert_uint_eq(counters.level[0].memory.max_bytes, HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(counters.level[0].memory.high_count, 3);
    ck_assert_uint_eq(counters.level[0].memory.max_count, 7);
    ck_assert(counters.has_reclaim);
    ck_assert_uint_eq(counters.direct_reclaim_count, 20);
    ck_assert(!counters.cpus.known);
}
END_TEST

/* Of those below one has no limit, and one doesn't have the controller. */
START_TEST(limits_of_groups_below)
{
    write_file(GROUP "/a", "cpu.max", "50000 100000\n");
    write_file(GROUP "/a", "cpu.stat", "nr_throttled 3\nthrottled_usec 1200\n");
    write_file(GROUP "/a/b", "cpu.max", "50000 200000\n");
    write_file(GROUP "/a/b", "cpu.stat", "nr_throttled 3\nthrottled_usec 300\n");
    write_file(GROUP "/c", "cpu.max", "max 100000\n");
    write_file(GROUP "/c", "cpu.stat", "nr_throttled 3\nthrottled_usec 7000\n");
    write_file(GROUP "/d", "cpu.stat", "usage_usec 5\n");
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(counters.below.known);
    ck_assert_uint_eq(counters.below.limited_count, 2);
    ck_assert_uint_eq(counters.below.throttled_us, 1500);
    ck_assert_uint_eq(counters.below.period_us, 200000);
    write_file(GROUP "/a/b", "cpu.max", "what\n");
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(!counters.below.known);
}
END_TEST

START_TEST(more_groups_below_than_are_read)
{
    char name[64];

    for (int i = 0; i <= HR_STALL_GROUPS_BELOW; i++) {
        ck_assert_int_eq(read_counters(HR_PSI_MEMORY), 0);
        ck_assert(counters.below.known);
        snprintf(name, sizeof(name), GROUP "/%d", i);
        write_file(name, "memory.max", "4096\n");
        write_file(name, "memory.high", "max\n");
        write_file(name, "memory.events.local", "low 0\nhigh 0\nmax 2\n");
    }
    ck_assert_uint_eq(counters.below.limited_count, HR_STALL_GROUPS_BELOW);
    ck_assert_uint_eq(counters.below.reached_count, 2 * HR_STALL_GROUPS_BELOW);
    ck_assert_int_eq(read_counters(HR_PSI_MEMORY), 0);
    ck_assert(!counters.below.known);
}
END_TEST

START_TEST(io_of_version_2)
{
    write_file(GROUP, "io.stat",
               "8:0 rbytes=1 wbytes=2 rios=3 wios=4\n8:16 rbytes=5 wbytes=6 rios=7 "
               "wios=8\n");
    write_file(GROUP, "io.max", "8:16 rbps=1000 wbps=max riops=max wiops=max\n");
    write_file("kubepods/pod", "io.stat", "8:0 rbytes=9 wbytes=9 rios=9 wios=9\n");
    write_file("kubepods/pod", "io.max", "8:0 rbps=max wbps=max riops=50 wiops=max\n");
    tree_write(tree, TREE_CGROUPS "/io.stat", "8:0 rbytes=100 wbytes=0 rios=0 wios=0\n");
    tree_write(tree, "sys/dev/block/8:0/stat", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
    tree_write(tree, "sys/dev/block/8:16/stat", "1 2 3 4 5 6 7 8 9 10 12\n");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    const struct hr_stall_devices *own = &counters.level[0].io, *above = &counters.level[1].io;
    ck_assert(counters.level[0].known && counters.level[1].known && !counters.level[2].known);
    ck_assert_uint_eq(own->count, 2);
    ck_assert_uint_eq(own->list[0].minor, 16);
    ck_assert_uint_eq(own->list[0].limit[HR_STALL_READ_BYTES], 1000);
    ck_assert_uint_eq(own->list[0].done[HR_STALL_WRITES], 8);
    ck_assert_uint_eq(own->list[1].minor, 0);
    ck_assert_uint_eq(own->list[1].limit[HR_STALL_READ_BYTES], HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(own->list[1].done[HR_STALL_WRITES], 4);
    ck_assert_uint_eq(above->count, 1);
    ck_assert_uint_eq(above->list[0].limit[HR_STALL_READS], 50);
    ck_assert_uint_eq(above->list[0].done[HR_STALL_READS], 9);
    ck_assert(counters.has_machine_io);
    ck_assert_uint_eq(counters.machine_io.count, 2);
    ck_assert_uint_eq(counters.machine_io.list[1].done[HR_STALL_READ_BYTES], 100);
    ck_assert_uint_eq(counters.machine_io.list[0].request_ms, 12);
    ck_assert_uint_eq(counters.machine_io.list[1].request_ms, 11);
    tree_write(tree, "sys/dev/block/8:0/slaves/sdb", "%s", "");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    ck_assert(counters.has_machine_io);
    ck_assert_uint_eq(counters.machine_io.list[0].request_ms, 12);
    ck_assert_uint_eq(counters.machine_io.list[1].request_ms, 0);
    tree_remove(tree, "sys/dev/block/8:0");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    ck_assert(!counters.has_machine_io);
}
END_TEST

/* Whether it has the controller of I/O or not. */
START_TEST(rereads_for_lack_of_memory)
{
    tree_write(tree, "proc/vmstat",
               "allocstall_normal 20\nworkingset_refault_anon 1\npgpgin 300\npgpgout 20\n");
    write_file(GROUP, "memory.max", "8192\n");
    write_file(GROUP, "memory.high", "max\n");
    write_file(GROUP, "memory.events", "low 0\nhigh 0\nmax 90\n");
    write_file(GROUP, "memory.events.local", "low 0\nhigh 0\nmax 7\n");
    write_file(GROUP, "memory.stat", "workingset_refault_anon 4\nworkingset_refault_file 5\n");
    write_file("kubepods/pod", "memory.max", "16384\n");
    write_file("kubepods/pod", "memory.high", "max\n");
    write_file("kubepods/pod", "memory.events.local", "low 0\nhigh 0\nmax 8\n");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    const struct hr_stall_rereads *rereads = &counters.rereads;
    ck_assert(rereads->known && !counters.level[0].known);
    ck_assert_int_eq(rereads->version, 2);
    ck_assert_uint_eq(rereads->refault_bytes, 9 * (uint64_t)sysconf(_SC_PAGESIZE));
    ck_assert_uint_eq(rereads->machine_bytes, 320 * 1024);
    ck_assert_uint_eq(rereads->memory[0].max_bytes, 8192);
    ck_assert_uint_eq(rereads->memory[0].max_count, 7);
    ck_assert_uint_eq(rereads->memory[1].max_bytes, 16384);
    ck_assert_uint_eq(rereads->memory[1].max_count, 8);
    tree_remove(tree, TREE_CGROUPS "/" GROUP "/memory.stat");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    ck_assert(!rereads->known);
}
END_TEST

static void write_own_io(uint64_t more_pages, uint64_t disk, uint64_t second, uint64_t above)
{
    const unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
    char text[512];

    snprintf(text, sizeof(text),
             "253:1 rbytes=%llu wbytes=5 rios=1 wios=1\n253:0 rbytes=%llu wbytes=0 rios=1 wios=1\n"
             "8:16 rbytes=%llu wbytes=0 rios=1 wios=1\n7:0 \n"
             "8:0 rbytes=%llu wbytes=5 rios=1 wios=1\n",
             (4 + above) * page, (4 + above) * page, (4 + second) * page, (4 + disk) * page);
    write_file(GROUP, "io.stat", text);
    snprintf(text, sizeof(text), "workingset_refault_file %llu\n", 9ull + more_pages);
    write_file(GROUP, "memory.stat", text);
}

static size_t count_causes_of_io(const struct hr_stall_counters *before)
{
    struct hr_stall_causes causes;

    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    hr_stall_attribute(before, &counters, HR_PSI_IO, 1000000, 2000000, &causes);
    if (causes.count > 0)
        ck_assert_int_eq(causes.list[0].limit_kind, HR_STALL_MEMORY_MAX);
    return causes.count;
}

static void write_reached(int count)
{
    char text[64];

    snprintf(text, sizeof(text), "low 0\nhigh 0\nmax %d\n", count);
    write_file(GROUP, "memory.events.local", text);
}

static struct hr_stall_counters read_at_its_limit(void)
{
    tree_write(tree, "proc/vmstat",
               "allocstall_normal 20\nworkingset_refault_anon 1\npgpgin 300\npgpgout 20\n");
    write_file(GROUP, "memory.max", "8192\n");
    write_file(GROUP, "memory.high", "max\n");
    write_reached(7);
    write_own_io(0, 0, 0, 0);
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    write_reached(8);
    return counters;
}

/* A volume on an encrypted disk: what a group reads is counted for all three. Disks add up. */
START_TEST(bytes_of_devices_made_of_others_count_once)
{
    tree_write(tree, "sys/dev/block/253:0/slaves/sda2", "%s", "");
    tree_write(tree, "sys/dev/block/253:1/slaves/dm-0", "%s", "");
    const struct hr_stall_counters before = read_at_its_limit();
    write_own_io(5, 10, 0, 10);
    ck_assert_uint_eq(count_causes_of_io(&before), 1);
    write_own_io(5, 6, 5, 6);
    ck_assert_uint_eq(count_causes_of_io(&before), 0);
    write_own_io(5, 6, 4, 6);
    ck_assert_uint_eq(count_causes_of_io(&before), 1);
}
END_TEST

/* A volume on several paths to a disk: these get requests, which aren't counted for groups. */
START_TEST(bytes_of_several_paths_are_those_above)
{
    tree_write(tree, "sys/dev/block/253:0/slaves/sda", "%s", "");
    tree_write(tree, "sys/dev/block/253:0/mq/0/cpu_list", "0\n");
    tree_write(tree, "sys/dev/block/253:1/slaves/dm-0", "%s", "");
    const struct hr_stall_counters before = read_at_its_limit();
    write_own_io(5, 0, 0, 10);
    ck_assert_uint_eq(count_causes_of_io(&before), 1);
    write_own_io(5, 0, 0, 11);
    ck_assert_uint_eq(count_causes_of_io(&before), 0);
}
END_TEST

/* What was compressed in memory costs no I/O. */
START_TEST(pages_from_zswap_are_not_read)
{
    const struct hr_stall_counters before = read_at_its_limit();

    write_own_io(0, 10, 0, 0);
    write_file(GROUP, "memory.stat",
               "workingset_refault_anon 100\nworkingset_refault_file 14\nzswpin 101\n");
    ck_assert_uint_eq(count_causes_of_io(&before), 0);
    write_file(GROUP, "memory.stat",
               "workingset_refault_anon 100\nworkingset_refault_file 14\nzswpin 100\n");
    ck_assert_uint_eq(count_causes_of_io(&before), 1);
}
END_TEST

START_TEST(a_kernel_without_limits_of_io)
{
    write_file(GROUP, "io.stat", "8:0 rbytes=1 wbytes=2 rios=3 wios=4\n");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    ck_assert(counters.level[0].known);
    ck_assert_uint_eq(counters.level[0].io.count, 1);
    ck_assert(!counters.has_machine_io); /* older kernels have no io.stat at the top */
}
END_TEST

START_TEST(io_of_version_1)
{
    static const char directory[] = "v1/blkio/" GROUP "/blkio.throttle.";
    static const struct {
        const char *file, *text;
    } files[] = {
        {"read_bps_device", "8:16 1000\n"},
        {"write_bps_device", ""},
        {"read_iops_device", ""},
        {"write_iops_device", "8:16 50\n"},
        {"io_service_bytes", "8:0 Read 1\n8:16 Read 7\n8:16 Write 8\n8:16 Total 15\nTotal 16\n"},
        {"io_serviced", "8:16 Read 3\n8:16 Write 4\n8:16 Total 7\nTotal 7\n"},
    };
    char path[128];

    tree_write(tree, "proc/1/mounts",
               "cgroup2 /" TREE_CGROUPS " cgroup2 rw 0 0\ncgroup /v1/blkio cgroup rw,blkio 0 0\n");
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), "%s%s", directory, files[i].file);
        tree_write(tree, path, "%s", files[i].text);
    }
    tree_write(tree, "v1/blkio/cgroup.procs", "1\n");
    tree_write(tree, "v1/blkio/kubepods/pod/blkio.throttle.read_bps_device", "8:16 5\n");
    write_file(GROUP, "cgroup.procs", "4711\n");
    tree_write(tree, "proc/4711/cgroup", "1:blkio:/" GROUP "\n0::/" GROUP "\n");
    ck_assert_int_eq(read_counters(HR_PSI_IO), 0);
    const struct hr_stall_device *device = &counters.level[0].io.list[0];
    ck_assert(counters.level[0].known && !counters.level[1].known);
    ck_assert_uint_eq(counters.level[0].io.count, 1);
    ck_assert_uint_eq(device->limit[HR_STALL_READ_BYTES], 1000);
    ck_assert_uint_eq(device->limit[HR_STALL_WRITES], 50);
    ck_assert_uint_eq(device->limit[HR_STALL_READS], HR_STALL_NO_LIMIT);
    ck_assert_uint_eq(device->done[HR_STALL_READ_BYTES], 7);
    ck_assert_uint_eq(device->done[HR_STALL_WRITTEN_BYTES], 8);
    ck_assert_uint_eq(device->done[HR_STALL_READS], 3);
    ck_assert_uint_eq(device->done[HR_STALL_WRITES], 4);
    ck_assert(!counters.has_machine_io);
}
END_TEST

/* --- version 1 ------------------------------------------------------------------ */

static void add_version_1(const char *path_of_process)
{
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /" TREE_CGROUPS " cgroup2 rw 0 0\ncgroup /v1/cpu cgroup rw,cpu 0 0\n");
    tree_write(tree, "v1/cpu/cgroup.procs", "1\n");
    tree_write(tree, "v1/cpu/" GROUP "/cpu.cfs_quota_us", "50000\n");
    tree_write(tree, "v1/cpu/" GROUP "/cpu.cfs_period_us", "100000\n");
    tree_write(tree, "v1/cpu/" GROUP "/cpu.stat",
               "nr_periods 9\nnr_throttled 3\nthrottled_time 1200000\n");
    tree_write(tree, "v1/cpu/kubepods/pod/cpu.cfs_quota_us", "-1\n");
    tree_write(tree, "v1/cpu/kubepods/pod/cpu.cfs_period_us", "100000\n");
    tree_write(tree, "v1/cpu/kubepods/pod/cpu.stat", "nr_throttled 0\nthrottled_time 0\n");
    write_file(GROUP, "cpu.stat", "usage_usec 5\n");
    write_file(GROUP, "cgroup.procs", "4711\n4712\n");
    tree_write(tree, "proc/4711/cgroup", "1:cpu:/%s\n0::/" GROUP "\n", path_of_process);
    tree_add_process(tree, &(struct tree_process){.pid = 4711, .name = "a"});
}

START_TEST(cpu_of_version_1)
{
    add_version_1(GROUP);
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(counters.level[0].known);
    ck_assert_uint_eq(counters.level[0].cpu.quota_us, 50000);
    ck_assert_uint_eq(counters.level[0].cpu.throttled_count, 3);
    ck_assert_uint_eq(counters.level[0].cpu.throttled_us, 1200);
    ck_assert(counters.level[1].known);
    ck_assert_uint_eq(counters.level[1].cpu.quota_us, HR_STALL_NO_LIMIT);
    ck_assert(!counters.level[2].known);
}
END_TEST

START_TEST(a_group_of_version_1_with_other_processes_is_another)
{
    add_version_1("elsewhere");
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(!counters.level[0].known && !counters.below.known);
    ck_assert(counters.cpus.known);
    add_version_1(""); /* in no group, so that it has no limits */
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(!counters.level[0].known && counters.below.known);
    tree_add_process(tree, &(struct tree_process){.pid = 4711, .name = "a", .flags = 0x4});
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(!counters.below.known); /* it ends, and is shown there */
    tree_remove(tree, "proc/4711");   /* it has just ended */
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(!counters.level[0].known);
}
END_TEST

START_TEST(groups_without_processes_of_their_own_are_the_same)
{
    add_version_1("elsewhere");
    write_file(GROUP, "cgroup.procs", "");
    tree_write(tree, "v1/cpu/" GROUP "/cgroup.procs", "%s", "");
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(counters.level[0].known);
    tree_write(tree, "v1/cpu/" GROUP "/cgroup.procs", "5\n");
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert(!counters.level[0].known);
}
END_TEST

START_TEST(without_any_of_it_nothing_is_known)
{
    tree_remove(tree, "proc/stat");
    tree_remove(tree, "proc/vmstat");
    for (enum hr_psi_resource i = HR_PSI_CPU; i < HR_PSI_RESOURCE_COUNT; i++) {
        ck_assert_int_eq(read_counters(i), 0);
        for (size_t level = 0; level < HR_STALL_LEVELS; level++)
            ck_assert(!counters.level[level].known);
        ck_assert(!counters.cpus.known && !counters.has_reclaim && !counters.has_machine_io);
    }
}
END_TEST

START_TEST(the_system)
{
    group = NULL;
    ck_assert_int_eq(read_counters(HR_PSI_CPU), 0);
    ck_assert_str_eq(counters.group, "");
    ck_assert(counters.cpus.known && !counters.has_cpu_full && !counters.level[0].known);
    ck_assert_int_eq(read_counters(HR_PSI_MEMORY), 0);
    ck_assert(counters.has_reclaim && counters.has_refaults);
    ck_assert_uint_eq(counters.refault_count, 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("counters");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, cpu_of_version_2);
    tcase_add_test(tests, a_group_far_below);
    tcase_add_test(tests, a_hypervisor_that_steals);
    tcase_add_test(tests, the_top_is_not_a_level);
    tcase_add_test(tests, memory_of_version_2);
    tcase_add_test(tests, limits_of_groups_below);
    tcase_add_test(tests, more_groups_below_than_are_read);
    tcase_add_test(tests, io_of_version_2);
    tcase_add_test(tests, rereads_for_lack_of_memory);
    tcase_add_test(tests, bytes_of_devices_made_of_others_count_once);
    tcase_add_test(tests, bytes_of_several_paths_are_those_above);
    tcase_add_test(tests, pages_from_zswap_are_not_read);
    tcase_add_test(tests, io_of_version_1);
    tcase_add_test(tests, a_kernel_without_limits_of_io);
    tcase_add_test(tests, cpu_of_version_1);
    tcase_add_test(tests, a_group_of_version_1_with_other_processes_is_another);
    tcase_add_test(tests, groups_without_processes_of_their_own_are_the_same);
    tcase_add_test(tests, without_any_of_it_nothing_is_known);
    tcase_add_test(tests, the_system);
    return run_suite("counters", tests);
}
