/* SPDX-License-Identifier: MIT */
#include "perf/bpf_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bpf_constants.h"
#include "perf/bpf_object.h"

/* CPUs share no cache line: of marks, and of values. */
#define MARKS_STEP 64
#define SLOTS_STEP 8

enum map { EVENTS, SLOTS, SELECTED, CURRENT, MARKS, CPUS, MAP_COUNT };

/* A program that began before a reading may set its mark after it, where its CPU was held up; by a
 * hypervisor, say. By then it may be of the reading before. */
#define LATE_READINGS 3

struct object {
    struct bpf_object *bpf;
    struct bpf_link *link;
    int map_fds[MAP_COUNT];
    int on_reading; /* the program */
    __u32 cpu_limit;
    size_t event_count;
    size_t row;       /* slots of a CPU */
    size_t marks_row; /* bytes */
    struct count_current current;
    /* Mapped, of each CPU's row: */
    const __u8 *marks;
    const struct count_value *values;
};

static const char *const map_names[MAP_COUNT] = {
    [EVENTS] = "events",   [SLOTS] = "slots", [SELECTED] = "selected",
    [CURRENT] = "current", [MARKS] = "marks", [CPUS] = "cpus",
};

static const __u32 zero;

/* --- Loading -------------------------------------------------------------- */

static struct bpf_map *find_map(const struct object *object, enum map map)
{
    return bpf_object__find_map_by_name(object->bpf, map_names[map]);
}

/* @param value_size  0: as it is. */
static int set_size(const struct object *object, enum map number, size_t entries, size_t value_size)
{
    struct bpf_map *map = find_map(object, number);
    const bool mapped = number == SLOTS || number == MARKS;
    int status = entries <= UINT32_MAX ? bpf_map__set_max_entries(map, (__u32)entries) : -E2BIG;

    if (status == 0 && value_size != 0)
        status = bpf_map__set_value_size(map, (__u32)value_size);
    if (status == 0 && mapped)
        status = bpf_map__set_map_flags(map, BPF_F_MMAPABLE);
    return status;
}

static int set_sizes(const struct object *object)
{
    int status = set_size(object, EVENTS, object->event_count * object->cpu_limit, 0);

    if (status == 0)
        status = set_size(object, SLOTS, object->row * object->cpu_limit,
                          object->event_count * sizeof(struct count_value));
    if (status == 0)
        status = set_size(object, SELECTED, object->row, 0);
    if (status == 0)
        status = set_size(object, MARKS, object->cpu_limit, object->marks_row);
    return status;
}

static size_t round_up(size_t size, size_t step)
{
    return (size + step - 1) / step * step;
}

/* The kernel maps whole pages only. */
static size_t mapped_size(size_t size)
{
    return round_up(size, (size_t)sysconf(_SC_PAGESIZE));
}

static size_t marks_size(const struct object *object)
{
    return mapped_size(object->marks_row * object->cpu_limit);
}

static size_t values_size(const struct object *object)
{
    return mapped_size(object->row * object->cpu_limit * object->event_count *
                       sizeof(struct count_value));
}

/* @return NULL on failure, and errno. */
static const void *map_memory(const struct object *object, enum map map, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, object->map_fds[map], 0);

    return memory != MAP_FAILED ? memory : NULL;
}

static int open_and_load(struct object *object, const struct count_settings *settings)
{
    const struct count_settings padded = {.event_count = settings->event_count,
                                          .cpu_limit = settings->cpu_limit,
                                          .slot_count = (__u32)object->row};
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "headroom_count");

    object->bpf = bpf_object__open_mem(hr_perf_bpf_object, hr_perf_bpf_object_size, &options);
    if (object->bpf == NULL)
        return -errno;
    int status = set_sizes(object);
    if (status == 0)
        status = hr_bpf_set_constant(object->bpf, &padded, sizeof(padded));
    if (status == 0)
        status = bpf_object__load(object->bpf);
    if (status != 0)
        return status;
    for (int i = 0; i < MAP_COUNT; i++)
        object->map_fds[i] = bpf_map__fd(find_map(object, i));
    object->on_reading =
        bpf_program__fd(bpf_object__find_program_by_name(object->bpf, "on_reading"));
    object->marks = map_memory(object, MARKS, marks_size(object));
    if (object->marks != NULL)
        object->values = map_memory(object, SLOTS, values_size(object));
    return object->values != NULL ? 0 : -errno;
}

static void libbpf_unload(void *object)
{
    struct object *own = object;

    if (own->marks != NULL)
        munmap((void *)own->marks, marks_size(own));
    if (own->values != NULL)
        munmap((void *)own->values, values_size(own));
    bpf_link__destroy(own->link);
    bpf_object__close(own->bpf);
    free(own);
}

