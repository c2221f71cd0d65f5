/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/check_perf_event.c - names of perf events on machines of every kind:
 * encodings, CPUs, roles and labels. Expected values are taken from the kernel's headers
 * (PERF_COUNT_*), the CPUs' manuals or the machine's sysfs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "collectors/perf_event/perf_event_harness.h"
#include "perf_event/pmu.h"
#include "support/suite.h"

/* --- How an event is counted ------------------------------------------------- */

#define U 1 /* exclude_kernel is expected */
#define K 2 /* exclude_user is */

static const struct {
    const char *machine, *text;
    uint32_t type;
    uint64_t config, config1;
    int only;
    const char *label;
} known[] = {
    /* PERF_TYPE_HARDWARE, PERF_COUNT_HW_* */
    {NO_PMU, "cycles", 0, 0, 0, 0, "cycles"},
    {NO_PMU, "cpu-cycles", 0, 0, 0, 0, "cpu-cycles"},
    {NO_PMU, "Instructions", 0, 1, 0, 0, "Instructions"},
    {SKYLAKE, "cache-references", 0, 2, 0, 0, "cache-references"},
    {SKYLAKE, "CACHE-MISSES", 0, 3, 0, 0, "CACHE-MISSES"},
    {SKYLAKE, "branches", 0, 4, 0, 0, "branches"},
    {SKYLAKE, "branch-misses", 0, 5, 0, 0, "branch-misses"},
    {SKYLAKE, "bus-cycles", 0, 6, 0, 0, "bus-cycles"},
    {ZEN, "stalled-cycles-frontend", 0, 7, 0, 0, "stalled-cycles-frontend"},
    {ZEN, "stalled-cycles-backend", 0, 8, 0, 0, "stalled-cycles-backend"},
    {SKYLAKE, "ref-cycles", 0, 9, 0, 0, "ref-cycles"},
    /* modifiers */
    {SKYLAKE, "cycles:u", 0, 0, 0, U, "cycles:u"},
    {SKYLAKE, "cycles:k", 0, 0, 0, K, "cycles:k"},
    {SKYLAKE, "cycles:uk", 0, 0, 0, 0, "cycles:uk"},
    {SKYLAKE, "cycles:ku", 0, 0, 0, 0, "cycles:uk"},
    {SKYLAKE, "cycles:u:k", 0, 0, 0, 0, "cycles:uk"},
    {SKYLAKE, "cycles:k:k", 0, 0, 0, K, "cycles:k"},
    /* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_* */
    {NO_PMU, "cpu-clock", 1, 0, 0, 0, "cpu-clock"},
    {NO_PMU, "task-clock", 1, 1, 0, 0, "task-clock"},
    {NO_PMU, "faults", 1, 2, 0, 0, "faults"},
    {NO_PMU, "page-faults:u", 1, 2, 0, U, "page-faults:u"},
    {NO_PMU, "context-switches", 1, 3, 0, 0, "context-switches"},
    {NO_PMU, "cs", 1, 3, 0, 0, "cs"},
    {NO_PMU, "migrations:k", 1, 4, 0, K, "migrations:k"},
    {NO_PMU, "minor-faults", 1, 5, 0, 0, "minor-faults"},
    {NO_PMU, "major-faults", 1, 6, 0, 0, "major-faults"},
    {NO_PMU, "cgroup-switches", 1, 11, 0, 0, "cgroup-switches"},
    /* PERF_TYPE_HW_CACHE: cache | op << 8 | result << 16 */
    {SKYLAKE, "L1-dcache-loads", 3, 0x00000, 0, 0, "L1-dcache-loads"},
    {SKYLAKE, "l1-dcache-load-misses", 3, 0x10000, 0, 0, "l1-dcache-load-misses"},
    {SKYLAKE, "L1-dcache-stores", 3, 0x00100, 0, 0, "L1-dcache-stores"},
    {SKYLAKE, "L1-icache-load-misses:k", 3, 0x10001, 0, K, "L1-icache-load-misses:k"},
    {SKYLAKE, "LLC-loads", 3, 0x00002, 0, 0, "LLC-loads"},
    {SKYLAKE, "LLC-store-misses", 3, 0x10102, 0, 0, "LLC-store-misses"},
    {SKYLAKE, "LLC-prefetch-misses", 3, 0x10202, 0, 0, "LLC-prefetch-misses"},
    {SKYLAKE, "dTLB-load-misses", 3, 0x10003, 0, 0, "dTLB-load-misses"},
    {SKYLAKE, "iTLB-loads", 3, 0x00004, 0, 0, "iTLB-loads"},
    {SKYLAKE, "branch-load-misses", 3, 0x10005, 0, 0, "branch-load-misses"},
    {SKYLAKE, "node-stores", 3, 0x00106, 0, 0, "node-stores"},
    /* PERF_TYPE_RAW */
    {SKYLAKE, "r01c2", 4, 0x1c2, 0, 0, "r01c2"},
    {SKYLAKE, "rFFffFFffFFffFFff:u", 4, UINT64_MAX, 0, U, "rFFffFFffFFffFFff:u"},
    {NO_PMU, "r0", 4, 0, 0, 0, "r0"},
    /* a PMU's terms */
    {SKYLAKE, "cpu/event=0xc0,umask=0x1/", 4, 0x1c0, 0, 0, "cpu_event=0xc0_umask=0x1"},
    {SKYLAKE, "cpu/event=192,umask=1/", 4, 0x1c0, 0, 0, "cpu_event=192_umask=1"},
    {SKYLAKE, "cpu/umask=0x1,event=0xC0/u", 4, 0x1c0, 0, U, "cpu_umask=0x1_event=0xC0:u"},
    {SKYLAKE, "cpu/event=0xc0/k", 4, 0xc0, 0, K, "cpu_event=0xc0:k"},
    {SKYLAKE, "cpu/event=0xc0/:k", 4, 0xc0, 0, K, "cpu_event=0xc0:k"},
    {SKYLAKE, "cpu/event=0xc0/:u:k", 4, 0xc0, 0, 0, "cpu_event=0xc0:uk"},
    {SKYLAKE, "cpu/event=0xc0/uk", 4, 0xc0, 0, 0, "cpu_event=0xc0:uk"},
    {SKYLAKE, "cpu/event=0xe,umask=1,cmask=1,inv,edge/", 4, 0x184010e, 0, 0,
     "cpu_event=0xe_umask=1_cmask=1_inv_edge"},
    {SKYLAKE, "cpu/config=0x1c2/", 4, 0x1c2, 0, 0, "cpu_config=0x1c2"},
    {SKYLAKE, "cpu/config=0xc0,umask=1/", 4, 0x1c0, 0, 0, "cpu_config=0xc0_umask=1"},
    {SKYLAKE, "cpu/r1c2/", 4, 0x1c2, 0, 0, "cpu_r1c2"},
    {SKYLAKE, "cpu/config=0x1b7,config1=0x10003c0001/", 4, 0x1b7, 0x10003c0001, 0,
     "cpu_config=0x1b7_config1=0x10003c0001"},
    {SKYLAKE, "cpu/event=0xb7,umask=1,offcore_rsp=0xffffffffffffffff/", 4, 0x1b7, UINT64_MAX, 0,
     "cpu_event=0xb7_umask=1_offcore_rsp=0xffffffffffffffff"},
    {SKYLAKE, "cpu/cache-misses/", 4, 0x412e, 0, 0, "cpu_cache-misses"},
    {SKYLAKE, "cpu/cache-misses,cmask=2/u", 4, 0x200412e, 0, U, "cpu_cache-misses_cmask=2:u"},
    {SKYLAKE, "cpu/mem-loads/", 4, 0x1cd, 3, 0, "cpu_mem-loads"},
    {SKYLAKE, "cpu/cycles-ct/", 4, 0x30000003c, 0, 0, "cpu_cycles-ct"},
    {SKYLAKE, "cpu/topdown-recovery-bubbles/", 4, 0x20010d, 0, 0, "cpu_topdown-recovery-bubbles"},
    {SKYLAKE, "cpu/event=0xc0,name=retired/", 4, 0xc0, 0, 0, "retired"},
    {SKYLAKE, "cpu/name=retired_,event=0xc0/u", 4, 0xc0, 0, U, "retired:u"},
    {SKYLAKE, "cpu/event=0xc0,name=_/", 4, 0xc0, 0, 0, "cpu_event=0xc0_name="},
    {SKYLAKE, "cpu/event=0xc0,name=\303\274ber/", 4, 0xc0, 0, 0, "__ber"},
    {SKYLAKE, "msr/tsc/", 8, 0, 0, 0, "msr_tsc"},
    {SKYLAKE, "msr/mperf/", 8, 2, 0, 0, "msr_mperf"},
    {NO_PMU, "msr/tsc/", 10, 0, 0, 0, "msr_tsc"},
    {NO_PMU, "msr/smi/u", 10, 4, 0, U, "msr_smi:u"},
    {ZEN, "cpu/event=0x1ab/", 4, 0x1000000ab, 0, 0, "cpu_event=0x1ab"},
    {ZEN, "cpu/event=0xfff,umask=0xff/", 4, 0xf0000ffff, 0, 0, "cpu_event=0xfff_umask=0xff"},
    {ZEN, "cpu/cache-references/", 4, 0xff60, 0, 0, "cpu_cache-references"},
    {ZEN, "ibs_op/cnt_ctl/", 11, 0x80000, 0, 0, "ibs_op_cnt_ctl"},
    /* libpfm4's, encoded as in the manuals */
    {SKYLAKE, "skl::MEM_LOAD_RETIRED:L1_HIT", 4, 0x1d1, 0, 0, "skl::MEM_LOAD_RETIRED:L1_HIT"},
    {SKYLAKE, "skl::mem_load_retired:l1_hit:u", 4, 0x1d1, 0, U, "skl::mem_load_retired:l1_hit:u"},
    {SKYLAKE, "skl::INST_RETIRED.ANY_P:k", 4, 0xc0, 0, K, "skl::INST_RETIRED.ANY_P:k"},
    {SKYLAKE, "skl::UOPS_ISSUED:ANY:c=1", 4, 0x100010e, 0, 0, "skl::UOPS_ISSUED:ANY:c=1"},
    {SKYLAKE, "skl::UOPS_ISSUED:ANY:u:c=1", 4, 0x100010e, 0, U, "skl::UOPS_ISSUED:ANY:u:c=1"},
    {ZEN, "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", 4, 0xc0, 0, 0,
     "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS"},
};

