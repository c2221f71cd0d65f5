/* SPDX-License-Identifier: MIT */
#include "headroom/wss.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/quantity.h"
#include "headroom/root.h"
#include "memory/charge.h"
#include "memory/lru_gen_table.h"
#include "process/names.h"
#include "wss/choice.h"
#include "wss/newcomers.h"
#include "wss/resident.h"

/* How often what isn't ready is tried. */
#define POLL_NS (5 * HR_NS_PER_MS)

struct hr_wss {
    const struct hr_wss_ops *ops;
    void *state;
    struct hr_wss_options options; /* but for its target, which is: */
    struct hr_wss_target target;
    char *text, *cgroup_path; /* the target's texts, owned; the latter with a leading slash */
    unsigned excluded;        /* a bit for each method that "auto" has replaced */
    struct hr_process_list processes, newcomers;
    struct hr_process_names names; /* if they aren't shared */
    uint64_t begun_ticks;          /* when the former were looked up */
    struct hr_wss_subject subject;
    ino_t cgroup_id;
    bool is_begun;
    uint64_t marked_ns;       /* the middle of marking */
    uint64_t marking_ns;      /* its duration, until a reading has reported it */
    size_t readings;          /* of this measurement */
    bool has_ended;           /* the window that is to be read, … */
    uint64_t ended_ns;        /* … at the middle of ending it, … */
    uint64_t ending_ns;       /* … which took so long */
    struct hr_reason unended; /* why it couldn't be ended before; error 0: that wasn't tried */
};

struct hr_wss_shared {
    struct hr_lru_gen_table lru_gen;
    struct hr_process_names names;
};

/* --- Opening -------------------------------------------------------------- */

/* A path below the mount, without components that lead elsewhere. */
static bool is_cgroup_path(const char *path)
{
    for (const char *part = path; *part != '\0';) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && part[0] == '.') ||
            (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part += length;
        part += *part == '/';
        if (*part == '\0' && part[-1] == '/')
            return false;
    }
    return true;
}

/* Copies the target with its texts. */
static int copy_target(struct hr_wss *wss, const struct hr_wss_target *target)
{
    wss->target = *target;
    if (target->scope == HR_WSS_PROCESSES && target->processes.by != HR_PROCESS_BY_PID) {
        wss->text = strdup(target->processes.text);
        wss->target.processes.text = wss->text;
        return wss->text == NULL ? -ENOMEM : 0;
    }
    if (target->scope != HR_WSS_CGROUP)
        return 0;
    if (!is_cgroup_path(target->cgroup))
        return -EINVAL;
    if (asprintf(&wss->cgroup_path, "/%s", target->cgroup) < 0) {
        wss->cgroup_path = NULL;
        return -ENOMEM;
    }
    wss->target.cgroup = wss->cgroup_path + 1;
    return 0;
}

static int explain_target(const struct hr_wss_target *target, int status, struct hr_reason *reason)
{
    if (status == -EINVAL && target->scope == HR_WSS_CGROUP)
        return hr_reason_set(reason, status,
                             "'%s' isn't a cgroup path: give the path below the mount, without a "
                             "leading slash, such as system.slice/cron.service",
                             target->cgroup);
    return status;
}

static int prepare_target(struct hr_wss *wss, const struct hr_root *root,
                          const struct hr_wss_options *options, const struct hr_wss_ops *ops)
{
    wss->options = *options;
    wss->subject = (struct hr_wss_subject){
        .root = root,
        .scope = options->target.scope,
        .processes = &wss->processes,
        .newcomers = &wss->newcomers,
        .cgroup_dirfd = -1,
        .aging = options->aging,
        .max_scan_ns = options->max_scan_ns,
        .lru_gen = options->shared != NULL ? &options->shared->lru_gen : NULL,
        .names = options->shared != NULL ? &options->shared->names : &wss->names,
    };
    int status = copy_target(wss, &options->target);
    wss->options.target = wss->target;
    wss->subject.cgroup_path = wss->cgroup_path;
    if (status == 0)
        status = ops->open(&wss->subject, &wss->state);
    if (status == 0)
        wss->ops = ops;
    return status;
}

int hr_wss_open(const struct hr_root *root, const struct hr_wss_options *options,
                struct hr_wss **wss, struct hr_reason *reason)
{
    enum hr_wss_method method = options->method;

    hr_reason_clear(reason);
    int status = method == HR_WSS_AUTO ? hr_wss_choose_method(root, options, 0, &method, reason)
                                       : hr_wss_check_method(root, options, method, reason);
    if (status < 0)
        return status;
    if (options->method != HR_WSS_AUTO)
        hr_reason_clear(reason); /* of rights that may not be needed */
    struct hr_wss *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return hr_wss_fill_in_reason(reason, -ENOMEM);
    status = prepare_target(opened, root, options, hr_wss_ops_of(method));
    if (status < 0) {
        hr_wss_close(opened);
        return hr_wss_fill_in_reason(reason, explain_target(&options->target, status, reason));
    }
    *wss = opened;
    return 0;
}

