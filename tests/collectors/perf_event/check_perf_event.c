/* SPDX-License-Identifier: MIT */
/*
 * collectors/perf_event/check_perf_event.c - names of perf events on machines of every kind:
 * encodings, labels, and reasons why a text is no event. Expected values are taken from the
 * kernel's headers (PERF_COUNT_*), the CPUs' manuals or the machine's sysfs.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/perf_event/event_source.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "perf_event/pmu.h"
#include "perf_event/suggest.h"
#include "perf_event/terms.h"
#include "perf_event/tracepoint.h"
#include "support/few_descriptors.h"
#include "support/suite.h"
#include "support/tree.h"

#define SKYLAKE    "5.10-x86-skylake-uncore"
#define ZEN        "5.10-x86-zen-event-split"
#define ALDER_LAKE "6.1-x86-alder-lake-hybrid"
#define BIG_LITTLE "6.1-arm-big-little"
#define NO_PMU     "6.18-x86-vm-no-pmu"

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

static struct tree *tree;
static struct hr_root *root;
static struct hr_perf_vocabulary *vocabulary;
static struct hr_perf_event *event;
static struct hr_perf_event_error error;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    vocabulary = NULL;
    event = NULL;
    memset(&error, 0, sizeof(error));
}

static void tear_down(void)
{
    hr_perf_event_free(event);
    hr_perf_vocabulary_close(vocabulary);
    hr_root_close(root);
    tree_free(tree);
}

static void open_vocabulary(const char *machine)
{
    if (machine != NULL)
        event_source_add(tree, machine, EVENT_SOURCE_LINKS);
    ck_assert_int_eq(hr_perf_vocabulary_open(root, &vocabulary), 0);
}

static int find_event(const char *text)
{
    hr_perf_event_free(event);
    event = NULL;
    memset(&error, 0, sizeof(error));
    return hr_perf_event_find(vocabulary, text, &event, &error);
}

static void assert_found(const char *text)
{
    int status = find_event(text);

    ck_assert_msg(status == 0, "%s: %d, %s", text, status, error.reason);
}

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

START_TEST(leaves_guests_and_hypervisors_out_if_asked)
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
    assert_found("cycles:h=0");
    ck_assert_uint_eq(event->encodings[0].attr.exclude_hv, 1);
}
END_TEST

/* sysfs has links to directories elsewhere; a copy has directories */
START_TEST(takes_folders_for_links)
{
    event_source_add(tree, SKYLAKE, EVENT_SOURCE_FOLDERS);
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

START_TEST(does_without_the_folder)
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
    event_source_add(tree, BIG_LITTLE, EVENT_SOURCE_FOLDERS);
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
    event_source_add(tree, BIG_LITTLE, EVENT_SOURCE_FOLDERS);
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

START_TEST(tells_caches_apart)
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

/* --- Why a text is no event --------------------------------------------------- */

static const struct {
    const char *machine, *text;
    int status;
    const char *reason;
    const char *nearest; /* the most similar name, or NULL */
} faulty[] = {
    {NO_PMU, "", -EINVAL, "there is no name", NULL},
    {NO_PMU, ":u", -EINVAL, "there is no name", NULL},
    {NO_PMU, "cyles", -ENOENT, "this machine knows no such event", "cycles"},
    {NO_PMU, "CYLCES:u", -ENOENT, "this machine knows no such event", "cycles"},
    {NO_PMU, "L1-dcache-load-mises", -ENOENT, "this machine knows no such event",
     "l1-dcache-load-misses"},
    {NO_PMU, "nothing-of-the-kind", -ENOENT, "this machine knows no such event", NULL},
    {NO_PMU, "energy-psys", -ENOENT, "this machine knows no such event", "power/energy-psys/"},
    {NO_PMU, "nopmu::CYCLS", -ENOENT, "this machine knows no such event", "cycles"},
    {NO_PMU, "cycles:p", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"p\"", NULL},
    {NO_PMU, "cycles:u:G:k", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"G\"",
     NULL},
    {NO_PMU, "cycles:u=2", -EINVAL, "the value in \"u=2\" is out of its range", NULL},
    {NO_PMU, "cycles,instructions", -EINVAL, "the name of one event can't contain \",\"", NULL},
    {NO_PMU, "sched:*", -EINVAL, "the name of one event can't contain \"*\"", NULL},
    {NO_PMU, " cycles", -EINVAL, "the name of one event can't contain \" \"", NULL},
    {NO_PMU, "r12345678901234567", -EINVAL, "it has more than 64 bits", NULL},
    {SKYLAKE, "skl::MEM_LOAD_RETIRED:L1_HITS", -EINVAL,
     "the event \"skl::MEM_LOAD_RETIRED\" has no unit mask or modifier \"L1_HITS\"",
     "skl::MEM_LOAD_RETIRED:l1_hit"},
    {SKYLAKE, "skl::MEM_LOAD_RETIRED", -EINVAL, "the event needs a unit mask, or another one",
     NULL},
    {SKYLAKE, "skl::MEM_LOAD_RETIRED:L1_HIT:L2_HIT", -EINVAL,
     "these unit masks and modifiers can't be combined", NULL},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P:c=1:c=2", -EINVAL, "\"c=2\" is set already", NULL},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P:cc", -EINVAL,
     "the event \"skl::INST_RETIRED\" has no unit mask or modifier \"cc\"", NULL},
    {SKYLAKE, "skl::INST_RETIRED:ANY_P:c=256", -EINVAL,
     "the value in \"c=256\" is out of its range", NULL},

    {SKYLAKE, "/tsc/", -EINVAL, "there is no PMU before the slash", NULL},
    {SKYLAKE, "msr/tsc", -EINVAL, "there is no closing slash", NULL},
    {SKYLAKE, "msr//", -EINVAL, "there is no event between the slashes", NULL},
    {SKYLAKE, "cpu/name=x/", -EINVAL, "there is no event between the slashes", NULL},
    {SKYLAKE, "cpu/event=1,/", -EINVAL, "there is an empty term", NULL},
    {SKYLAKE, "cpu/,event=1/", -EINVAL, "there is an empty term", NULL},
    {SKYLAKE, "cpu/=1/", -EINVAL, "there is an empty term", NULL},
    {SKYLAKE, "msr/tsc/p", -EINVAL, "the closing slash may be followed by u, k or uk, not by \"p\"",
     NULL},
    {SKYLAKE, "msr/tsc/u:", -EINVAL,
     "the closing slash may be followed by u, k or uk, not by \"u:\"", NULL},
    {SKYLAKE, "msr/tsc/::u", -EINVAL,
     "the closing slash may be followed by u, k or uk, not by \"::u\"", NULL},
    {SKYLAKE, "msr/tsc/u/", -EINVAL,
     "the closing slash may be followed by u, k or uk, not by \"u/\"", NULL},
    {SKYLAKE, "mrs/tsc/", -ENOENT, "this machine has no PMU \"mrs\"", "msr/tsc/"},
    {SKYLAKE, "mrs/no-such/", -ENOENT, "this machine has no PMU \"mrs\"", NULL},
    {SKYLAKE, "../tsc/", -ENOENT, "this machine has no PMU \"..\"", NULL},
    {ALDER_LAKE, "cpu/mem-loads-aux/", -ENOENT, "this machine has no PMU \"cpu\"",
     "cpu_core/mem-loads-aux/"},
    {SKYLAKE, "cpu/cache-mises/", -ENOENT, "the PMU \"cpu\" has no event or term \"cache-mises\"",
     "cpu/cache-misses/"},
    {SKYLAKE, "cpu/Cache-Misses/u", -ENOENT,
     "the PMU \"cpu\" has no event or term \"Cache-Misses\"", "cpu/cache-misses/"},
    {SKYLAKE, "cpu/cycles/", -ENOENT, "the PMU \"cpu\" has no event or term \"cycles\"",
     "cpu/bus-cycles/"},
    {SKYLAKE, "cpu/event=0xc0,umsk=1/", -ENOENT, "the PMU \"cpu\" has no term \"umsk\"",
     "cpu/event=0xc0,umask=1/"},
    {SKYLAKE, "cpu/no-such-thing=1/", -ENOENT, "the PMU \"cpu\" has no term \"no-such-thing\"",
     NULL},
    {SKYLAKE, "power/energy-pkg.unit/", -ENOENT,
     "the PMU \"power\" has no event or term \"energy-pkg.unit\"", NULL},
    {SKYLAKE, "cpu/../", -EINVAL, "\"..\" can't be the name of a term", NULL},
    {SKYLAKE, "cpu/a b/", -EINVAL, "\"a b\" can't be the name of a term", NULL},
    {SKYLAKE, "cpu/cache-misses=1/", -EINVAL, "the event \"cache-misses\" takes no value", NULL},
    {SKYLAKE, "cpu/cache-misses,umask=1/", -EINVAL, "the term \"umask\" is given twice", NULL},
    {SKYLAKE, "cpu/event=1,event=1/", -EINVAL, "the term \"event\" is given twice", NULL},
    {SKYLAKE, "cpu/r1,config=2/", -EINVAL, "the term \"config\" is given twice", NULL},
    {SKYLAKE, "cpu/name=a,event=1,name=b/", -EINVAL, "the term \"name\" is given twice", NULL},
    {SKYLAKE, "cpu/event=1,name=/", -EINVAL, "the term \"name\" needs a text", NULL},
    {SKYLAKE, "cpu/event=1,name/", -EINVAL, "the term \"name\" needs a text", NULL},
    {SKYLAKE, "cpu/cache-misses,cache-references/", -EINVAL,
     "there are two events, \"cache-misses\" and \"cache-references\"", NULL},
    {SKYLAKE, "cpu/umask=0x100/", -EINVAL, "the term \"umask\" takes 0 to 0xff", NULL},
    {SKYLAKE, "cpu/edge=2/", -EINVAL, "the term \"edge\" takes 0 to 0x1", NULL},
    {ZEN, "cpu/event=0x1000/", -EINVAL, "the term \"event\" takes 0 to 0xfff", NULL},
    {SKYLAKE, "cpu/umask=/", -EINVAL, "the term \"umask\" takes a number, not \"\"", NULL},
    {SKYLAKE, "cpu/umask=0x/", -EINVAL, "the term \"umask\" takes a number, not \"0x\"", NULL},
    {SKYLAKE, "cpu/umask=-1/", -EINVAL, "the term \"umask\" takes a number, not \"-1\"", NULL},
    {SKYLAKE, "cpu/umask=1x/", -EINVAL, "the term \"umask\" takes a number, not \"1x\"", NULL},
    {SKYLAKE, "cpu/config=18446744073709551616/", -EINVAL,
     "the term \"config\" takes a number, not \"18446744073709551616\"", NULL},
    {SKYLAKE, "cpu/r1c2=5/", -ENOENT, "the PMU \"cpu\" has no term \"r1c2\"", NULL},
    {SKYLAKE, "cpu/r12345678901234567/", -EINVAL,
     "\"r12345678901234567\" has more than the 64 bits of a raw code", NULL},
    {SKYLAKE, "cpu/\001\377/", -EINVAL, "\"??\" can't be the name of a term", NULL},
};

