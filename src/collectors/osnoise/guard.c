/* SPDX-License-Identifier: MIT */
#include "osnoise/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "headroom/clock.h"

/* While the files of the process that has ended are being closed, or another program reads the
 * instance, the kernel refuses to change its tracer. */
#define TRIES    600
#define PAUSE_NS (100 * HR_NS_PER_MS)

/* Where close_range(2) isn't permitted: more than the collectors keep. */
#define MOST_FDS 65536

/* --- In the other process ------------------------------------------------- */

/* It is a copy of one with several threads: only what signal-safety(7) lists may be called. */

static void close_range_of(unsigned first, unsigned last)
{
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (unsigned fd = first; fd <= last && fd < MOST_FDS; fd++)
        close((int)fd);
}

/* Also standard output, as who reads that waits for its end; and the locks of osnoise/owner.h,
 * which would outlive their owner. */
static void close_all_but(int a, int b)
{
    const unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

    if (low > 0)
        close_range_of(0, low - 1);
    close_range_of(low + 1, high - 1);
    close_range_of(high + 1, ~0U);
}

static int write_nop(int tracefs_fd, const char *path)
{
    static const char nop[] = "nop\n";
    int fd = openat(tracefs_fd, path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int status = write(fd, nop, sizeof(nop) - 1) < 0 ? -errno : 0;
    close(fd);
    return status;
}

static void stop_tracer(int tracefs_fd, const char *path)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    for (int i = 0; i < TRIES && write_nop(tracefs_fd, path) == -EBUSY; i++)
        nanosleep(&pause, NULL);
}

__attribute__((noreturn)) static void wait_for_end(int end_fd, int tracefs_fd, const char *path)
{
    ssize_t got;
    char word;

    setsid();
    prctl(PR_SET_NAME, "headroom-guard");
    close_all_but(end_fd, tracefs_fd);
    send(end_fd, "", 1, MSG_NOSIGNAL); /* that it has closed them */
    do
        got = read(end_fd, &word, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        stop_tracer(tracefs_fd, path);
    _exit(0);
}

/* --- In this process ------------------------------------------------------ */

/* The new process has all signals blocked from its beginning. */
static pid_t fork_without_signals(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int error = errno;
    if (pid != 0)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

/* Until it has closed its copies of this process's files, which keep the instance. It may be
 * stopped. */
static int wait_until_ready(int fd)
{
    const struct timeval most = {.tv_sec = 5};
    ssize_t got;
    char word;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)) < 0)
        return -errno;
    do
        got = read(fd, &word, 1);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? -ETIMEDOUT : -errno;
    return got == 1 ? 0 : -ESRCH;
}

int hr_osnoise_guard_start(const struct hr_tracefs *tracefs, const char *instance,
                           struct hr_osnoise_guard *guard)
{
    char path[NAME_MAX + 32];
    int fds[2];

    snprintf(path, sizeof(path), "instances/%s/current_tracer", instance);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -errno;
    pid_t pid = fork_without_signals();
    if (pid == 0)
        wait_for_end(fds[0], tracefs->fd, path);
    int error = errno;
    close(fds[0]);
    if (pid < 0) {
        close(fds[1]);
        return -error;
    }
    hr_descriptor_keep(&fds[1], HR_KEEP_FILE);
    struct hr_osnoise_guard started = {.pid = pid, .fd = fds[1]};
    int status = wait_until_ready(started.fd);
    if (status == 0) {
        *guard = started;
        return 0;
    }
    kill(pid, SIGKILL);
    hr_osnoise_guard_end(&started);
    return status;
}

void hr_osnoise_guard_end(struct hr_osnoise_guard *guard)
{
    if (guard->fd < 0)
        return;
    send(guard->fd, "", 1, MSG_NOSIGNAL); /* it may have been killed */
    hr_descriptor_close(&guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
