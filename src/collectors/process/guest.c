/* SPDX-License-Identifier: MIT */
#include "process/guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "headroom/process.h"
#include "headroom/root.h"

/* What the descriptor of a virtual machine links to. */
static const char machine[] = "anon_inode:kvm-vm";

/* The module, or what of it is built in; in a container the host's /dev may not be there. */
static bool has_kvm(const struct hr_root *root)
{
    static const char *const paths[] = {"/dev/kvm", "/sys/module/kvm"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int fd = hr_root_openat(root, paths[i], O_PATH);
        if (fd < 0)
            continue;
        hr_descriptor_close(&fd);
        return true;
    }
    return false;
}

static bool is_machine(int directory, const char *name)
{
    char target[sizeof(machine)];

    return readlinkat(directory, name, target, sizeof(target)) == (ssize_t)strlen(machine) &&
           memcmp(target, machine, strlen(machine)) == 0;
}

static bool has_machine(const struct hr_process *process)
{
    const struct dirent *entry;
    bool found = false;

    DIR *directory =
        hr_descriptor_opendir(hr_process_openat(process, "fd", O_RDONLY | O_DIRECTORY));
    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = is_machine(dirfd(directory), entry->d_name);
    closedir(directory);
    return found;
}

const struct hr_process *hr_process_find_guest(const struct hr_root *root,
                                               const struct hr_process_list *processes)
{
    if (!has_kvm(root))
        return NULL;
    for (size_t i = 0; i < processes->count; i++)
        if (has_machine(&processes->items[i]))
            return &processes->items[i];
    return NULL;
}