static void assert_error(const char *text, int status, const char *reason)
{
    struct hr_perf_event *untouched = (struct hr_perf_event *)&error;
    struct hr_perf_event *made = untouched;
    int is = hr_perf_event_find(vocabulary, text, &made, &error);

    ck_assert_msg(is == status, "%s: %d, %s", text, is, error.reason);
    ck_assert_str_eq(error.reason, reason);
    ck_assert_ptr_eq(made, untouched);
}

START_TEST(says_what_is_wrong)
{
    open_vocabulary(faulty[_i].machine);
    assert_error(faulty[_i].text, faulty[_i].status, faulty[_i].reason);
    if (faulty[_i].nearest == NULL)
        ck_assert_msg(error.nearest_count == 0, "%s: %s", faulty[_i].text, error.nearest[0]);
    else
        ck_assert_str_eq(error.nearest[0], faulty[_i].nearest);
}
END_TEST

START_TEST(says_it_of_texts_of_any_length)
{
    char *text = malloc(100001);

    open_vocabulary(SKYLAKE);
    memset(text, 'x', 100000);
    text[100000] = '\0';
    assert_error(text, -ENOENT, "this machine knows no such event");
    memcpy(text, "cpu/", 4);
    text[99999] = '/';
    ck_assert_int_eq(find_event(text), -EINVAL);
    memset(text + 4, ',', 99995);
    assert_error(text, -EINVAL, "there is an empty term");
    free(text);
}
END_TEST

