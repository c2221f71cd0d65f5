/* SPDX-License-Identifier: MIT */
#include "memory/damon_sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/capability.h"
#include "headroom/root.h"

#define CONTEXT "0/contexts/0/"
#define ATTRS   CONTEXT "monitoring_attrs/"
#define SCHEMES CONTEXT "schemes/"
#define TARGETS CONTEXT "targets/"

/* The tag is an interval in which a scheme could use a quota, but ours has none. */
#define TAG SCHEMES "0/quotas/reset_interval_ms"

/* --- One file ------------------------------------------------------------- */

static int open_file(const struct hr_root *root, const char *name, int flags)
{
    char path[192];

    snprintf(path, sizeof(path), HR_DAMON_KDAMONDS "/%s", name);
    return hr_root_openat(root, path, flags);
}

/* The kernel fails with EBUSY instead of waiting for its lock, which its own thread holds briefly
 * at each sampling. */
#define BUSY_TRIES    5
#define BUSY_PAUSE_NS 2000000

static int write_text(const struct hr_root *root, const char *name, const char *text)
{
    struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
    int status = -EBUSY;

    int fd = open_file(root, name, O_WRONLY | O_TRUNC);
    if (fd < 0)
        return fd;
    for (int i = 0; i < BUSY_TRIES && status == -EBUSY; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        status = pwrite(fd, text, strlen(text), 0) < 0 ? -errno : 0;
    }
    close(fd);
    return status;
}

static int write_number(const struct hr_root *root, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return write_text(root, name, text);
}

static int read_number(const struct hr_root *root, const char *name, uint64_t *value)
{
    char text[32];
    size_t length;

    int status =
        hr_text_read_and_close(open_file(root, name, O_RDONLY), text, sizeof(text), &length);
    return status < 0 ? status : hr_text_number_parse(text, length, UINT64_MAX, value);
}

int hr_damon_explain_files(int status, struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];

    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             HR_DAMON_KDAMONDS " is missing: the kernel needs CONFIG_DAMON_SYSFS=y "
                                               "(Linux 5.18)");
    if (status == -EACCES || status == -EPERM)
        return hr_reason_set(reason, status, "no permission to open " HR_DAMON_KDAMONDS ": %s",
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    return hr_reason_set(reason, status, HR_DAMON_KDAMONDS " can't be used (%s)",
                         strerror(-status));
}

/* --- The existing monitoring ---------------------------------------------- */

int hr_damon_read_count(const struct hr_root *root, uint64_t *count)
{
    return read_number(root, "nr_kdamonds", count);
}

int hr_damon_read_tag(const struct hr_root *root, uint64_t *tag)
{
    return read_number(root, TAG, tag);
}

bool hr_damon_is_ours(const struct hr_root *root, uint64_t tag)
{
    uint64_t found;

    return hr_damon_read_tag(root, &found) == 0 && found == tag;
}

/* It ends by itself when its last process does. @return 1, 0 or a negative errno. */
static int is_running(const struct hr_root *root)
{
    char text[16];
    size_t length;

    int status =
        hr_text_read_and_close(open_file(root, "0/state", O_RDONLY), text, sizeof(text), &length);
    if (status < 0)
        return status;
    struct hr_text rest = {text, length};
    bool on = hr_text_skip(&rest, "on");
    if (!on && !hr_text_skip(&rest, "off"))
        return -EBADMSG;
    hr_text_skip(&rest, "\n");
    return rest.length == 0 ? on : -EBADMSG;
}

/* --- Creating one --------------------------------------------------------- */

