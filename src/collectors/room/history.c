/* SPDX-License-Identifier: MIT */
#include "room/history.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/hash.h"
#include "headroom/state_file.h"
#include "room/directory.h"
#include "room/machine.h"
#include "room/source.h"

/* The last digit is that of the format: of what follows, of struct hr_forecast, and of struct
 * hr_stall_hour. */
#define MAGIC "hr-room2"

/* How long what was saved waits for its group. */
#define KEPT_NS (600 * HR_NS_PER_S)

/* Before as many records as fit. */
struct header {
    char magic[sizeof(MAGIC) - 1];
    char boot_id[HR_BOOT_ID_LENGTH];
    uint32_t hash; /* of all that follows */
    uint32_t record_size;
    uint64_t point_ns;
    uint64_t time_ns; /* of the last reading, since boot */
};

/* Of one directory. The machine's has no number. */
struct hr_room_record {
    uint64_t device, inode;
    struct hr_forecast forecast;     /* with point_ns 0: there is none */
    struct hr_stall_hour stall_hour; /* all zeros: the same */
};

static uint32_t hash_of(const char *bytes, size_t length)
{
    uint32_t sum = HR_HASH_EMPTY;

    for (size_t i = 0; i < length; i++)
        sum = hr_hash_number(sum, (unsigned char)bytes[i]);
    return sum;
}

/* --- Saving ----------------------------------------------------------------- */

/* @param forecast, stall_hour  NULL: there is none. */
static void add_record(char **end, uint64_t device, uint64_t inode,
                       const struct hr_forecast *forecast, const struct hr_stall_hour *stall_hour,
                       size_t *count)
{
    struct hr_room_record record;

    ++*count;
    if (*end == NULL)
        return;
    memset(&record, 0, sizeof(record));
    record.device = device;
    record.inode = inode;
    if (forecast != NULL)
        memcpy(&record.forecast, forecast, sizeof(*forecast));
    if (stall_hour != NULL)
        memcpy(&record.stall_hour, stall_hour, sizeof(*stall_hour));
    memcpy(*end, &record, sizeof(record));
    *end += sizeof(record);
}

/* What was taken has no points and no slot any more. */
static bool is_taken(const struct hr_room_record *record)
{
    return record->forecast.point_ns == 0 && record->stall_hour.latest == 0;
}

/* @param end  NULL: they are counted only. */
static size_t add_records(const struct hr_room_machine *machine, char *end)
{
    const struct hr_room_directory *directory;
    size_t count = 0;

    if (machine->point_ns != 0)
        add_record(&end, 0, 0, &machine->forecast, &machine->stall_hour, &count);
    LIST_FOREACH(directory, &machine->all, all)
    if (directory->forecast != NULL || directory->stall_hour != NULL)
        add_record(&end, directory->device, directory->inode, directory->forecast,
                   directory->stall_hour, &count);
    for (size_t i = 0; i < machine->saved_count; i++) {
        const struct hr_room_record *saved = &machine->saved[i];
        if (!is_taken(saved))
            add_record(&end, saved->device, saved->inode, &saved->forecast, &saved->stall_hour,
                       &count);
    }
    return count;
}

int hr_room_history_save(const struct hr_room_machine *machine, uint64_t point_ns, char **bytes,
                         size_t *length)
{
    const size_t size =
        sizeof(struct header) + add_records(machine, NULL) * sizeof(struct hr_room_record);
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    struct header header;

    if (machine->read_ns == 0)
        return -ENODATA;
    int status = hr_boot_id_read(boot_id);
    if (status < 0)
        return status;
    char *made = malloc(size);
    if (made == NULL)
        return -ENOMEM;
    memset(&header, 0, sizeof(header));
    memcpy(header.magic, MAGIC, sizeof(header.magic));
    memcpy(header.boot_id, boot_id, sizeof(header.boot_id));
    header.record_size = sizeof(struct hr_room_record);
    header.point_ns = point_ns;
    header.time_ns = machine->read_ns;
    add_records(machine, made + sizeof(header));
    memcpy(made, &header, sizeof(header));
    const size_t hashed = offsetof(struct header, record_size);
    header.hash = hash_of(made + hashed, size - hashed);
    memcpy(made, &header, sizeof(header));
    *bytes = made;
    *length = size;
    return 0;
}

/* --- Restoring ---------------------------------------------------------------- */

static int compare_records(const void *left, const void *right)
{
    const struct hr_room_record *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode == b->inode ? 0 : a->inode < b->inode ? -1 : 1;
}

static int read_header(const char *bytes, size_t length, struct header *header)
{
    const size_t hashed = offsetof(struct header, record_size);
    char boot_id[HR_BOOT_ID_LENGTH + 1];

    if (length < sizeof(*header))
        return -EBADMSG;
    memcpy(header, bytes, sizeof(*header));
    int status = hr_boot_id_read(boot_id);
    if (status < 0)
        return status;
    if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0 ||
        memcmp(header->boot_id, boot_id, sizeof(header->boot_id)) != 0)
        return -ESTALE;
    if (header->hash != hash_of(bytes + hashed, length - hashed))
        return -EBADMSG;
    if (header->record_size != sizeof(struct hr_room_record))
        return -ESTALE;
    return header->time_ns <= hr_clock_ns() ? 0 : -EBADMSG;
}

static bool is_valid(const struct hr_room_record *record, uint64_t point_ns)
{
    const uint64_t now_ns = hr_clock_ns();

    if (record->forecast.point_ns != 0 &&
        (record->forecast.point_ns != point_ns || !hr_forecast_is_valid(&record->forecast, now_ns)))
        return false;
    return !is_taken(record) && hr_stall_hour_is_valid(&record->stall_hour, now_ns);
}

