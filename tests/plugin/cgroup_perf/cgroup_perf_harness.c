/* SPDX-License-Identifier: MIT */
#include "plugin/cgroup_perf/cgroup_perf_harness.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "headroom/clock.h"

const char *const harness_plugin = "cgroup_perf";

struct groups *groups;

/* --- The machine ---------------------------------------------------------- */

#define PMUS "sys/bus/event_source/devices/"

/* All events but those of "nothing" are PERF_TYPE_SOFTWARE, numbered by PERF_COUNT_SW_*. */
static const struct {
    const char *file, *text;
} pmus[] = {
    {"cpu/type", "1"},
    {"cpu/format/event", "config:0-63"},
    {"cpu/events/cpu-cycles", "event=0x0"},
    {"cpu/events/instructions", "event=0x1"},
    {"cpu/events/cache-references", "event=0x5"},
    {"cpu/events/cache-misses", "event=0x5"},
    {"cpu/events/LLC-loads", "event=0x5"},
    {"cpu/events/LLC-load-misses", "event=0x6"},
    {"msr/type", "1"},
    {"msr/format/event", "config:0-63"},
    {"msr/events/tsc", "event=0x0"},
    {"package/type", "1"},
    {"package/cpumask", "0"},
    {"package/format/event", "config:0-63"},
    {"package/events/energy", "event=0x0"},
    {"nothing/type", "1234567890"},
    {"nothing/format/event", "config:0-63"},
    {"nothing/events/any", "event=0x0"},
};

static void add_cpus(const char *path)
{
    char cpus[256], full[64];

    snprintf(full, sizeof(full), "/%s", path);
    FILE *file = fopen(full, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(cpus, sizeof(cpus), file));
    fclose(file);
    tree_write(tree, path, "%s", cpus);
}

static void add_machine(void)
{
    char path[64];

    add_cpus("sys/devices/system/cpu/online");
    add_cpus("sys/devices/system/cpu/possible");
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
        snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%ld/topology", cpu);
        tree_add_directory(tree, path);
    }
    for (size_t i = 0; i < COUNT(pmus); i++) {
        snprintf(path, sizeof(path), PMUS "%s", pmus[i].file);
        tree_write(tree, path, "%s\n", pmus[i].text);
    }
    tree_write(tree, "proc/sys/kernel/perf_event_paranoid", "2\n");
}

size_t perf_cpus(void)
{
    return (size_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* --- Fixtures ------------------------------------------------------------- */

void perf_set_up(void)
{
    harness_set_up();
    add_machine();
}

void perf_tear_down(void)
{
    harness_tear_down();
}

void perf_set_up_with_groups(void)
{
    char directory[64], mounted[512];

    ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
    ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    perf_set_up();
    snprintf(directory, sizeof(directory), "/proc/self/fd/%d", groups_dirfd(groups));
    snprintf(mounted, sizeof(mounted), "%s/" TREE_CGROUPS, tree_path(tree));
    ck_assert_int_eq(mount(directory, mounted, NULL, MS_BIND, NULL), 0);
}

void perf_tear_down_with_groups(void)
{
    char mounted[512];

    /* Detached, as the plugin has directories open there. */
    snprintf(mounted, sizeof(mounted), "%s/" TREE_CGROUPS, tree_path(tree));
    ck_assert_int_eq(umount2(mounted, MNT_DETACH), 0);
    perf_tear_down();
    groups_free(groups);
}

void perf_begin(const char *options)
{
    char all[8192 + 32];

    snprintf(all, sizeof(all), "%s\nCounting \"descriptors\"", options);
    harness_begin(all);
}

/* --- Requirements --------------------------------------------------------- */

static bool can_count(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK};
    int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool can_mount(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(unshare(CLONE_NEWNS) != 0);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool can_group(void)
{
    struct groups *tried = groups_new();

    if (tried != NULL)
        groups_free(tried);
    return tried != NULL;
}

const char *perf_obstacle(bool with_groups)
{
    if (getenv("HEADROOM_REQUIRE_ALL") != NULL)
        return NULL;
    if (!can_count())
        return "perf events of all CPUs are not permitted";
    if (with_groups && !can_mount())
        return "mount namespaces can't be made";
    if (with_groups && !can_group())
        return "no cgroup2 hierarchy that can be written to";
    return NULL;
}

/* --- Values --------------------------------------------------------------- */

double perf_of(const char *group, const char *identifier)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "cgroup_perf-%s/%s", group, identifier);
    return harness_number(whole);
}

double perf_of_system(const char *identifier)
{
    return perf_of("system", identifier);
}

void perf_read_until(const char *pattern, size_t count)
{
    harness_read();
    for (int i = 0; i < 2000 && fake_count(pattern) != count; i++) {
        harness_sleep(10);
        harness_read();
    }
    harness_assert_count(pattern, count);
}

size_t perf_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;
    char target[256];
    size_t count = 0;

    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL) {
        ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        count += strstr(target, "[perf_event]") != NULL;
    }
    closedir(directory);
    return count;
}

