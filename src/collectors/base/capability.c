/* SPDX-License-Identifier: MIT */
#include "base/capability.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_BPF /* headers before Linux 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF     39
#endif

static const struct {
    enum hr_capability flag;
    int number, or_number; /* the kernel's; either suffices */
    const char *name;
} capabilities[] = {
    {HR_CAP_SYS_ADMIN, CAP_SYS_ADMIN, CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {HR_CAP_SYS_PTRACE, CAP_SYS_PTRACE, CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
    {HR_CAP_DAC_OVERRIDE, CAP_DAC_OVERRIDE, CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    {HR_CAP_DAC_READ_SEARCH, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, "CAP_DAC_READ_SEARCH"},
    {HR_CAP_SYS_NICE, CAP_SYS_NICE, CAP_SYS_NICE, "CAP_SYS_NICE"},
    {HR_CAP_BPF, CAP_BPF, CAP_SYS_ADMIN, "CAP_BPF"},
    {HR_CAP_PERFMON, CAP_PERFMON, CAP_SYS_ADMIN, "CAP_PERFMON"},
};

#define CAPABILITY_COUNT (sizeof(capabilities) / sizeof(capabilities[0]))

/* Without libcap, which isn't worth a dependency. @return 0 if they can't be read. */
static uint64_t read_effective(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (syscall(SYS_capget, &header, data) < 0)
        return 0;
    return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static unsigned find_lacking(unsigned needed, uint64_t effective)
{
    unsigned lacking = needed;

    for (size_t i = 0; i < CAPABILITY_COUNT; i++)
        if (effective >> capabilities[i].number & 1 || effective >> capabilities[i].or_number & 1)
            lacking &= ~(unsigned)capabilities[i].flag;
    return lacking;
}

bool hr_capability_is_held_in(unsigned needed, uint64_t effective)
{
    return find_lacking(needed, effective) == 0;
}

bool hr_capability_is_held(unsigned needed)
{
    return hr_capability_is_held_in(needed, read_effective());
}

/* "CAP_A, CAP_B and CAP_C" */
static void append_names(unsigned which, char buffer[HR_REMEDY_SIZE])
{
    for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
        if (!(which & (unsigned)capabilities[i].flag))
            continue;
        which &= ~(unsigned)capabilities[i].flag;
        size_t used = strlen(buffer);
        snprintf(buffer + used, HR_REMEDY_SIZE - used, "%s%s", capabilities[i].name,
                 which == 0                   ? ""
                 : (which & (which - 1)) == 0 ? " and "
                                              : ", ");
    }
}

const char *hr_capability_remedy_for(unsigned needed, uint64_t effective, bool is_root,
                                     char buffer[HR_REMEDY_SIZE])
{
    const unsigned lacking = find_lacking(needed, effective);

    snprintf(buffer, HR_REMEDY_SIZE, "%s",
             is_root && lacking != 0 ? "add " : "run as root, or add ");
    append_names(lacking != 0 ? lacking : needed, buffer);
    return buffer;
}

const char *hr_capability_remedy(unsigned needed, char buffer[HR_REMEDY_SIZE])
{
    return hr_capability_remedy_for(needed, read_effective(), geteuid() == 0, buffer);
}
