/* SPDX-License-Identifier: MIT */
/*
 * collectors/oom/check_oom_log.c - kills in the messages of the kernel's log, of several releases,
 * with names that look like messages; records of /dev/kmsg; the group of a process.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom/kill_log.h"
#include "oom/kmsg_record.h"
#include "oom/victim.h"
#include "support/suite.h"

#define KIB 1024ull

static struct hr_kill_log *kept;
static struct hr_kill_logged *logged;

static void set_up(void)
{
    kept = calloc(1, sizeof(*kept));
    logged = calloc(1, sizeof(*logged));
}

static void tear_down(void)
{
    free(kept);
    free(logged);
}

/* @return how many of these messages, up to NULL, are kills; the last is in logged. */
static unsigned add(const char *const *messages)
{
    unsigned count = 0;

    for (; *messages != NULL; messages++)
        count += hr_kill_log_add(kept, *messages, logged);
    return count;
}

static void assert_kill(const char *path, const char *name, int pid, uint64_t resident_kib)
{
    ck_assert_str_eq(logged->kill.path, path);
    ck_assert_str_eq(logged->kill.name, name);
    ck_assert_int_eq(logged->kill.pid, pid);
    ck_assert_uint_eq(logged->kill.resident_bytes, resident_kib * KIB);
}

static void assert_limit(enum hr_oom_limit limit, const char *path, uint64_t bytes)
{
    ck_assert_int_eq(logged->kill.limit, limit);
    ck_assert_str_eq(logged->kill.limit_path, path);
    ck_assert_uint_eq(logged->kill.limit_bytes, bytes);
}

/* --- Kills -------------------------------------------------------------------------- */

/* As 5.0 and later print it. */
START_TEST(limit_of_a_group_above)
{
    static const char *const messages[] = {
        "eater invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        "memory: usage 65536kB, limit 65536kB, failcnt 31",
        "swap: usage 0kB, limit 9007199254740988kB, failcnt 0",
        "Memory cgroup stats for /shop.slice:",
        "[    423]     0   423   17031    16123   172032        0             0 eater",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/shop.slice,task_memcg=/shop.slice/eat.service,task=eater,pid=423,uid=0",
        "Memory cgroup out of memory: Killed process 423 (eater) total-vm:68124kB, "
        "anon-rss:64000kB, file-rss:492kB, shmem-rss:8kB, UID:0 pgtables:168kB oom_score_adj:0",
        NULL,
    };

    ck_assert_uint_eq(add(messages), 1);
    ck_assert(logged->has_path && logged->kill.is_exact);
    assert_kill("shop.slice/eat.service", "eater", 423, 64500);
    assert_limit(HR_OOM_OF_GROUP, "shop.slice", 65536 * KIB);
}
END_TEST

START_TEST(limit_of_its_own_at_the_top_level)
{
    static const char *const messages[] = {
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0-1,3,"
        "oom_memcg=/a,task_memcg=/a,task=x y,pid=7,uid=1000",
        "Memory cgroup out of memory: Killed process 7 (x y) total-vm:1kB, anon-rss:1kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:-500",
        NULL,
    };

    ck_assert_uint_eq(add(messages), 1);
    assert_kill("a", "x y", 7, 1);
    assert_limit(HR_OOM_OF_GROUP, "a", UINT64_MAX);
}
END_TEST

START_TEST(machine_and_nodes)
{
    static const struct {
        const char *constraint;
        enum hr_oom_limit limit;
    } rows[] = {{"CONSTRAINT_NONE", HR_OOM_OF_MACHINE},
                {"CONSTRAINT_CPUSET", HR_OOM_OF_NODES},
                {"CONSTRAINT_MEMORY_POLICY", HR_OOM_OF_NODES}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char context[256];
        snprintf(context, sizeof(context),
                 "oom-kill:constraint=%s,nodemask=0,cpuset=/,mems_allowed=0,global_oom,"
                 "task_memcg=/user.slice,task=a,pid=5,uid=0",
                 rows[i].constraint);
        const char *const messages[] = {
            context,
            "Out of memory: Killed process 5 (a) total-vm:9kB, anon-rss:3kB, file-rss:1kB, "
            "shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0",
            NULL};
        ck_assert_uint_eq(add(messages), 1);
        assert_kill("user.slice", "a", 5, 4);
        assert_limit(rows[i].limit, "", UINT64_MAX);
    }
}
END_TEST

START_TEST(victim_at_the_top)
{
    static const char *const messages[] = {
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
        "task_memcg=/,task=a,pid=5,uid=0",
        "Out of memory (oom_kill_allocating_task): Killed process 5 (a) total-vm:9kB, "
        "anon-rss:3kB, file-rss:1kB, shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0",
        NULL};

    ck_assert_uint_eq(add(messages), 1);
    ck_assert(logged->has_path);
    assert_kill("", "a", 5, 4);
    assert_limit(HR_OOM_OF_MACHINE, "", UINT64_MAX);
}
END_TEST

