/* SPDX-License-Identifier: MIT */
#include "room/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "room/disk_stat.h"
#include "room/history.h"
#include "room/machine_cpus.h"
#include "room/memory.h"

/* For the lines of all CPUs that a kernel may have; what follows them isn't needed. */
#define TEXT_SIZE ((size_t)1 << 20)

#define DISKS_NS (60 * HR_NS_PER_S)

int hr_room_machine_open(const struct hr_root *root, struct hr_room_machine **machine)
{
    struct hr_room_machine *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    LIST_INIT(&opened->all);
    opened->cpus_status = opened->memory_status = -ENODATA;
    opened->text = malloc(TEXT_SIZE);
    if (opened->text == NULL) {
        free(opened);
        return -ENOMEM;
    }
    *machine = opened;
    return 0;
}

void hr_room_machine_close(struct hr_room_machine *machine)
{
    if (machine == NULL)
        return;
    hr_room_history_free(machine);
    hr_group_mounts_clear(&machine->mounts);
    free(machine->text);
    free(machine);
}

/* The kernel has made the whole text by the first read. */
static int read_cpus(struct hr_room_machine *machine)
{
    int fd = hr_root_openat(machine->root, "proc/stat", O_RDONLY);

    if (fd < 0)
        return fd;
    ssize_t got = pread(fd, machine->text, TEXT_SIZE, 0);
    int error = errno;
    close(fd);
    if (got < 0)
        return -error;
    return hr_machine_cpus_parse_each(machine->text, (size_t)got, machine->busy_us, HR_CPU_MAX,
                                      &machine->cpu_count);
}

void hr_room_machine_start_forecast(struct hr_room_machine *machine, uint64_t point_ns)
{
    if (machine->point_ns != 0)
        return;
    machine->point_ns = point_ns;
    hr_room_history_begin(machine, 0, 0, point_ns, &machine->forecast);
    hr_room_history_begin_stalls(machine, 0, 0, &machine->stall_hour);
}

static void update_forecast(struct hr_room_machine *machine)
{
    if (machine->memory_status < 0)
        return;
    hr_room_machine_memory(&machine->meminfo, &machine->memory);
    if (machine->point_ns != 0)
        hr_forecast_update(&machine->forecast, hr_clock_ns(), machine->memory.used,
                           machine->memory.attainable, &machine->outlook);
}

void hr_room_machine_read(struct hr_room_machine *machine)
{
    machine->round++;
    hr_group_mounts_clear(&machine->mounts);
    machine->read_ns = hr_clock_ns();
    hr_room_history_expire(machine);
    machine->cpus_status = read_cpus(machine);
    machine->all_busy_us = 0;
    for (size_t i = 0; i < HR_CPU_MAX; i++)
        machine->all_busy_us += machine->busy_us[i];
    machine->memory_status = hr_meminfo_read(machine->root, &machine->meminfo);
    update_forecast(machine);
}

size_t hr_room_machine_cpus(const struct hr_room_machine *machine)
{
    return machine->cpus_status == 0 ? machine->cpu_count : 0;
}

static void read_disks(struct hr_room_machine *machine)
{
    size_t length;

    machine->disk_read_us = 0;
    if (hr_text_read_and_close(hr_root_openat(machine->root, "proc/diskstats", O_RDONLY),
                               machine->text, TEXT_SIZE, &length) == 0)
        hr_disk_reads_parse(machine->text, length, &machine->disk_read_us);
}

double hr_room_machine_disk_read_us(struct hr_room_machine *machine)
{
    const uint64_t now_ns = hr_clock_ns();

    if (now_ns >= machine->disks_due_ns) {
        machine->disks_due_ns = now_ns + DISKS_NS;
        read_disks(machine);
    }
    return machine->disk_read_us;
}

/* Those that are offline have done what they did, and do no more. */
uint64_t hr_room_machine_busy(const struct hr_room_machine *machine, const struct hr_cpu_set *cpus,
                              size_t *count)
{
    uint64_t busy_us = 0;

    *count = cpus != NULL ? hr_cpu_set_count(cpus) : machine->cpu_count;
    if (cpus == NULL)
        return machine->all_busy_us;
    for (unsigned i = hr_cpu_set_next(cpus, 0); i < HR_CPU_MAX; i = hr_cpu_set_next(cpus, i + 1))
        busy_us += machine->busy_us[i];
    return busy_us;
}