START_TEST(takes_thirty_two_terms)
{
    char text[1024] = "odd/";
    size_t length = 4;

    tree_write(tree, EVENT_SOURCE "/odd/type", "20\n");
    for (int i = 0; i < 33; i++) {
        char path[128];
        snprintf(path, sizeof(path), EVENT_SOURCE "/odd/format/t%d", i);
        tree_write(tree, path, "config:%d\n", i);
    }
    open_vocabulary(NULL);
    for (int i = 0; i < 32; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "t%d,", i);
    text[length - 1] = '/';
    assert_found(text);
    ck_assert_uint_eq(event->encodings[0].attr.config, 0xffffffff);
    snprintf(text + length - 1, sizeof(text) - length, ",t32/");
    assert_error(text, -EINVAL, "there are more than 32 terms");
}
END_TEST

/* An event of POWER's hypervisor requires the user to supply a term. */
START_TEST(wants_what_an_event_leaves_open)
{
    tree_write(tree, EVENT_SOURCE "/hv/type", "20\n");
    tree_write(tree, EVENT_SOURCE "/hv/format/domain", "config:0-3\n");
    tree_write(tree, EVENT_SOURCE "/hv/format/chip", "config:16-31\n");
    tree_write(tree, EVENT_SOURCE "/hv/events/PM_XLINK", "domain=1,chip=?\n");
    open_vocabulary(NULL);
    assert_error("hv/PM_XLINK/", -EINVAL,
                 "the event \"PM_XLINK\" needs the term \"chip\" with a value");
    assert_error("hv/PM_XLINK,chip/", -EINVAL,
                 "the event \"PM_XLINK\" needs the term \"chip\" with a value");
    assert_found("hv/PM_XLINK,chip=2/");
    ck_assert_uint_eq(event->encodings[0].attr.config, 0x20001);
}
END_TEST