/* 4.13 to 4.20, also with what 4.18 of Enterprise Linux prints. */
START_TEST(old_kernels)
{
    static const char *const messages[] = {
        "Task in /shop/a killed as a result of limit of /shop",
        "memory: usage 2048kB, limit 2048kB, failcnt 8",
        "Memory cgroup out of memory: Kill process 88 (eater) score 907 or sacrifice child",
        "Killed process 88 (eater) total-vm:4100kB, anon-rss:1900kB, file-rss:4kB, shmem-rss:0kB",
        NULL};
    static const char *const without[] = {
        "Memory cgroup out of memory: Kill process 89 (eater) score 907 or sacrifice child",
        "Killed process 89 (eater) total-vm:4100kB, anon-rss:1900kB, file-rss:4kB, shmem-rss:0kB",
        NULL};
    static const char *const machine[] = {
        "Out of memory: Kill process 90 (eater) score 907 or sacrifice child",
        "Killed process 90 (eater), UID 27, total-vm:4100kB, anon-rss:1900kB, file-rss:4kB", NULL};

    ck_assert_uint_eq(add(messages), 1);
    assert_kill("shop/a", "eater", 88, 1904);
    assert_limit(HR_OOM_OF_GROUP, "shop", 2048 * KIB);
    ck_assert_uint_eq(add(without), 1);
    ck_assert(!logged->has_path);
    assert_limit(HR_OOM_OF_SOME, "", UINT64_MAX);
    ck_assert_uint_eq(add(machine), 1);
    assert_kill("", "eater", 90, 1904);
    assert_limit(HR_OOM_OF_MACHINE, "", UINT64_MAX);
}
END_TEST

/* The kernel prints ten contexts within five seconds, but each victim. */
START_TEST(without_a_context)
{
    static const char *const messages[] = {
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/a,task_memcg=/a,task=x,pid=7,uid=0",
        "Memory cgroup out of memory: Killed process 8 (x) total-vm:1kB, anon-rss:1kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
        "oom_reaper: reaped process 8 (x), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB", NULL};

    ck_assert_uint_eq(add(messages), 1);
    ck_assert(!logged->has_path && !logged->kill.is_exact);
    assert_kill("", "x", 8, 1);
    assert_limit(HR_OOM_OF_SOME, "", UINT64_MAX);
}
END_TEST

START_TEST(all_tasks_of_a_group)
{
    static const char *const messages[] = {
        "memory: usage 64kB, limit 64kB, failcnt 1",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/p,task_memcg=/p/g/a,task=x,pid=7,uid=0",
        "Memory cgroup out of memory: Killed process 7 (x) total-vm:1kB, anon-rss:1kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
        "Tasks in /p/g are going to be killed due to memory.oom.group set",
        "Memory cgroup out of memory: Killed process 8 (y) total-vm:1kB, anon-rss:1kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
        NULL};
    static const char *const again[] = {
        "Memory cgroup out of memory: Killed process 7 (x) total-vm:1kB, anon-rss:1kB, "
        "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
        NULL};
    const char *const later[] = {"z invoked oom-killer: order=0", again[0], NULL};

    ck_assert_uint_eq(add(messages), 2);
    ck_assert(!logged->has_path && !logged->is_again);
    hr_kill_log_fill_limit(kept, &logged->kill); /* its group isn't known */
    assert_limit(HR_OOM_OF_SOME, "", UINT64_MAX);
    strcpy(logged->kill.path, "p/gg");
    hr_kill_log_fill_limit(kept, &logged->kill); /* another one */
    assert_limit(HR_OOM_OF_SOME, "", UINT64_MAX);
    strcpy(logged->kill.path, "p/g/b");
    hr_kill_log_fill_limit(kept, &logged->kill);
    assert_limit(HR_OOM_OF_GROUP, "p", 64 * KIB);
    ck_assert_uint_eq(add(again), 1);
    ck_assert(logged->is_again);
    ck_assert_uint_eq(add(later), 1); /* another one of that number */
    ck_assert(!logged->is_again);
}
END_TEST

/* Names with all that delimits. */
START_TEST(names_that_look_like_messages)
{
    static const char *const messages[] = {
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/a,task_memcg=/b,task_memcg=/a,task_memcg=/b/c,task=d,task=,task=e,pid=9,"
        "pid=12,uid=0",
        "Memory cgroup out of memory: Killed process 12 (,task=e,pid=9) total-vm:1kB, "
        "anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
        NULL};
    static const char *const in_name[] = {
        "Out of memory: Killed process 12 () total-vm:) total-vm:1kB, anon-rss:1kB, file-rss:0kB, "
        "shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
        NULL};

    ck_assert_uint_eq(add(messages), 1);
    assert_kill("a,task_memcg=/b/c,task=d", ",task=e,pid=9", 12, 1);
    assert_limit(HR_OOM_OF_GROUP, "a,task_memcg=/b", UINT64_MAX);
    ck_assert_uint_eq(add(in_name), 1);
    assert_kill("", ") total-vm:", 12, 1);
}
END_TEST

