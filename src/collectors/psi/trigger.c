/* SPDX-License-Identifier: MIT */
#include "headroom/psi_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/transient.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "psi/file.h"
#include "psi/window.h"

/* Without CAP_SYS_RESOURCE the kernel takes only windows that are a multiple of this. */
#define UNPRIVILEGED_WINDOW_US (2 * HR_US_PER_S)

/* Idle triggers within so many bytes of memory, that is several in turn, are polled at the same
 * time: what the kernel has of them is in neighbouring memory, too, which halves the cache misses.
 */
#define NEIGHBOURHOOD 32768

/* As many triggers of the kernel are closed at once. */
#define CLOSING_THREADS 32

struct hr_psi_trigger {
    struct hr_psi_target target;
    struct hr_psi_trigger_options options;
    int fd; /* armed; or, when polling, kept open; or -1 */
    bool by_kernel;
    int refusal;
    struct hr_psi_reading base; /* at the last event, or when opened */
    bool has_fired;
    struct hr_psi_window window; /* if polled */
};

int hr_psi_trigger_check(const struct hr_psi_trigger_options *options, bool of_system,
                         const char **reason)
{
    const char *fault = NULL;

    if (options->window_us < HR_PSI_TRIGGER_WINDOW_MIN_US ||
        options->window_us > HR_PSI_TRIGGER_WINDOW_MAX_US)
        fault = "the window must be from 0.1 to 10 seconds";
    else if (options->stall_us < 1 || options->stall_us > options->window_us)
        fault = "the stall must be from 1 microsecond to the whole window";
    else if (options->resource == HR_PSI_IRQ && options->level == HR_PSI_SOME)
        fault = "irq has \"full\" pressure only";
    else if (options->resource == HR_PSI_CPU && options->level == HR_PSI_FULL && of_system)
        fault = "the kernel doesn't define \"full\" for the system's cpu, only for cgroups";
    if (fault == NULL)
        return 0;
    *reason = fault;
    return -EINVAL;
}

/* --- Arming --------------------------------------------------------------- */

static int read_total(const struct hr_psi_trigger *trigger, int fd, struct hr_psi_reading *reading)
{
    const struct hr_psi_trigger_options *options = &trigger->options;
    struct hr_psi_sample sample;

    int status = hr_psi_file_read(fd, &trigger->target, options->resource, &sample);
    if (status < 0)
        return status;
    if (!sample.stall[options->level].present)
        return -ENOENT;
    *reading = (struct hr_psi_reading){sample.time_ns, sample.stall[options->level].total_us};
    return 0;
}

/* Writes "some 150000 1000000" and a NUL: the kernel overwrites the last byte with a NUL. */
static int write_trigger(int fd, const struct hr_psi_trigger_options *options, uint64_t window_us)
{
    uint64_t stall_us = options->stall_us < window_us ? options->stall_us : window_us;
    char text[64];
    int length = snprintf(text, sizeof(text), "%s %llu %llu", hr_psi_level_name(options->level),
                          (unsigned long long)stall_us, (unsigned long long)window_us);

    return write(fd, text, (size_t)length + 1) < 0 ? -errno : 0;
}

/* Without CAP_SYS_RESOURCE the kernel checks every 2 s only, together with the update of the
 * averages, which any reader of the file may do before it. So a window that it would take without
 * the capability is made a microsecond shorter. EINVAL then means that we lack it in the kernel's
 * view, or that the kernel takes no window below 0.5 s: a longer one shows which. */
static int register_trigger(const struct hr_psi_trigger_options *options, int fd)
{
    uint64_t window_us = options->window_us;
    bool is_multiple = window_us % UNPRIVILEGED_WINDOW_US == 0;

    int status = write_trigger(fd, options, is_multiple ? window_us - 1 : window_us);
    if (status != -EINVAL)
        return status;
    return write_trigger(fd, options, UNPRIVILEGED_WINDOW_US - 1) == -EINVAL ? -EPERM : -EINVAL;
}

static int arm_in_kernel(struct hr_psi_trigger *trigger)
{
    int fd = hr_psi_file_open(&trigger->target, trigger->options.resource, -1, O_RDWR | O_NONBLOCK);

    if (fd < 0)
        return fd;
    int status = hr_descriptor_keep(&fd, HR_KEEP_TRIGGER) ? 0 : -EMFILE;
    if (status == 0)
        status = read_total(trigger, fd, &trigger->base);
    if (status == 0)
        status = register_trigger(&trigger->options, fd);
    if (status < 0) {
        close(fd);
        return status;
    }
    trigger->fd = fd;
    trigger->by_kernel = true;
    return 0;
}