static const struct {
    const char *file, *content, *text;
    const char *reason; /* NULL: the event is found nevertheless */
} broken[] = {
    {"cpu/format/event", "config:7-0\n", "cpu/event=1/",
     "the file format/event of the PMU \"cpu\" isn't understood"},
    {"cpu/format/event", "config9:0\n", "cpu/cache-misses/",
     "the file format/event of the PMU \"cpu\" isn't understood"},
    {"cpu/format/event", "config9:0\n", "cpu/umask=1/", NULL},
    {"cpu/events/cache-misses", "event=0x2e,,umask=1\n", "cpu/cache-misses/",
     "the file events/cache-misses of the PMU \"cpu\" isn't understood"},
    {"cpu/events/cache-misses", "", "cpu/cache-misses/",
     "the file events/cache-misses of the PMU \"cpu\" isn't understood"},
    {"cpu/events/cache-misses", "nothing=1\n", "cpu/cache-misses/",
     "the file events/cache-misses of the PMU \"cpu\" isn't understood"},
    {"cpu/type", "four\n", "cpu/cache-misses/",
     "a file of the PMU \"cpu\", type, cpus or cpumask, isn't understood"},
    {"cpu/type", "4294967296\n", "cpu/cache-misses/",
     "a file of the PMU \"cpu\", type, cpus or cpumask, isn't understood"},
    {"cpu/type", "four\n", "cycles", NULL},
    {"uncore_imc_0/cpumask", "0-\n", "uncore_imc_0/clockticks/",
     "a file of the PMU \"uncore_imc_0\", type, cpus or cpumask, isn't understood"},
    {"uncore_imc_0/cpumask", "8192\n", "uncore_imc_0/clockticks/",
     "a file of the PMU \"uncore_imc_0\", type, cpus or cpumask, isn't understood"},
    {"stray/uevent", "", "cpu/cache-misses/", NULL},
};

START_TEST(says_which_file_is_not_understood)
{
    char path[256];

    event_source_add(tree, SKYLAKE, EVENT_SOURCE_FOLDERS);
    snprintf(path, sizeof(path), EVENT_SOURCE "/%s", broken[_i].file);
    tree_write(tree, path, "%s", broken[_i].content);
    open_vocabulary(NULL);
    if (broken[_i].reason == NULL)
        assert_found(broken[_i].text);
    else
        assert_error(broken[_i].text, -EBADMSG, broken[_i].reason);
}
END_TEST

START_TEST(needs_the_cpus_of_each_kind_of_core)
{
    event_source_add(tree, ALDER_LAKE, EVENT_SOURCE_FOLDERS);
    tree_write(tree, EVENT_SOURCE "/cpu_atom/cpus", "16 to 23\n");
    open_vocabulary(NULL);
    assert_error("cycles", -EBADMSG,
                 "a file of the PMU \"cpu_atom\", type or cpus, isn't understood");
    assert_found("cpu_core/cpu-cycles/");
    assert_found("task-clock");
}
END_TEST

START_TEST(fails_where_the_folder_is_a_file)
{
    struct hr_perf_vocabulary *none = NULL;

    tree_write(tree, EVENT_SOURCE, "x");
    ck_assert_int_eq(hr_perf_vocabulary_open(root, &none), -ENOTDIR);
    ck_assert_ptr_null(none);
}
END_TEST

/* --- Tracepoints --------------------------------------------------------------- */

