/* SPDX-License-Identifier: MIT */
/*
 * command/check_report_group.c - everything about one group: what binds, what isn't known, who else
 * wants the same, the trend that was saved, and advice; in a tree of files.
 */
#include <check.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/group.h"
#include "configured/used_features.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/instance.h"
#include "headroom/room_history.h"
#include "headroom/root.h"
#include "headroom/state_file.h"
#include "report/briefs.h"
#include "report/group.h"
#include "report/profile.h"
#include "support/frozen_clock.h"
#include "support/one_group.h"
#include "support/room_tree.h"
#include "support/suite.h"

#define BEGUN_NS (1000 * HR_NS_PER_S)
#define POINT_NS HR_NS_PER_S

static struct tree *tree;
static struct hr_root *root;
static struct usage usage;
static struct group group;
static char printed[65536];

static const char config[] = "Hostname \"h\"\n"
                             "LoadPlugin headroom\n"
                             "<Plugin headroom>\n"
                             "  Cgroup \"p\" \"p/*\" \"p_*\" \"**/cri-*.scope\"\n"
                             "  Trouble \"memory\" 20\n"
                             "  StateFile \"%s/history\"\n"
                             "  <Cgroup \"q/*\">\n"
                             "    Instance \"batch-%%1\"\n"
                             "    Trouble \"cpu\" 80\n"
                             "  </Cgroup>\n"
                             "  <Cgroup \"s\">\n"
                             "    Instance \"system\"\n"
                             "  </Cgroup>\n"
                             "</Plugin>\n";

/* Rows by their order here. */
enum { SYSTEM, P, A, B, BATCH, ROW_COUNT };

static struct room_row rows[ROW_COUNT];
static struct room_cause causes[] = {
    {"memory", "limit", 12.4}, {"cpu", "neighbours", 3}, {"cpu", "itself", 0.4}};
static struct rooms rooms = {.rows = rows, .count = ROW_COUNT};

static void set_row(int row, const char *name, double memory_pct, double need_mib, double limit_mib)
{
    rows[row] = (struct room_row){.host = "h", .group = (char *)name};
    for (int i = 0; i < ROOM_VALUE_COUNT; i++)
        rows[row].values[i] = NAN;
    rows[row].values[ROOM_LEAST] = rows[row].values[ROOM_MEMORY] = memory_pct;
    rows[row].values[ROOM_NEED] = need_mib * MIB;
    rows[row].values[ROOM_LIMIT] = limit_mib * MIB;
    rows[row].values[ROOM_BYTES_LEFT] = (limit_mib - need_mib) * MIB;
}

static void set_up(void)
{
    struct config_fault fault;
    char path[256];

    setlocale(LC_ALL, "C.UTF-8");
    frozen_ns = BEGUN_NS;
    tree = tree_new();
    room_tree_machine(tree, 0, 0, 0);
    for (int i = 0; i < 5; i++)
        room_tree_add_group(tree, (const char *[]){"p", "p/a", "p/b", "q", "q/1"}[i]);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    tree_write(tree, "collectd.conf", config, tree_path(tree));
    snprintf(path, sizeof(path), "%s/collectd.conf", tree_path(tree));
    ck_assert_int_eq(usage_read(path, &usage, &fault), 0);
    set_row(SYSTEM, "system", 70, 300, 1000);
    set_row(P, "p", 60, 100, 250);
    set_row(A, "p_a", 30, 105, 150);
    set_row(B, "p_b", 40, 45, 100);
    set_row(BATCH, "batch-1", 90, 10, 100);
}

static void tear_down(void)
{
    frozen_ns = 0;
    group_free(&group);
    usage_free(&usage);
    hr_root_close(root);
    tree_free(tree);
}

/* Of the last second, of which only a part is known: its whole in the case of I/O. */
static void add_stalls(struct hr_room_source *source)
{
    static const double of_cpu[HR_STALL_PART_COUNT] =
        {[HR_STALL_BY_LIMIT] = 20.4, [HR_STALL_BY_STEAL] = 0.4},
                        of_io[HR_STALL_PART_COUNT] = {[HR_STALL_BY_UNKNOWN] = 60};

    hr_room_add_stalls(source, HR_PSI_CPU, of_cpu);
    hr_room_add_stalls(source, HR_PSI_IO, of_io);
}

