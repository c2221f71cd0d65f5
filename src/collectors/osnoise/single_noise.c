/* SPDX-License-Identifier: MIT */
#include "osnoise/single_noise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An interference, as it was recorded, or several that are added up. */
struct interference {
    enum hr_osnoise_kind kind;
    int number;
    char name[HR_OSNOISE_NAME];
    uint64_t start_ns; /* of one */
    uint64_t duration_ns, count;
    struct hr_osnoise_spans spans;
};

/* A noise whose functions have no names yet. */
struct found {
    struct hr_osnoise_single_noise noise;
    struct hr_osnoise_spans spans[HR_OSNOISE_PARTS]; /* of its parts */
};

struct cpu {
    struct interference recent[HR_OSNOISE_RECENT_PARTS];
    size_t next, count;    /* of the ring */
    bool has_forgotten;    /* parts were overwritten in the ring */
    uint64_t forgotten_ns; /* when the latest of these began */
    bool lost;             /* records were lost since the last noise */
    uint64_t noise_count;  /* since the last hr_osnoise_single_noises_take() */
    struct found found[HR_OSNOISE_SINGLE_NOISES]; /* some of them */
    size_t found_count;
    struct hr_osnoise_causes causes;
};

struct hr_osnoise_single_noises {
    uint64_t max_single_ns;
    struct hr_osnoise_single_noise *taken; /* of all CPUs */
    size_t cpu_count;
    struct interference merged[HR_OSNOISE_RECENT_PARTS]; /* scratch space of one call */
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
    struct interference *recent = &cpu->recent[cpu->next];

    if (cpu->count == HR_OSNOISE_RECENT_PARTS) {
        if (!cpu->has_forgotten || recent->start_ns > cpu->forgotten_ns)
            cpu->forgotten_ns = recent->start_ns;
        cpu->has_forgotten = true;
    } else {
        cpu->count++;
    }
    *recent = (struct interference){.kind = record->part.kind,
                                    .number = record->part.number,
                                    .start_ns = record->part.start_ns,
                                    .duration_ns = record->part.duration_ns,
                                    .count = 1,
                                    .spans = hr_osnoise_causes_take(&cpu->causes, record)};
    memcpy(recent->name, record->part.name, sizeof(recent->name));
    cpu->next = (cpu->next + 1) % HR_OSNOISE_RECENT_PARTS;
}

static bool is_same(const struct interference *a, const struct interference *b)
{
    return a->kind == b->kind && a->number == b->number && strcmp(a->name, b->name) == 0;
}

static void merge_part(struct interference *merged, size_t *count, const struct interference *part)
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
    hr_osnoise_spans_add(&merged[i].spans, &part->spans);
}

static int compare_duration(const void *left, const void *right)
{
    const struct interference *a = left, *b = right;

    return (a->duration_ns < b->duration_ns) - (a->duration_ns > b->duration_ns);
}

/* Collects the parts that began within a noise. @return their number after merging. */
static size_t collect_parts(struct hr_osnoise_single_noises *single_noises, const struct cpu *cpu,
                            uint64_t start_ns, uint64_t duration_ns)
{
    size_t count = 0, oldest = cpu->count < HR_OSNOISE_RECENT_PARTS ? 0 : cpu->next;

    for (size_t i = 0; i < cpu->count; i++) {
        const struct interference *recent = &cpu->recent[(oldest + i) % HR_OSNOISE_RECENT_PARTS];
        if (recent->start_ns >= start_ns && recent->start_ns - start_ns <= duration_ns)
            merge_part(single_noises->merged, &count, recent);
    }
    qsort(single_noises->merged, count, sizeof(single_noises->merged[0]), compare_duration);
    return count;
}

static uint64_t count_parts(const struct interference *parts, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += parts[i].count;
    return sum;
}

/* --- Noises --------------------------------------------------------------- */

/* @return the place for a noise: of those before it the last ones stay, and the longest of all. */
static struct found *make_room_for_noise(struct cpu *cpu, uint64_t duration_ns)
{
    struct found *found = cpu->found;
    size_t longest = 0;

    if (cpu->found_count < HR_OSNOISE_SINGLE_NOISES)
        return &found[cpu->found_count++];
    for (size_t i = 1; i < HR_OSNOISE_SINGLE_NOISES; i++)
        if (found[i].noise.duration_ns > found[longest].noise.duration_ns)
            longest = i;
    const size_t dropped = longest == 0 && found[0].noise.duration_ns >= duration_ns ? 1 : 0;
    memmove(&found[dropped], &found[dropped + 1],
            (HR_OSNOISE_SINGLE_NOISES - 1 - dropped) * sizeof(*found));
    return &found[HR_OSNOISE_SINGLE_NOISES - 1];
}