static void add_tracepoint(const char *place, const char *name, const char *id)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/events/%s/id", place, name);
    tree_write(tree, path, "%s", id);
    snprintf(path, sizeof(path), "%s/events/%s/format", place, name);
    tree_write(tree, path, "name: x\n");
}

static void add_tracepoints(const char *place)
{
    add_tracepoint(place, "sched/sched_switch", "372\n");
    add_tracepoint(place, "sched/sched_wakeup", "374\n");
    add_tracepoint(place, "sched/sched_waking", "373\n");
    add_tracepoint(place, "raw_syscalls/sys_enter", "18\n");
    tree_add_directory(tree, "sys/kernel/tracing/events/ftrace/bprint");
}

static void assert_tracepoint(uint64_t id)
{
    ck_assert_uint_eq(event->encodings[0].attr.type, PERF_TYPE_TRACEPOINT);
    ck_assert_uint_eq(event->encodings[0].attr.config, id);
    ck_assert_uint_eq(event->encodings[0].attr.size, sizeof(struct perf_event_attr));
    ck_assert_uint_eq(event->encodings[0].attr.exclude_hv, 0);
    ck_assert_uint_eq(event->encoding_count, 1);
    ck_assert(event->encodings[0].every_cpu);
    ck_assert_int_eq(event->role, HR_PERF_OTHER);
}

START_TEST(finds_tracepoints)
{
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(ALDER_LAKE);
    assert_found("sched:sched_switch");
    assert_tracepoint(372);
    ck_assert_str_eq(event->label, "sched:sched_switch");
    assert_found("raw_syscalls:sys_enter:u");
    assert_tracepoint(18);
    ck_assert_uint_eq(event->encodings[0].attr.exclude_kernel, 1);
    ck_assert_str_eq(event->label, "raw_syscalls:sys_enter:u");
}
END_TEST

START_TEST(finds_tracepoints_in_debugfs)
{
    tree_add_directory(tree, "sys/kernel/tracing");
    add_tracepoint("sys/kernel/debug/tracing", "sched/sched_switch", "372\n");
    open_vocabulary(NO_PMU);
    assert_found("sched:sched_switch");
    assert_tracepoint(372);
}
END_TEST

#define NO_TRACEFS "no tracefs is mounted; mount -t tracefs tracefs /sys/kernel/tracing"

START_TEST(needs_tracefs)
{
    open_vocabulary(NO_PMU);
    assert_error("sched:sched_switch", -ENODEV, NO_TRACEFS);
    tree_add_directory(tree, "sys/kernel/tracing");
    tree_add_directory(tree, "sys/kernel/debug");
    assert_error("sched:sched_switch", -ENODEV, NO_TRACEFS);
    /* not tracepoints */
    assert_error("INST_RETIRD:ANY_P", -ENOENT, "this machine knows no such event");
    assert_error("CYCLS:foo", -ENOENT, "this machine knows no such event");
    ck_assert_str_eq(error.nearest[0], "cycles");
    assert_error("cycles:p", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"p\"");
    assert_found("cycles:u");
}
END_TEST

static const struct {
    const char *text;
    int status;
    const char *reason, *nearest[3];
} no_tracepoints[] = {
    {"sched:sched_swich",
     -ENOENT,
     "the subsystem \"sched\" has no tracepoint \"sched_swich\"",
     {"sched:sched_switch"}},
    {"sched:sched_wake",
     -ENOENT,
     "the subsystem \"sched\" has no tracepoint \"sched_wake\"",
     {"sched:sched_wakeup", "sched:sched_waking"}},
    {"sched:switch",
     -ENOENT,
     "the subsystem \"sched\" has no tracepoint \"switch\"",
     {"sched:sched_switch"}},
    {"shed:sched_switch",
     -ENOENT,
     "there is no subsystem \"shed\" with tracepoints",
     {"sched:sched_switch"}},
    {"nothing:at_all", -ENOENT, "there is no subsystem \"nothing\" with tracepoints", {NULL}},
    {"..:sched", -ENOENT, "there is no subsystem \"..\" with tracepoints", {NULL}},
    {"sched:..", -ENOENT, "the subsystem \"sched\" has no tracepoint \"..\"", {NULL}},
    /* more likely libpfm4's */
    {"CYCLS:foo", -ENOENT, "this machine knows no such event", {"cycles"}},
    {"cycls:foo", -ENOENT, "there is no subsystem \"cycls\" with tracepoints", {"cycles"}},
    {"sched_switch", -ENOENT, "this machine knows no such event", {"sched:sched_switch"}},
    {"ftrace:bprint", -ENOENT, "the tracepoint \"bprint\" can be traced, but not counted", {NULL}},
};

