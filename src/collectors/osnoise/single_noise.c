/* SPDX-License-Identifier: MIT */
#include "osnoise/single_noise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An interference, as it was recorded. */
struct recent {
    struct hr_osnoise_part part;
    uint64_t start_ns;
};

struct cpu {
    struct recent recent[HR_OSNOISE_RECENT_PARTS];
    size_t next, count;    /* of the ring */
    bool has_forgotten;    /* some parts were overwritten in the ring, the last of which */
    uint64_t forgotten_ns; /* began then */
    bool lost;             /* records were lost since the last noise */
    uint64_t noise_count;  /* since the last hr_osnoise_single_noises_take() */
    struct hr_osnoise_single_noise found[HR_OSNOISE_SINGLE_NOISES]; /* some of them */
    size_t found_count;
};

struct hr_osnoise_single_noises {
    uint64_t max_single_ns;
    struct hr_osnoise_single_noise *taken; /* of all CPUs */
    size_t cpu_count;
    struct hr_osnoise_part merged[HR_OSNOISE_RECENT_PARTS]; /* scratch space of one call */
    struct cpu cpus[];
};

int hr_osnoise_single_noises_open(size_t cpu_count, uint64_t max_single_ns,
                                  struct hr_osnoise_single_noises **single_noises)
{
    struct hr_osnoise_single_noises *made =
        calloc(1, sizeof(*made) + cpu_count * sizeof(made->cpus[0]));

    if (made == NULL)
        return -ENOMEM;
    made->taken = calloc(cpu_count * HR_OSNOISE_SINGLE_NOISES, sizeof(made->taken[0]));
    if (made->taken == NULL) {
        free(made);
        return -ENOMEM;
    }
    made->max_single_ns = max_single_ns;
    made->cpu_count = cpu_count;
    *single_noises = made;
    return 0;
}

void hr_osnoise_single_noises_close(struct hr_osnoise_single_noises *single_noises)
{
    if (single_noises != NULL)
        free(single_noises->taken);
    free(single_noises);
}

/* --- Interferences -------------------------------------------------------- */

static void remember_part(struct cpu *cpu, const struct hr_osnoise_record *record)
{
    struct recent *recent = &cpu->recent[cpu->next];

    if (cpu->count == HR_OSNOISE_RECENT_PARTS) {
        if (!cpu->has_forgotten || recent->start_ns > cpu->forgotten_ns)
            cpu->forgotten_ns = recent->start_ns;
        cpu->has_forgotten = true;
    } else {
        cpu->count++;
    }
    recent->start_ns = record->part.start_ns;
    recent->part = (struct hr_osnoise_part){.kind = record->part.kind,
                                            .number = record->part.number,
                                            .duration_ns = record->part.duration_ns,
                                            .count = 1};
    memcpy(recent->part.name, record->part.name, sizeof(recent->part.name));
    cpu->next = (cpu->next + 1) % HR_OSNOISE_RECENT_PARTS;
}

static bool is_same(const struct hr_osnoise_part *a, const struct hr_osnoise_part *b)
{
    return a->kind == b->kind && a->number == b->number && strcmp(a->name, b->name) == 0;
}

static void merge_part(struct hr_osnoise_part *merged, size_t *count,
                       const struct hr_osnoise_part *part)
{
    size_t i = 0;

    while (i < *count && !is_same(&merged[i], part))
        i++;
    if (i == *count) {
        merged[(*count)++] = *part;
        return;
    }
    merged[i].count += part->count;
    merged[i].duration_ns += part->duration_ns;
}

static int compare_duration(const void *left, const void *right)
{
    const struct hr_osnoise_part *a = left, *b = right;

    return (a->duration_ns < b->duration_ns) - (a->duration_ns > b->duration_ns);
}

/* Collects the parts that began within a noise. @return their number after merging. */
static size_t collect_parts(struct hr_osnoise_single_noises *single_noises, const struct cpu *cpu,
                            uint64_t start_ns, uint64_t duration_ns)
{
    size_t count = 0, oldest = cpu->count < HR_OSNOISE_RECENT_PARTS ? 0 : cpu->next;

    for (size_t i = 0; i < cpu->count; i++) {
        const struct recent *recent = &cpu->recent[(oldest + i) % HR_OSNOISE_RECENT_PARTS];
        if (recent->start_ns >= start_ns && recent->start_ns - start_ns <= duration_ns)
            merge_part(single_noises->merged, &count, &recent->part);
    }
    qsort(single_noises->merged, count, sizeof(single_noises->merged[0]), compare_duration);
    return count;
}