static void set_part(struct hr_osnoise_part *part, const struct interference *merged)
{
    *part = (struct hr_osnoise_part){.kind = merged->kind,
                                     .number = merged->number,
                                     .duration_ns = merged->duration_ns,
                                     .count = merged->count};
    memcpy(part->name, merged->name, sizeof(part->name));
}

static void add_noise(struct hr_osnoise_single_noises *single_noises, struct cpu *cpu,
                      unsigned number, const struct hr_osnoise_record *record)
{
    uint64_t start_ns = record->single_noise.start_ns;
    struct found *found = make_room_for_noise(cpu, record->single_noise.duration_ns);
    struct hr_osnoise_single_noise *noise = &found->noise;

    cpu->noise_count++;
    size_t count = collect_parts(single_noises, cpu, start_ns, record->single_noise.duration_ns);
    noise->cpu = number;
    noise->duration_ns = record->single_noise.duration_ns;
    noise->interference_count = record->single_noise.interference_count;
    noise->part_count = count < HR_OSNOISE_PARTS ? count : HR_OSNOISE_PARTS;
    for (size_t i = 0; i < noise->part_count; i++) {
        set_part(&noise->parts[i], &single_noises->merged[i]);
        found->spans[i] = single_noises->merged[i].spans;
    }
    noise->parts_are_all = count <= HR_OSNOISE_PARTS && !cpu->lost &&
                           !(cpu->has_forgotten && cpu->forgotten_ns >= start_ns) &&
                           count_parts(single_noises->merged, count) >= noise->interference_count;
}

/* Noises don't overlap: records lost before this one can't be missing in the next. */
void hr_osnoise_single_noises_add_record(struct hr_osnoise_single_noises *single_noises,
                                         size_t place, unsigned cpu,
                                         const struct hr_osnoise_record *record)
{
    struct cpu *at = &single_noises->cpus[place];

    if (hr_osnoise_is_of_function(record->type))
        hr_osnoise_causes_add(&at->causes, record);
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
    hr_osnoise_causes_forget(&single_noises->cpus[place].causes);
}

uint64_t hr_osnoise_single_noises_count(const struct hr_osnoise_single_noises *single_noises,
                                        size_t place)
{
    return single_noises->cpus[place].noise_count;
}

/* --- Names of functions --------------------------------------------------- */

static void add_function(struct hr_osnoise_part *part, const char *name,
                         const struct hr_osnoise_span *span, const struct hr_osnoise_namer *namer)
{
    const size_t i = part->function_count++;

    snprintf(part->functions[i], HR_OSNOISE_NAME, "%s", name);
    if (span->has_sender)
        namer->sender(namer->context, &span->sender, part->senders[i]);
}

/* One without a name is left out. */
static void name_functions(struct hr_osnoise_part *part, struct hr_osnoise_spans *spans,
                           const struct hr_osnoise_namer *namer)
{
    hr_osnoise_spans_sort(spans);
    part->has_more_functions = spans->has_more;
    for (size_t i = 0; i < spans->count; i++) {
        const char *name = namer->name(namer->context, spans->of[i].function);
        if (name == NULL)
            continue;
        if (part->function_count == HR_OSNOISE_FUNCTIONS)
            part->has_more_functions = true;
        else
            add_function(part, name, &spans->of[i], namer);
    }
}

static void take_noise(struct found *found, const struct hr_osnoise_namer *namer,
                       struct hr_osnoise_single_noise *taken)
{
    *taken = found->noise;
    for (size_t i = 0; i < taken->part_count; i++)
        name_functions(&taken->parts[i], &found->spans[i], namer);
}

const struct hr_osnoise_single_noise *
hr_osnoise_single_noises_take(struct hr_osnoise_single_noises *single_noises,
                              const struct hr_osnoise_namer *namer, size_t *count)
{
    struct hr_osnoise_single_noise *end = single_noises->taken;

    for (size_t i = 0; i < single_noises->cpu_count; i++) {
        struct cpu *cpu = &single_noises->cpus[i];
        for (size_t f = 0; f < cpu->found_count; f++)
            take_noise(&cpu->found[f], namer, end++);
        cpu->found_count = 0;
        cpu->noise_count = 0;
    }
    *count = (size_t)(end - single_noises->taken);
    return single_noises->taken;
}
