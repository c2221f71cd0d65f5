/* SPDX-License-Identifier: MIT */
#include "room/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/transient.h"
#include "headroom/clock.h"
#include "room/history.h"
#include "room/io_max.h"
#include "room/io_stat.h"
#include "room/machine.h"
#include "room/memory_events.h"

/* --- The directories that are in use ------------------------------------------------ */

static int compare_inodes(const void *left, const void *right)
{
    const struct hr_room_directory *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode == b->inode ? 0 : a->inode < b->inode ? -1 : 1;
}

/* @return NULL: memory is short. */
static struct hr_room_directory *add_directory(struct hr_room_machine *machine,
                                               const struct hr_room_directory *key)
{
    struct hr_room_directory *added = calloc(1, sizeof(*added));

    if (added == NULL)
        return NULL;
    added->device = key->device;
    added->inode = key->inode;
    added->version = key->version;
    added->limits_round = UINT64_MAX;
    added->cpu_status = added->memory_status = added->io_status = -EAGAIN; /* not read yet */
    for (int i = 0; i < HR_ROOM_FILE_COUNT; i++)
        added->files[i] = HR_FILE_CLOSED;
    if (tsearch(added, &machine->directories, compare_inodes) == NULL) {
        free(added);
        return NULL;
    }
    LIST_INSERT_HEAD(&machine->all, added, all);
    return added;
}

void hr_room_directory_put(struct hr_room_machine *machine, struct hr_room_directory *directory)
{
    while (directory != NULL && --directory->user_count == 0) {
        struct hr_room_directory *above = directory->above;
        tdelete(directory, &machine->directories, compare_inodes);
        LIST_REMOVE(directory, all);
        for (int i = 0; i < HR_ROOM_FILE_COUNT; i++)
            hr_kept_file_close(&directory->files[i]);
        free(directory->forecast);
        free(directory->stall_hour);
        free(directory->io);
        free(directory);
        directory = above;
    }
}

