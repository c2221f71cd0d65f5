/* SPDX-License-Identifier: MIT */
#include "psi/cause.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "headroom/quantity.h"
#include "headroom/utf8.h"

/* One cause, with a path and its limit. */
#define CAUSE_SIZE (HR_STALL_PATH_SIZE + 256)

/* Cut off, so that the sum of causes isn't more than the stall. */
static uint64_t whole_ms(uint64_t us)
{
    return us / 1000;
}

static void print_io_limit(const struct hr_stall_cause *cause, char *buffer, size_t size)
{
    static const char *const what[HR_STALL_IO_COUNT] = {
        [HR_STALL_READ_BYTES] = "rbps",
        [HR_STALL_WRITTEN_BYTES] = "wbps",
        [HR_STALL_READS] = "riops",
        [HR_STALL_WRITES] = "wiops",
    };

    snprintf(buffer, size, "io.max %" PRIu32 ":%" PRIu32 " %s=%.0f: reached", cause->device_major,
             cause->device_minor, what[cause->io], cause->limit);
}

static void print_limit(const struct hr_stall_cause *cause, char *buffer, size_t size)
{
    const char *name = hr_stall_limit_name(cause->limit_kind, cause->version);

    switch (cause->limit_kind) {
    case HR_STALL_CPU_MAX:
        snprintf(buffer, size, "%s %.4g: throttled %" PRIu64 " ms", name, cause->limit,
                 whole_ms(cause->stalled_us));
        break;
    case HR_STALL_MEMORY_HIGH:
    case HR_STALL_MEMORY_MAX:
        snprintf(buffer, size, "%s %s reached %" PRIu64 " time%s", name,
                 hr_quantity_bytes(cause->limit).text, cause->event_count,
                 cause->event_count == 1 ? "" : "s");
        break;
    case HR_STALL_IO_MAX:
        print_io_limit(cause, buffer, size);
        break;
    }
}

static void print_ancestor(const struct hr_stall_cause *cause, const char *limit, char *buffer,
                           size_t size)
{
    char name[HR_STALL_PATH_SIZE];

    memcpy(name, cause->group, sizeof(name));
    name[sizeof(name) - 1] = '\0';
    hr_utf8_make_safe(name);
    snprintf(buffer, size, "the limit of %s (%s)", name, limit);
}

static void print_limits_below(const struct hr_stall_cause *cause, char *buffer, size_t size)
{
    if (cause->stalled_us > 0)
        snprintf(buffer, size, "limits of groups below it (%s: throttled %" PRIu64 " ms)",
                 hr_stall_limit_name(HR_STALL_CPU_MAX, cause->version),
                 whole_ms(cause->stalled_us));
    else
        snprintf(buffer, size, "limits of groups below it (memory: reached %" PRIu64 " time%s)",
                 cause->event_count, cause->event_count == 1 ? "" : "s");
}

/* "neighbours (240 ms)", without the time where there is none to show. */
static void print_taken(const char *name, const char *before_time,
                        const struct hr_stall_cause *cause, char *buffer, size_t size)
{
    if (whole_ms(cause->stalled_us) == 0)
        snprintf(buffer, size, "%s", name);
    else
        snprintf(buffer, size, "%s (%s%" PRIu64 " ms)", name, before_time,
                 whole_ms(cause->stalled_us));
}

static void print_one(const struct hr_stall_cause *cause, char *buffer, size_t size)
{
    char limit[128];

    switch (cause->kind) {
    case HR_STALL_OWN_LIMIT:
        print_limit(cause, limit, sizeof(limit));
        snprintf(buffer, size, "its own limit (%s)", limit);
        break;
    case HR_STALL_ANCESTOR_LIMIT:
        print_limit(cause, limit, sizeof(limit));
        print_ancestor(cause, limit, buffer, size);
        break;
    case HR_STALL_LIMITS_BELOW:
        print_limits_below(cause, buffer, size);
        break;
    case HR_STALL_NEIGHBOURS:
        print_taken("neighbours", "", cause, buffer, size);
        break;
    case HR_STALL_ITSELF:
        print_taken("itself", "", cause, buffer, size);
        break;
    case HR_STALL_HYPERVISOR:
        print_taken("the hypervisor", "steal ", cause, buffer, size);
        break;
    case HR_STALL_INTERRUPTS:
        print_taken("interrupts", "", cause, buffer, size);
        break;
    case HR_STALL_MACHINE_RECLAIM:
        snprintf(buffer, size, "the machine is short of memory (reclaim)");
        break;
    }
}

size_t psi_cause_print(const struct hr_stall_causes *causes, char *buffer, size_t size)
{
    char text[CAUSE_SIZE];
    size_t used = 0;

    buffer[0] = '\0';
    for (size_t i = 0; i < causes->count; i++) {
        print_one(&causes->list[i], text, sizeof(text));
        const char *separator = used > 0 ? ", " : "";
        size_t length = strlen(separator) + strlen(text);
        if (length >= size - used)
            break;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", separator, text);
    }
    return used;
}
