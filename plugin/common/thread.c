/* SPDX-License-Identifier: MIT */
#include "common/thread.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "utils/common/common.h"

void thread_init(struct thread *thread)
{
    *thread = (struct thread){.wake_fd = -1};
}

int thread_open(struct thread *thread)
{
    thread->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return thread->wake_fd < 0 ? -errno : 0;
}

int thread_start(struct thread *thread, void *(*thread_main)(void *), void *context,
                 const char *name)
{
    int status = -plugin_thread_create(&thread->id, thread_main, context, name);

    thread->is_running = status == 0;
    return status;
}

void thread_wake(const struct thread *thread)
{
    eventfd_write(thread->wake_fd, 1);
}

bool thread_goes_on(const struct thread *thread)
{
    eventfd_t count;

    eventfd_read(thread->wake_fd, &count);
    return !thread->must_end;
}

bool thread_wait_until(const struct thread *thread, uint64_t until_ns, int fd)
{
    struct pollfd polled[] = {{.fd = thread->wake_fd, .events = POLLIN},
                              {.fd = fd, .events = POLLIN}};
    int count;

    do {
        uint64_t now_ns = hr_clock_ns();
        uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        const struct timespec timeout = {.tv_sec = (time_t)(wait_ns / HR_NS_PER_S),
                                         .tv_nsec = (long)(wait_ns % HR_NS_PER_S)};
        count = ppoll(polled, STATIC_ARRAY_SIZE(polled), &timeout, NULL);
    } while (count < 0 && errno == EINTR);
    return count <= 0 || polled[0].revents == 0 || thread_goes_on(thread);
}

static void ask_to_end(struct thread *thread)
{
    thread->must_end = true;
    thread_wake(thread);
}

bool thread_stop_within(struct thread *thread, unsigned seconds)
{
    struct timespec until;

    if (thread->is_running) {
        ask_to_end(thread);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += seconds;
        if (pthread_timedjoin_np(thread->id, NULL, &until) != 0)
            return false;
        thread->is_running = false;
    }
    thread_stop(thread);
    return true;
}

void thread_stop(struct thread *thread)
{
    if (thread->is_running) {
        ask_to_end(thread);
        pthread_join(thread->id, NULL);
    }
    if (thread->wake_fd >= 0)
        close(thread->wake_fd);
    thread_init(thread);
}