void hr_wss_end(struct hr_wss *wss)
{
    if (wss->is_begun && wss->ops->end != NULL)
        wss->ops->end(wss->state);
    wss->is_begun = false;
    hr_process_list_release(&wss->processes);
    hr_descriptor_close(&wss->subject.cgroup_dirfd);
}

void hr_wss_close(struct hr_wss *wss)
{
    if (wss == NULL)
        return;
    hr_wss_end(wss);
    if (wss->ops != NULL)
        wss->ops->close(wss->state);
    hr_process_list_free(&wss->processes);
    hr_process_list_free(&wss->newcomers);
    hr_process_names_free(&wss->names);
    free(wss->text);
    free(wss->cgroup_path);
    free(wss);
}

enum hr_wss_method hr_wss_method(const struct hr_wss *wss)
{
    return wss->ops->method;
}

size_t hr_wss_max_windows(const struct hr_wss *wss)
{
    return hr_wss_max_windows_of(wss->ops, wss->subject.aging);
}

bool hr_wss_looks_back(const struct hr_wss *wss)
{
    return wss->ops->looks_back_passive && !wss->subject.aging;
}

/* --- The target ----------------------------------------------------------- */

static int open_by_path(const struct hr_wss *wss, struct hr_reason *reason)
{
    int mount = hr_wss_open_mount(wss->subject.root, reason);
    if (mount < 0)
        return mount;
    const char *path = *wss->target.cgroup != '\0' ? wss->target.cgroup : ".";
    int fd = openat(mount, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int status = fd >= 0 ? fd : errno == ENOENT ? -ENODEV : -errno;
    hr_descriptor_close(&mount);
    return status;
}

static int open_cgroup(struct hr_wss *wss, struct hr_reason *reason)
{
    int fd = wss->target.group != NULL
                 ? hr_cgroup_openat(wss->target.group, ".", O_RDONLY | O_DIRECTORY)
                 : open_by_path(wss, reason);

    if (fd < 0)
        return fd;
    wss->subject.cgroup_dirfd = fd;
    return 0;
}

/* The inode number, which a hierarchy never reuses; 0: unknown. */
static ino_t cgroup_id(const struct hr_wss *wss)
{
    struct stat stat;

    return fstat(wss->subject.cgroup_dirfd, &stat) == 0 ? stat.st_ino : 0;
}

/* Closes the directory until the next reading where descriptors are scarce. */
static void release_cgroup(struct hr_wss *wss)
{
    wss->cgroup_id = cgroup_id(wss);
    if (!hr_descriptor_keep(&wss->subject.cgroup_dirfd, HR_KEEP_DIRECTORY))
        hr_descriptor_close(&wss->subject.cgroup_dirfd);
}

static int reopen_cgroup(struct hr_wss *wss, struct hr_reason *reason)
{
    if (wss->target.scope != HR_WSS_CGROUP || wss->subject.cgroup_dirfd >= 0)
        return 0;
    int status = open_cgroup(wss, reason);
    return status == 0 && cgroup_id(wss) != wss->cgroup_id ? -ENODEV : status;
}

static int explain_processes(const struct hr_wss *wss, int status, struct hr_reason *reason)
{
    bool of_cgroup = wss->target.scope == HR_WSS_CGROUP;

    switch (status) {
    case -ESRCH:
        return hr_reason_set(
            reason, status, of_cgroup ? "no process is in the cgroup" : "there is no such process");
    case -ECHILD:
        return hr_reason_set(reason, status,
                             "the process has ended, but its parent hasn't waited for it "
                             "(a zombie): it has no memory");
    case -ENXIO:
        return hr_reason_set(reason, status,
                             "it is a kernel thread, which has no memory of its own");
    case -ENOENT:
        return hr_reason_set(reason, status, "the PID file is missing");
    case -EBADMSG:
        return hr_reason_set(reason, status, "the PID file doesn't begin with a PID");
    case -EOPNOTSUPP:
        return hr_reason_set(reason, status,
                             "the cgroup is threaded: its threads belong to processes of "
                             "a cgroup above it; choose that one");
    default:
        return status;
    }
}

static int find_processes(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason)
{
    const struct hr_root *root = wss->subject.root;
    int status;

    if (wss->target.scope == HR_WSS_CGROUP)
        status = hr_process_list_find_in_cgroup(root, wss->subject.cgroup_dirfd, &wss->processes);
    else if (wss->target.processes.by == HR_PROCESS_BY_NAME)
        status = hr_wss_find_named(&wss->subject, &wss->target, window_ns, NULL, &wss->processes);
    else
        status = hr_process_list_find(root, &wss->target.processes, &wss->processes);
    return status < 0 ? explain_processes(wss, status, reason) : 0;
}

static uint64_t add_resident(const struct hr_process_list *processes)
{
    struct hr_wss_resident resident = {0};

    for (size_t i = 0; i < processes->count; i++)
        hr_wss_resident_add(&resident, &processes->items[i]); /* if it hasn't ended */
    return hr_wss_resident_bytes(&resident);
}

/* What limits the memory to walk: of a cgroup, no more than it is charged for, if that is known. */
static uint64_t find_resident(const struct hr_wss *wss)
{
    const bool is_cgroup = wss->target.scope == HR_WSS_CGROUP;
    const uint64_t charge_bytes = is_cgroup ? hr_charge_read(wss->subject.cgroup_dirfd) : 0;
    uint64_t bytes = add_resident(&wss->processes);

    if (charge_bytes > 0 && (!wss->ops->wants_processes || bytes > charge_bytes))
        return charge_bytes;
    return bytes;
}

static int check_rss(const struct hr_wss *wss, struct hr_reason *reason)
{
    if (wss->options.max_rss_bytes == 0 || !wss->ops->walks_memory)
        return 0;
    const uint64_t bytes = find_resident(wss);
    if (bytes <= wss->options.max_rss_bytes)
        return 0;
    return hr_reason_set(reason, -EFBIG,
                         "%s are resident, above the limit of %s: raise the limit, or choose "
                         "the %s method",
                         hr_quantity_bytes((double)bytes).text,
                         hr_quantity_bytes((double)wss->options.max_rss_bytes).text,
                         wss->target.scope == HR_WSS_CGROUP ? "lru_gen" : "damon");
}

/* --- Measuring ------------------------------------------------------------ */

static bool has_processes(const struct hr_wss *wss)
{
    return wss->target.scope == HR_WSS_PROCESSES ||
           (wss->target.scope == HR_WSS_CGROUP && wss->ops->wants_processes);
}

static int find_target(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason)
{
    int status = 0;

    wss->begun_ticks = hr_wss_now_ticks();
    if (wss->target.scope == HR_WSS_CGROUP)
        status = open_cgroup(wss, reason);
    if (status == 0 && has_processes(wss))
        status = find_processes(wss, window_ns, reason);
    /* An empty group may be what the method can't measure, too, which says more. */
    if ((status == 0 || status == -ESRCH) && wss->ops->check_target != NULL) {
        const int checked = wss->ops->check_target(&wss->subject, reason);
        status = checked < 0 ? checked : status;
    }
    return status < 0 ? status : check_rss(wss, reason);
}

static int mark_target(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason)
{
    uint64_t from = hr_clock_ns();
    int status = wss->ops->begin(wss->state, &wss->subject, window_ns, reason);

    wss->marking_ns = hr_clock_ns() - from;
    wss->marked_ns = from + wss->marking_ns / 2;
    wss->readings = 0;
    wss->has_ended = false;
    hr_reason_clear(&wss->unended);
    wss->is_begun = true;
    return status;
}

static int begin_with_method(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason)
{
    hr_reason_clear(reason);
    hr_wss_end(wss);
    int status = find_target(wss, window_ns, reason);
    if (status == 0 && wss->target.scope == HR_WSS_PROCESSES &&
        wss->options.check_processes != NULL)
        status = wss->options.check_processes(&wss->processes, wss->options.context, reason);
    if (status == 0)
        status = mark_target(wss, window_ns, reason);
    if (status == 0 && wss->target.scope == HR_WSS_CGROUP)
        release_cgroup(wss);
    if (status == 0)
        return 0;
    hr_wss_end(wss);
    return hr_wss_fill_in_reason(reason, status);
}

/* HR_WSS_AUTO takes the next method that works for one that can't finish in time, or can't measure
 * such a target. @return whether there is one. */
static bool replace_method(struct hr_wss *wss)
{
    enum hr_wss_method method;
    void *state;

    /* DAMON is late only where the machine is overloaded. */
    if (wss->options.method != HR_WSS_AUTO || wss->ops->method == HR_WSS_DAMON)
        return false;
    wss->excluded |= 1u << wss->ops->method;
    if (hr_wss_choose_method(wss->subject.root, &wss->options, wss->excluded, &method, NULL) < 0 ||
        hr_wss_ops_of(method)->open(&wss->subject, &state) < 0)
        return false;
    hr_wss_end(wss);
    wss->ops->close(wss->state);
    wss->ops = hr_wss_ops_of(method);
    wss->state = state;
    return true;
}

int hr_wss_begin(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason)
{
    struct hr_reason why = {0}, replaced = {0};
    int status;

    wss->options.longest_window_ns = window_ns;
    while ((status = begin_with_method(wss, window_ns, &why)) < 0 &&
           (status == -ETIME || status == -EOPNOTSUPP) && replace_method(wss))
        replaced = why;
    if (reason != NULL)
        *reason = status < 0 ? why : replaced;
    return status;
}

uint64_t hr_wss_begun_ns(const struct hr_wss *wss)
{
    return wss->marked_ns;
}

static int end_window(struct hr_wss *wss, struct hr_reason *reason)
{
    if (wss->ops->end_window == NULL || wss->has_ended)
        return 0;
    int status = reopen_cgroup(wss, reason);
    uint64_t from = hr_clock_ns();
    if (status == 0)
        status = wss->ops->end_window(wss->state, &wss->subject, reason);
    wss->ending_ns = hr_clock_ns() - from;
    wss->ended_ns = from + wss->ending_ns / 2;
    wss->has_ended = status == 0;
    if (wss->target.scope == HR_WSS_CGROUP)
        release_cgroup(wss);
    return status;
}

static bool has_window(const struct hr_wss *wss)
{
    const size_t max = hr_wss_max_windows(wss);

    return wss->is_begun && (max == 0 || wss->readings < max);
}

void hr_wss_end_window(struct hr_wss *wss)
{
    if (!has_window(wss) || wss->unended.error != 0)
        return;
    int status = end_window(wss, &wss->unended);
    if (status < 0)
        hr_wss_fill_in_reason(&wss->unended, status);
}

/* Ends it unless it has ended. What took too long isn't done twice. */
static int end_window_to_read(struct hr_wss *wss, struct hr_reason *reason)
{
    const struct hr_reason before = wss->unended;

    hr_reason_clear(&wss->unended);
    if (before.error != -ETIME)
        return end_window(wss, reason);
    if (reason != NULL)
        *reason = before;
    return before.error;
}

bool hr_wss_ends_windows(const struct hr_wss *wss)
{
    return wss->ops->end_window != NULL && !hr_wss_looks_back(wss);
}

int hr_wss_read(struct hr_wss *wss, uint64_t window_ns, struct hr_wss_sample *sample,
                struct hr_reason *reason)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    int status;

    while ((status = hr_wss_try_read(wss, window_ns, sample, reason)) == -EAGAIN)
        nanosleep(&pause, NULL);
    return status;
}