/* What the plugin does: a minute without a change, so many seconds of a MiB each, and saving. */
static void grow_and_save(const char *path, unsigned mib, unsigned file_mib, unsigned seconds)
{
    static const struct hr_room_lines lines = {{40, 10, 40, 101}};
    struct hr_room_machine *machine;
    struct hr_room_source *source;
    struct hr_room_reading reading;
    struct hr_cgroup_set *set;
    char *bytes, file[256];
    size_t length;

    ck_assert_int_eq(hr_room_machine_open(root, &machine), 0);
    ck_assert_int_eq(hr_room_open(machine, one_group_open(root, path, &set), POINT_NS, &source), 0);
    for (unsigned i = 0; i < 60 + seconds; i++, frozen_ns += HR_NS_PER_S) {
        room_tree_memory(tree, path, mib + (i > 60 ? i - 60 : 0), file_mib);
        hr_room_machine_read(machine);
        ck_assert_int_eq(hr_room_read(source, &lines, &reading), 0);
    }
    add_stalls(source);
    ck_assert_int_eq(hr_room_history_save(machine, POINT_NS, &bytes, &length), 0);
    snprintf(file, sizeof(file), "%s/history", tree_path(tree));
    ck_assert_int_eq(hr_state_file_write_unsynced(file, bytes, length), 0);
    free(bytes);
    hr_room_close(source);
    hr_room_machine_close(machine);
    hr_cgroup_set_close(set);
}

static void read_group(int row)
{
    struct places places;

    group_free(&group);
    ck_assert_int_eq(group_fetch(NULL, &rooms, (size_t)row, &group), 0);
    ck_assert_int_eq(places_find(root, &usage, &rooms, &places), 0);
    ck_assert_int_eq(group_read(root, &usage, &rooms, &places, (size_t)row, &group), 0);
    places_free(&places);
}

static const char *print_group(int row)
{
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(group_print(file, &rows[row], &group, 200), 0);
    fclose(file);
    return printed;
}

/* That a line of the page, with its folds undone, begins so. */
static void assert_says(int row, const char *text)
{
    static const char fold[] = "\n         ";

    print_group(row);
    for (char *at = printed; (at = strstr(at, fold)) != NULL;) {
        *at = ' ';
        memmove(at + 1, at + sizeof(fold) - 1, strlen(at + sizeof(fold) - 1) + 1);
    }
    const char *found = strstr(printed, text);
    ck_assert_msg(found != NULL && (found == printed || found[-1] == '\n'), "no %s in\n%s", text,
                  printed);
}

/* --- The page ------------------------------------------------------------------------- */

static const char whole[] =
    "\n"
    "       used attainable room   more trouble line\n"
    "memory 105M       150M ≥30% ≥45.0M     20% some\n"
    "cpu       -          -    -      -     40% some\n"
    "io        -          -    -      -     40% full\n"
    "\n"
    "memory   its own limit, memory.max, binds: 250 MiB\n"
    "cpu      its room isn't known: it is known 20 s after a start or a change of\n"
    "         limits, and only while the CPUs are busy for at most 98 % of the time;\n"
    "         no cpu.max: the CPUs that it may use bind\n"
    "io       its room isn't known: no io.max limits it, and what a disk could do\n"
    "         isn't known\n"
    "stalls   memory: limit 12%, cpu: neighbours 3% of the time\n"
    "hour     io: cause not known 60%, cpu: limit 20% of the 1 s until 61 s ago\n"
    "taking   of what is needed there: p_a 100%\n"
    "waiting  no other group that is measured\n"
    "trend    as saved 61 s ago, it grows 60 MiB/min over 30 s: trouble in 31 s (1\n"
    "         s..112 s)\n";

START_TEST(a_group_that_grows)
{
    room_tree_write(tree, "p/a", "memory.max", "262144000\n"); /* 250 MiB */
    grow_and_save("p/a", 100, 0, 60);
    frozen_ns += 60 * HR_NS_PER_S;
    rows[A].causes = causes;
    rows[A].cause_count = 3;
    read_group(A);
    print_group(A);
    printed[sizeof(whole) - 1] = '\0';
    ck_assert_str_eq(printed, whole);
    assert_says(
        A, "MiB                                          what can't be dropped of its memory\n"
           "160 ┤                                                                          •\n");
    assert_says(A, "advice   none while its need grows, as that would reach any limit\n");
    ck_assert_double_eq((double)group.trend.points[29], 158 * MIB);
    ck_assert_double_eq(group.trend.highest, 159 * MIB);
}
END_TEST

/* A minute of 100 MiB. */
START_TEST(without_a_trend)
{
    grow_and_save("p/a", 100, 0, 0);
    rows[A].values[ROOM_TROUBLE] = 600;
    read_group(A);
    assert_says(
        A, "trend    as saved 1 s ago, there is none to be trusted; the median slope over 30 s "
           "is 0 B/min; the time to trouble in its row is newer, or that of a group above or the "
           "machine\n");
}
END_TEST