START_TEST(what_is_no_kill)
{
    static const char *const messages[] = {
        "",
        "Killed process",
        "Killed process x (y) total-vm:1kB",
        "Killed process 0 (y) total-vm:1kB",
        "Killed process 99999999999 (y) total-vm:1kB",
        "Killed process 5 y total-vm:1kB",
        "Killed process 5 (y total-vm:1kB",
        "Killed process 5 (y)",
        "audit: Out of memory: Killed process 5 (y) total-vm:1kB, anon-rss:1kB",
        "oom_reaper: reaped process 5 (y), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB",
        "Killed process 5 (0123456789012345678901234567890123456789012345678901234567890123456789) "
        "total-vm:1kB",
        NULL};

    ck_assert_uint_eq(add(messages), 0);
}
END_TEST

START_TEST(sizes_that_are_not_understood)
{
    static const char *const messages[] = {
        "Out of memory: Killed process 5 (y) total-vm:1kB",
        "Out of memory: Killed process 5 (y) total-vm:1kB, anon-rss:-1kB",
        "Out of memory: Killed process 5 (y) total-vm:1kB, anon-rss:1",
        "Out of memory: Killed process 5 (y) total-vm:1kB, anon-rss:18446744073709551615kB", NULL};

    for (size_t i = 0; messages[i] != NULL; i++) {
        const char *const one[] = {messages[i], NULL};
        ck_assert_uint_eq(add(one), 1);
        ck_assert_uint_eq(logged->kill.resident_bytes, UINT64_MAX);
    }
}
END_TEST

/* --- Records ------------------------------------------------------------------------ */

START_TEST(records)
{
    static const struct {
        const char *text;
        int status;
        bool is_kernels;
        const char *message;
    } rows[] = {
        {"3,1234,5678901,-;Killed\n", 0, true, "Killed"},
        {"6,1,2,-,caller=T7;a;b\n SUBSYSTEM=x\n DEVICE=y\n", 0, true, "a;b"},
        {"4,1,2,c;\n", 0, true, ""},
        {"12,1,2,-;written by a program\n", 0, false, "written by a program"},
        {"3,1,2,-;/a\\x5cx2db\\x0a\\xc3\\xa9 \\x \\x1\n", 0, true, "/a\\x2db\n\xc3\xa9 \\x \\x1"},
        {"3,1,2,-;\\x00\n", 0, true, "?"},
        {"3,1,2,-;no end", -EBADMSG, false, ""},
        {"3,1,2,-\n;\n", -EBADMSG, false, ""},
        {"3,1,;x\n", -EBADMSG, false, ""},
        {"3,1;x\n", -EBADMSG, false, ""},
        {"x\n", -EBADMSG, false, ""},
        {"", -EBADMSG, false, ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct hr_kmsg_record record;
        ck_assert_int_eq(hr_kmsg_record_parse(rows[i].text, strlen(rows[i].text), &record),
                         rows[i].status);
        if (rows[i].status < 0)
            continue;
        ck_assert(record.is_kernels == rows[i].is_kernels);
        ck_assert_str_eq(record.message, rows[i].message);
    }
}
END_TEST

/* --- The group of a process ------------------------------------------------------------ */

START_TEST(group_of_a_process)
{
    static const struct {
        const char *text;
        int version;
        const char *path; /* NULL: not found */
    } rows[] = {
        {"0::/a/b.service\n", 2, "a/b.service"},
        {"0::/a (deleted)\n", 2, "a"},
        {"0::/\n", 2, ""},
        {"3:memory:/x\n1:name=systemd:/y\n0::/z\n", 1, "x"},
        {"3:memory:/x\n1:name=systemd:/y\n0::/z\n", 2, "z"},
        {"3:cpu,memory:/x:y\n", 1, "x:y"},
        {"0::/z\n", 1, NULL},
        {"3:memory:/\n0::/z\n", 1, NULL},
        {"0::/../other\n", 2, NULL},
        {"0::/a", 2, NULL},
        {"", 2, NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char path[PATH_MAX];
        ck_assert(hr_oom_victim_parse(rows[i].text, strlen(rows[i].text), rows[i].version, path) ==
                  (rows[i].path != NULL));
        if (rows[i].path != NULL)
            ck_assert_str_eq(path, rows[i].path);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("oom_log");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, limit_of_a_group_above);
    tcase_add_test(tests, limit_of_its_own_at_the_top_level);
    tcase_add_test(tests, machine_and_nodes);
    tcase_add_test(tests, victim_at_the_top);
    tcase_add_test(tests, old_kernels);
    tcase_add_test(tests, without_a_context);
    tcase_add_test(tests, all_tasks_of_a_group);
    tcase_add_test(tests, names_that_look_like_messages);
    tcase_add_test(tests, what_is_no_kill);
    tcase_add_test(tests, sizes_that_are_not_understood);
    tcase_add_test(tests, records);
    tcase_add_test(tests, group_of_a_process);
    return run_suite("oom_log", tests);
}