/* @param saved  receives the valid records, in order. */
static int read_records(const char *bytes, size_t size, uint64_t point_ns,
                        struct hr_room_record **saved, size_t *count)
{
    const size_t found = size / sizeof(struct hr_room_record);

    if (size % sizeof(struct hr_room_record) != 0)
        return -EBADMSG;
    struct hr_room_record *records = malloc(size > 0 ? size : 1);
    if (records == NULL)
        return -ENOMEM;
    size_t kept = 0;
    for (size_t i = 0; i < found; i++) {
        memcpy(&records[kept], bytes + i * sizeof(*records), sizeof(*records));
        kept += is_valid(&records[kept], point_ns);
    }
    qsort(records, kept, sizeof(*records), compare_records);
    *saved = records;
    *count = kept;
    return 0;
}

static size_t count_forecasts(const struct hr_room_machine *machine)
{
    size_t count = 0;

    for (size_t i = 0; i < machine->saved_count; i++)
        count += machine->saved[i].forecast.point_ns != 0;
    return count;
}

int hr_room_history_restore(struct hr_room_machine *machine, const char *bytes, size_t length,
                            uint64_t point_ns, uint64_t *age_ns, size_t *count)
{
    struct header header;

    int status = read_header(bytes, length, &header);
    if (status == 0 && header.point_ns != point_ns)
        status = -ESTALE;
    if (status < 0)
        return status;
    status = read_records(bytes + sizeof(header), length - sizeof(header), point_ns,
                          &machine->saved, &machine->saved_count);
    if (status < 0)
        return status;
    machine->restored_ns = hr_clock_ns();
    machine->read_ns = header.time_ns;
    *age_ns = machine->restored_ns - header.time_ns;
    *count = count_forecasts(machine);
    return 0;
}

/* @param directory  NULL: the machine's. */
static int find_record(const struct hr_room_directory *directory, const char *bytes, size_t length,
                       struct hr_room_record *record, uint64_t *time_ns)
{
    struct hr_room_record key = {.device = 0}, *saved;
    struct header header;
    size_t count;

    if (directory != NULL)
        key = (struct hr_room_record){.device = directory->device, .inode = directory->inode};
    int status = read_header(bytes, length, &header);
    if (status == 0)
        status = read_records(bytes + sizeof(header), length - sizeof(header), header.point_ns,
                              &saved, &count);
    if (status < 0)
        return status;
    const struct hr_room_record *found = bsearch(&key, saved, count, sizeof(key), compare_records);
    if (found != NULL) {
        memcpy(record, found, sizeof(*record));
        *time_ns = header.time_ns;
    }
    free(saved);
    return found != NULL ? 0 : -ENODATA;
}

int hr_room_history_find(const struct hr_room_source *source, const char *bytes, size_t length,
                         struct hr_forecast *forecast, uint64_t *time_ns)
{
    struct hr_room_record record;

    if (source->group != NULL && source->memory.directory == NULL)
        return -ENODATA;
    int status = find_record(source->memory.directory, bytes, length, &record, time_ns);
    if (status == 0 && record.forecast.point_ns == 0)
        status = -ENODATA;
    if (status == 0)
        memcpy(forecast, &record.forecast, sizeof(*forecast));
    return status;
}

int hr_room_history_find_stalls(const struct hr_room_source *source, const char *bytes,
                                size_t length, struct hr_stall_hour *hour, uint64_t *time_ns)
{
    struct hr_room_record record;

    if (source->group != NULL && source->unified.directory == NULL)
        return -ENODATA;
    int status = find_record(source->unified.directory, bytes, length, &record, time_ns);
    if (status == 0)
        memcpy(hour, &record.stall_hour, sizeof(*hour));
    return status;
}

/* --- Its use -------------------------------------------------------------------- */

/* @return NULL: nothing was saved of it. */
static struct hr_room_record *find_saved(const struct hr_room_machine *machine, uint64_t device,
                                         uint64_t inode)
{
    const struct hr_room_record key = {.device = device, .inode = inode};

    if (machine->saved == NULL)
        return NULL;
    return bsearch(&key, machine->saved, machine->saved_count, sizeof(key), compare_records);
}

void hr_room_history_begin(struct hr_room_machine *machine, uint64_t device, uint64_t inode,
                           uint64_t point_ns, struct hr_forecast *forecast)
{
    struct hr_room_record *found = find_saved(machine, device, inode);

    if (found == NULL || found->forecast.point_ns != point_ns) {
        hr_forecast_init(forecast, point_ns);
        return;
    }
    memcpy(forecast, &found->forecast, sizeof(*forecast));
    found->forecast.point_ns = 0;
}

void hr_room_history_begin_stalls(struct hr_room_machine *machine, uint64_t device, uint64_t inode,
                                  struct hr_stall_hour *hour)
{
    struct hr_room_record *found = find_saved(machine, device, inode);

    *hour = found != NULL ? found->stall_hour : (struct hr_stall_hour){.latest = 0};
    if (found != NULL)
        found->stall_hour = (struct hr_stall_hour){.latest = 0};
}

void hr_room_history_expire(struct hr_room_machine *machine)
{
    if (machine->saved != NULL && hr_clock_ns() - machine->restored_ns >= KEPT_NS)
        hr_room_history_free(machine);
}

void hr_room_history_free(struct hr_room_machine *machine)
{
    free(machine->saved);
    machine->saved = NULL;
    machine->saved_count = 0;
}