START_TEST(without_what_was_saved)
{
    read_group(A);
    assert_says(A, "trend    not known: /");
    ck_assert_ptr_nonnull(strstr(group.trend.unknown.text, "/history isn't there: "));
    grow_and_save("p/b", 100, 0, 0);
    read_group(A);
    assert_says(A, "trend    not known: nothing has been saved of it yet: the headroom plugin "
                   "saves every ten minutes\n");
    tree_write(tree, "history", "hr-room?");
    read_group(A);
    ck_assert_ptr_nonnull(strstr(group.trend.unknown.text, "/history is damaged"));
}
END_TEST

/* A group of this name isn't it. */
START_TEST(the_system)
{
    room_tree_add_group(tree, "s");
    grow_and_save("p/a", 100, 0, 0);
    read_group(SYSTEM);
    assert_says(
        SYSTEM,
        "memory   the machine's memory binds: 1000 MiB; swap space makes it 100 MiB more\n");
    assert_says(SYSTEM, "taking   of what is needed there: p_a 66%, p_b 28%, batch-1 6%\n");
    assert_says(SYSTEM, "advice   none for the whole system\n");
    ck_assert_double_eq(group.rooms[GROUP_CPU].line_pct, 60);
    ck_assert_double_eq(group.rooms[GROUP_MEMORY].line_pct, 20);
    ck_assert_double_eq(group.rooms[GROUP_IO].line_pct, 20);
    ck_assert_double_eq(group.trend.highest, 800 * MIB); /* 700 of 1,000, and all swap space */
}
END_TEST

/* Of 100 MiB of anonymous memory and 20 of active files. */
static void write_memory_of_a(void)
{
    room_tree_machine(tree, 0, 0, 100);
    tree_write(tree, "proc/diskstats", "8 0 sda 100 0 800 100 0 0 0 0 0 0 0\n"); /* 1 ms a read */
    room_tree_write(tree, "p/a", "memory.max", "262144000\n");
    room_tree_write(tree, "p/a", "memory.stat",
                    "inactive_file 20971520\nactive_file 20971520\nactive_anon 104857600\n"
                    "inactive_anon 0\nfile_mapped 41943040\nworkingset_refault_file 0\n");
}

START_TEST(what_a_working_set_tells)
{
    write_memory_of_a();
    hr_room_working_set_add(&rows[A].working_set, "10s", 40 * MIB);
    read_group(A);
    assert_says(A,
                "memory   its own limit, memory.max, binds: 250 MiB; swap space makes it 100 MiB "
                "more; 20 MiB of what it uses are files, of which it may not need all; "
                "its working set doesn't show what it needs: it touches more and more up to the "
                "longest window\n");
    hr_room_working_set_add(&rows[A].working_set, "120s", 41 * MIB);
    read_group(A);
    assert_says(A,
                "memory   its own limit, memory.max, binds: 250 MiB; by the wss plugin: it needs "
                "what it touches within 10 s\n");
}
END_TEST

/* Whether it has one still, once the groups that are meant, by default all, were read. */
static bool keeps_profile(int row, const struct group_patterns *meant)
{
    static const struct group_patterns all = {.list = NULL};
    struct places places;

    rows[row].has_profile = true;
    ck_assert_int_eq(places_find(root, &usage, &rooms, &places), 0);
    ck_assert_int_eq(profiles_check(root, &usage, &places, meant != NULL ? meant : &all, &rooms),
                     0);
    places_free(&places);
    return rows[row].has_profile;
}

START_TEST(a_profile_that_does_not_show_the_need_is_none)
{
    char name[] = "p_b", *list[] = {name};
    const struct group_patterns b = {.list = list, .count = 1};

    write_memory_of_a();
    hr_room_working_set_add(&rows[A].working_set, "10s", 40 * MIB);
    ck_assert(!keeps_profile(A, NULL));
    ck_assert(profile_has_room_at_least(&rows[A]));
    ck_assert(keeps_profile(A, &b));
    rows[A].host = (char *)"far-away";
    ck_assert(keeps_profile(A, NULL));
    rows[A].host = (char *)"h";
    hr_room_working_set_add(&rows[A].working_set, "120s", 41 * MIB);
    ck_assert(keeps_profile(A, NULL));
    ck_assert(!profile_has_room_at_least(&rows[A]));
}
END_TEST

/* Then the plugin has published its values, by a profile. */
START_TEST(a_group_that_cannot_be_read_keeps_its_profile)
{
    write_memory_of_a();
    hr_room_working_set_add(&rows[A].working_set, "10s", 40 * MIB);
    tree_remove(tree, TREE_CGROUPS "/p/a/memory.stat");
    ck_assert(keeps_profile(A, NULL));
}
END_TEST