static int read_identity(const struct hr_group_base *base, size_t level,
                         struct hr_room_directory *key)
{
    struct stat status;
    int fd = hr_group_base_open(base, level, ".", O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    int error = fstat(fd, &status) < 0 ? errno : 0;
    close(fd);
    key->device = status.st_dev;
    key->inode = status.st_ino;
    return -error;
}

/* Those above one that is in use are, too. */
static int find_upwards(struct hr_room_machine *machine, const struct hr_group_base *base,
                        int version, size_t levels, struct hr_room_directory **lowest)
{
    struct hr_room_directory **place = lowest;
    int status = 0;

    for (size_t level = 0; level < levels; level++, place = &(*place)->above) {
        struct hr_room_directory key = {.version = version};
        status = read_identity(base, level, &key);
        if (status < 0)
            return status;
        struct hr_room_directory **found = tfind(&key, &machine->directories, compare_inodes);
        *place = found != NULL ? *found : add_directory(machine, &key);
        if (*place == NULL)
            return -ENOMEM;
        (*place)->user_count++;
        if (found != NULL)
            break;
    }
    return 0;
}

int hr_room_directory_get(struct hr_room_machine *machine, const struct hr_group_base *base,
                          int version, size_t levels, struct hr_room_directory **directory)
{
    struct hr_room_directory *lowest = NULL;

    int status = find_upwards(machine, base, version, levels, &lowest);
    if (status < 0) {
        hr_room_directory_put(machine, lowest);
        return status;
    }
    *directory = lowest;
    return 0;
}

/* Whether it is the first read after the machine's. */
static bool is_first_of_round(uint64_t *round, const struct hr_room_machine *machine)
{
    const bool is_new = *round != machine->round;

    *round = machine->round;
    return is_new;
}

/* --- Limits --------------------------------------------------------------------------- */

/* A group without the controller has no limit of its own. */
static int read_cpu_limit(int dirfd, int version, struct hr_cpu_max *max)
{
    int status = hr_cpu_max_read(dirfd, version, max);

    if (status != -ENOENT)
        return status;
    *max = (struct hr_cpu_max){.quota_us = UINT64_MAX};
    return 0;
}

/* @return -ENOENT: the controller isn't enabled, so that there is none; -E2BIG: of too many
 * devices. */
static int read_io_limits(struct hr_room_directory *directory, int dirfd)
{
    struct hr_stall_devices limits;

    int status = directory->version == 2 ? hr_io_max_read(dirfd, &limits) : -ENOENT;
    if (status < 0 && status != -ENOENT)
        return status;
    if (status == -ENOENT || limits.count == 0) {
        free(directory->io);
        directory->io = NULL;
        return status;
    }
    if (directory->io == NULL)
        directory->io = calloc(1, sizeof(*directory->io));
    if (directory->io == NULL)
        return -ENOMEM;
    directory->io->limits = limits;
    directory->io->round = UINT64_MAX;
    return limits.has_more ? -EOVERFLOW : 0;
}

/* What is known stays so after a transient failure. The readers leave a limit unchanged. */
static void store_unless_transient(int status, int *known_status)
{
    if (!hr_is_transient(status) || hr_is_transient(*known_status))
        *known_status = status;
}

/* @return 0 or a transient failure. */
static int read_limits(struct hr_room_directory *directory, const struct hr_group_base *base,
                       size_t level)
{
    int fd = hr_group_base_open(base, level, ".", O_RDONLY | O_DIRECTORY);
    int cpu_status = fd, memory_status = fd, io_status = fd;

    if (fd >= 0) {
        cpu_status = read_cpu_limit(fd, directory->version, &directory->cpu);
        memory_status = hr_group_memory_limits_read(fd, directory->version, &directory->memory);
        io_status = read_io_limits(directory, fd);
        close(fd);
    }
    store_unless_transient(cpu_status, &directory->cpu_status);
    store_unless_transient(memory_status, &directory->memory_status);
    store_unless_transient(io_status, &directory->io_status);
    if (hr_is_transient(cpu_status))
        return cpu_status;
    if (hr_is_transient(memory_status))
        return memory_status;
    return hr_is_transient(io_status) ? io_status : 0;
}

static void look_for_missing_files(struct hr_room_directory *directory)
{
    for (int i = 0; i < HR_ROOM_FILE_COUNT; i++)
        if (directory->files[i] == HR_FILE_MISSING)
            hr_kept_file_close(&directory->files[i]);
}

int hr_room_directory_refresh(struct hr_room_directory *directory,
                              const struct hr_room_machine *machine,
                              const struct hr_group_base *base)
{
    int status = 0;

    for (size_t level = 0; directory != NULL; level++, directory = directory->above) {
        if (is_first_of_round(&directory->limits_round, machine)) {
            look_for_missing_files(directory);
            directory->limits_status = read_limits(directory, base, level);
        }
        if (status == 0)
            status = directory->limits_status;
    }
    return status;
}

/* --- What is used ---------------------------------------------------------------------- */

static int read_file(struct hr_room_directory *directory, enum hr_room_file file,
                     const struct hr_group_base *base, size_t level, const char *name, char *text,
                     size_t size, size_t *length)
{
    return hr_kept_file_read(&directory->files[file], base, level, name, text, size, length);
}

/* Version 1 has both in other hierarchies. */
static void read_cpu_stat(struct hr_room_directory *directory, const struct hr_group_base *base,
                          size_t level)
{
    char text[4096];
    size_t length;

    int status = read_file(directory, HR_ROOM_CPU_STAT_FILE, base, level, "cpu.stat", text,
                           sizeof(text), &length);
    directory->used_status = directory->throttling_status = status;
    if (status < 0)
        return;
    if (directory->version == 2)
        directory->used_status = hr_cpu_usage_parse(text, length, &directory->used_us);
    if (directory->cpu.quota_us != UINT64_MAX)
        directory->throttling_status = hr_cpu_stat_parse(text, length, &directory->throttling);
}

int hr_room_directory_read_used(struct hr_room_directory *directory,
                                const struct hr_room_machine *machine,
                                const struct hr_group_base *base, size_t level, uint64_t *used_us)
{
    if (is_first_of_round(&directory->cpu_round, machine))
        read_cpu_stat(directory, base, level);
    *used_us = directory->used_us;
    return directory->used_status;
}

int hr_room_directory_read_throttling(struct hr_room_directory *directory,
                                      const struct hr_room_machine *machine,
                                      const struct hr_group_base *base, size_t level,
                                      struct hr_cpu_stat *throttling)
{
    if (is_first_of_round(&directory->cpu_round, machine))
        read_cpu_stat(directory, base, level);
    *throttling = directory->throttling;
    return directory->throttling_status;
}

int hr_room_directory_read_memory(struct hr_room_directory *directory,
                                  const struct hr_room_machine *machine,
                                  const struct hr_group_base *base, size_t level,
                                  struct hr_memory_use *use)
{
    const struct hr_memory_use_files files = {
        base,
        level,
        &directory->files[HR_ROOM_MEMORY_STAT_FILE],
        &directory->files[HR_ROOM_MEMORY_SIZE_FILE],
        machine->meminfo.swap_total_bytes > 0 ? &directory->files[HR_ROOM_SWAPPED_FILE] : NULL,
        directory->needs_parts,
    };