/* Writes a file below a numbered directory, such as "0/contexts/0/targets/7/pid_target". */
__attribute__((format(printf, 3, 4))) static int
write_below(const struct hr_root *root, uint64_t value, const char *format, ...)
{
    char name[128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    return write_number(root, name, value);
}

static int write_attributes(const struct hr_root *root, const struct hr_damon_plan *plan)
{
    const struct {
        const char *name;
        uint64_t value;
    } files[] = {
        {ATTRS "intervals/sample_us", plan->sample_us},
        {ATTRS "intervals/aggr_us", plan->aggregation_us},
        {ATTRS "intervals/update_us", plan->sample_us},
        {ATTRS "nr_regions/max", plan->max_regions},
        {ATTRS "nr_regions/min", plan->min_regions},
    };
    int status = 0;

    for (size_t i = 0; status == 0 && i < sizeof(files) / sizeof(files[0]); i++)
        status = write_number(root, files[i].name, files[i].value);
    return status;
}

static int write_processes(const struct hr_root *root, const struct hr_damon_plan *plan)
{
    int status = write_number(root, TARGETS "nr_targets", plan->pid_count);

    for (size_t i = 0; status == 0 && i < plan->pid_count; i++)
        status = write_below(root, (uint64_t)plan->pids[i], TARGETS "%zu/pid_target", i);
    return status;
}

/* For physical memory the kernel uses the regions as they are, so they are divided here. */
static int write_regions(const struct hr_root *root, const struct hr_damon_plan *plan)
{
    int status = write_number(root, TARGETS "nr_targets", 1);

    if (status == 0)
        status = write_number(root, TARGETS "0/regions/nr_regions", plan->region_count);
    for (size_t i = 0; status == 0 && i < plan->region_count; i++) {
        status = write_below(root, plan->regions[i].start, TARGETS "0/regions/%zu/start", i);
        if (status == 0)
            status = write_below(root, plan->regions[i].end, TARGETS "0/regions/%zu/end", i);
    }
    return status;
}

/* All maxima are 0 at first, which no region matches. */
static int write_scheme(const struct hr_root *root, enum hr_damon_scheme scheme)
{
    static const char *const maxima[] = {"sz", "nr_accesses", "age"};
    char name[64];
    int status = 0;

    for (size_t i = 0; status == 0 && i < 3; i++)
        status = write_below(root, i == 0 ? INT64_MAX : INT32_MAX,
                             SCHEMES "%d/access_pattern/%s/max", (int)scheme, maxima[i]);
    if (status == 0)
        status = write_below(root, scheme == HR_DAMON_TOUCHED,
                             SCHEMES "%d/access_pattern/nr_accesses/min", (int)scheme);
    if (status < 0)
        return status;
    snprintf(name, sizeof(name), SCHEMES "%d/action", (int)scheme);
    return write_text(root, name, "stat");
}

static int write_schemes(const struct hr_root *root)
{
    int status = 0;

    for (int i = 0; status == 0 && i < HR_DAMON_SCHEME_COUNT; i++)
        status = write_scheme(root, i);
    return status;
}

/* The kernel accepts any kind here and refuses it only when switched on, so check its list. */
static int write_operations(const struct hr_root *root, const char *kind)
{
    char text[64];
    size_t length;

    int fd = open_file(root, CONTEXT "avail_operations", O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    if (status < 0 && status != -ENOENT)
        return status;
    struct hr_text rest = {text, status == 0 ? length : 0};
    bool known = status == -ENOENT; /* before 5.19 there is no list */
    while (!known && rest.length > 0) {
        known = hr_text_skip(&rest, kind) && hr_text_skip(&rest, "\n");
        if (!known && !hr_text_skip_line(&rest))
            break;
    }
    return known ? write_text(root, CONTEXT "operations", kind) : -ENOENT;
}

static int write_context(const struct hr_root *root, const struct hr_damon_plan *plan)
{
    int status = write_operations(root, plan->pids != NULL ? "vaddr" : "paddr");
    if (status == 0)
        status = write_attributes(root, plan);
    if (status == 0)
        status = plan->pids != NULL ? write_processes(root, plan) : write_regions(root, plan);
    if (status == 0)
        status = write_schemes(root);
    return status;
}

static int remove_monitoring(const struct hr_root *root)
{
    int status = 0;

    if (is_running(root) > 0)
        status = write_text(root, "0/state", "off");
    /* It may have ended by itself in between, which "off" calls an error. */
    int removed = write_number(root, "nr_kdamonds", 0);
    return removed < 0 ? removed : status;
}

/* Once it has the tag, the monitoring is identified as ours. */
static int create_tagged(const struct hr_root *root, uint64_t tag)
{
    int status = write_number(root, "nr_kdamonds", 1);
    if (status < 0)
        return status;
    status = write_number(root, "0/contexts/nr_contexts", 1);
    if (status == 0)
        status = write_number(root, SCHEMES "nr_schemes", HR_DAMON_SCHEME_COUNT);
    if (status == 0)
        status = write_number(root, TAG, tag);
    if (status < 0)
        write_number(root, "nr_kdamonds", 0);
    return status;
}

int hr_damon_start(const struct hr_root *root, const struct hr_damon_plan *plan)
{
    uint64_t count = 0;

    int status = hr_damon_read_count(root, &count);
    if (status == 0 && count > 0)
        return -EBUSY;
    if (status == 0)
        status = create_tagged(root, plan->tag);
    if (status < 0)
        return status;
    status = write_context(root, plan);
    if (status == 0)
        status = hr_damon_is_ours(root, plan->tag) ? write_text(root, "0/state", "on") : -EBUSY;
    if (status < 0)
        hr_damon_stop(root, plan->tag);
    return status;
}

void hr_damon_switch_off(const struct hr_root *root)
{
    write_text(root, "0/state", "off");
}

void hr_damon_stop(const struct hr_root *root, uint64_t tag)
{
    if (hr_damon_is_ours(root, tag))
        remove_monitoring(root);
}

/* --- Reading -------------------------------------------------------------- */

int hr_damon_read_sums(const struct hr_root *root, uint64_t bytes[HR_DAMON_SCHEME_COUNT])
{
    static const char *const names[HR_DAMON_SCHEME_COUNT] = {
        [HR_DAMON_TOUCHED] = SCHEMES "0/stats/sz_tried",
        [HR_DAMON_ALL] = SCHEMES "1/stats/sz_tried",
    };
    uint64_t sums[HR_DAMON_SCHEME_COUNT];

    int status = write_text(root, "0/state", "update_schemes_stats");
    if (status < 0)
        return is_running(root) == 0 ? -ESRCH : status;
    for (int i = 0; status == 0 && i < HR_DAMON_SCHEME_COUNT; i++)
        status = read_number(root, names[i], &sums[i]);
    if (status == 0)
        memcpy(bytes, sums, sizeof(sums));
    return status;
}

/* --- Physical memory ------------------------------------------------------ */

int hr_damon_divide_ranges(const struct hr_damon_region *ranges, size_t range_count, size_t parts,
                           uint64_t page_bytes, struct hr_damon_region **regions,
                           size_t *region_count)
{
    uint64_t total = 0;
    size_t count = 0;

    for (size_t i = 0; i < range_count; i++)
        total += ranges[i].end - ranges[i].start;
    if (total < page_bytes || parts == 0)
        return -ENODATA;
    uint64_t step = (total / parts + page_bytes - 1) / page_bytes * page_bytes;
    if (step == 0)
        step = page_bytes;
    /* Each range may end with a shorter region. */
    struct hr_damon_region *made = calloc((size_t)(total / step) + range_count + 1, sizeof(*made));
    if (made == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < range_count; i++) {
        uint64_t end = ranges[i].end / page_bytes * page_bytes;
        uint64_t at = (ranges[i].start + page_bytes - 1) / page_bytes * page_bytes;
        for (; at < end; at = made[count++].end)
            made[count] = (struct hr_damon_region){at, end - at > step ? at + step : end};
    }
    *regions = made;
    *region_count = count;
    return 0;
}

/* "00100000-7ffdffff : System RAM\n"; what lies within has two spaces more in front */
int hr_damon_parse_iomem(const char *text, size_t length, struct hr_damon_region *ranges,
                         size_t max, size_t *range_count)
{
    struct hr_text rest = {text, length};
    size_t count = 0;

    while (rest.length > 0) {
        struct hr_damon_region range;
        while (hr_text_skip(&rest, " "))
            ;
        if (!hr_text_hex(&rest, &range.start) || !hr_text_skip(&rest, "-") ||
            !hr_text_hex(&rest, &range.end) || !hr_text_skip(&rest, " : "))
            return -EBADMSG;
        bool is_memory = hr_text_skip(&rest, "System RAM");
        if (!hr_text_skip_line(&rest))
            return -EBADMSG;
        if (is_memory && range.end == 0)
            return -EACCES;
        if (is_memory && (range.end < range.start || range.end == UINT64_MAX ||
                          (count > 0 && range.start < ranges[count - 1].end) || count == max))
            return -EBADMSG;
        if (is_memory)
            ranges[count++] = (struct hr_damon_region){range.start, range.end + 1};
    }
    *range_count = count;
    return 0;
}