/* The row has what the mark means, if it has the mark. */
START_TEST(what_the_mark_means)
{
    static const char legend[] = "\"≥\", at least: no profile of the wss plugin ";

    read_group(A);
    ck_assert_ptr_null(strstr(print_group(A), legend));
    rows[A].values[ROOM_LEAST] = rows[A].values[ROOM_CPU] = 10;
    assert_says(A, legend);
    rows[A].has_profile = true;
    ck_assert_ptr_null(strstr(print_group(A), legend));
    assert_says(A, "memory 105M       150M  30% +45.0M     20% some\n");
}
END_TEST

/* --- What binds ----------------------------------------------------------------------- */

/* Of those in p, which p itself isn't. */
START_TEST(the_limit_of_a_group_above)
{
    room_tree_write(tree, "p", "memory.high", "262144000\n");
    rows[B].causes = causes;
    rows[B].cause_count = 3;
    read_group(A);
    assert_says(A, "memory   the limit of p, memory.high, binds: 250 MiB, less what others there "
                   "need; 20 MiB of what it uses are files, of which it may not need all\n");
    assert_says(A, "taking   of what is needed there: p_a 70%, p_b 30%\n");
    assert_says(A, "waiting  p_b 12%\n");
}
END_TEST

START_TEST(the_lowest_limit_of_cpu_time)
{
    room_tree_write(tree, "p", "cpu.max", "150000 100000\n");
    rows[A].values[ROOM_LEAST] = rows[A].values[ROOM_MEMORY] = 20;
    rows[A].values[ROOM_CPU] = 25;
    rows[A].values[ROOM_CPUS_LEFT] = 0.25;
    read_group(A);
    ck_assert_double_eq(group.rooms[GROUP_CPU].attainable, 1);
    ck_assert_double_eq(group.rooms[GROUP_CPU].used, 0.75);
    assert_says(A, "cpu    0.75          1  25%  +0.25     40% some\n");
    assert_says(
        A,
        "cpu      the limit of p, cpu.max, is the lowest: 1.5 CPUs, less what others there use\n");
}
END_TEST

static void write_io(const char *path, unsigned reads)
{
    char text[128];

    snprintf(text, sizeof(text), "8:16 rbytes=0 wbytes=0 rios=%u wios=0 dbytes=0 dios=0\n", reads);
    room_tree_write(tree, path, "io.stat", text);
}

/* In place of libc's: a second in which 30 reads are made, of 70 in the group above. */
int nanosleep(const struct timespec *asked, struct timespec *left)
{
    (void)asked, (void)left;
    frozen_ns += HR_NS_PER_S;
    write_io("p/a", 30);
    write_io("p", 70);
    return 0;
}

START_TEST(a_limit_of_io)
{
    room_tree_write(tree, "p", "io.max", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    room_tree_write(tree, "p/a", "io.max", "");
    write_io("p", 0);
    write_io("p/a", 0);
    rows[A].values[ROOM_IO] = 45;
    read_group(A);
    assert_says(A, "io       30         60  45%    +30     40% full\n");
    assert_says(A, "io       the limit of p, io.max, binds: 100 reads/s on 8:16, less what others "
                   "there use\n");
    rows[A].values[ROOM_IO] = NAN;
    tree_remove(tree, TREE_CGROUPS "/p/a/io.stat");
    read_group(A);
    assert_says(A, "io       its room isn't known: the io controller isn't enabled there, though a "
                   "group above has a limit: ");
}
END_TEST

/* By a limit, where none of I/O is there. */
START_TEST(waits_for_io_by_a_limit_of_memory)
{
    static struct room_cause by_limit[] = {{"io", "limit", 51}};
    static const char said[] = "stalls   io: limit 51% of the time; the limit behind io is that of "
                               "memory: what is reclaimed is read again\n";

    rows[A].causes = by_limit;
    rows[A].cause_count = 1;
    read_group(A);
    assert_says(A, said);
    room_tree_write(tree, "p", "io.max", "8:16 rbps=max wbps=max riops=100 wiops=max\n");
    room_tree_write(tree, "p/a", "io.max", "");
    write_io("p", 0);
    write_io("p/a", 0);
    read_group(A);
    assert_says(A, "stalls   io: limit 51% of the time\n");
}
END_TEST

/* In the first interval of a stall the kernel's averages say so, and collectd has no causes. */
START_TEST(why_tasks_wait_is_known_later)
{
    static const char *const resources[] = {"cpu", "memory", "io"};
    char file[32];

    rows[A].cause_count = 0;
    read_group(A);
    assert_says(A, "stalls   not known yet: collectd has the causes from the second interval of a "
                   "stall on\n");
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
        snprintf(file, sizeof(file), "%s.pressure", resources[i]);
        room_tree_write(tree, "p/a", file,
                        "some avg10=0.99 avg60=9.00 avg300=9.00 total=5\n"
                        "full avg10=0.99 avg60=9.00 avg300=9.00 total=5\n");
    }
    group_free(&group);
    read_group(A);
    assert_says(A, "stalls   none of 1% of the time or more\n");
}
END_TEST

