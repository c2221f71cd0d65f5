/* SPDX-License-Identifier: MIT */
#include "osnoise/cpus.h"

#include <errno.h>
#include <string.h>

#include "base/reason.h"

int hr_osnoise_read_online(const struct hr_root *root, struct hr_cpu_set *online,
                           struct hr_reason *reason)
{
    int status = hr_cpu_set_read(root, "sys/devices/system/cpu/online", online);

    return status == 0 ? 0
                       : hr_reason_set(reason, status, "can't read which CPUs are online (%s)",
                                       strerror(-status));
}

struct hr_cpu_set hr_osnoise_possible_cpus(const struct hr_root *root,
                                           const struct hr_cpu_set *cpus)
{
    struct hr_cpu_set kept = *cpus, possible;

    if (hr_cpu_set_read(root, "sys/devices/system/cpu/possible", &possible) == 0)
        hr_cpu_set_keep(&kept, &possible);
    return kept;
}

/* --- Those that are chosen ------------------------------------------------ */

/* Of those that aren't listed, as words choose from all that a kernel may have. */
static int keep_possible(const struct hr_root *root, const struct hr_cpu_set *list,
                         struct hr_cpu_set *cpus)
{
    struct hr_cpu_set possible;
    int status = hr_cpu_set_read(root, "sys/devices/system/cpu/possible", &possible);

    if (status < 0)
        status = hr_cpu_set_read(root, "sys/devices/system/cpu/online", &possible);
    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof(cpus->words) / sizeof(cpus->words[0]); i++)
        cpus->words[i] &= possible.words[i] | list->words[i];
    return 0;
}

int hr_osnoise_find_cpus(const struct hr_root *root, const struct hr_cpu_choice *choice,
                         struct hr_cpu_set *cpus, struct hr_reason *reason)
{
    struct hr_cpu_set found;
    int status = hr_cpu_choice_find(choice, root, &found);

    if (status == 0)
        status = keep_possible(root, &choice->list, &found);
    if (status < 0)
        return hr_reason_set(reason, status,
                             "can't read which CPUs there are (possible, online, isolated and "
                             "nohz_full in /sys/devices/system/cpu: %s)",
                             strerror(-status));
    if (hr_cpu_set_count(&found) == 0)
        return hr_reason_set(reason, -ENXIO, "%s", hr_cpu_choice_explain_none(choice));
    *cpus = found;
    return 0;
}

int hr_osnoise_choose_cpus(struct hr_osnoise *osnoise, const struct hr_cpu_set *theirs,
                           struct hr_reason *reason)
{
    const bool is_attached = osnoise->options.mode == HR_OSNOISE_ATTACH;
    struct hr_cpu_set chosen;
    int status = hr_osnoise_read_online(osnoise->root, &osnoise->online, reason);

    if (status == 0)
        status = hr_osnoise_find_cpus(osnoise->root, &osnoise->options.cpus, &chosen, reason);
    if (status < 0)
        return status;
    if (is_attached && hr_cpu_choice_is_all(&osnoise->options.cpus))
        chosen = osnoise->online;
    if (is_attached)
        hr_cpu_set_keep(&chosen, theirs);
    if (hr_cpu_set_count(&chosen) == 0)
        return hr_reason_set(
            reason, -ENXIO,
            "the run to attach to measures none of the CPUs given: choose others, or give none");
    osnoise->cpus = chosen;
    hr_cpu_set_keep(&chosen, &osnoise->online);
    if (hr_cpu_set_count(&chosen) == 0)
        return hr_reason_set(reason, -ENXIO,
                             "none of the CPUs to measure is online: see "
                             "/sys/devices/system/cpu/online");
    return 0;
}
