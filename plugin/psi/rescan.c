/* SPDX-License-Identifier: MIT */
#include "psi/rescan.h"

#include <sys/epoll.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"

/* What happens in groups is read at once, but not more often than this; all at least every
 * RESCAN_NS, or UNWATCHED_NS where inotify doesn't cover everything. A change of directories is
 * read after SETTLE_NS, so that a burst costs one scan; where each scan finds many, after so many
 * times what the last took, but no later than SETTLE_MAX_NS: each lookup contends with removals
 * for a kernel lock, which each removal takes sixty times. */
#define EVENTS_NS         (2 * HR_NS_PER_MS)
#define SETTLE_NS         (HR_NS_PER_S / 20)
#define SETTLE_MAX_NS     (2 * HR_NS_PER_S)
#define SCAN_PAUSE_FACTOR 250
#define RESCAN_NS         (10 * HR_NS_PER_S)
#define UNWATCHED_NS      HR_NS_PER_S

/* Retry interval while the read callback holds the set. */
#define BUSY_NS (5 * HR_NS_PER_MS)

void psi_rescan_init(struct psi_rescan *rescan, struct psi_groups *groups, int epoll)
{
    *rescan = (struct psi_rescan){
        .groups = groups,
        .epoll = epoll,
        .set_fd = -1,
        .events_ns = TIMER_NEVER,
        .listen_ns = TIMER_NEVER,
        .rescan_ns = 0,
        .settle_ns = SETTLE_NS,
    };
}

void psi_rescan_note_event(struct psi_rescan *rescan)
{
    rescan->events_ns = 0;
}

uint64_t psi_rescan_deadline(const struct psi_rescan *rescan)
{
    return timer_earlier(rescan->rescan_ns, timer_earlier(rescan->events_ns, rescan->listen_ns));
}

/* Listens for the set's next change only: later ones, until it is read, make no difference. */
static void listen_to_set(struct psi_rescan *rescan)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = rescan->groups};
    int fd = hr_cgroup_set_fd(rescan->groups->set);
    int operation = fd == rescan->set_fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    bool is_listening = fd >= 0 && epoll_ctl(rescan->epoll, operation, fd, &event) == 0;
    rescan->set_fd = is_listening ? fd : -1;
    rescan->listen_ns = TIMER_NEVER;
}

static void set_settle_time(struct psi_rescan *rescan, uint64_t scan_ns)
{
    const uint64_t pause_ns = timer_earlier(SCAN_PAUSE_FACTOR * scan_ns, SETTLE_MAX_NS);

    rescan->settle_ns = pause_ns > SETTLE_NS ? pause_ns : SETTLE_NS;
}

static void rescan_groups(struct psi_rescan *rescan, uint64_t now_ns)
{
    struct hr_cgroup_set *set = rescan->groups->set;
    const uint64_t begin_ns = hr_clock_ns();

    bool is_complete = selection_read(rescan->groups->selection, set) == 0;
    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    listen_to_set(rescan);
    is_complete = is_complete && rescan->set_fd >= 0 &&
                  counts.unwatched + counts.unreadable + counts.unfollowed == 0;
    set_settle_time(rescan, hr_clock_ns() - begin_ns);
    rescan->rescan_ns = now_ns + (is_complete ? RESCAN_NS : UNWATCHED_NS);
    rescan->events_ns = TIMER_NEVER;
}

static void read_group_events(struct psi_rescan *rescan, uint64_t now_ns)
{
    if (hr_cgroup_set_read_events(rescan->groups->set) != 0)
        rescan->rescan_ns = timer_earlier(rescan->rescan_ns, now_ns + rescan->settle_ns);
    rescan->events_ns = TIMER_NEVER;
    rescan->listen_ns = now_ns + EVENTS_NS;
}

static void postpone_reading(struct psi_rescan *rescan, uint64_t now_ns)
{
    if (now_ns >= rescan->rescan_ns)
        rescan->rescan_ns = now_ns + BUSY_NS;
    if (now_ns >= rescan->events_ns)
        rescan->events_ns = now_ns + BUSY_NS;
}

void psi_rescan_run_due(struct psi_rescan *rescan, uint64_t now_ns)
{
    if (now_ns >= rescan->listen_ns)
        listen_to_set(rescan);
    if (now_ns < rescan->rescan_ns && now_ns < rescan->events_ns)
        return;
    if (pthread_mutex_trylock(&rescan->groups->set_lock) != 0) {
        postpone_reading(rescan, now_ns);
        return;
    }
    if (now_ns >= rescan->rescan_ns)
        rescan_groups(rescan, now_ns);
    else
        read_group_events(rescan, now_ns);
    pthread_mutex_unlock(&rescan->groups->set_lock);
}