/* Reads the total from the armed file, or, when polling, from one kept open if possible. */
static int poll_total(struct hr_psi_trigger *trigger, struct hr_psi_reading *reading)
{
    int fd = trigger->fd;

    if (fd < 0) {
        fd = hr_psi_file_open(&trigger->target, trigger->options.resource, -1, O_RDONLY);
        if (fd < 0)
            return fd;
    }
    int status = read_total(trigger, fd, reading);
    if (trigger->fd < 0 && status == 0 && hr_descriptor_keep(&fd, HR_KEEP_FILE))
        trigger->fd = fd;
    else if (trigger->fd < 0)
        close(fd);
    return status;
}

static int start_trigger(struct hr_psi_trigger *trigger)
{
    enum hr_psi_trigger_mode mode = trigger->options.mode;
    bool is_system = trigger->target.group == NULL;

    if (mode == HR_PSI_TRIGGER_KERNEL || (mode == HR_PSI_TRIGGER_AUTO && is_system)) {
        int status = arm_in_kernel(trigger);
        if (status == 0 || mode == HR_PSI_TRIGGER_KERNEL || hr_is_transient(status))
            return status;
        trigger->refusal = status;
    }
    int status = poll_total(trigger, &trigger->base);
    if (status < 0)
        return status;
    hr_psi_window_start(&trigger->window, trigger->options.window_us, trigger->options.stall_us,
                        (uintptr_t)trigger / NEIGHBOURHOOD, &trigger->base);
    return 0;
}

static int open_trigger(struct hr_psi_target target, const struct hr_psi_trigger_options *options,
                        struct hr_psi_trigger **trigger)
{
    struct hr_psi_trigger *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->target = target;
    opened->options = *options;
    opened->fd = -1;
    int status = start_trigger(opened);
    if (status < 0) {
        hr_psi_trigger_close(opened);
        return status;
    }
    *trigger = opened;
    return 0;
}

int hr_psi_trigger_open_system(const struct hr_root *root,
                               const struct hr_psi_trigger_options *options,
                               struct hr_psi_trigger **trigger)
{
    return open_trigger((struct hr_psi_target){.root = root}, options, trigger);
}

int hr_psi_trigger_open_cgroup(const struct hr_cgroup *group,
                               const struct hr_psi_trigger_options *options,
                               struct hr_psi_trigger **trigger)
{
    return open_trigger((struct hr_psi_target){.group = group}, options, trigger);
}

void hr_psi_trigger_close(struct hr_psi_trigger *trigger)
{
    if (trigger == NULL)
        return;
    hr_descriptor_close(&trigger->fd);
    free(trigger);
}

/* --- Closing many --------------------------------------------------------- */

struct closing {
    struct hr_psi_trigger **triggers;
    size_t count;
    size_t next; /* atomic */
};

static void *close_the_rest(void *context)
{
    struct closing *closing = context;
    size_t i;

    while ((i = __atomic_fetch_add(&closing->next, 1, __ATOMIC_RELAXED)) < closing->count)
        hr_psi_trigger_close(closing->triggers[i]);
    return NULL;
}

static size_t count_by_kernel(struct hr_psi_trigger *const *triggers, size_t count)
{
    size_t by_kernel = 0;

    for (size_t i = 0; i < count; i++)
        by_kernel += triggers[i] != NULL && triggers[i]->by_kernel;
    return by_kernel;
}