int hr_wss_try_read(struct hr_wss *wss, uint64_t window_ns, struct hr_wss_sample *sample,
                    struct hr_reason *reason)
{
    struct hr_wss_sample read = {0};

    hr_reason_clear(reason);
    if (!has_window(wss))
        return hr_wss_fill_in_reason(reason, -EINVAL);
    int status = end_window_to_read(wss, reason);
    if (status == 0)
        status = reopen_cgroup(wss, reason);
    if (status == 0 && wss->ops->counts_newcomers && has_processes(wss))
        status = hr_wss_find_newcomers(&wss->subject, &wss->target, wss->begun_ticks,
                                       wss->marked_ns, wss->ops->counts_moved, &wss->newcomers);
    uint64_t from = hr_clock_ns();
    if (status == 0)
        status = wss->ops->read(wss->state, &wss->subject, window_ns, &read, reason);
    uint64_t reading_ns = hr_clock_ns() - from;
    hr_process_list_release(&wss->newcomers);
    if (wss->target.scope == HR_WSS_CGROUP)
        release_cgroup(wss);
    if (status == -EAGAIN)
        return status;
    if (status < 0) {
        status = hr_wss_fill_in_reason(reason, status);
        if (status == -ETIME)
            replace_method(wss);
        return status;
    }
    const uint64_t end_ns = wss->has_ended ? wss->ended_ns : from + reading_ns / 2;
    if (read.window_ns == 0)
        read.window_ns = end_ns - wss->marked_ns;
    read.scan_ns = reading_ns + wss->marking_ns + (wss->has_ended ? wss->ending_ns : 0);
    wss->has_ended = false;
    read.left_count += wss->processes.denied;
    wss->marking_ns = 0;
    wss->readings++;
    *sample = read;
    return 0;
}

/* --- What objects share --------------------------------------------------- */

struct hr_wss_shared *hr_wss_shared_new(void)
{
    return calloc(1, sizeof(struct hr_wss_shared));
}

void hr_wss_shared_free(struct hr_wss_shared *shared)
{
    if (shared != NULL) {
        hr_lru_gen_table_free(&shared->lru_gen);
        hr_process_names_free(&shared->names);
    }
    free(shared);
}