START_TEST(encodes_what_is_known)
{
    open_vocabulary(known[_i].machine);
    assert_found(known[_i].text);
    ck_assert_str_eq(event->text, known[_i].text);
    ck_assert_str_eq(event->label, known[_i].label);
    ck_assert(!event->whole_machine);
    ck_assert_uint_eq(event->encoding_count, 1);
    ck_assert(event->encodings[0].every_cpu);
    /* all other members are 0 */
    struct perf_event_attr attr = {.type = known[_i].type,
                                   .size = sizeof(attr),
                                   .config = known[_i].config,
                                   .config1 = known[_i].config1,
                                   .exclude_kernel = known[_i].only == U,
                                   .exclude_user = known[_i].only == K};
    ck_assert_uint_eq(event->encodings[0].attr.type, attr.type);
    ck_assert_uint_eq(event->encodings[0].attr.config, attr.config);
    ck_assert_mem_eq(&event->encodings[0].attr, &attr, sizeof(attr));
}
END_TEST

START_TEST(leaves_guests_out_if_asked)
{
    open_vocabulary(SKYLAKE);
    assert_found("cycles:mg");
    ck_assert_uint_eq(event->encodings[0].attr.exclude_host, 1);
    ck_assert_uint_eq(event->encodings[0].attr.exclude_guest, 0);
    assert_found("cycles:mh=1:u");
    ck_assert_uint_eq(event->encodings[0].attr.exclude_host, 0);
    ck_assert_uint_eq(event->encodings[0].attr.exclude_guest, 1);
    ck_assert_uint_eq(event->encodings[0].attr.exclude_kernel, 1);
    ck_assert_uint_eq(event->encodings[0].attr.exclude_hv, 0);
    assert_found("skl::INST_RETIRED:ANY_P:mh");
    ck_assert_uint_eq(event->encodings[0].attr.exclude_guest, 1);
}
END_TEST

