/* SPDX-License-Identifier: MIT */
#include "plugin/wss/wss_harness.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 50000
#define PROCESSES   32

static pid_t running[PROCESSES];
static volatile sig_atomic_t shrinks;

const char *wss_obstacle(void)
{
    if (access("/proc/self/clear_refs", W_OK) != 0)
        return "there is no /proc/PID/clear_refs";
    return NULL;
}

void wss_set_interval(unsigned milliseconds)
{
    fake_set_interval(MS_TO_CDTIME_T(milliseconds));
}

void wss_begin(const char *format, ...)
{
    va_list arguments;
    char *options;

    va_start(arguments, format);
    ck_assert_int_gt(vasprintf(&options, format, arguments), 0);
    va_end(arguments);
    fake_ignore_logs("DAMON is at work"); /* here it may be */
    fake_ignore_logs("was locked for");   /* the machine may be busy */
    harness_begin_live(options);
    free(options);
}

/* --- Processes ------------------------------------------------------------ */

static void handle_signal(int number)
{
    (void)number;
    shrinks = 1;
}

__attribute__((noreturn)) static void touch_for_ever(char *memory, size_t hold, size_t touch)
{
    for (;; usleep(5000)) {
        for (size_t i = 0; i < touch; i += 4096)
            (void)*(volatile char *)(memory + i);
        if (shrinks) {
            munmap(memory + touch, hold - touch);
            hold = touch;
            shrinks = 0;
        }
    }
}

__attribute__((noreturn)) static void process_main(const char *name, size_t hold, size_t touch,
                                                   int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (name != NULL)
        prctl(PR_SET_NAME, name);
    signal(SIGUSR1, handle_signal);
    char *memory = mmap(NULL, hold, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        _exit(1);
    madvise(memory, hold, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < hold; i += 4096)
        memory[i] = 1;
    if (write(ready, "", 1) != 1)
        _exit(1);
    touch_for_ever(memory, hold, touch);
}

pid_t wss_start(const char *name, size_t hold_mib, size_t touch_mib)
{
    int ends[2];
    char byte;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        process_main(name, hold_mib * MIB, touch_mib * MIB, ends[1]);
    close(ends[1]);
    ck_assert_msg(read(ends[0], &byte, 1) == 1, "the process doesn't start");
    close(ends[0]);
    for (size_t i = 0; i < PROCESSES; i++)
        if (running[i] == 0) {
            running[i] = pid;
            return pid;
        }
    ck_abort_msg("too many processes");
}

void wss_shrink(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGUSR1), 0);
}

void wss_end(pid_t pid, bool reap)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    if (!reap)
        return;
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    for (size_t i = 0; i < PROCESSES; i++)
        if (running[i] == pid)
            running[i] = 0;
}

void wss_tear_down(void)
{
    harness_tear_down();
    for (size_t i = 0; i < PROCESSES; i++)
        if (running[i] != 0)
            wss_end(running[i], true);
}

/* --- Waiting -------------------------------------------------------------- */

uint64_t wss_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void wss_await(const char *pattern, size_t count)
{
    const uint64_t end_ms = wss_now_ms() + PATIENCE_MS;

    for (;;) {
        harness_read();
        if (fake_count(pattern) >= count)
            return;
        ck_assert_msg(wss_now_ms() < end_ms, "no %s; the last line is: %s", pattern,
                      fake_logs(0, NULL) > 0 ? fake_log(fake_logs(0, NULL) - 1) : "");
        usleep(2000);
    }
}

void wss_await_log(size_t count, const char *containing)
{
    const uint64_t end_ms = wss_now_ms() + PATIENCE_MS;

    while (fake_logs(0, containing) < count) {
        ck_assert_msg(wss_now_ms() < end_ms, "no \"%s\"; the last line is: %s", containing,
                      fake_logs(0, NULL) > 0 ? fake_log(fake_logs(0, NULL) - 1) : "");
        harness_read();
        usleep(2000);
    }
}