/* --- In the table ------------------------------------------------------------------------ */

/* What collectd knows of who takes the CPU, instead of what it would be asked for. */
static void add_taker(int row, const char *name, double pct)
{
    struct shares *taking = &rows[row].brief->taking;

    taking->list[taking->count++] = (struct share){strdup(name), strdup(name), pct};
}

static void read_briefs(void)
{
    struct places places;

    for (int i = 0; i < ROW_COUNT; i++) {
        rows[i].brief = malloc(sizeof(*rows[i].brief));
        group_begin(&rows[i], rows[i].brief);
    }
    add_taker(BATCH, "itself", 61);
    ck_assert_int_eq(places_find(root, &usage, &rooms, &places), 0);
    ck_assert_int_eq(briefs_read(root, &usage, &places, &rooms), 0);
    places_free(&places);
}

static const char *print_table(int width)
{
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_int_eq(rooms_print_table(file, &rooms, width), 0);
    fclose(file);
    return printed;
}

static void free_briefs(void)
{
    for (int i = 0; i < ROW_COUNT; i++)
        briefs_free(&rows[i]);
}

static void set_room_by_cpu(int row, double pct, double left)
{
    rows[row].values[ROOM_LEAST] = rows[row].values[ROOM_CPU] = pct;
    rows[row].values[ROOM_CPUS_LEFT] = left;
}

static const char table[] =
    "group   room by           more trouble in         needs binds           taking           "
    "waits for\n"
    "system   70% memory      +700M          -  300M of 1.0G machine         p_a 66%, p_b 28% -\n"
    "p       ≥60% memory      ≥150M          -  100M of 250M machine         p_a 66%, p_b 28% -\n"
    "p_a     ≥30% memory     ≥45.0M          -  105M of 150M memory.max 150M p_a 100%         -\n"
    "p_b      20% cpu     +0.1 CPUs          - 45.0M of 100M 2 CPUs          -                -\n"
    "batch-1  50% cpu    +0.25 CPUs          - 10.0M of 100M cpu.max 0.5     itself 61%       -\n";

static void assert_json_has(const char *part)
{
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_int_eq(rooms_print_json(file, &rooms, NULL), 0);
    fclose(file);
    ck_assert_msg(strstr(printed, part) != NULL, "no %s in\n%s", part, printed);
}

START_TEST(what_binds_and_who_takes_it_in_the_table)
{
    room_tree_write(tree, "p/a", "memory.max", "157286400\n"); /* 150 MiB */
    room_tree_write(tree, "q/1", "cpu.max", "50000 100000\n");
    set_room_by_cpu(B, 20, 0.1);
    set_room_by_cpu(BATCH, 50, 0.25);
    read_briefs();
    print_table(200);
    printed[sizeof(table) - 1] = '\0';
    ck_assert_str_eq(printed, table);
    ck_assert_ptr_null(strstr(print_table(90), "taking"));
    ck_assert_ptr_nonnull(strstr(printed, " binds "));
    ck_assert_ptr_null(strstr(print_table(80), " binds "));
    assert_json_has(
        "\"binds\":\"memory.max\",\"binds_of\":\"p/a\",\"binds_at\":157286400,\"taking\":["
        "{\"group\":\"p_a\",\"percent\":100}]");
    assert_json_has("\"binds\":\"cpus\",\"binds_of\":null,\"binds_at\":2,\"taking\":[]");
    free_briefs();
}
END_TEST

static const struct {
    double row_s;
    int width;
    const char *text, *json;
} times[] = {
    {31, 200, " 31 s (1 s..112 s) ", "\"trouble_early_seconds\":0.727"},
    {31, 75, " 31 s ", NULL},
    /* Of the plugin's last reading, as of a group above. */
    {600, 200, " 10 min ", "\"trouble_early_seconds\":null,\"trouble_late_seconds\":null"},
    {0, 200, " now ", "\"trouble_early_seconds\":null"},
    {86400, 200, " > 1 d ", "\"trouble_early_seconds\":null"},
};

START_TEST(when_trouble_comes_at_the_soonest_and_the_latest)
{
    room_tree_write(tree, "p/a", "memory.max", "262144000\n"); /* 250 MiB */
    grow_and_save("p/a", 100, 0, 60);
    frozen_ns += 60 * HR_NS_PER_S;
    rows[A].values[ROOM_TROUBLE] = times[_i].row_s;
    read_briefs();
    ck_assert_msg(strstr(print_table(times[_i].width), times[_i].text) != NULL, "no%sin\n%s",
                  times[_i].text, printed);
    if (times[_i].json != NULL)
        assert_json_has(times[_i].json);
    free_briefs();
}
END_TEST