/* The kernel waits for RCU at each; the waits of several threads are one. */
void hr_psi_trigger_close_many(struct hr_psi_trigger **triggers, size_t count)
{
    struct closing closing = {triggers, count, 0};
    size_t by_kernel = count_by_kernel(triggers, count), started = 0;
    pthread_t threads[CLOSING_THREADS - 1];

    while (started < CLOSING_THREADS - 1 && started + 1 < by_kernel &&
           pthread_create(&threads[started], NULL, close_the_rest, &closing) == 0)
        started++;
    close_the_rest(&closing);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

/* --- Events --------------------------------------------------------------- */

int hr_psi_trigger_fd(const struct hr_psi_trigger *trigger)
{
    return trigger->by_kernel ? trigger->fd : -1;
}

uint64_t hr_psi_trigger_due_ns(const struct hr_psi_trigger *trigger)
{
    return trigger->by_kernel ? UINT64_MAX : trigger->window.due_ns;
}

int hr_psi_trigger_refusal(const struct hr_psi_trigger *trigger)
{
    return trigger->refusal;
}

/* Whether the last event, or the opening, was within about a window before. */
static bool is_recent(const struct hr_psi_trigger *trigger, uint64_t now_ns)
{
    return now_ns - trigger->base.time_ns <= trigger->options.window_us * HR_NS_PER_US * 3 / 2;
}

bool hr_psi_trigger_is_active(const struct hr_psi_trigger *trigger)
{
    if (trigger->by_kernel)
        return trigger->has_fired && is_recent(trigger, hr_clock_ns());
    return hr_psi_window_is_active(&trigger->window);
}

static void fill_in_event(const struct hr_psi_reading *now, const struct hr_psi_growth *growth,
                          struct hr_psi_event *event)
{
    *event = (struct hr_psi_event){
        .time_ns = now->time_ns,
        .measured = true,
        .stalled_us = growth->stalled_us,
        .elapsed_us = growth->elapsed_us,
    };
}

/* The growth since the last event, or since the trigger was opened; 0 if the total is another. */
static struct hr_psi_growth growth_since_base(const struct hr_psi_trigger *trigger,
                                              const struct hr_psi_reading *now)
{
    const struct hr_psi_reading *base = &trigger->base;

    return (struct hr_psi_growth){
        now->total_us > base->total_us ? now->total_us - base->total_us : 0,
        (now->time_ns - base->time_ns) / HR_NS_PER_US,
    };
}

/* Totals are rounded down to a microsecond, so that the difference may lack one. An event of the
 * kernel's without as much growth is of the stall of the event before. */
static int read_kernels(struct hr_psi_trigger *trigger, const struct hr_psi_reading *now,
                        struct hr_psi_event *event)
{
    const struct hr_psi_trigger_options *options = &trigger->options;
    struct hr_psi_growth growth = growth_since_base(trigger, now);

    if (growth.stalled_us + 1 < options->stall_us)
        return -EAGAIN;
    fill_in_event(now, &growth, event);
    if (!is_recent(trigger, now->time_ns)) {
        event->measured = false;
        event->stalled_us = options->stall_us;
        event->elapsed_us = options->window_us;
    }
    return 0;
}

static int read_polled(struct hr_psi_trigger *trigger, const struct hr_psi_reading *now,
                       struct hr_psi_event *event)
{
    struct hr_psi_growth growth;

    if (!hr_psi_window_update(&trigger->window, now, &growth))
        return -EAGAIN;
    fill_in_event(now, &growth, event);
    return 0;
}

static void set_base(struct hr_psi_trigger *trigger, const struct hr_psi_reading *now)
{
    trigger->base = *now;
    trigger->has_fired = true;
}

int hr_psi_trigger_read(struct hr_psi_trigger *trigger, uint32_t events, struct hr_psi_event *event)
{
    struct hr_psi_reading now;

    /* First, as it stays set. */
    if (events & (EPOLLERR | EPOLLHUP))
        return -ENODEV;
    if (trigger->by_kernel && !(events & EPOLLPRI))
        return -EAGAIN;
    int status = poll_total(trigger, &now);
    if (status < 0 && !trigger->by_kernel)
        hr_psi_window_defer(&trigger->window, hr_clock_ns());
    if (status < 0)
        return status;
    status =
        trigger->by_kernel ? read_kernels(trigger, &now, event) : read_polled(trigger, &now, event);
    if (status == 0)
        set_base(trigger, &now);
    return status;
}

int hr_psi_trigger_confirm(struct hr_psi_trigger *trigger, struct hr_psi_event *event)
{
    const struct hr_psi_trigger_options *options = &trigger->options;
    struct hr_psi_reading now;

    int status = poll_total(trigger, &now);
    if (status < 0)
        return status;
    struct hr_psi_growth growth = growth_since_base(trigger, &now);
    if (growth.stalled_us == 0 || (double)(growth.stalled_us + 1) * (double)options->window_us <
                                      (double)options->stall_us * (double)growth.elapsed_us)
        return -EAGAIN;
    fill_in_event(&now, &growth, event);
    set_base(trigger, &now);
    if (!trigger->by_kernel)
        hr_psi_window_restart(&trigger->window, &now);
    return 0;
}
