/* SPDX-License-Identifier: MIT */
#include "common/waiting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"

#define PROGRESS_NS       (HR_NS_PER_S / 5) /* between two updates of the progress line */
#define PROGRESS_AFTER_NS (2 * HR_NS_PER_S) /* a shorter wait shows none */

static const int held_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t signal_number;
static sigset_t waiting_mask; /* as it was before the signals were held */

static void on_signal(int number)
{
    signal_number = number;
}

void waiting_hold_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, before; /* no SA_RESTART */
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof(held_signals) / sizeof(held_signals[0]); i++) {
        /* nohup(1), and shells for background jobs, have some ignored: leave those. */
        if (sigaction(held_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        sigaction(held_signals[i], &action, NULL);
        sigaddset(&blocked, held_signals[i]);
    }
    signal(SIGPIPE, SIG_IGN); /* the write reports a closed pipe */
    sigprocmask(SIG_BLOCK, &blocked, &waiting_mask);
}

int waiting_signal(void)
{
    return signal_number;
}

void waiting_end_by_signal(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* --- Waiting -------------------------------------------------------------- */

/* Prints the progress over the line before. Returns its length. */
static int print_progress(const struct waiting *wait, uint64_t now_ns)
{
    double all = (double)(wait->until_ns - wait->from_ns) / (double)HR_NS_PER_S;
    double done = (double)(now_ns - wait->from_ns) / (double)HR_NS_PER_S;
    return fprintf(stderr, "\r%s%.1f of %.6g s ", wait->what, done < all ? done : all, all);
}

static void erase_progress(int length)
{
    if (length > 0)
        fprintf(stderr, "\r%*s\r", length, "");
}

static bool has_failed(short events)
{
    return (events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

/* Returns 0 at the given time, or earlier, else as waiting_wait(); also reports a signal that came
 * before. */
static int poll_until(const struct waiting *wait, uint64_t until_ns)
{
    struct pollfd files[] = {{.fd = STDOUT_FILENO},
                             {.fd = wait->on_input != NULL ? wait->input : -1, .events = POLLIN}};
    uint64_t now_ns = hr_clock_ns();
    uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec time = {(time_t)(left_ns / HR_NS_PER_S), (long)(left_ns % HR_NS_PER_S)};
    int count = ppoll(files, 2, &time, &waiting_mask);
    if (signal_number != 0)
        return -EINTR;
    if (count < 0 && errno != EINTR)
        return -errno;
    if (count > 0 && (has_failed(files[0].revents) || has_failed(files[1].revents)))
        return -EPIPE;
    return count != 0 && wait->on_input != NULL && !wait->on_input(wait->context) ? -ECANCELED : 0;
}

int waiting_wait(const struct waiting *wait)
{
    bool shows_progress =
        isatty(STDERR_FILENO) && wait->until_ns > wait->from_ns + PROGRESS_AFTER_NS;
    uint64_t checked_ns = hr_clock_ns();
    int status, progress_length = 0;
    for (;;) {
        uint64_t now_ns = hr_clock_ns();
        uint64_t next_ns = now_ns + (shows_progress ? PROGRESS_NS : HR_NS_PER_S);
        if (shows_progress)
            progress_length = print_progress(wait, now_ns);
        status = poll_until(wait, next_ns < wait->until_ns ? next_ns : wait->until_ns);
        if (status != 0 || hr_clock_ns() >= wait->until_ns)
            break;
        if (wait->should_continue == NULL || hr_clock_ns() < checked_ns + HR_NS_PER_S)
            continue;
        checked_ns = hr_clock_ns();
        if (!wait->should_continue(wait->context)) {
            status = -ESRCH;
            break;
        }
    }
    erase_progress(progress_length);
    return status;
}