/* Newer versions of libpfm4 have no modifier h on x86, whose counters know no hypervisor. */
START_TEST(leaves_hypervisors_out_if_asked)
{
    open_vocabulary(SKYLAKE);
    if (find_event("cycles:h=0") == 0)
        ck_assert_uint_eq(event->encodings[0].attr.exclude_hv, 1);
    else
        ck_assert_str_eq(error.reason, "the event \"cycles\" has no unit mask or modifier \"h=0\"");
}
END_TEST

/* sysfs has links to directories elsewhere; a copy has directories */
START_TEST(takes_directories_for_links)
{
    event_source_add(tree, SKYLAKE, EVENT_SOURCE_DIRECTORIES);
    open_vocabulary(NULL);
    assert_found("cpu/mem-loads/");
    ck_assert_uint_eq(event->encodings[0].attr.config, 0x1cd);
}
END_TEST

static const char *const machines[] = {SKYLAKE, ZEN, ALDER_LAKE, BIG_LITTLE, NO_PMU, NULL};

/* Whether there is a PMU that counts them is found out by opening them. */
START_TEST(knows_cycles_on_any_machine)
{
    static const struct {
        const char *text;
        enum hr_perf_mode mode;
    } modes[] = {{"cycles", HR_PERF_ANY_MODE},
                 {"cycles:u", HR_PERF_USER},
                 {"cycles:k", HR_PERF_KERNEL},
                 {"cycles:uk", HR_PERF_ANY_MODE}};

    open_vocabulary(machines[_i]);
    for (size_t i = 0; i < COUNT(modes); i++) {
        assert_found(modes[i].text);
        ck_assert_int_eq(event->mode, modes[i].mode);
    }
}
END_TEST