/* --- Countable activity --------------------------------------------------- */

void perf_touch(size_t pages)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (pages + 1) * page;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        memory[i * page] = 1;
    munmap(memory, size);
}

void perf_make_fail(unsigned call, unsigned error, int argument, unsigned bits)
{
    const unsigned data = argument < 0 ? offsetof(struct seccomp_data, nr)
                                       : offsetof(struct seccomp_data, args[argument]);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, data), /* the lower half, on little-endian machines */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, argument < 0 ? ~0U : bits, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = COUNT(filter), .filter = filter};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* --- A process in a group ------------------------------------------------- */

struct work {
    size_t pages;
    unsigned busy_ms;
};

static uint64_t cpu_time_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * HR_NS_PER_S + (uint64_t)time.tv_nsec;
}

static void use_cpu(unsigned busy_ms)
{
    const uint64_t end_ns = cpu_time_ns() + busy_ms * HR_NS_PER_MS;

    while (cpu_time_ns() < end_ns)
        continue;
}

__attribute__((noreturn)) static void worker_main(const char *group, int line)
{
    struct work work = {0};

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed test leaves no process behind */
    groups_write(groups, group, "cgroup.procs", "0");
    do {
        perf_touch(work.pages);
        use_cpu(work.busy_ms);
        if (send(line, &work, sizeof(work), MSG_NOSIGNAL) < 0)
            break;
    } while (recv(line, &work, sizeof(work), 0) == sizeof(work));
    _exit(0);
}

/* Waits until the work is done and the worker sleeps, so that nothing more is counted. */
static void await_worker(const struct perf_worker *worker)
{
    struct work done;

    ck_assert_int_eq(recv(worker->line, &done, sizeof(done), 0), sizeof(done));
    groups_await_sleep(worker->pid);
}

struct perf_worker perf_start(const char *group)
{
    struct perf_worker worker;
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    worker.pid = fork();
    ck_assert_int_ge(worker.pid, 0);
    if (worker.pid == 0) {
        close(ends[0]);
        worker_main(group, ends[1]);
    }
    close(ends[1]);
    worker.line = ends[0];
    await_worker(&worker);
    return worker;
}

void perf_work(const struct perf_worker *worker, size_t pages, unsigned busy_ms)
{
    const struct work work = {pages, busy_ms};

    ck_assert_int_eq(send(worker->line, &work, sizeof(work), MSG_NOSIGNAL), sizeof(work));
    await_worker(worker);
}

void perf_end(struct perf_worker *worker)
{
    close(worker->line);
    kill(worker->pid, SIGKILL); /* other processes hold its socket, too */
    ck_assert_int_eq(waitpid(worker->pid, NULL, 0), worker->pid);
    worker->pid = 0;
}

void perf_let_groups_come_and_go(void)
{
    size_t used = 0;

    for (int i = 0; i < 50; i++) {
        if (i == 10)
            used = mallinfo2().uordblks;
        groups_make(groups, "job");
        struct perf_worker worker = perf_start("job");
        harness_read();
        perf_work(&worker, 10, 0);
        perf_end(&worker);
        groups_remove(groups, "job");
        if (i % 2 == 0)
            harness_read();
    }
    harness_read();
    harness_read();
    ck_assert_uint_le(mallinfo2().uordblks, used + 1024);
}
