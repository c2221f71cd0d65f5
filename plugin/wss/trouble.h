/*
 * wss/trouble.h - tells why a target isn't measured: once, with what to do; and when it is again.
 *
 * Of processes and the system each is told by itself; cgroups, of which there may be many, are
 * counted by kind of trouble. Used by the thread that measures.
 */
#ifndef HEADROOM_PLUGIN_WSS_TROUBLE_H
#define HEADROOM_PLUGIN_WSS_TROUBLE_H

#include "common/complaint.h"
#include "headroom/wss.h"

/** What can be said of a target. */
enum wss_finding {
    WSS_FINE,
    WSS_ABSENT,  /**< there is no process; it may come */
    WSS_LIMITED, /**< it is too large, or would take too long */
    WSS_OVERLAPS,
    WSS_NO_METHOD, /**< it can't be prepared at all */
    WSS_PARTLY,    /**< it is measured, but not all of its processes */
    WSS_FAILS,
    WSS_FINDINGS
};

/** What was said of a target; all zeros at first. */
struct wss_target_status {
    enum wss_finding finding; /**< of a cgroup: how it is counted */
    struct complaint complaint;
};

/** What was said of cgroups; all zeros at first. */
struct wss_trouble {
    struct {
        size_t count;
        struct complaint complaint;
        struct tally tally;
        char example[256];
        char reason[sizeof(((struct hr_reason *)NULL)->text)];
    } groups[WSS_FINDINGS];
};

/**
 * Tells by an error of hr_wss_begin() or hr_wss_read() what kind of trouble it is.
 *
 * @param by_file  whether the process was looked for by a file: then it's that file that may be
 *                 missing, else it's one of the method's.
 */
enum wss_finding wss_trouble_classify(int status, bool by_file);

/**
 * Notes what is in the way of a target; NULL for trouble: it is a process or the system, and is
 * told now.
 *
 * @param retry_ns  when it will be tried again; for messages.
 */
void wss_trouble_report(struct wss_trouble *trouble, struct wss_target_status *status,
                        const char *label, enum wss_finding finding, const struct hr_reason *reason,
                        uint64_t retry_ns);

/** Notes that a target is measured, or is gone. */
void wss_trouble_clear(struct wss_trouble *trouble, struct wss_target_status *status,
                       const char *label);

/** Tells what is new about cgroups. */
void wss_trouble_log(struct wss_trouble *trouble);

#endif
