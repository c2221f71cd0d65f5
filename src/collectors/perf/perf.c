/* SPDX-License-Identifier: MIT */
#include "headroom/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "perf/bpf_counting.h"
#include "perf/calls.h"
#include "perf/closing.h"
#include "perf/opening.h"

#define DEFAULT_SLICE_NS (75 * HR_NS_PER_MS)
#define DEFAULT_RETRY_NS (60 * HR_NS_PER_S)

static bool has_valid_groups(const struct hr_perf_options *options)
{
    for (size_t i = 0; i < options->group_count; i++)
        if (options->groups[i].count == 0 || options->groups[i].count > HR_PERF_GROUP_MAX)
            return false;
    return options->group_count > 0;
}

static int copy_groups(struct hr_perf *perf, const struct hr_perf_options *options)
{
    perf->groups = calloc(options->group_count, sizeof(*perf->groups));
    perf->first_event = calloc(options->group_count, sizeof(*perf->first_event));
    perf->exceptions = calloc(options->group_count, sizeof(*perf->exceptions));
    if (perf->groups == NULL || perf->first_event == NULL || perf->exceptions == NULL)
        return -ENOMEM;
    memcpy(perf->groups, options->groups, options->group_count * sizeof(*perf->groups));
    perf->group_count = options->group_count;
    for (size_t i = 0; i < perf->group_count; i++) {
        perf->first_event[i] = perf->event_count;
        perf->event_count += perf->groups[i].count;
    }
    return 0;
}

int hr_perf_open(const struct hr_root *root, const struct hr_perf_options *options,
                 struct hr_perf **perf)
{
    if (!has_valid_groups(options))
        return -EINVAL;
    struct hr_perf *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    opened->calls = options->calls != NULL ? options->calls : &hr_perf_kernel_calls;
    opened->retry_ns = options->retry_ns != 0 ? options->retry_ns : DEFAULT_RETRY_NS;
    opened->bpf_calls = options->bpf_calls != NULL ? options->bpf_calls : &hr_perf_kernel_bpf_calls;
    opened->max_targets = options->max_targets;
    opened->slice.max_ns = options->slice_ns != 0 ? options->slice_ns : DEFAULT_SLICE_NS;
    opened->slice.max_wall_ns = options->slice_wall_ns > opened->slice.max_ns
                                    ? options->slice_wall_ns
                                    : opened->slice.max_ns;
    opened->needs_clocks = !hr_perf_is_running_time_right(root);
    hr_perf_cpus_init(&opened->cpus, &options->cpus);
    hr_perf_budget_init(&opened->budget, options->max_files, opened->retry_ns);
    int status = copy_groups(opened, options);
    for (int i = 0; i < HR_PERF_SCOPE_COUNT && status == 0; i++)
        status = hr_perf_probe_init(&opened->probes[i], opened);
    if (status < 0) {
        hr_perf_close(opened);
        return status;
    }
    *perf = opened;
    return 0;
}

int hr_perf_open_bpf(const struct hr_root *root, const struct hr_perf_options *options,
                     struct hr_perf **perf, struct hr_reason *reason)
{
    struct hr_perf *opened = NULL;

    int status = hr_perf_open(root, options, &opened);
    if (status == 0)
        status = hr_perf_read(opened);
    if (status < 0)
        hr_reason_set(reason, status, "can't begin: %s", strerror(-status));
    else
        status = hr_perf_change_to_bpf(opened, reason);
    if (status < 0)
        hr_perf_close(opened);
    else
        *perf = opened;
    return status;
}

void hr_perf_close(struct hr_perf *perf)
{
    if (perf == NULL)
        return;
    hr_perf_bpf_close(perf);
    hr_perf_closing_end(perf);
    for (int i = 0; i < HR_PERF_SCOPE_COUNT; i++)
        hr_perf_probe_end(&perf->probes[i]);
    hr_perf_cpus_end(&perf->cpus);
    free(perf->groups);
    free(perf->first_event);
    free(perf->exceptions);
    free(perf);
}

/* Closing heeds what opening has taken, and opening what closing has. */
static void begin_slice(struct hr_perf_slice *slice)
{
    slice->spent_ns = slice->closing_ns = slice->longer_ns = slice->longer_wall_ns = 0;
    slice->file_count = slice->closed_count = 0;
}

int hr_perf_read(struct hr_perf *perf)
{
    begin_slice(&perf->slice);
    int status = hr_perf_cpus_read(&perf->cpus, perf->root);

    if (perf->bpf != NULL)
        hr_perf_bpf_read(perf);
    hr_perf_closing_continue(perf);
    hr_perf_opening_continue(perf);
    return status;
}

void hr_perf_lengthen_slice(struct hr_perf *perf, uint64_t max_ns, uint64_t max_wall_ns)
{
    perf->slice.longer_ns = max_ns;
    perf->slice.longer_wall_ns = max_wall_ns;
}

unsigned hr_perf_cpu_changes(const struct hr_perf *perf)
{
    return perf->cpus.generation;
}

void hr_perf_update_events(struct hr_perf *perf)
{
    for (int i = 0; i < HR_PERF_SCOPE_COUNT; i++)
        perf->probes[i].stale = perf->probes[i].done;
}

size_t hr_perf_cpu_count(const struct hr_perf *perf)
{
    return hr_cpu_set_count(&perf->cpus.online);
}

struct hr_perf_files hr_perf_files(const struct hr_perf *perf)
{
    struct hr_perf_files files = perf->budget.files;

    files.of_system = hr_perf_count_files(perf, HR_PERF_SYSTEM);
    files.of_group = hr_perf_count_files(perf, HR_PERF_CGROUP);
    return files;
}

bool hr_perf_is_by_bpf(const struct hr_perf *perf, size_t group)
{
    return perf->bpf != NULL && perf->exceptions[group] == NULL;
}

bool hr_perf_has_exceptions(const struct hr_perf *perf)
{
    for (size_t g = 0; g < perf->group_count; g++)
        if (perf->exceptions[g] != NULL)
            return true;
    return false;
}

const struct hr_perf_event *hr_perf_exception(const struct hr_perf *perf, size_t group)
{
    return perf->exceptions[group];
}

int hr_perf_status(const struct hr_perf *perf, enum hr_perf_scope scope, size_t group, size_t event)
{
    const struct hr_perf_probe *probe = &perf->probes[scope];

    return probe->done ? probe->status[perf->first_event[group] + event] : -ECANCELED;
}

/* "-1\n" to "4\n" */
static int parse_level(struct hr_text text, int *level)
{
    const bool negative = hr_text_skip(&text, "-");
    uint64_t value;

    if (!hr_text_u64(&text, &value) || value > 1000 || !hr_text_skip(&text, "\n") ||
        text.length > 0)
        return -EBADMSG;
    *level = negative ? -(int)value : (int)value;
    return 0;
}

int hr_perf_paranoid_read(const struct hr_root *root, int *level)
{
    char buffer[16];
    struct hr_text text = {.start = buffer};
    int fd = hr_root_openat(root, "proc/sys/kernel/perf_event_paranoid", O_RDONLY);
    int status = hr_text_read_and_close(fd, buffer, sizeof(buffer), &text.length);
    return status < 0 ? status : parse_level(text, level);
}
