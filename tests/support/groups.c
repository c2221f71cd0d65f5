/* SPDX-License-Identifier: MIT */
#include "support/groups.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "headroom/root.h"

#define MAX_PROCESSES 16384

/* How often, 20 ms apart, a state is read that usually comes at once, but later if the machine is
 * busy. */
#define PATIENCE 3000

struct groups {
    char path[64];
    int mount;
    int dirfd;
    bool is_v1;
    pid_t cleanup_pid;
    int cleanup_pipe; /* it gets end of file when we close this, or end */
    size_t count;
    pid_t processes[MAX_PROCESSES];
};

static void require(bool condition, const char *what, const char *name)
{
    if (condition)
        return;
    fprintf(stderr, "%s %s: %s\n", what, name, strerror(errno));
    abort();
}

static int remove_one(const char *path, __attribute__((unused)) const struct stat *status, int type,
                      __attribute__((unused)) struct FTW *where)
{
    return type == FTW_DP ? rmdir(path) : 0;
}

/* The processes end with the test, but may stay in their groups for a moment. */
static bool remove_all(const struct groups *groups)
{
    char path[128];

    snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", groups->mount, groups->path);
    for (int i = 0; i < PATIENCE; i++) {
        if (nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
            return true;
        usleep(20000);
    }
    return false;
}

/* A test that fails doesn't get to its groups_free(): a process of its own removes what it made. */
static void start_cleanup_process(struct groups *groups)
{
    int ends[2];
    char byte;

    require(pipe2(ends, O_CLOEXEC) == 0, "make", "a pipe");
    groups->cleanup_pid = fork();
    require(groups->cleanup_pid >= 0, "start", "the cleanup process");
    /* In parent and child, as either may be first: a test is killed with its process group. */
    setpgid(groups->cleanup_pid, 0);
    if (groups->cleanup_pid == 0) {
        for (int fd = 0; fd < 256; fd++) /* above all the pipe of the test's results */
            if (fd != ends[0] && fd != groups->mount)
                close(fd);
        while (read(ends[0], &byte, 1) < 0)
            continue;
        _exit(!remove_all(groups));
    }
    close(ends[0]);
    groups->cleanup_pipe = ends[1];
}

/* Makes the groups in a hierarchy whose directory is handed over, or a negative errno. */
static struct groups *make_groups(int mount)
{
    struct groups *groups = calloc(1, sizeof(*groups));

    require(groups != NULL, "allocate", "groups");
    groups->mount = mount;
    snprintf(groups->path, sizeof(groups->path), "headroom-test-%d", (int)getpid());
    if (mount < 0 || mkdirat(mount, groups->path, 0755) < 0) {
        if (mount >= 0)
            close(mount);
        free(groups);
        return NULL;
    }
    start_cleanup_process(groups);
    groups->dirfd = openat(groups->mount, groups->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(groups->dirfd >= 0, "open", groups->path);
    return groups;
}

struct groups *groups_new(void)
{
    struct hr_root *root;

    require(hr_root_open("/", &root) == 0, "open", "/");
    int mount = hr_root_open_cgroup2(root);
    hr_root_close(root);
    return make_groups(mount);
}

struct groups *groups_new_v1(const char *controller)
{
    struct hr_root *root;
    int version = 0;

    require(hr_root_open("/", &root) == 0, "open", "/");
    int mount = hr_root_open_cgroup(root, controller, &version);
    hr_root_close(root);
    if (mount >= 0 && version != 1) {
        close(mount);
        mount = -ENOENT;
    }
    struct groups *groups = make_groups(mount);
    if (groups != NULL)
        groups->is_v1 = true;
    return groups;
}

void groups_free(struct groups *groups)
{
    while (groups->count > 0)
        groups_end(groups, groups->processes[groups->count - 1]);
    require(remove_all(groups), "remove", groups->path);
    close(groups->cleanup_pipe);
    waitpid(groups->cleanup_pid, NULL, 0);
    close(groups->dirfd);
    close(groups->mount);
    free(groups);
}

const char *groups_path(const struct groups *groups)
{
    return groups->path;
}

int groups_dirfd(const struct groups *groups)
{
    return groups->dirfd;
}

void groups_make(struct groups *groups, const char *name)
{
    require(mkdirat(groups->dirfd, name, 0755) == 0, "make", name);
}

void groups_remove(struct groups *groups, const char *name)
{
    int status;

    /* A process that was waited for may stay in its group for a moment. */
    for (int i = 0; (status = unlinkat(groups->dirfd, name, AT_REMOVEDIR)) < 0 && i < PATIENCE;
         i++) {
        require(errno == EBUSY, "remove", name);
        usleep(20000);
    }
    require(status == 0, "remove", name);
}

/* Makes a process in a group, or, if name is NULL, where we are. @return as fork(2). */
static pid_t start_process(struct groups *groups, const char *name)
{
    struct clone_args how = {.exit_signal = SIGCHLD};
    int fd = -1;

    require(groups->count < MAX_PROCESSES, "start a process in", name);
    if (name != NULL && !groups->is_v1) {
        fd = openat(groups->dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        require(fd >= 0, "open", name);
        how.flags = CLONE_INTO_CGROUP;
        how.cgroup = (unsigned)fd;
    }
    pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed test leaves no process behind */
        if (name != NULL && groups->is_v1)
            groups_write(groups, name, "cgroup.procs", "0");
        return 0;
    }
    require(pid > 0, "start a process in", name);
    if (fd >= 0)
        close(fd);
    groups->processes[groups->count++] = pid;
    return pid;
}

pid_t groups_start_sleeper(struct groups *groups, const char *name)
{
    pid_t pid = start_process(groups, name);

    while (pid == 0)
        pause();
    return pid;
}

pid_t groups_start_busy(struct groups *groups, const char *name, int cpu)
{
    cpu_set_t only;
    pid_t pid = start_process(groups, name);

    if (pid > 0)
        return pid;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_setaffinity(0, sizeof(only), &only) < 0)
        _exit(1);
    for (volatile unsigned i = 0;; i++)
        continue;
}

void groups_await_sleep(pid_t pid)
{
    char path[32], line[128], state = '?';

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (int i = 0; state != 'S'; i++) {
        require(i < 20 * PATIENCE, "see asleep", path);
        FILE *file = fopen(path, "r");
        require(file != NULL && fgets(line, sizeof(line), file) != NULL, "read", path);
        fclose(file);
        state = strrchr(line, ')')[2];
        if (state != 'S')
            usleep(1000);
    }
}

void groups_end(struct groups *groups, pid_t pid)
{
    size_t i = 0;

    kill(pid, SIGKILL);
    require(waitpid(pid, NULL, 0) == pid, "wait for", "a process");
    while (i < groups->count && groups->processes[i] != pid)
        i++;
    groups->processes[i] = groups->processes[--groups->count];
}

int groups_watch(struct groups *groups, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "/proc/self/fd/%d/%s/cgroup.events", groups->dirfd, name);
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    require(watch >= 0 && inotify_add_watch(watch, path, IN_MODIFY) >= 0, "watch", name);
    return watch;
}

static bool is_empty(struct groups *groups, const char *name)
{
    char path[512], text[64] = "";

    snprintf(path, sizeof(path), "%s/cgroup.events", name);
    int fd = openat(groups->dirfd, path, O_RDONLY | O_CLOEXEC);
    require(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, "read the events of", name);
    close(fd);
    return strstr(text, "populated 0") != NULL;
}

void groups_await_empty(struct groups *groups, const char *name, int watch)
{
    struct pollfd polled = {.fd = watch, .events = POLLIN};
    char events[4096];

    do {
        require(poll(&polled, 1, PATIENCE * 20) == 1, "get the event of", name);
        require(read(watch, events, sizeof(events)) > 0, "read the inotify event of", name);
    } while (!is_empty(groups, name));
    close(watch);
    usleep(10000); /* other watches get the event at the same time, but maybe after ours */
}

void groups_write(struct groups *groups, const char *name, const char *file, const char *text)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", name, file);
    int fd = openat(groups->dirfd, path, O_WRONLY | O_CLOEXEC);
    require(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "write to", path);
    close(fd);
}
