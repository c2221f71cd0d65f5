/* SPDX-License-Identifier: MIT */
#include "osnoise/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/utf8.h"

struct line {
    struct hr_osnoise_record record;
    uint64_t lost_count; /* before it */
};

struct cpu {
    unsigned number;
    struct line recent[HR_OSNOISE_TRACE_BEFORE]; /* a ring */
    size_t next, count;
    uint64_t longest_ns; /* of the noises of this reading */
    struct line kept[HR_OSNOISE_TRACE_BEFORE + HR_OSNOISE_TRACE_AFTER]; /* around that one */
    size_t kept_count, after_count; /* how many of them, and how many more are to be kept */
};

struct hr_osnoise_traces {
    uint64_t max_single_ns;
    size_t cpu_count;
    struct cpu cpus[];
};

int hr_osnoise_traces_open(size_t cpu_count, uint64_t max_single_ns,
                           struct hr_osnoise_traces **traces)
{
    struct hr_osnoise_traces *made = calloc(1, sizeof(*made) + cpu_count * sizeof(made->cpus[0]));

    if (made == NULL)
        return -ENOMEM;
    made->max_single_ns = max_single_ns;
    made->cpu_count = cpu_count;
    *traces = made;
    return 0;
}

void hr_osnoise_traces_close(struct hr_osnoise_traces *traces)
{
    free(traces);
}

/* --- Records -------------------------------------------------------------- */

void hr_osnoise_traces_begin(struct hr_osnoise_traces *traces)
{
    for (size_t i = 0; i < traces->cpu_count; i++) {
        struct cpu *cpu = &traces->cpus[i];
        cpu->longest_ns = traces->max_single_ns;
        cpu->kept_count = cpu->after_count = 0;
    }
}

static void keep_recent(struct cpu *cpu)
{
    const size_t oldest = cpu->count < HR_OSNOISE_TRACE_BEFORE ? 0 : cpu->next;

    for (size_t i = 0; i < cpu->count; i++)
        cpu->kept[i] = cpu->recent[(oldest + i) % HR_OSNOISE_TRACE_BEFORE];
    cpu->kept_count = cpu->count;
    cpu->after_count = HR_OSNOISE_TRACE_AFTER;
}

void hr_osnoise_traces_add(struct hr_osnoise_traces *traces, size_t place, unsigned cpu,
                           const struct hr_osnoise_record *record, uint64_t lost_count)
{
    struct cpu *at = &traces->cpus[place];
    const struct line line = {*record, lost_count};

    at->number = cpu;
    at->recent[at->next] = line;
    at->next = (at->next + 1) % HR_OSNOISE_TRACE_BEFORE;
    if (at->count < HR_OSNOISE_TRACE_BEFORE)
        at->count++;
    if (record->type == HR_OSNOISE_RECORD_SINGLE_NOISE &&
        record->single_noise.duration_ns > at->longest_ns) {
        at->longest_ns = record->single_noise.duration_ns;
        keep_recent(at);
    } else if (at->after_count > 0) {
        at->kept[at->kept_count++] = line;
        at->after_count--;
    }
}

static void name_function(struct hr_osnoise_record *record, const struct hr_osnoise_namer *namer)
{
    const char *name = namer->name(namer->context, record->cause.function);

    snprintf(record->cause.name, sizeof(record->cause.name), "%s", name != NULL ? name : "?");
}

void hr_osnoise_traces_end(struct hr_osnoise_traces *traces, const struct hr_osnoise_namer *namer)
{
    for (size_t i = 0; i < traces->cpu_count; i++) {
        struct cpu *cpu = &traces->cpus[i];
        for (size_t k = 0; k < cpu->kept_count; k++)
            if (hr_osnoise_is_of_function(cpu->kept[k].record.type))
                name_function(&cpu->kept[k].record, namer);
    }
}

/* --- Text ----------------------------------------------------------------- */

static const char heading[] = "#                                _-----=> irqs-off/BH-disabled\n"
                              "#                               / _----=> need-resched\n"
                              "#                              | / _---=> hardirq/softirq\n"
                              "#                              || / _--=> preempt-depth\n"
                              "#                              ||| / _-=> migrate-disable\n"
                              "#                              |||| /     delay\n"
                              "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
                              "#              | |         |   |||||     |         |\n";

/* enum trace_flag_type in include/linux/trace_events.h */
enum {
    IRQS_OFF = 0x01,
    NEED_RESCHED = 0x04,
    HARDIRQ = HR_OSNOISE_FLAG_HARDIRQ,
    SOFTIRQ = HR_OSNOISE_FLAG_SOFTIRQ,
    PREEMPT_RESCHED = 0x20,
    NMI = 0x40,
    BH_OFF = 0x80,
};

static char irqs_off(unsigned flags)
{
    if (flags & BH_OFF)
        return flags & IRQS_OFF ? 'D' : 'b';
    return flags & IRQS_OFF ? 'd' : '.';
}

