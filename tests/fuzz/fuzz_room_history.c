/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_room_history.c - hr_room_history_restore and hr_room_history_find: with what they
 * accept forecasts go on, and it can be saved and restored again.
 *
 * The input is how many records there are, how much is cut off, and where the bytes differ from
 * those of a machine that has just begun; the hash is that of the outcome.
 */
#include <string.h>

#include "fuzz.h"
#include "headroom/clock.h"
#include "headroom/forecast.h"
#include "headroom/hash.h"
#include "headroom/room.h"
#include "headroom/room_history.h"
#include "headroom/root.h"
#include "headroom/stall_hour.h"
#include "headroom/state_file.h"

const char fuzz_corpus[] = "room_history";

/* See struct header of room/history.c. */
#define HASH_AT      (sizeof("hr-room2") - 1 + HR_BOOT_ID_LENGTH)
#define HASHED_AT    (HASH_AT + sizeof(uint32_t))
#define RECORDS_AT   (HASHED_AT + sizeof(uint32_t) + 2 * sizeof(uint64_t))
#define RECORDS_MOST 3

#define POINT_NS (20 * HR_NS_PER_S)

static const struct hr_root *root;
static char *saved;
static size_t saved_size;

static void begin(void)
{
    struct hr_room_machine *machine;
    struct hr_room_source *source;
    struct hr_root *opened;

    if (saved != NULL)
        return;
    require(hr_root_open("/", &opened) >= 0);
    root = opened;
    require(hr_room_machine_open(root, &machine) == 0);
    require(hr_room_open(machine, NULL, POINT_NS, &source) == 0);
    hr_room_machine_read(machine);
    require(hr_room_history_save(machine, POINT_NS, &saved, &saved_size) == 0);
    require(saved_size > RECORDS_AT);
    hr_room_close(source);
    hr_room_machine_close(machine);
}

static void set_hash(char *bytes, size_t size)
{
    uint32_t hash = HR_HASH_EMPTY;

    for (size_t i = HASHED_AT; i < size; i++)
        hash = hr_hash_number(hash, (unsigned char)bytes[i]);
    if (size >= HASHED_AT)
        memcpy(bytes + HASH_AT, &hash, sizeof(hash));
}

/* Of just its size, so that reading past it is seen. */
static char *make_file(const uint8_t *data, size_t size, size_t *length)
{
    const size_t record_size = saved_size - RECORDS_AT;
    const size_t records = size > 0 ? data[0] % (RECORDS_MOST + 1) : 1;
    const size_t cut = size > 1 ? data[1] : 0;
    char *whole = malloc(RECORDS_AT + RECORDS_MOST * record_size);

    require(whole != NULL);
    memcpy(whole, saved, RECORDS_AT);
    for (size_t i = 0; i < records; i++)
        memcpy(whole + RECORDS_AT + i * record_size, saved + RECORDS_AT, record_size);
    *length = RECORDS_AT + records * record_size;
    *length -= cut < *length ? cut : *length;
    for (size_t i = 2; i < size && HASHED_AT + i - 2 < *length; i++)
        whole[HASHED_AT + i - 2] ^= (char)data[i];
    set_hash(whole, *length);
    char *bytes = malloc(*length > 0 ? *length : 1);
    require(bytes != NULL);
    memcpy(bytes, whole, *length);
    free(whole);
    return bytes;
}

static void require_times(const struct hr_outlook *outlook)
{
    require(outlook->is_trend || outlook->trouble_s == 0);
    require(outlook->trouble_s >= 0 && outlook->early_s >= 0 && outlook->late_s >= 0);
}

static void go_on(struct hr_room_machine *machine)
{
    static const struct hr_room_lines lines = {{40, 10, 40, 101}};
    struct hr_room_machine *again;
    struct hr_room_reading reading;
    struct hr_room_source *source;
    uint64_t age_ns;
    size_t length, count;
    char *bytes;

    require(hr_room_open(machine, NULL, POINT_NS, &source) == 0);
    hr_room_machine_read(machine);
    require(hr_room_read(source, &lines, &reading) == 0);
    if (reading.memory.status == 0)
        require_times(&reading.outlook);
    require(hr_room_history_save(machine, POINT_NS, &bytes, &length) == 0);
    require(hr_room_machine_open(root, &again) == 0);
    require(hr_room_history_restore(again, bytes, length, POINT_NS, &age_ns, &count) == 0);
    hr_room_machine_close(again);
    free(bytes);
    hr_room_close(source);
}

static void find(struct hr_room_machine *machine, const char *bytes, size_t length)
{
    struct hr_room_source *source;
    struct hr_forecast forecast;
    struct hr_stall_hour hour;
    uint64_t time_ns;

    require(hr_room_open(machine, NULL, POINT_NS, &source) == 0);
    if (hr_room_history_find(source, bytes, length, &forecast, &time_ns) == 0)
        require(hr_forecast_is_valid(&forecast, hr_clock_ns()) && time_ns <= hr_clock_ns());
    if (hr_room_history_find_stalls(source, bytes, length, &hour, &time_ns) == 0)
        require(hr_stall_hour_is_valid(&hour, hr_clock_ns()) && time_ns <= hr_clock_ns());
    hr_room_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_room_machine *machine;
    uint64_t age_ns;
    size_t length, count;

    begin();
    char *bytes = make_file(data, size, &length);
    require(hr_room_machine_open(root, &machine) == 0);
    find(machine, bytes, length);
    const int status = hr_room_history_restore(machine, bytes, length, POINT_NS, &age_ns, &count);
    require(status == 0 || size > 0);
    if (status == 0)
        go_on(machine);
    hr_room_machine_close(machine);
    free(bytes);
    return 0;
}