START_TEST(says_why_it_is_no_tracepoint)
{
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(NO_PMU);
    assert_error(no_tracepoints[_i].text, no_tracepoints[_i].status, no_tracepoints[_i].reason);
    for (size_t i = 0; i < 3; i++) {
        if (no_tracepoints[_i].nearest[i] == NULL)
            break;
        ck_assert_uint_gt(error.nearest_count, i);
        ck_assert_str_eq(error.nearest[i], no_tracepoints[_i].nearest[i]);
    }
}
END_TEST

START_TEST(understands_the_id_or_says_so)
{
    static const char *const ids[] = {"", "\n", "x\n", "1 2\n", "-1\n", "18446744073709551616\n"};

    open_vocabulary(NO_PMU);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        add_tracepoint("sys/kernel/tracing", "sched/sched_switch", ids[i]);
        assert_error("sched:sched_switch", -EBADMSG,
                     "the tracepoint's file \"id\" isn't understood");
    }
}
END_TEST

START_TEST(takes_capitals_for_a_subsystem_that_is_there)
{
    add_tracepoint("sys/kernel/tracing", "HYPER/hyper_send_ipi", "5\n");
    open_vocabulary(NO_PMU);
    assert_found("HYPER:hyper_send_ipi");
    assert_tracepoint(5);
    assert_error("HYPER:hyper_send", -ENOENT,
                 "the subsystem \"HYPER\" has no tracepoint \"hyper_send\"");
    ck_assert_str_eq(error.nearest[0], "HYPER:hyper_send_ipi");
}
END_TEST

START_TEST(offers_no_tracepoint_for_a_modifier)
{
    add_tracepoint("sys/kernel/tracing", "cycle/p", "5\n");
    open_vocabulary(NO_PMU);
    assert_error("cycles:p", -EINVAL, "the event \"cycles\" has no unit mask or modifier \"p\"");
    ck_assert_uint_eq(error.nearest_count, 0);
}
END_TEST