static char need_resched(unsigned flags)
{
    if (flags & NEED_RESCHED)
        return flags & PREEMPT_RESCHED ? 'N' : 'n';
    return flags & PREEMPT_RESCHED ? 'p' : '.';
}

static char context(unsigned flags)
{
    if (flags & NMI)
        return flags & HARDIRQ ? 'Z' : 'z';
    if (flags & HARDIRQ)
        return flags & SOFTIRQ ? 'H' : 'h';
    return flags & SOFTIRQ ? 's' : '.';
}

static char depth(unsigned count)
{
    return count > 0 ? "0123456789abcdef"[count & 0xf] : '.';
}

/* A record has the PID of its task only; where the kernel has no name either, it prints this. */
static void print_context(FILE *file, unsigned cpu, const struct hr_osnoise_record *record)
{
    const uint64_t time_us = (record->time_ns + HR_NS_PER_US / 2) / HR_NS_PER_US;

    fprintf(file, "%16s-%-7d [%03u] %c%c%c%c%c %5" PRIu64 ".%06" PRIu64 ": ", "<...>", record->pid,
            cpu, irqs_off(record->flags), need_resched(record->flags), context(record->flags),
            depth(record->preempt_count & 0xf), depth(record->preempt_count >> 4),
            time_us / HR_US_PER_S, time_us % HR_US_PER_S);
}

static void print_times(FILE *file, uint64_t start_ns, uint64_t duration_ns)
{
    fprintf(file, "start %" PRIu64 ".%09" PRIu64 " duration %" PRIu64 " ns", start_ns / HR_NS_PER_S,
            start_ns % HR_NS_PER_S, duration_ns);
}

static void print_part(FILE *file, const struct hr_osnoise_record *record)
{
    char name[HR_OSNOISE_NAME];

    snprintf(name, sizeof(name), "%s", record->part.name);
    hr_utf8_make_safe(name);
    if (record->part.kind != HR_OSNOISE_NMI)
        fprintf(file, record->part.kind == HR_OSNOISE_IRQ ? "%s:%d " : "%8s:%d ", name,
                record->part.number);
    print_times(file, record->part.start_ns, record->part.duration_ns);
}

static void print_sample(FILE *file, const struct hr_osnoise_record *record)
{
    fprintf(file,
            "runtime:%" PRIu64 " noise:%" PRIu64 " max_sample:%" PRIu64 " hw:%" PRIu64
            " nmi:%" PRIu64 " irq:%" PRIu64 " softirq:%" PRIu64 " thread:%" PRIu64,
            record->sample.runtime_us, record->sample.noise_us, record->sample.max_single_us,
            record->sample.hw_count, record->sample.nmi_count, record->sample.irq_count,
            record->sample.softirq_count, record->sample.thread_count);
}

/* The PID is that of the task that was current on the sender's CPU. */
static void print_sender(FILE *file, const struct hr_osnoise_record *record)
{
    const struct hr_osnoise_ipi_sender *sender = &record->cause.sender;

    fprintf(file, "function=%s pid=%d cpu=%u%s", record->cause.name, sender->pid, sender->cpu,
            sender->in_interrupt ? " in an interrupt" : "");
}

static void print_event(FILE *file, const struct hr_osnoise_record *record)
{
    fprintf(file, "%s: ", record->event);
    switch (record->type) {
    case HR_OSNOISE_RECORD_SAMPLE:
        print_sample(file, record);
        break;
    case HR_OSNOISE_RECORD_SINGLE_NOISE:
        print_times(file, record->single_noise.start_ns, record->single_noise.duration_ns);
        fprintf(file, " interference %" PRIu64, record->single_noise.interference_count);
        break;
    case HR_OSNOISE_RECORD_PART:
        print_part(file, record);
        break;
    case HR_OSNOISE_RECORD_CAUSE:
        fprintf(file, "function=%s", record->cause.name);
        break;
    case HR_OSNOISE_RECORD_IPI:
        print_sender(file, record);
        break;
    case HR_OSNOISE_RECORD_LATENCY: /* of another mode */
        break;
    }
    putc('\n', file);
}

static const struct cpu *find_cpu(const struct hr_osnoise_traces *traces, unsigned number)
{
    for (size_t i = 0; i < traces->cpu_count; i++)
        if (traces->cpus[i].number == number && traces->cpus[i].kept_count > 0)
            return &traces->cpus[i];
    return NULL;
}

bool hr_osnoise_trace_print(const struct hr_osnoise_reading *reading, unsigned cpu, FILE *file)
{
    const struct cpu *of = reading->traces != NULL ? find_cpu(reading->traces, cpu) : NULL;

    if (of == NULL)
        return false;
    fputs(heading, file);
    for (size_t i = 0; i < of->kept_count; i++) {
        if (of->kept[i].lost_count > 0)
            fprintf(file, "CPU:%u [LOST %" PRIu64 " EVENTS]\n", cpu, of->kept[i].lost_count);
        print_context(file, cpu, &of->kept[i].record);
        print_event(file, &of->kept[i].record);
    }
    return true;
}
