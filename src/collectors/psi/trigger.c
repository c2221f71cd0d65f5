/* SPDX-License-Identifier: MIT */
#include "headroom/psi_trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "psi/file.h"

/* The totals kept when polling: a window's, and a few more if the reader is late. */
#define HISTORY_SIZE (HR_PSI_TRIGGER_POLLS + 4)

/* Without CAP_SYS_RESOURCE the kernel checks at this interval, and a window must be a multiple. */
#define UNPRIVILEGED_WINDOW_US (2 * HR_US_PER_S)

/* A total at a time. */
struct reading {
    uint64_t time_ns;
    uint64_t total_us;
};

struct hr_psi_trigger {
    struct hr_psi_target target;
    struct hr_psi_trigger_options options;
    int fd; /* armed; or, when polling, kept open; or -1 */
    bool by_kernel;
    bool is_privileged;
    int refusal;
    struct reading base; /* when armed, or at the last event */
    bool has_fired;
    bool fired_by_kernel; /* the last time */
    /* since `base`, of the last window; when polling, always the newest; the oldest first */
    struct reading history[HISTORY_SIZE];
    size_t count;
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

static int read_total(const struct hr_psi_trigger *trigger, int fd, struct reading *reading)
{
    const struct hr_psi_trigger_options *options = &trigger->options;
    struct hr_psi_sample sample;

    int status = hr_psi_file_read(fd, &trigger->target, options->resource, &sample);
    if (status < 0)
        return status;
    if (!sample.stall[options->level].present)
        return -ENOENT;
    *reading = (struct reading){sample.time_ns, sample.stall[options->level].total_us};
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

/* The kernel accepts windows that aren't a multiple of 2 s only with CAP_SYS_RESOURCE; a window
 * that is a microsecond shorter shows whether we have it in the kernel's view. */
static int register_trigger(struct hr_psi_trigger *trigger, int fd)
{
    uint64_t window_us = trigger->options.window_us;

    trigger->is_privileged = true;
    if (window_us % UNPRIVILEGED_WINDOW_US != 0)
        return write_trigger(fd, &trigger->options, window_us);
    int status = write_trigger(fd, &trigger->options, window_us - 1);
    if (status != -EINVAL && status != -EPERM)
        return status;
    trigger->is_privileged = false;
    return write_trigger(fd, &trigger->options, window_us);
}

static int arm_in_kernel(struct hr_psi_trigger *trigger)
{
    int fd = hr_psi_file_open(&trigger->target, trigger->options.resource, -1, O_RDWR | O_NONBLOCK);

    if (fd < 0)
        return fd;
    /* Read before arming: a trigger may fire at once for a stall of long ago. */
    int status = hr_descriptor_keep(&fd, HR_KEEP_TRIGGER) ? 0 : -EMFILE;
    if (status == 0)
        status = read_total(trigger, fd, &trigger->base);
    if (status == 0)
        status = register_trigger(trigger, fd);
    if (status < 0) {
        close(fd);
        return status;
    }
    trigger->fd = fd;
    trigger->by_kernel = true;
    return 0;
}

/* Reads the total from the armed file, or, when polling, from one kept open if possible. */
static int poll_total(struct hr_psi_trigger *trigger, struct reading *reading)
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

    if (mode != HR_PSI_TRIGGER_POLL) {
        int status = arm_in_kernel(trigger);
        if (status == 0 || status == -ENODEV || mode == HR_PSI_TRIGGER_KERNEL)
            return status;
        trigger->refusal = status;
    }
    return poll_total(trigger, &trigger->base);
}

/* Starts a new measurement: earlier stalls no longer count. */
static void restart_from(struct hr_psi_trigger *trigger, const struct reading *now)
{
    trigger->base = trigger->history[0] = *now;
    trigger->count = 1;
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
    restart_from(opened, &opened->base);
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

int hr_psi_trigger_fd(const struct hr_psi_trigger *trigger)
{
    return trigger->by_kernel ? trigger->fd : -1;
}

uint64_t hr_psi_trigger_poll_us(const struct hr_psi_trigger *trigger)
{
    uint64_t window_us = trigger->options.window_us;

    if (!trigger->by_kernel)
        return window_us / HR_PSI_TRIGGER_POLLS;
    return trigger->is_privileged ? 0 : window_us + window_us / 20;
}

int hr_psi_trigger_refusal(const struct hr_psi_trigger *trigger)
{
    return trigger->refusal;
}

/* --- Events --------------------------------------------------------------- */

/* Whether the stall grew by the limit, less a microsecond, as both totals are rounded down. */
static bool grew_by(const struct reading *from, const struct reading *to, uint64_t limit_us)
{
    return to->total_us >= from->total_us && to->total_us - from->total_us + 1 >= limit_us;
}

/* Whether the stall must have grown by the limit within a window. If more time than that passed,
 * all of the excess time may have been stalled. */
static bool grew_in_window(const struct hr_psi_trigger *trigger, const struct reading *from,
                           const struct reading *to)
{
    const struct hr_psi_trigger_options *options = &trigger->options;
    uint64_t elapsed_us = (to->time_ns - from->time_ns) / HR_NS_PER_US;
    uint64_t excess_us = elapsed_us > options->window_us ? elapsed_us - options->window_us : 0;

    return grew_by(from, to, options->stall_us + excess_us);
}

/* Drops the readings older than a window, with some tolerance for the reader's timing. When
 * polling, the newest stays, however late the reader is: there is no other record of a stall since
 * then. */
static void drop_old_readings(struct hr_psi_trigger *trigger, uint64_t now_ns)
{
    uint64_t oldest_ns = trigger->options.window_us * 1100;
    size_t kept = trigger->by_kernel ? 0 : 1, old = 0;

    while (old + kept < trigger->count && (now_ns - trigger->history[old].time_ns > oldest_ns ||
                                           trigger->count - old >= HISTORY_SIZE))
        old++;
    trigger->count -= old;
    for (size_t i = 0; i < trigger->count; i++)
        trigger->history[i] = trigger->history[i + old];
}

/* Finds a reading since which the stall grew by the limit within a window: any of about the last
 * window, as part of the time since the oldest is beyond it; or, when polling, the last event's, as
 * a stall too soon after it would be lost if the next read is late. NULL if there is none. */
static const struct reading *find_growth_start(const struct hr_psi_trigger *trigger,
                                               const struct reading *now)
{
    for (size_t i = 0; i < trigger->count; i++)
        if (grew_in_window(trigger, &trigger->history[i], now))
            return &trigger->history[i];
    if (!trigger->by_kernel && grew_in_window(trigger, &trigger->base, now))
        return &trigger->base;
    return NULL;
}

/* Finds the reading from which the stall is measured. NULL if there is none of about a window ago,
 * or the stall began before it. */
static const struct reading *find_measurement_start(const struct hr_psi_trigger *trigger,
                                                    const struct reading *now)
{
    const struct reading *since = find_growth_start(trigger, now);

    if (since != NULL)
        return since;
    if (trigger->count > 0 && grew_by(&trigger->history[0], now, trigger->options.stall_us))
        return &trigger->history[0];
    if (now->time_ns - trigger->base.time_ns <= trigger->options.window_us * 1500)
        return &trigger->base;
    return NULL;
}

static void fill_in_event(struct hr_psi_trigger *trigger, const struct reading *now,
                          struct hr_psi_event *event)
{
    const struct reading *from = find_measurement_start(trigger, now);

    *event = (struct hr_psi_event){
        .time_ns = now->time_ns,
        .measured = from != NULL,
        .stalled_us = trigger->options.stall_us,
        .elapsed_us = trigger->options.window_us,
    };
    if (from != NULL) {
        event->stalled_us = now->total_us - from->total_us;
        event->elapsed_us = (now->time_ns - from->time_ns) / HR_NS_PER_US;
    }
    trigger->has_fired = true;
    restart_from(trigger, now);
}

/* The kernel itself ensures one event per window, by its own clock; ours only counts where the last
 * event wasn't the kernel's. Where both check, the kernel comes first. */
static bool is_too_early(const struct hr_psi_trigger *trigger, uint32_t events,
                         const struct reading *now)
{
    bool is_kernels = events & EPOLLPRI;
    uint64_t permille = is_kernels ? 950 : trigger->by_kernel ? 1030 : 1000;

    if (!trigger->has_fired || (is_kernels && trigger->fired_by_kernel))
        return false;
    return now->time_ns - trigger->base.time_ns < trigger->options.window_us * permille;
}

int hr_psi_trigger_read(struct hr_psi_trigger *trigger, uint32_t events, struct hr_psi_event *event)
{
    struct reading now;

    /* First, as it stays set. */
    if (events & (EPOLLERR | EPOLLHUP))
        return -ENODEV;
    int status = poll_total(trigger, &now);
    if (status < 0)
        return status;
    drop_old_readings(trigger, now.time_ns);
    bool stalled = events & EPOLLPRI ? grew_by(&trigger->base, &now, trigger->options.stall_us)
                                     : find_growth_start(trigger, &now) != NULL;
    if (stalled && !is_too_early(trigger, events, &now)) {
        trigger->fired_by_kernel = events & EPOLLPRI;
        fill_in_event(trigger, &now, event);
        return 0;
    }
    if (hr_psi_trigger_poll_us(trigger) > 0)
        trigger->history[trigger->count++] = now;
    return -EAGAIN;
}