START_TEST(leaves_no_file_open)
{
    static const char *const texts[] = {
        "cycles",          "cpu/mem-loads/", "cpu/mem-load/", "sched:sched_switch",
        "sched:sched_swi", "shed:no_such",   "sched_switch",  "energy-pkg",
        "cycles:p",        "nothing:at_all", "cup/mem-loads/"};

    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(SKYLAKE);
    int before = count_descriptors();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        find_event(texts[i]);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

static void deny_access(const char *path)
{
    char full[512];

    snprintf(full, sizeof(full), "%s/%s", tree_path(tree), path);
    ck_assert_int_eq(chmod(full, 0), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
}

static void allow_access(const char *path)
{
    char full[512];

    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    snprintf(full, sizeof(full), "%s/%s", tree_path(tree), path);
    ck_assert_int_eq(chmod(full, 0700), 0);
}

/* The tree's top directory is accessible to its owner only. */
static void open_tree_to_all(void)
{
    ck_assert_int_eq(chmod(tree_path(tree), 0755), 0);
}

START_TEST(needs_permission_for_tracefs)
{
    open_tree_to_all();
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(NO_PMU);
    deny_access("sys/kernel/tracing");
    int status = find_event("sched:sched_switch"), other = find_event("INST_RETIRD:ANY_P");
    find_event("sched:sched_switch");
    allow_access("sys/kernel/tracing");
    ck_assert_int_eq(status, -EACCES);
    ck_assert_int_eq(other, -ENOENT);
    ck_assert_str_eq(error.reason, "no permission to read /sys/kernel/tracing, which needs "
                                   "CAP_DAC_READ_SEARCH, root, or membership in its group");
}
END_TEST

START_TEST(needs_permission_for_the_id)
{
    static const char id[] = "sys/kernel/tracing/events/sched/sched_switch/id";

    open_tree_to_all();
    add_tracepoints("sys/kernel/tracing");
    open_vocabulary(NO_PMU);
    deny_access(id);
    int status = find_event("sched:sched_switch");
    allow_access(id);
    ck_assert_int_eq(status, -EACCES);
}
END_TEST

/* --- Parsers -------------------------------------------------------------------- */

static const struct {
    const char *text;
    int status;
    struct hr_perf_format format;
} formats[] = {
    {"config:0-7\n", 0, {0, 0xff}},
    {"config:0-7", 0, {0, 0xff}},
    {"config:0-7,32-35\n", 0, {0, 0xf000000ff}},
    {"config:32-35,0-7\n", 0, {0, 0xf000000ff}},
    {"config1:0-15\n", 0, {1, 0xffff}},
    {"config1:1,6-10,44\n", 0, {1, 0x1000000007c2}},
    {"config2:0-63\n", 0, {2, UINT64_MAX}},
    {"config3:63\n", 0, {3, 0x8000000000000000}},
    {"config2\n", 0, {2, UINT64_MAX}},
    {"config3", 0, {3, UINT64_MAX}},
    {"config4:0-63\n", -EBADMSG, {0}},
    {"config:\n", -EBADMSG, {0}},
    {"config:64\n", -EBADMSG, {0}},
    {"config:0-64\n", -EBADMSG, {0}},
    {"config:7-0\n", -EBADMSG, {0}},
    {"config:0-\n", -EBADMSG, {0}},
    {"config:0,\n", -EBADMSG, {0}},
    {"config:0-7 \n", -EBADMSG, {0}},
    {"config: 0-7\n", -EBADMSG, {0}},
    {"config:18446744073709551616\n", -EBADMSG, {0}},
    {"Config:0\n", -EBADMSG, {0}},
    {"", -EBADMSG, {0}},
    {"\n", -EBADMSG, {0}},
    {"config:0\n\n", -EBADMSG, {0}},
};

START_TEST(parses_formats)
{
    struct hr_perf_format format = {4711, 4711};
    int status = hr_perf_format_parse(formats[_i].text, strlen(formats[_i].text), &format);

    ck_assert_msg(status == formats[_i].status, "%s", formats[_i].text);
    ck_assert_uint_eq(format.word, status == 0 ? formats[_i].format.word : 4711);
    ck_assert_uint_eq(format.bits, status == 0 ? formats[_i].format.bits : 4711);
}
END_TEST

START_TEST(parses_types_and_ids)
{
    uint32_t type = 0;
    uint64_t id = 0;

    ck_assert_int_eq(hr_perf_pmu_type_parse("4294967295\n", 11, &type), 0);
    ck_assert_uint_eq(type, 4294967295);
    ck_assert_int_eq(hr_perf_pmu_type_parse("10", 2, &type), 0);
    ck_assert_int_eq(hr_perf_pmu_type_parse("10", 1, &type), 0);
    ck_assert_uint_eq(type, 1);
    ck_assert_int_eq(hr_perf_pmu_type_parse("10\n\n", 4, &type), -EBADMSG);
    ck_assert_int_eq(hr_perf_pmu_type_parse("", 0, &type), -EBADMSG);
    ck_assert_int_eq(hr_perf_tracepoint_id_parse("18446744073709551615\n", 21, &id), 0);
    ck_assert_uint_eq(id, UINT64_MAX);
    ck_assert_int_eq(hr_perf_tracepoint_id_parse("1x\n", 3, &id), -EBADMSG);
}
END_TEST

static const struct {
    const char *a, *b;
    unsigned distance;
} distances[] = {
    {"", "", 0},
    {"", "abc", 3},
    {"cycles", "cycles", 0},
    {"cycles", "CYCLES", 0},
    {"cyles", "cycles", 1},
    {"cycless", "cycles", 1},
    {"cycler", "cycles", 1},
    {"cylces", "cycles", 1}, /* swapped */
    {"ca", "abc", 3},        /* no letter is edited twice */
    {"kitten", "sitting", 3},
    {"a cat", "an abct", 4},
};

START_TEST(measures_distances)
{
    struct hr_text a = hr_text_of(distances[_i].a), b = hr_text_of(distances[_i].b);

    ck_assert_uint_eq(hr_perf_distance(a, b), distances[_i].distance);
    ck_assert_uint_eq(hr_perf_distance(b, a), distances[_i].distance);
}
END_TEST

static void add_suggestion(struct hr_perf_suggestions *nearest, const char *name)
{
    hr_perf_suggestions_add(nearest, hr_text_of(name), "%s", name);
}

START_TEST(keeps_the_three_nearest)
{
    static const char *const names[] = {"abcdexyz", "abcdefxz", "zzz",      "abcdefgx", "abcdefgh",
                                        "abcdefga", "abcdefgh", "abcdefga", "abcdefgb"};
    struct hr_perf_suggestions nearest = {0};

    hr_perf_suggestions_set_wanted(&nearest, hr_text_of("abcdefgh"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        add_suggestion(&nearest, names[i]);
    hr_perf_suggestions_copy(&nearest, &error);
    ck_assert_uint_eq(error.nearest_count, 3);
    ck_assert_str_eq(error.nearest[0], "abcdefgh");
    ck_assert_str_eq(error.nearest[1], "abcdefga"); /* sorted alphabetically */
    ck_assert_str_eq(error.nearest[2], "abcdefgb");
}
END_TEST

START_TEST(offers_nothing_too_long)
{
    struct hr_perf_suggestions nearest = {0};
    char name[65];

    memset(name, 'a', 64);
    name[64] = '\0';
    hr_perf_suggestions_set_wanted(&nearest, hr_text_of(name + 1));
    add_suggestion(&nearest, name);
    ck_assert_uint_eq(nearest.count, 0);
    ck_assert_uint_eq(hr_perf_distance(hr_text_of(name), hr_text_of("a")), HR_PERF_FAR);
    hr_perf_suggestions_add(&nearest, hr_text_of(name + 1), "%s/", name + 1);
    ck_assert_uint_eq(nearest.count, 0);
    add_suggestion(&nearest, name + 1);
    ck_assert_uint_eq(nearest.count, 1);
}
END_TEST

static void add_texts(TCase *tests)
{
    tcase_add_loop_test(tests, parses_formats, 0, COUNT(formats));
    tcase_add_test(tests, parses_types_and_ids);
    tcase_add_loop_test(tests, measures_distances, 0, COUNT(distances));
    tcase_add_test(tests, keeps_the_three_nearest);
    tcase_add_test(tests, offers_nothing_too_long);
}

static void add_machines(TCase *tests)
{
    tcase_add_loop_test(tests, encodes_what_is_known, 0, COUNT(known));
    tcase_add_test(tests, leaves_guests_and_hypervisors_out_if_asked);
    tcase_add_test(tests, takes_folders_for_links);
    tcase_add_loop_test(tests, knows_cycles_on_any_machine, 0, COUNT(machines));
    tcase_add_test(tests, does_without_the_folder);
    tcase_add_loop_test(tests, counts_on_each_kind_of_core, 0, COUNT(hybrid));
    tcase_add_test(tests, counts_software_events_everywhere);
    tcase_add_test(tests, modifies_each_encoding);
    tcase_add_test(tests, takes_a_single_kind_of_core_for_all);
    tcase_add_test(tests, counts_no_cpu_twice);
    tcase_add_test(tests, knows_what_belongs_to_a_package);
    tcase_add_loop_test(tests, knows_what_ratios_are_made_of, 0, COUNT(roles));
    tcase_add_loop_test(tests, tells_caches_apart, 0, COUNT(caches));
    tcase_add_test(tests, takes_an_alias_for_the_generic_name);
    tcase_add_test(tests, cuts_long_labels_apart);
    tcase_add_test(tests, keeps_labels_that_fit);
}

static void add_faults(TCase *tests)
{
    tcase_add_loop_test(tests, says_what_is_wrong, 0, COUNT(faulty));
    tcase_add_test(tests, says_it_of_texts_of_any_length);
    tcase_add_test(tests, takes_thirty_two_terms);
    tcase_add_test(tests, wants_what_an_event_leaves_open);
    tcase_add_loop_test(tests, says_which_file_is_not_understood, 0, COUNT(broken));
    tcase_add_test(tests, needs_the_cpus_of_each_kind_of_core);
    tcase_add_test(tests, fails_where_the_folder_is_a_file);
}

static void add_tracing(TCase *tests)
{
    tcase_add_test(tests, finds_tracepoints);
    tcase_add_test(tests, finds_tracepoints_in_debugfs);
    tcase_add_test(tests, needs_tracefs);
    tcase_add_loop_test(tests, says_why_it_is_no_tracepoint, 0, COUNT(no_tracepoints));
    tcase_add_test(tests, understands_the_id_or_says_so);
    tcase_add_test(tests, takes_capitals_for_a_subsystem_that_is_there);
    tcase_add_test(tests, offers_no_tracepoint_for_a_modifier);
    tcase_add_test(tests, leaves_no_file_open);
    tcase_add_test(tests, needs_permission_for_tracefs);
    tcase_add_test(tests, needs_permission_for_the_id);
}

int main(void)
{
    TCase *tests = tcase_create("perf_event");

    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* enables events of other CPUs */
    tcase_add_checked_fixture(tests, set_up, tear_down);
    add_texts(tests);
    add_machines(tests);
    add_faults(tests);
    add_tracing(tests);
    return run_suite("perf_event", tests);
}
