/* SPDX-License-Identifier: MIT */
#include "wss/method_idle_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/capability.h"
#include "headroom/root.h"
#include "memory/kpage.h"
#include "memory/lru_gen_file.h"
#include "memory/page_idle.h"
#include "memory/pagemap.h"
#include "process/probe.h"
#include "wss/method.h"

static int explain_file(const char *path, const char *option, int status, struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];

    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "%s is missing: the kernel needs %s; or choose another method", path,
                             option);
    if (status == -EACCES || status == -EPERM)
        return hr_reason_set(reason, status, "no permission to use %s: %s", path,
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    if (status == -EROFS)
        return hr_reason_set(reason, status,
                             "%s can't be written to, as its file system is mounted read-only: in "
                             "a container, mount /sys for writing",
                             path);
    return hr_reason_set(reason, status, "%s can't be used (%s)", path, strerror(-status));
}

static int probe_bitmap(const struct hr_root *root, struct hr_reason *reason)
{
    uint64_t word;
    int fd = hr_page_idle_open(root);

    int status = fd < 0 ? fd : 0;
    errno = 0;
    if (fd >= 0 && pread(fd, &word, sizeof(word), 0) != sizeof(word))
        status = errno != 0 ? -errno : -ENODATA;
    hr_descriptor_close(&fd);
    if (status == 0)
        return 0;
    return explain_file(HR_PAGE_IDLE_PATH, "CONFIG_IDLE_PAGE_TRACKING=y", status, reason);
}

static int probe_file(const struct hr_root *root, const char *path, const char *option,
                      struct hr_reason *reason)
{
    int fd = hr_root_openat(root, path, O_RDONLY);

    if (fd < 0)
        return explain_file(path, option, fd, reason);
    hr_descriptor_close(&fd);
    return 0;
}

/* Without CAP_SYS_ADMIN all page frame numbers read 0. */
static int probe_pagemap(const struct hr_root *root, struct hr_reason *reason)
{
    volatile char own = 1; /* certainly in memory */
    char remedy[HR_REMEDY_SIZE];
    uint64_t pfn;
    int fd = hr_root_openat(root, "proc/self/pagemap", O_RDONLY);

    if (fd < 0)
        return explain_file("/proc/self/pagemap", "CONFIG_PROC_PAGE_MONITOR=y", fd, reason);
    int status = hr_pagemap_find(fd, (uintptr_t)&own, &pfn);
    hr_descriptor_close(&fd);
    if (status == -EPERM)
        return hr_reason_set(reason, status, "/proc/PID/pagemap hides page frame numbers: %s",
                             hr_capability_remedy(HR_CAP_SYS_ADMIN, remedy));
    if (status < 0)
        return hr_reason_set(reason, status, "/proc/self/pagemap can't be used (%s)",
                             strerror(-status));
    return 0;
}

static int probe_process(const struct hr_process *process)
{
    int status = hr_process_try_file(process, "maps", O_RDONLY);

    return status < 0 ? status : hr_process_try_file(process, "pagemap", O_RDONLY);
}

/* Access to our own memory is always permitted, so try that of another process, too. */
static int probe_processes(const struct hr_root *root, struct hr_reason *reason)
{
    int status = probe_pagemap(root, reason);

    if (status < 0)
        return status;
    status = hr_process_probe(root, probe_process);
    if (status < 0 && status != -EACCES && status != -EPERM)
        return hr_reason_set(reason, status, "/proc/1/pagemap or maps can't be used (%s)",
                             strerror(-status));
    return status;
}

/* Whether cgroup2 has the controller at all; if that can't be read, beginning will report it. */
static bool has_controller(int mount)
{
    char text[1024];
    size_t length;
    int fd = openat(mount, "cgroup.controllers", O_RDONLY | O_CLOEXEC);

    int status = fd < 0 ? -errno : hr_text_read_file(fd, text, sizeof(text) - 1, &length);
    hr_descriptor_close(&fd);
    if (status < 0)
        return true;
    text[length] = '\0';
    for (char *rest = text, *name; (name = strsep(&rest, " \n")) != NULL;)
        if (strcmp(name, "memory") == 0)
            return true;
    return false;
}

/* The file has the cgroups of the hierarchy that the memory controller belongs to. */
static int probe_cgroups(const struct hr_root *root, struct hr_reason *reason)
{
    int version = 2;

    int status = probe_file(root, HR_KPAGE_CGROUP_PATH, "CONFIG_MEMCG=y", reason);
    if (status < 0)
        return status;
    int fd = hr_root_open_cgroup(root, "memory", &version);
    bool has_memory = fd < 0 || version == 1 || has_controller(fd);
    hr_descriptor_close(&fd);
    if (!has_memory)
        return hr_reason_set(reason, -ENOENT,
                             "the memory controller isn't available to cgroups: boot without "
                             "cgroup_disable=memory, or choose another method");
    if (version == 1)
        return hr_reason_set(reason, -ENOENT,
                             "the memory controller belongs to a cgroup version 1 hierarchy: "
                             "boot with cgroup_no_v1=memory, or choose another method");
    return 0;
}

int hr_idle_check_lru(const struct hr_root *root, enum hr_wss_scope scope, struct hr_reason *reason)
{
    bool is_enabled;

    int status = hr_lru_gen_is_enabled(root, &is_enabled);
    if (status < 0)
        return hr_reason_set(reason, status, HR_LRU_GEN_ENABLED " can't be read (%s)",
                             strerror(-status));
    if (!is_enabled)
        return 0;
    return hr_reason_set(reason, -EBUSY,
                         "the multi-gen LRU is enabled, which loses track of idle pages: "
                         "echo n >" HR_LRU_GEN_ENABLED ", or choose %s",
                         scope == HR_WSS_CGROUP ? "lru_gen" : "referenced");
}

int hr_idle_probe(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                  struct hr_reason *reason)
{
    (void)aging;
    int status = probe_bitmap(root, reason);

    if (status == 0)
        status = probe_file(root, HR_KPAGE_FLAGS_PATH, "CONFIG_PROC_PAGE_MONITOR=y", reason);
    if (status == 0)
        status = probe_processes(root, reason);
    if (status == 0 && scope == HR_WSS_CGROUP)
        status = probe_cgroups(root, reason);
    return status < 0 ? status : hr_idle_check_lru(root, scope, reason);
}