/* What virtual machines do is counted, unless one of both sides is asked for. */
START_TEST(tells_guests_from_the_host)
{
    static const struct {
        const char *text, *label;
        bool no_host, no_guest, no_kernel;
    } sides[] = {{"cycles", "cycles", false, false, false},
                 {"cycles:G", "cycles:G", true, false, false},
                 {"cycles:H", "cycles:H", false, true, false},
                 {"cycles:HG", "cycles:GH", false, false, false},
                 {"cycles:Hu", "cycles:uH", false, true, true},
                 {"cycles:u:H", "cycles:uH", false, true, true},
                 {"r01c2:H", "r01c2:H", false, true, false},
                 {"cpu/event=0xc0/H", "cpu_event=0xc0:H", false, true, false},
                 {"cpu/event=0xc0/:u:G", "cpu_event=0xc0:uG", true, false, true}};

    open_vocabulary(SKYLAKE);
    for (size_t i = 0; i < COUNT(sides); i++) {
        assert_found(sides[i].text);
        ck_assert_str_eq(event->label, sides[i].label);
        ck_assert_uint_eq(event->encodings[0].attr.exclude_host, sides[i].no_host);
        ck_assert_uint_eq(event->encodings[0].attr.exclude_guest, sides[i].no_guest);
        ck_assert_uint_eq(event->encodings[0].attr.exclude_kernel, sides[i].no_kernel);
    }
}
END_TEST

START_TEST(does_without_the_directory)
{
    open_vocabulary(NULL);
    assert_found("task-clock");
    ck_assert_int_eq(find_event("msr/tsc/"), -ENOENT);
    ck_assert_str_eq(error.reason, "this machine has no PMU \"msr\"");
}
END_TEST

/* --- CPUs -------------------------------------------------------------------- */

static void assert_cpus(const struct hr_perf_encoding *encoding, unsigned first, unsigned last)
{
    ck_assert(!encoding->every_cpu);
    ck_assert_uint_eq(hr_cpu_set_count(&encoding->cpus), last - first + 1);
    for (unsigned cpu = first; cpu <= last; cpu++)
        ck_assert(hr_cpu_set_has(&encoding->cpus, cpu));
}