static const struct {
    const char *max_above, *max, *binds; /* without a name: not known */
    double room_pct, by_limit_pct;
} cpu_bounds[] = {
    {"max 100000\n", "max 100000\n", "2 CPUs", 50, 0},
    {"max 100000\n", "50000 100000\n", "cpu.max 0.5", 50, 0},
    {"max 100000\n", "60000 100000\n", "2 CPUs", 50, 0}, /* of which 0.5 can be had */
    {"max 100000\n", "60000 100000\n", "2 CPUs", 0, 0},
    {"max 100000\n", "60000 100000\n", "cpu.max 0.6", 0, 1},
    {"60000 100000\n", "max 100000\n", "q 0.6", 50, 1},
    {"60000 100000\n", "max 100000\n", NULL, 50, 0.9}, /* others there may use some of it */
};

START_TEST(what_binds_of_cpu_time)
{
    struct room_cause cause = {(char *)"cpu", (char *)"limit", cpu_bounds[_i].by_limit_pct};
    char expected[32];

    room_tree_write(tree, "q", "cpu.max", cpu_bounds[_i].max_above);
    room_tree_write(tree, "q/1", "cpu.max", cpu_bounds[_i].max);
    set_room_by_cpu(BATCH, cpu_bounds[_i].room_pct, 0.25);
    rows[BATCH].causes = &cause;
    rows[BATCH].cause_count = 1;
    read_briefs();
    snprintf(expected, sizeof(expected), " 10.0M of 100M %s ",
             cpu_bounds[_i].binds != NULL ? cpu_bounds[_i].binds : "-");
    ck_assert_msg(strstr(print_table(200), expected) != NULL, "no%sin\n%s", expected, printed);
    free_briefs();
}
END_TEST

/* Two threads of one process; the machine has two CPUs. */
static void allow(const char *first, const char *second)
{
    tree_write(tree, "proc/4711/task/4711/x", "%s", "");
    tree_write(tree, "proc/4711/task/4712/x", "%s", "");
    tree_write(tree, "proc/4711/status", "Name:\ta\nCpus_allowed_list:\t%s\nMems:\t0\n", first);
    tree_write(tree, "proc/4712/status", "Name:\ta\nCpus_allowed_list:\t%s\nMems:\t0\n", second);
}

static const struct {
    const char *first, *second, *cpuset, *binds;
    int count;
} affinities[] = {
    {"1", "1", NULL, "CPU 1", 1},      {"0-1", "1", NULL, "2 CPUs", 2},
    {"1", "0", NULL, "2 CPUs", 2},     {"1", "1", "1\n", "1 CPU", 1}, /* that is its cpuset's */
    {"0-127", "1", NULL, "2 CPUs", 2},                                /* of which it has no more */
};

START_TEST(the_cpus_that_its_tasks_may_run_on_bind)
{
    char expected[64];

    allow(affinities[_i].first, affinities[_i].second);
    if (affinities[_i].cpuset != NULL)
        room_tree_write(tree, "q/1", "cpuset.cpus.effective", affinities[_i].cpuset);
    set_room_by_cpu(BATCH, 50, 0.25);
    read_briefs();
    snprintf(expected, sizeof(expected), " 10.0M of 100M %s ", affinities[_i].binds);
    ck_assert_msg(strstr(print_table(200), expected) != NULL, "no%sin\n%s", expected, printed);
    snprintf(expected, sizeof(expected), "\"binds_at\":%d", affinities[_i].count);
    assert_json_has(expected);
    free_briefs();
}
END_TEST

/* Of its limit it can't get all on that CPU. */
START_TEST(one_whose_tasks_are_pinned_below_its_limit)
{
    allow("1", "1");
    room_tree_write(tree, "q", "cpu.max", "max 100000\n");
    room_tree_write(tree, "q/1", "cpu.max", "150000 100000\n");
    set_room_by_cpu(BATCH, 50, 0.75);
    read_briefs();
    ck_assert_msg(strstr(print_table(200), " 10.0M of 100M CPU 1 ") != NULL, "%s", printed);
    free_briefs();
}
END_TEST

#define CPU_LINE                                                                                   \
    "cpu      its room isn't known: it is known 20 s after a start or a change of limits, and "    \
    "only while the CPUs are busy for at most 98 % of the time; no cpu.max: "

START_TEST(one_whose_tasks_are_pinned)
{
    allow("1", "1");
    read_group(BATCH);
    assert_says(BATCH,
                CPU_LINE "CPU 1 binds; its tasks may run on 1 of 2 CPUs, by their affinity or "
                         "the cpuset of a group below, while its room is calculated with all\n");
    allow("1", "0-1");
    group_free(&group);
    read_group(BATCH);
    assert_says(BATCH, CPU_LINE "the CPUs that it may use bind\n");
}
END_TEST

