/* SPDX-License-Identifier: MIT */
#include "perf/bpf_refusal.h"

#include <errno.h>
#include <string.h>

#include "base/capability.h"
#include "base/reason.h"
#include "base/release.h"

/* The kernel says EPERM of each, security modules EACCES. With these capabilities the sysctl
 * kernel.unprivileged_bpf_disabled forbids nothing. */
static const char *const refusals[] = {
    [HR_PERF_BPF_CAPABILITIES] = "no permission to load BPF programs: add CAP_BPF and CAP_PERFMON "
                                 "to collectd's service, or run collectd as root",
    [HR_PERF_BPF_LOCKED_MEMORY] =
        "before Linux 5.11 the maps of BPF programs are locked memory, of which too little is "
        "allowed: set LimitMEMLOCK=infinity in collectd's service (ulimit -l); a kernel that isn't "
        "patched must be 5.14 or later, too",
    [HR_PERF_BPF_FORBIDDEN] =
        "no permission to load BPF programs, though collectd has CAP_BPF and CAP_PERFMON: allow "
        "bpf(2) in what forbids it, such as the seccomp profile or the user namespace of a "
        "container, a security module, or the kernel's lockdown=confidentiality",
};

int hr_perf_bpf_explain_for(int status, enum hr_perf_bpf_obstacle obstacle,
                            struct hr_reason *reason)
{
    switch (status) {
    case -ENOPKG:
        return hr_reason_set(reason, status,
                             "it was built without BPF: build it with libbpf and clang");
    case -EPERM:
    case -EACCES:
        return hr_reason_set(reason, status, "%s", refusals[obstacle]);
    case -ENOEXEC:
        return hr_reason_set(reason, status, "it needs a 64-bit machine and a 64-bit collectd");
    case -ENXIO:
        return hr_reason_set(reason, status,
                             "/sys/devices/system/cpu/possible is that of another machine");
    case -E2BIG:
    case -ENOMEM:
        return hr_reason_set(reason, status,
                             "there is too little memory for so many cgroups and events");
    case -EMFILE:
    case -ENFILE:
        return hr_reason_set(reason, status,
                             "file descriptors ran out: raise LimitNOFILE= of the service "
                             "(ulimit -n)");
    case -EOPNOTSUPP:
    case -EINVAL:
    case -ENOENT:
    case -ENOSYS:
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "the kernel can't run these BPF programs: it needs Linux 5.14 or "
                             "later with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_CGROUPS");
    default:
        return hr_reason_set(reason, status,
                             "the kernel refuses the BPF programs (%s): report it, with the "
                             "kernel's version",
                             strerror(-status));
    }
}

enum hr_perf_bpf_obstacle hr_perf_bpf_find_obstacle(bool is_capable,
                                                    const struct hr_release *release)
{
    if (!is_capable)
        return HR_PERF_BPF_CAPABILITIES;
    return release->major < 5 || (release->major == 5 && release->minor < 11)
               ? HR_PERF_BPF_LOCKED_MEMORY
               : HR_PERF_BPF_FORBIDDEN;
}

int hr_perf_bpf_explain(const struct hr_root *root, int status, struct hr_reason *reason)
{
    struct hr_release release;

    if (hr_release_read(root, &release) < 0)
        release = (struct hr_release){.major = UINT64_MAX};
    return hr_perf_bpf_explain_for(
        status,
        hr_perf_bpf_find_obstacle(hr_capability_is_held(HR_CAP_BPF | HR_CAP_PERFMON), &release),
        reason);
}