static const struct {
    const char *machine, *text;
    struct {
        uint32_t type;
        uint64_t config;
        unsigned first, last;
    } encodings[2];
} hybrid[] = {
    {ALDER_LAKE, "cycles", {{0, 0x400000000, 0, 15}, {0, 0xa00000000, 16, 23}}},
    {ALDER_LAKE, "instructions", {{0, 0x400000001, 0, 15}, {0, 0xa00000001, 16, 23}}},
    {ALDER_LAKE, "L1-dcache-load-misses", {{3, 0x400010000, 0, 15}, {3, 0xa00010000, 16, 23}}},
    {ALDER_LAKE, "r1c2", {{4, 0x1c2, 0, 15}, {10, 0x1c2, 16, 23}}},
    {BIG_LITTLE, "cache-misses", {{0, 0x800000003, 0, 3}, {0, 0x900000003, 4, 5}}},
    {BIG_LITTLE, "r11", {{8, 0x11, 0, 3}, {9, 0x11, 4, 5}}},
    {ALDER_LAKE, "cpu_core/mem-loads/", {{4, 0x1cd, 0, 15}}},
    {ALDER_LAKE, "cpu_atom/mem-loads/", {{10, 0x5d0, 16, 23}}},
    {BIG_LITTLE, "armv8_cortex_a72/mem_access/", {{9, 0x13, 4, 5}}},
    {BIG_LITTLE, "armv8_cortex_a53/event=0x11,long/", {{8, 0x11, 0, 3}}},
    /* libpfm4's encoding has the PMU's type */
    {ALDER_LAKE, "skl::MEM_LOAD_RETIRED:L1_HIT", {{4, 0x1d1, 0, 15}}},
};

START_TEST(counts_on_each_kind_of_core)
{
    size_t count = hybrid[_i].encodings[1].last > 0 ? 2 : 1;

    open_vocabulary(hybrid[_i].machine);
    assert_found(hybrid[_i].text);
    ck_assert(!event->whole_machine);
    ck_assert_uint_eq(event->encoding_count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(event->encodings[i].attr.type, hybrid[_i].encodings[i].type);
        ck_assert_uint_eq(event->encodings[i].attr.config, hybrid[_i].encodings[i].config);
        assert_cpus(&event->encodings[i], hybrid[_i].encodings[i].first,
                    hybrid[_i].encodings[i].last);
    }
}
END_TEST

START_TEST(counts_software_events_everywhere)
{
    open_vocabulary(ALDER_LAKE);
    assert_found("task-clock");
    ck_assert_uint_eq(event->encoding_count, 1);
    ck_assert(event->encodings[0].every_cpu);
    assert_found("msr/tsc/");
    ck_assert(event->encodings[0].every_cpu);
}
END_TEST

START_TEST(modifies_each_encoding)
{
    open_vocabulary(ALDER_LAKE);
    assert_found("cycles:u");
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_eq(event->encodings[i].attr.exclude_kernel, 1);
}
END_TEST

START_TEST(takes_a_single_kind_of_core_for_all)
{
    event_source_add(tree, BIG_LITTLE, EVENT_SOURCE_DIRECTORIES);
    tree_remove(tree, EVENT_SOURCE "/armv8_cortex_a72");
    open_vocabulary(NULL);
    assert_found("cycles");
    ck_assert_uint_eq(event->encoding_count, 1);
    ck_assert_uint_eq(event->encodings[0].attr.config, 0);
    ck_assert(event->encodings[0].every_cpu);
}
END_TEST

START_TEST(counts_no_cpu_twice)
{
    event_source_add(tree, BIG_LITTLE, EVENT_SOURCE_DIRECTORIES);
    tree_write(tree, EVENT_SOURCE "/armv8_cortex_a72/cpus", "3-5\n");
    open_vocabulary(NULL);
    assert_found("cycles");
    assert_cpus(&event->encodings[0], 0, 3);
    assert_cpus(&event->encodings[1], 4, 5);
}
END_TEST