START_TEST(what_binds_elsewhere_is_not_known)
{
    for (int i = 0; i < ROW_COUNT; i++)
        rows[i].host = (char *)"far-away";
    read_briefs();
    ck_assert_ptr_null(strstr(print_table(200), "binds"));
    free_briefs();
}
END_TEST

/* --- Which group it is ------------------------------------------------------------------ */

START_TEST(one_that_an_instance_names)
{
    room_tree_write(tree, "q/1", "memory.max", "262144000\n");
    read_group(BATCH);
    ck_assert_str_eq(group.path, "q/1");
    ck_assert_double_eq(group.rooms[GROUP_CPU].line_pct, 80);
    ck_assert_double_eq(group.limits[GROUP_MEMORY].amount, 250 * MIB);
}
END_TEST

/* What collectd has is shown all the same. */
START_TEST(one_that_is_not_here)
{
    rows[A].host = (char *)"far-away";
    read_group(A);
    assert_says(A, "memory 105M       150M ≥30% ≥45.0M            -\n");
    assert_says(A, "note     it is on another host: run headroom report there\n");
    ck_assert_ptr_null(strstr(printed, "trend"));
    rows[A].host = (char *)"h";
    rows[A].group = (char *)"gone";
    read_group(A);
    assert_says(A, "note     no cgroup here has this name: ");
}
END_TEST

/* Which of them collectd's values are of isn't known. */
START_TEST(a_name_that_two_groups_would_have)
{
    room_tree_add_group(tree, "p_a");
    read_group(A);
    ck_assert_ptr_null(group.path);
    ck_assert_int_ne(group.missing.text[0], '\0');
}
END_TEST

START_TEST(a_long_name)
{
    static char name[] = "kubepods.slice_kubepods-burstable.slice_kubepods-burstable-pod0815.slice";

    rows[B].group = name;
    rows[B].causes = causes;
    rows[B].cause_count = 3;
    room_tree_add_group(tree, "p/x");
    read_group(SYSTEM);
    print_group(SYSTEM);
    for (char *line = strtok(printed, "\n"); line != NULL; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 80, "%s", line);
}
END_TEST

#define POD                                                                                        \
    "kubepods.slice/kubepods-burstable.slice/"                                                     \
    "kubepods-burstable-pod00000007_1111_2222_3333_444444444444.slice"
#define CONTAINER                                                                                  \
    POD "/cri-containerd-748a7a914a7d0123456789abcdef0123456789abcdef01234567890123308963.scope"

START_TEST(a_container)
{
    static char name[HR_INSTANCE_SIZE], own[HOST_NAME_MAX + 1];
    struct places places;

    /* collectd's Hostname is of this machine, and so is the machine's own name. */
    ck_assert_int_eq(gethostname(own, sizeof(own) - 1), 0);
    rows[B].host = own;
    hr_instance_make(CONTAINER, CONTAINER, false, name);
    rows[B].group = name;
    room_tree_add_group(tree, CONTAINER);
    ck_assert_int_eq(places_find(root, &usage, &rooms, &places), 0);
    ck_assert_int_eq(places_shorten_names(&places, &rooms), 0);
    places_free(&places);
    ck_assert_str_eq(room_name(&rows[B]), "cri-containerd-748a7a914a7d.scope of pod 00000007");
    ck_assert_str_eq(room_name(&rows[A]), rows[A].group);
    read_group(B);
    assert_says(B, "\ncgroup   " CONTAINER "\n");
    for (size_t i = 0; i < rooms.count; i++)
        free(rows[i].short_group);
}
END_TEST

/* --- Advice ------------------------------------------------------------------------------- */

static const struct {
    unsigned anon_mib, file_mib;
    const char *max, *advice;
} advices[] = {
    {100, 0, "max\n", "advice   memory.high could be 115 MiB: needs 100 MiB, +15 %\n"},
    {100, 0, "262144000\n", "advice   memory.high could be 115 MiB: needs 100 MiB, +15 %\n"},
    {100, 0, "115343360\n", "advice   memory.max should be 115 MiB: needs 100 MiB, +15 %\n"},
    {100, 5, "max\n", "advice   memory.high could be 121 MiB: needs 105 MiB, +15 %\n"},
    {100, 20, "max\n",
     "advice   none, as its need isn't known: 20 MiB of the 120 MiB that it uses are files, "
     "of which it may not need all (the wss plugin, with several windows, shows what it needs)\n"},
};

START_TEST(advises_on_what_is_known)
{
    room_tree_write(tree, "p/a", "memory.max", advices[_i].max);
    grow_and_save("p/a", advices[_i].anon_mib, advices[_i].file_mib, 0);
    read_group(A);
    assert_says(A, advices[_i].advice);
}
END_TEST

