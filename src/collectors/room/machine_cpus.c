/* SPDX-License-Identifier: MIT */
#include "room/machine_cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "room/grown.h"

#define US_PER_TICK (HR_NS_PER_TICK / HR_NS_PER_US)

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELD_COUNT };

/* Parses what follows the name. */
static bool take_ticks(struct hr_text *text, uint64_t ticks[FIELD_COUNT])
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!hr_text_skip(text, " ") || !hr_text_u64(text, &ticks[i]) ||
            ticks[i] > UINT64_MAX / US_PER_TICK / FIELD_COUNT)
            return false;
    return hr_text_skip(text, " ") || hr_text_skip(text, "\n");
}

static uint64_t sum_busy_us(const uint64_t ticks[FIELD_COUNT])
{
    return (ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ] +
            ticks[STEAL]) *
           US_PER_TICK;
}

int hr_machine_cpus_parse(const char *start, size_t length, struct hr_stall_machine_cpus *cpus)
{
    struct hr_text text = {start, length};
    uint64_t ticks[FIELD_COUNT];

    if (!hr_text_skip(&text, "cpu ") || !take_ticks(&text, ticks))
        return -EBADMSG;
    *cpus = (struct hr_stall_machine_cpus){
        .known = true,
        .busy_us = sum_busy_us(ticks),
        .steal_us = ticks[STEAL] * US_PER_TICK,
        .irq_us = (ticks[IRQ] + ticks[SOFTIRQ]) * US_PER_TICK,
        .idle_us = (ticks[IDLE] + ticks[IOWAIT]) * US_PER_TICK,
    };
    return 0;
}

int hr_machine_cpus_parse_each(const char *start, size_t length, uint64_t *busy_us, size_t size,
                               size_t *count)
{
    struct hr_text text = {start, length}, line;
    uint64_t ticks[FIELD_COUNT], number;
    size_t parsed = 0;

    for (line = text; hr_text_skip_line(&text); line = text) {
        line.length -= text.length;
        if (!hr_text_skip(&line, "cpu"))
            break;
        if (line.length > 0 && *line.start == ' ')
            continue; /* all of them */
        if (!hr_text_u64(&line, &number) || !take_ticks(&line, ticks))
            return -EBADMSG;
        if (number >= size)
            continue;
        busy_us[number] = sum_busy_us(ticks);
        parsed++;
    }
    if (parsed == 0)
        return -ENODATA;
    *count = parsed;
    return 0;
}

int hr_machine_cpus_read(const struct hr_root *root, struct hr_stall_machine_cpus *cpus)
{
    char text[512];
    int fd = hr_root_openat(root, "proc/stat", O_RDONLY);

    if (fd < 0)
        return fd;
    ssize_t got = pread(fd, text, sizeof(text), 0);
    int error = errno;
    close(fd);
    return got < 0 ? -error : hr_machine_cpus_parse(text, (size_t)got, cpus);
}

int hr_machine_cpus_idle(const struct hr_stall_machine_cpus *before,
                         const struct hr_stall_machine_cpus *after, double *idle_pct)
{
    const double idle_us = (double)hr_grown(before->idle_us, after->idle_us);
    const double busy_us = (double)hr_grown(before->busy_us, after->busy_us);

    if (!before->known || !after->known || idle_us + busy_us <= 0)
        return -ENODATA;
    *idle_pct = 100 * idle_us / (idle_us + busy_us);
    return 0;
}
