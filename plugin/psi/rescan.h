/* SPDX-License-Identifier: MIT */
/*
 * psi/rescan.h - when the thread of the alerts reads the selected groups again: after a change that
 * inotify reports, and in any case at intervals.
 */
#ifndef HEADROOM_PLUGIN_PSI_RESCAN_H
#define HEADROOM_PLUGIN_PSI_RESCAN_H

#include "psi/groups.h"

/** Times are of hr_clock_ns(), or TIMER_NEVER. */
struct psi_rescan {
    struct psi_groups *groups;
    int epoll;
    int set_fd;         /**< the set's descriptor as it is in epoll; -1 */
    uint64_t events_ns; /**< when what happened in groups is read */
    uint64_t listen_ns; /**< when the set's descriptor is listened to again */
    uint64_t rescan_ns; /**< when the set is read next */
    uint64_t settle_ns; /**< how long after a change */
};

/**
 * Has the set read as soon as psi_rescan_run_due() is called.
 *
 * @param groups  may have no set yet, must outlive this.
 * @param epoll   where the set's descriptor is added, with `groups` as data.
 */
void psi_rescan_init(struct psi_rescan *rescan, struct psi_groups *groups, int epoll);

/** Notes that epoll returned an event of the set's descriptor. */
void psi_rescan_note_event(struct psi_rescan *rescan);

/** When something is due next. */
uint64_t psi_rescan_deadline(const struct psi_rescan *rescan);

/** Does what is due, unless the read callback holds the set: then a little later. The groups have
 * a set. With alerts_lock held. */
void psi_rescan_run_due(struct psi_rescan *rescan, uint64_t now_ns);

#endif