    if (is_first_of_round(&directory->memory_round, machine))
        directory->use_status = hr_memory_use_read(&files, directory->version, &directory->use);
    *use = directory->use;
    return directory->use_status;
}

int hr_room_directory_read_io_stat(struct hr_room_directory *directory,
                                   const struct hr_group_base *base, size_t level, char *text,
                                   size_t size, size_t *length)
{
    return read_file(directory, HR_ROOM_IO_STAT_FILE, base, level, "io.stat", text, size, length);
}

static int read_limited_io(struct hr_room_directory *directory, const struct hr_group_base *base,
                           size_t level)
{
    struct hr_room_io_use *io = directory->io;
    char text[HR_ROOM_IO_STAT_SIZE];
    size_t length;

    io->done_ns = hr_clock_ns();
    int status =
        hr_room_directory_read_io_stat(directory, base, level, text, sizeof(text), &length);
    return status < 0 ? status : hr_io_stat_parse(text, length, &io->limits, &io->done);
}

int hr_room_directory_read_limited_io(struct hr_room_directory *directory,
                                      const struct hr_room_machine *machine,
                                      const struct hr_group_base *base, size_t level,
                                      const struct hr_stall_devices **done, uint64_t *time_ns)
{
    struct hr_room_io_use *io = directory->io;

    if (is_first_of_round(&io->round, machine))
        io->done_status = read_limited_io(directory, base, level);
    *done = &io->done;
    *time_ns = io->done_ns;
    return io->done_status;
}

int hr_room_directory_read_kills(struct hr_room_directory *directory,
                                 const struct hr_group_base *base, uint64_t *count)
{
    const char *name = directory->version == 1 ? "memory.oom_control" : "memory.events";
    char text[1024];
    size_t length;

    int status =
        read_file(directory, HR_ROOM_KILLS_FILE, base, 0, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_oom_kills_parse(text, length, count);
}

/* --- Trend ------------------------------------------------------------------------------- */

int hr_room_directory_start_forecast(struct hr_room_directory *directory,
                                     struct hr_room_machine *machine, uint64_t point_ns)
{
    if (directory->forecast != NULL)
        return 0;
    directory->forecast = malloc(sizeof(*directory->forecast));
    if (directory->forecast == NULL)
        return -ENOMEM;
    hr_room_history_begin(machine, directory->device, directory->inode, point_ns,
                          directory->forecast);
    return 0;
}

struct hr_stall_hour *hr_room_directory_stall_hour(struct hr_room_directory *directory,
                                                   struct hr_room_machine *machine)
{
    if (directory->stall_hour != NULL)
        return directory->stall_hour;
    directory->stall_hour = malloc(sizeof(*directory->stall_hour));
    if (directory->stall_hour != NULL)
        hr_room_history_begin_stalls(machine, directory->device, directory->inode,
                                     directory->stall_hour);
    return directory->stall_hour;
}

void hr_room_directory_update_forecast(struct hr_room_directory *directory,
                                       const struct hr_room_machine *machine, double level,
                                       double limit)
{
    if (is_first_of_round(&directory->forecast_round, machine) && directory->forecast != NULL)
        hr_forecast_update(directory->forecast, hr_clock_ns(), level, limit, &directory->outlook);
}