/* Without a trend that is trusted: by ten MiB within half a minute it could, by 30 not. */
START_TEST(no_advice_while_it_grows)
{
    room_tree_memory(tree, "p/a", 100, 0);
    read_group(A);
    assert_says(A, "advice   none, as only what it needs now is known, and no trend of it\n");
    grow_and_save("p/a", 100, 0, 10);
    read_group(A);
    assert_says(A, "advice   memory.high could be 125 MiB: needs 109 MiB, +15 %\n");
    grow_and_save("p/a", 100, 0, 31);
    read_group(A);
    ck_assert(!group.trend.outlook.is_trend);
    assert_says(A, "advice   none while its need grows, as that would reach any limit\n");
}
END_TEST

START_TEST(what_it_needed_before_counts)
{
    grow_and_save("p/a", 100, 0, 10);
    room_tree_memory(tree, "p/a", 90, 0);
    read_group(A);
    ck_assert_double_eq(group.trend.highest, 109 * MIB);
    assert_says(A, "advice   memory.high could be 125 MiB: needs 109 MiB, +15 %\n");
}
END_TEST

/* Version 1 has no limit that only delays. */
START_TEST(advises_on_the_limit_that_version_1_has)
{
    const struct hr_room memory = {.used = 100 * MIB, .needed = 100 * MIB, .version = 1};
    const struct trend even = {.highest = NAN, .slope_per_s = 0};
    struct advice advice;

    advice_make(&memory, &even, &advice);
    ck_assert_str_eq(advice.none.text, "");
    ck_assert_str_eq(hr_room_bound_name(advice.bound, advice.version), "memory.limit_in_bytes");
    ck_assert_str_eq(hr_room_bound_name(HR_ROOM_CPU_MAX, 1), "cpu.cfs_quota_us");
}
END_TEST

/* What it needs then isn't what it has. */
START_TEST(no_advice_in_trouble)
{
    const struct hr_room memory = {.used = 100 * MIB, .needed = 100 * MIB, .is_in_trouble = true};
    const struct trend none = {.highest = NAN, .slope_per_s = NAN};
    struct advice advice;

    advice_make(&memory, &none, &advice);
    ck_assert_str_eq(advice.none.text,
                     "none while it is in trouble by memory, as it may need more than it has");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("report_group");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_group_that_grows);
    tcase_add_test(tests, without_a_trend);
    tcase_add_test(tests, without_what_was_saved);
    tcase_add_test(tests, the_system);
    tcase_add_test(tests, what_a_working_set_tells);
    tcase_add_test(tests, a_profile_that_does_not_show_the_need_is_none);
    tcase_add_test(tests, a_group_that_cannot_be_read_keeps_its_profile);
    tcase_add_test(tests, what_the_mark_means);
    tcase_add_test(tests, the_limit_of_a_group_above);
    tcase_add_test(tests, the_lowest_limit_of_cpu_time);
    tcase_add_test(tests, a_limit_of_io);
    tcase_add_test(tests, waits_for_io_by_a_limit_of_memory);
    tcase_add_test(tests, why_tasks_wait_is_known_later);
    tcase_add_test(tests, what_binds_and_who_takes_it_in_the_table);
    tcase_add_loop_test(tests, when_trouble_comes_at_the_soonest_and_the_latest, 0,
                        sizeof(times) / sizeof(times[0]));
    tcase_add_loop_test(tests, what_binds_of_cpu_time, 0,
                        sizeof(cpu_bounds) / sizeof(cpu_bounds[0]));
    tcase_add_loop_test(tests, the_cpus_that_its_tasks_may_run_on_bind, 0,
                        sizeof(affinities) / sizeof(affinities[0]));
    tcase_add_test(tests, one_whose_tasks_are_pinned);
    tcase_add_test(tests, one_whose_tasks_are_pinned_below_its_limit);
    tcase_add_test(tests, what_binds_elsewhere_is_not_known);
    tcase_add_test(tests, one_that_an_instance_names);
    tcase_add_test(tests, one_that_is_not_here);
    tcase_add_test(tests, a_name_that_two_groups_would_have);
    tcase_add_test(tests, a_long_name);
    tcase_add_test(tests, a_container);
    tcase_add_loop_test(tests, advises_on_what_is_known, 0, sizeof(advices) / sizeof(*advices));
    tcase_add_test(tests, no_advice_while_it_grows);
    tcase_add_test(tests, what_it_needed_before_counts);
    tcase_add_test(tests, advises_on_the_limit_that_version_1_has);
    tcase_add_test(tests, no_advice_in_trouble);
    return run_suite("report_group", tests);
}