static uint64_t count_parts(const struct hr_osnoise_part *parts, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += parts[i].count;
    return sum;
}

/* --- Noises --------------------------------------------------------------- */

/* @return the place for a noise: of those before it the last ones stay, and the longest of all. */
static struct hr_osnoise_single_noise *get_place(struct cpu *cpu, uint64_t duration_ns)
{
    struct hr_osnoise_single_noise *found = cpu->found;
    size_t longest = 0;

    if (cpu->found_count < HR_OSNOISE_SINGLE_NOISES)
        return &found[cpu->found_count++];
    for (size_t i = 1; i < HR_OSNOISE_SINGLE_NOISES; i++)
        if (found[i].duration_ns > found[longest].duration_ns)
            longest = i;
    const size_t dropped = longest == 0 && found[0].duration_ns >= duration_ns ? 1 : 0;
    memmove(&found[dropped], &found[dropped + 1],
            (HR_OSNOISE_SINGLE_NOISES - 1 - dropped) * sizeof(*found));
    return &found[HR_OSNOISE_SINGLE_NOISES - 1];
}

static void add_noise(struct hr_osnoise_single_noises *single_noises, struct cpu *cpu,
                      unsigned number, const struct hr_osnoise_record *record)
{
    uint64_t start_ns = record->single_noise.start_ns;
    struct hr_osnoise_single_noise *found = get_place(cpu, record->single_noise.duration_ns);

    cpu->noise_count++;
    size_t count = collect_parts(single_noises, cpu, start_ns, record->single_noise.duration_ns);
    found->cpu = number;
    found->duration_ns = record->single_noise.duration_ns;
    found->interference_count = record->single_noise.interference_count;
    found->part_count = count < HR_OSNOISE_PARTS ? count : HR_OSNOISE_PARTS;
    memcpy(found->parts, single_noises->merged, found->part_count * sizeof(found->parts[0]));
    found->parts_are_all = count <= HR_OSNOISE_PARTS && !cpu->lost &&
                           !(cpu->has_forgotten && cpu->forgotten_ns >= start_ns) &&
                           count_parts(single_noises->merged, count) >= found->interference_count;
}

/* Noises don't overlap: records lost before this one can't be missing in the next. */
void hr_osnoise_single_noises_add_record(struct hr_osnoise_single_noises *single_noises,
                                         size_t place, unsigned cpu,
                                         const struct hr_osnoise_record *record)
{
    struct cpu *at = &single_noises->cpus[place];

    if (record->type == HR_OSNOISE_RECORD_PART)
        remember_part(at, record);
    if (record->type != HR_OSNOISE_RECORD_SINGLE_NOISE)
        return;
    if (record->single_noise.duration_ns > single_noises->max_single_ns)
        add_noise(single_noises, at, cpu, record);
    at->lost = false;
}

void hr_osnoise_single_noises_mark_lost(struct hr_osnoise_single_noises *single_noises,
                                        size_t place)
{
    single_noises->cpus[place].lost = true;
}

uint64_t hr_osnoise_single_noises_count(const struct hr_osnoise_single_noises *single_noises,
                                        size_t place)
{
    return single_noises->cpus[place].noise_count;
}

const struct hr_osnoise_single_noise *
hr_osnoise_single_noises_take(struct hr_osnoise_single_noises *single_noises, size_t *count)
{
    struct hr_osnoise_single_noise *end = single_noises->taken;

    for (size_t i = 0; i < single_noises->cpu_count; i++) {
        struct cpu *cpu = &single_noises->cpus[i];
        memcpy(end, cpu->found, cpu->found_count * sizeof(*end));
        end += cpu->found_count;
        cpu->found_count = 0;
        cpu->noise_count = 0;
    }
    *count = (size_t)(end - single_noises->taken);
    return single_noises->taken;
}
