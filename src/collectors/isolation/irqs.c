/* SPDX-License-Identifier: MIT */
#include "isolation/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "isolation/movable.h"

/* "virtio0-config", or "" for an interrupt that no driver has requested; also of several: "a,b". */
static void read_name(const struct hr_root *root, unsigned irq, char name[48])
{
    char path[64];
    size_t length;

    snprintf(path, sizeof(path), "sys/kernel/irq/%u/actions", irq);
    if (hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), name, 48, &length) < 0)
        length = 0;
    if (length > 0 && name[length - 1] == '\n')
        length--;
    name[length] = '\0';
}

static bool is_within(const struct hr_cpu_set *inner, const struct hr_cpu_set *outer)
{
    const struct hr_cpu_set rest = hr_isolation_without(inner, outer);

    return hr_cpu_set_count(&rest) == 0;
}

/*
 * The kernel handles an interrupt on CPUs of its effective list, mostly one of those in the list
 * that was set. A new setting may take effect with the next interrupt only, so that what is
 * effective alone would blame one that was moved. It is empty for interrupts that aren't in use,
 * and for those that each CPU has of its own; kernels for some machines lack it.
 */
static bool is_handled_there(const struct hr_isolation_context *context, unsigned irq,
                             const struct hr_cpu_set *set)
{
    struct hr_cpu_set effective;
    char path[64];

    if (is_within(set, &context->cpus))
        return true;
    snprintf(path, sizeof(path), "proc/irq/%u/effective_affinity_list", irq);
    if (hr_cpu_set_read(context->root, path, &effective) < 0)
        return true;
    effective = hr_isolation_common(&effective, &context->cpus);
    return hr_cpu_set_count(&effective) > 0;
}

static int check_irq(struct hr_isolation_context *context, unsigned irq,
                     struct hr_movables *movables)
{
    struct hr_cpu_set set, there;
    char path[64], name[48];

    snprintf(path, sizeof(path), "proc/irq/%u/smp_affinity_list", irq);
    if (hr_cpu_set_read(context->root, path, &set) < 0)
        return 0; /* it has gone, or can't be set at all */
    there = hr_isolation_common(&set, &context->cpus);
    if (hr_cpu_set_count(&there) == 0 || !is_handled_there(context, irq, &set))
        return 0;
    read_name(context->root, irq, name);
    return hr_movables_add(movables, context, irq, name, &set);
}

static int compare_numbers(const void *a, const void *b)
{
    const unsigned first = ((const struct hr_movable *)a)->number;
    const unsigned second = ((const struct hr_movable *)b)->number;

    return (first > second) - (first < second);
}

static int read_irqs(struct hr_isolation_context *context, DIR *directory,
                     struct hr_movables *movables)
{
    const struct dirent *entry;
    uint64_t irq;
    int status = 0;

    while (status == 0 && (entry = readdir(directory)) != NULL)
        if (hr_text_number_parse(entry->d_name, strlen(entry->d_name), UINT32_MAX, &irq) == 0)
            status = check_irq(context, (unsigned)irq, movables);
    if (movables->count > 1)
        qsort(movables->list, movables->count, sizeof(movables->list[0]), compare_numbers);
    return status;
}

int hr_isolation_check_irqs(struct hr_isolation_context *context)
{
    static const struct hr_movable_texts texts = {
        .aspect = HR_ISOLATION_IRQS,
        .one = "interrupt",
        .several = "interrupts",
        .may_run = "%s may be handled by CPU%s %s",
        .command = "echo %s >/proc/irq/%s/smp_affinity_list",
    };
    struct hr_movables movables = {0};
    int fd = hr_root_openat(context->root, "proc/irq", O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    DIR *directory = fdopendir(fd);
    if (directory == NULL) {
        close(fd);
        return -ENOMEM;
    }
    int status = read_irqs(context, directory, &movables);
    closedir(directory);
    if (status == 0)
        hr_movables_report(&movables, context, &texts);
    free(movables.list);
    return status;
}
