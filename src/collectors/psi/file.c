/* SPDX-License-Identifier: MIT */
#include "psi/file.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"

/* The pressure files of each resource. */
static const struct {
    const char *system_path;
    const char *cgroup_file;
} files[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = {"proc/pressure/cpu", "cpu.pressure"},
    [HR_PSI_MEMORY] = {"proc/pressure/memory", "memory.pressure"},
    [HR_PSI_IO] = {"proc/pressure/io", "io.pressure"},
    [HR_PSI_IRQ] = {"proc/pressure/irq", "irq.pressure"},
};

/* --- Parsing -------------------------------------------------------------- */

/* Always with two decimals: the kernel prints "%lu.%02lu". */
static bool parse_average(struct hr_text *text, double *pct)
{
    uint64_t whole;

    if (!hr_text_u64(text, &whole) || text->length < 3 || text->start[0] != '.')
        return false;
    unsigned tenths = (unsigned char)text->start[1] - '0';
    unsigned hundredths = (unsigned char)text->start[2] - '0';
    if (tenths > 9 || hundredths > 9)
        return false;
    text->start += 3;
    text->length -= 3;
    *pct = whole >= 100 ? 100 : (double)(100 * whole + 10 * tenths + hundredths) / 100;
    return true;
}

/* Removes " KEY=VALUE" with a key that isn't known. @return whether the text began with it. */
static __attribute__((cold)) bool skip_unknown_field(struct hr_text *text)
{
    static const char *const known[] = {" avg10=", " avg60=", " avg300=", " total="};
    struct hr_text copy = *text;
    size_t length = 1; /* the blank */

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (hr_text_skip(&copy, known[i]))
            return false;
    if (!hr_text_skip(&copy, " "))
        return false;
    while (length < text->length && text->start[length] != ' ' && text->start[length] != '\n')
        length++;
    const char *sign = memchr(text->start, '=', length);
    if (sign == NULL || sign == text->start + 1)
        return false;
    text->start += length;
    text->length -= length;
    return true;
}

/* Removes fields up to " KEY=", or to the newline, and that. @return whether it is there. */
static inline bool skip_to(struct hr_text *text, const char *end)
{
    while (!hr_text_skip(text, end))
        if (!skip_unknown_field(text))
            return false;
    return true;
}

/* Parses " avg10=0.00 avg60=0.27 avg300=0.13 total=685905\n" after "some" or "full". */
static bool parse_stall(struct hr_text *text, struct hr_psi_stall *stall)
{
    if (stall->present)
        return false;
    stall->present = true;
    return skip_to(text, " avg10=") && parse_average(text, &stall->avg10_pct) &&
           skip_to(text, " avg60=") && parse_average(text, &stall->avg60_pct) &&
           skip_to(text, " avg300=") && parse_average(text, &stall->avg300_pct) &&
           skip_to(text, " total=") && hr_text_u64(text, &stall->total_us) && skip_to(text, "\n");
}

/* Removes the first word of a line, though not the blank after it. @return whether it is that. */
static inline bool skip_level(struct hr_text *text, const char *level)
{
    struct hr_text rest = *text;

    if (!hr_text_skip(&rest, level) || rest.length == 0 || *rest.start != ' ')
        return false;
    *text = rest;
    return true;
}

int hr_psi_parse(const char *start, size_t length, struct hr_psi_sample *sample)
{
    struct hr_text text = {start, length};
    struct hr_psi_sample parsed = {0};
    struct hr_psi_stall *stall = parsed.stall;

    while (text.length > 0) {
        bool understood;
        if (skip_level(&text, "some"))
            understood = parse_stall(&text, &stall[HR_PSI_SOME]);
        else if (skip_level(&text, "full"))
            understood = parse_stall(&text, &stall[HR_PSI_FULL]);
        else
            understood = hr_text_skip_line(&text);
        if (!understood)
            return -EBADMSG;
    }
    if (!stall[HR_PSI_SOME].present && !stall[HR_PSI_FULL].present)
        return -ENODATA;
    *sample = parsed;
    return 0;
}

/* --- Opening and reading --------------------------------------------------- */

/* Writing 0 to a group's cgroup.pressure removes its pressure files, and reading those still open
 * fails with ENODEV. irq pressure may be missing for another reason. */
static int classify_missing_file(const struct hr_cgroup *group, enum hr_psi_resource resource)
{
    char text[8];
    size_t length;
    int fd = hr_cgroup_openat(group, "cgroup.pressure", O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    if (status == -ENODEV)
        return -ENODEV;
    bool is_off = status == 0 && length == 2 && text[0] == '0';
    return is_off && resource != HR_PSI_IRQ ? -EOPNOTSUPP : -ENOENT;
}

int hr_psi_file_open(const struct hr_psi_target *target, enum hr_psi_resource resource, int dirfd,
                     int flags)
{
    if (target->group == NULL)
        return hr_root_openat(target->root, files[resource].system_path, flags);

    const char *name = files[resource].cgroup_file;
    int fd;
    if (dirfd < 0)
        fd = hr_cgroup_openat(target->group, name, flags);
    else if ((fd = openat(dirfd, name, flags | O_CLOEXEC)) < 0)
        fd = -errno;
    return fd == -ENOENT ? classify_missing_file(target->group, resource) : fd;
}

int hr_psi_file_read(int fd, const struct hr_psi_target *target, enum hr_psi_resource resource,
                     struct hr_psi_sample *sample)
{
    char text[512];
    size_t length;
    uint64_t time_ns = hr_clock_ns();

    int status = hr_text_read_file(fd, text, sizeof(text), &length);
    if (status == 0)
        status = hr_psi_parse(text, length, sample);
    if (status < 0)
        return status;
    sample->time_ns = time_ns;
    /* Undefined, though newer kernels print it as zeros. */
    if (target->group == NULL && resource == HR_PSI_CPU)
        sample->stall[HR_PSI_FULL] = (struct hr_psi_stall){0};
    return 0;
}