START_TEST(knows_what_belongs_to_a_package)
{
    open_vocabulary(SKYLAKE);
    assert_found("uncore_imc_0/cas_count_read/");
    ck_assert(event->whole_machine);
    ck_assert_uint_eq(event->encodings[0].attr.type, 12);
    ck_assert_uint_eq(event->encodings[0].attr.config, 0x304);
    ck_assert(!event->encodings[0].every_cpu);
    ck_assert_uint_eq(hr_cpu_set_count(&event->encodings[0].cpus), 2);
    ck_assert(hr_cpu_set_has(&event->encodings[0].cpus, 0));
    ck_assert(hr_cpu_set_has(&event->encodings[0].cpus, 14));
    assert_found("power/energy-pkg/");
    ck_assert(event->whole_machine);
    assert_found("cpu/cache-misses/");
    ck_assert(!event->whole_machine);
}
END_TEST

/* --- Looked up again ------------------------------------------------------ */

/* @return as hr_perf_event_update(), with the PMUs that there are now. */
static int update_event(void)
{
    struct hr_perf_vocabulary *now;

    ck_assert_int_eq(hr_perf_vocabulary_open(root, &now), 0);
    int status = hr_perf_event_update(now, event);
    hr_perf_vocabulary_close(now);
    return status;
}

START_TEST(follows_cores_that_come_online)
{
    event_source_add(tree, ALDER_LAKE, EVENT_SOURCE_DIRECTORIES);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16-17\n");
    open_vocabulary(NULL);
    assert_found("cycles");
    ck_assert_int_eq(update_event(), 0);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16-23\n");
    ck_assert_int_eq(update_event(), 1);
    ck_assert_uint_eq(event->encoding_count, 2);
    for (int i = 0; i < 2; i++)
        if (hr_cpu_set_has(&event->encodings[i].cpus, 16))
            assert_cpus(&event->encodings[i], 16, 23);
        else
            assert_cpus(&event->encodings[i], 0, 15);
    ck_assert_int_eq(update_event(), 0);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "18-23\n"); /* which go offline */
    ck_assert_int_eq(update_event(), 0);
    tree_write(tree, EVENT_SOURCE "/cpu_core/cpus", "0-16\n"); /* one is of that kind now */
    ck_assert_int_eq(update_event(), 1);
    for (int i = 0; i < 2; i++)
        if (hr_cpu_set_has(&event->encodings[i].cpus, 16))
            assert_cpus(&event->encodings[i], 0, 16);
        else
            assert_cpus(&event->encodings[i], 17, 23);
}
END_TEST

START_TEST(follows_kinds_of_cores_that_come)
{
    event_source_add(tree, ALDER_LAKE, EVENT_SOURCE_DIRECTORIES);
    tree_remove(tree, EVENT_SOURCE "/cpu_atom");
    open_vocabulary(NULL);
    assert_found("cycles");
    ck_assert_uint_eq(event->encoding_count, 1);
    event_source_add(tree, ALDER_LAKE, EVENT_SOURCE_DIRECTORIES);
    ck_assert_int_eq(update_event(), 1);
    ck_assert_uint_eq(event->encoding_count, 2);
    ck_assert_int_eq(update_event(), 0);
}
END_TEST

/* The CPU that counts for it may go offline. */
START_TEST(follows_the_cpu_of_a_package)
{
    event_source_add(tree, SKYLAKE, EVENT_SOURCE_DIRECTORIES);
    open_vocabulary(NULL);
    assert_found("power/energy-pkg/");
    tree_write(tree, EVENT_SOURCE "/power/cpumask", "8\n");
    ck_assert_int_eq(update_event(), 1);
    assert_cpus(&event->encodings[0], 8, 8);
    ck_assert_int_eq(update_event(), 0);
    tree_remove(tree, EVENT_SOURCE "/power"); /* nothing is known any more */
    ck_assert_int_eq(update_event(), 0);
    assert_cpus(&event->encodings[0], 8, 8);
}
END_TEST