/* libbpf prints on standard error unless it is stopped. */
static int libbpf_load(const struct count_settings *settings, size_t slots, size_t possible,
                       void **object)
{
    if (sizeof(long) < sizeof(__u64)) /* half of a value could be read */
        return -ENOEXEC;
    if (libbpf_num_possible_cpus() != (int)possible)
        return -ENXIO;
    struct object *own = calloc(1, sizeof(*own));
    if (own == NULL)
        return -ENOMEM;
    libbpf_print_fn_t print = libbpf_set_print(NULL);
    own->cpu_limit = settings->cpu_limit;
    own->event_count = settings->event_count;
    own->row = round_up(slots, SLOTS_STEP);
    own->marks_row = round_up(slots, MARKS_STEP);
    int status = open_and_load(own, settings);
    libbpf_set_print(print);
    if (status != 0)
        libbpf_unload(own);
    else
        *object = own;
    return status;
}

static int libbpf_attach(void *object)
{
    struct object *own = object;

    own->link = bpf_program__attach(bpf_object__find_program_by_name(own->bpf, "on_switch"));
    return own->link != NULL ? 0 : -errno;
}

/* --- Maps ----------------------------------------------------------------- */

static int libbpf_set_event(void *object, size_t event, unsigned cpu, int fd)
{
    const struct object *own = object;
    const __u32 key = (__u32)event * own->cpu_limit + cpu;

    return bpf_map_update_elem(own->map_fds[EVENTS], &key, &fd, BPF_ANY) < 0 ? -errno : 0;
}

static void libbpf_unset_event(void *object, size_t event, unsigned cpu)
{
    const struct object *own = object;
    const __u32 key = (__u32)event * own->cpu_limit + cpu;

    bpf_map_delete_elem(own->map_fds[EVENTS], &key);
}

static int update_current(const struct object *object)
{
    return bpf_map_update_elem(object->map_fds[CURRENT], &zero, &object->current, BPF_ANY) < 0
               ? -errno
               : 0;
}

/* Where cgroups were found to be counted is looked up again. */
static int begin_generation(struct object *object)
{
    object->current.generation++;
    return update_current(object);
}

static int libbpf_select(void *object, uint64_t id, __u32 slot)
{
    struct object *own = object;

    if (bpf_map_update_elem(own->map_fds[SELECTED], &id, &slot, BPF_ANY) < 0)
        return -errno;
    return begin_generation(own);
}

static int libbpf_deselect(void *object, uint64_t id)
{
    struct object *own = object;

    if (bpf_map_delete_elem(own->map_fds[SELECTED], &id) < 0 && errno != ENOENT)
        return -errno;
    return begin_generation(own);
}

static int libbpf_read_cpus(void *object, struct count_cpu *cpus)
{
    const struct object *own = object;

    return bpf_map_lookup_elem(own->map_fds[CPUS], &zero, cpus) < 0 ? -errno : 0;
}

static int libbpf_flush(void *object, unsigned cpu)
{
    const struct object *own = object;
    LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

    return bpf_prog_test_run_opts(own->on_reading, &options) < 0 ? -errno : 0;
}

static int libbpf_begin_reading(void *object)
{
    struct object *own = object;

    own->current.reading++;
    return update_current(own);
}

static bool is_recent(const struct object *object, __u8 mark)
{
    return (__u8)(object->current.reading - mark) < LATE_READINGS;
}

static void libbpf_find_changed(void *object, __u32 count, bool *changed)
{
    const struct object *own = object;

    memset(changed, 0, count * sizeof(*changed));
    for (__u32 cpu = 0; cpu < own->cpu_limit; cpu++)
        for (__u32 slot = 0; slot < count; slot++)
            changed[slot] |= is_recent(own, own->marks[cpu * own->marks_row + slot]);
}

static bool libbpf_is_changed(const void *object, __u32 slot, unsigned cpu)
{
    const struct object *own = object;

    return is_recent(own, own->marks[cpu * own->marks_row + slot]);
}

/* Of 32 bits, where libbpf_load() refuses, a load of 64 would take a library. */
typedef unsigned long __attribute__((may_alias)) machine_word;

static __u64 load(const __u64 *value)
{
    return __atomic_load_n((const machine_word *)value, __ATOMIC_ACQUIRE);
}

/* The program may add meanwhile: in the opposite order, see its add(). Where a CPU's stores may be
 * seen in another order, an addition may be seen in part until the next reading. */
static void libbpf_read(const void *object, __u32 slot, unsigned cpu, struct count_value *values)
{
    const struct object *own = object;
    const struct count_value *at = &own->values[((size_t)cpu * own->row + slot) * own->event_count];

    for (size_t e = 0; e < own->event_count; e++) {
        values[e].count = load(&at[e].count);
        values[e].enabled_ns = load(&at[e].enabled_ns);
        values[e].running_ns = load(&at[e].running_ns);
    }
}

const struct hr_perf_bpf_calls hr_perf_kernel_bpf_calls = {
    .load = libbpf_load,
    .unload = libbpf_unload,
    .attach = libbpf_attach,
    .set_event = libbpf_set_event,
    .unset_event = libbpf_unset_event,
    .select = libbpf_select,
    .deselect = libbpf_deselect,
    .read_cpus = libbpf_read_cpus,
    .flush = libbpf_flush,
    .begin_reading = libbpf_begin_reading,
    .find_changed = libbpf_find_changed,
    .is_changed = libbpf_is_changed,
    .read = libbpf_read,
};
