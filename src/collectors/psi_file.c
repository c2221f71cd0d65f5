#include "psi_file.h"

#include <errno.h>
#include <fcntl.h>

#include "clock.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "text.h"

/* The files of a resource, in /proc/pressure and in a cgroup. */
static const struct {
    const char *system_path;
    const char *cgroup_file;
} files[HR_PSI_RESOURCE_COUNT] = {
    [HR_PSI_CPU] = {"proc/pressure/cpu", "cpu.pressure"},
    [HR_PSI_MEMORY] = {"proc/pressure/memory", "memory.pressure"},
    [HR_PSI_IO] = {"proc/pressure/io", "io.pressure"},
    [HR_PSI_IRQ] = {"proc/pressure/irq", "irq.pressure"},
};

/* Writing 0 to a group's cgroup.pressure takes its pressure files away, and what was open of them
 * fails with ENODEV. irq pressure may be missing for a reason of its own. */
static int explain_absence(const struct hr_cgroup *group, enum hr_psi_resource resource)
{
    char text[8];
    size_t length;
    int fd = hr_cgroup_openat(group, "cgroup.pressure", O_RDONLY);
    int status = hr_text_take(fd, text, sizeof(text), &length);
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
    return fd == -ENOENT ? explain_absence(target->group, resource) : fd;
}

int hr_psi_file_read(int fd, const struct hr_psi_target *target, enum hr_psi_resource resource,
                     struct hr_psi_sample *sample)
{
    char text[512];
    size_t length;
    uint64_t time_ns = hr_clock_ns();

    int status = hr_text_read(fd, text, sizeof(text), &length);
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