/* It isn't known then whether something has changed. */
START_TEST(reports_what_cannot_be_read)
{
    struct hr_perf_vocabulary *now;
    struct rlimit limit, none;

    event_source_add(tree, SKYLAKE, EVENT_SOURCE_DIRECTORIES);
    open_vocabulary(NULL);
    assert_found("power/energy-pkg/");
    tree_write(tree, EVENT_SOURCE "/power/cpumask", "some\n");
    ck_assert_int_eq(update_event(), -EBADMSG);
    assert_cpus(&event->encodings[0], 0, 0);
    tree_write(tree, EVENT_SOURCE "/power/cpumask", "8\n");
    ck_assert_int_eq(hr_perf_vocabulary_open(root, &now), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int status = hr_perf_event_update(now, event);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(status, -EMFILE);
    hr_perf_vocabulary_close(now);
    ck_assert_int_eq(update_event(), 1);
    assert_cpus(&event->encodings[0], 8, 8);
}
END_TEST

/* --- Roles ------------------------------------------------------------------- */

static const struct {
    const char *machine, *text;
    enum hr_perf_role role;
} roles[] = {
    {NO_PMU, "cycles", HR_PERF_CYCLES},
    {NO_PMU, "CPU-CYCLES:u", HR_PERF_CYCLES},
    {ALDER_LAKE, "instructions", HR_PERF_INSTRUCTIONS},
    {SKYLAKE, "cache-references", HR_PERF_CACHE_REFERENCES},
    {SKYLAKE, "cache-misses", HR_PERF_CACHE_MISSES},
    {SKYLAKE, "L1-dcache-stores", HR_PERF_CACHE_REFERENCES},
    {SKYLAKE, "dTLB-load-misses", HR_PERF_CACHE_MISSES},
    {SKYLAKE, "cpu/cpu-cycles/", HR_PERF_CYCLES},
    {SKYLAKE, "cpu/instructions/k", HR_PERF_INSTRUCTIONS},
    {SKYLAKE, "cpu/cache-misses,name=m/", HR_PERF_CACHE_MISSES},
    {BIG_LITTLE, "armv8_cortex_a53/cpu_cycles/", HR_PERF_CYCLES},
    {BIG_LITTLE, "armv8_cortex_a53/inst_retired/", HR_PERF_INSTRUCTIONS},
    {SKYLAKE, "cpu/cache-misses,cmask=1/", HR_PERF_OTHER},
    {SKYLAKE, "cpu/mem-loads/", HR_PERF_OTHER},
    {SKYLAKE, "cpu/event=0x3c/", HR_PERF_OTHER},
    {SKYLAKE, "branches", HR_PERF_OTHER},
    {SKYLAKE, "ref-cycles", HR_PERF_OTHER},
    {SKYLAKE, "cpu-clock", HR_PERF_OTHER},  /* of the same number as cycles */
    {SKYLAKE, "task-clock", HR_PERF_OTHER}, /* … and instructions */
    {SKYLAKE, "r1", HR_PERF_OTHER},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P", HR_PERF_OTHER},
    {SKYLAKE, "uncore_imc_0/clockticks/", HR_PERF_OTHER},
};

START_TEST(knows_what_ratios_are_made_of)
{
    open_vocabulary(roles[_i].machine);
    assert_found(roles[_i].text);
    ck_assert_int_eq(event->role, roles[_i].role);
}
END_TEST

static uint64_t cache_of(const char *text)
{
    assert_found(text);
    return event->cache;
}

static const struct {
    const char *one, *other;
    bool is_same;
} caches[] = {
    {"cache-references", "cache-misses", true},
    {"cpu_core/cache-references/", "cpu_core/cache-misses/", true},
    {"L1-dcache-loads", "L1-dcache-load-misses", true},
    {"L1-dcache-stores", "L1-dcache-store-misses", true},
    {"LLC-loads", "LLC-load-misses", true},
    {"cpu_core/cpu-cycles/", "cpu_core/instructions/", true},
    {"L1-dcache-loads", "L1-dcache-store-misses", false},
    {"L1-dcache-loads", "LLC-load-misses", false},
    {"L1-dcache-loads", "cache-misses", false},
    {"cpu_core/cache-references/", "cpu_atom/cache-misses/", false},
    {"cpu_core/cpu-cycles/", "cpu_atom/instructions/", false},
    {"cpu_core/cpu-cycles/", "instructions", false},
    {"cache-references", "cpu_atom/cache-misses/", false},
};

START_TEST(distinguishes_caches)
{
    open_vocabulary(ALDER_LAKE);
    ck_assert((cache_of(caches[_i].one) == cache_of(caches[_i].other)) == caches[_i].is_same);
}
END_TEST

START_TEST(takes_an_alias_for_the_generic_name)
{
    open_vocabulary(SKYLAKE);
    ck_assert_uint_eq(cache_of("cache-references"), cache_of("cpu/cache-misses/"));
}
END_TEST

/* --- Labels ------------------------------------------------------------------- */

START_TEST(cuts_long_labels_apart)
{
    char text[256], first[64], zeros[129];

    open_vocabulary(SKYLAKE);
    memset(zeros, '0', sizeof(zeros) - 1);
    zeros[sizeof(zeros) - 1] = '\0';
    snprintf(text, sizeof(text), "cpu/event=%s1/k", zeros);
    assert_found(text);
    ck_assert_uint_eq(strlen(event->label), 63);
    ck_assert_msg(strncmp(event->label, "cpu_event=000", 13) == 0, "%s", event->label);
    ck_assert_int_eq(event->label[52], '~');
    ck_assert_uint_eq(strspn(event->label + 53, "0123456789abcdef"), 8);
    ck_assert_str_eq(event->label + 61, ":k");
    snprintf(first, sizeof(first), "%s", event->label);
    snprintf(text, sizeof(text), "cpu/event=%s2/k", zeros);
    assert_found(text);
    ck_assert_uint_eq(strlen(event->label), 63);
    ck_assert_str_ne(event->label, first);
}
END_TEST

START_TEST(keeps_labels_that_fit)
{
    char text[128];

    open_vocabulary(SKYLAKE);
    snprintf(text, sizeof(text), "cpu/event=%053d/", 1);
    assert_found(text);
    ck_assert_uint_eq(strlen(event->label), 63);
    ck_assert_ptr_null(strchr(event->label, '~'));
    snprintf(text, sizeof(text), "cpu/event=%054d/", 1);
    assert_found(text);
    ck_assert_uint_eq(strlen(event->label), 63);
    ck_assert_int_eq(event->label[54], '~');
}
END_TEST

int main(void)
{
    TCase *tests = perf_event_tests();

    tcase_add_loop_test(tests, encodes_what_is_known, 0, COUNT(known));
    tcase_add_test(tests, leaves_guests_out_if_asked);
    tcase_add_test(tests, leaves_hypervisors_out_if_asked);
    tcase_add_test(tests, takes_directories_for_links);
    tcase_add_loop_test(tests, knows_cycles_on_any_machine, 0, COUNT(machines));
    tcase_add_test(tests, tells_guests_from_the_host);
    tcase_add_test(tests, does_without_the_directory);
    tcase_add_loop_test(tests, counts_on_each_kind_of_core, 0, COUNT(hybrid));
    tcase_add_test(tests, counts_software_events_everywhere);
    tcase_add_test(tests, modifies_each_encoding);
    tcase_add_test(tests, takes_a_single_kind_of_core_for_all);
    tcase_add_test(tests, counts_no_cpu_twice);
    tcase_add_test(tests, knows_what_belongs_to_a_package);
    tcase_add_test(tests, follows_cores_that_come_online);
    tcase_add_test(tests, follows_kinds_of_cores_that_come);
    tcase_add_test(tests, follows_the_cpu_of_a_package);
    tcase_add_test(tests, reports_what_cannot_be_read);
    tcase_add_loop_test(tests, knows_what_ratios_are_made_of, 0, COUNT(roles));
    tcase_add_loop_test(tests, distinguishes_caches, 0, COUNT(caches));
    tcase_add_test(tests, takes_an_alias_for_the_generic_name);
    tcase_add_test(tests, cuts_long_labels_apart);
    tcase_add_test(tests, keeps_labels_that_fit);
    return run_suite("perf_event", tests);
}
