/* SPDX-License-Identifier: MIT */
#include "plugin/osnoise/fake_osnoise.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_STEPS 64

struct step {
    int status;
    const char *reason;
    struct hr_osnoise_reading reading;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct step steps[FAKE_OSNOISE_CALLS][MAX_STEPS];
    size_t step_count[FAKE_OSNOISE_CALLS];
    uint64_t times_ms[FAKE_OSNOISE_CALLS][MAX_STEPS];
    size_t count[FAKE_OSNOISE_CALLS];
    void (*function[FAKE_OSNOISE_CALLS])(void *context);
    void *context[FAKE_OSNOISE_CALLS];
    bool runs;
} fake;

void fake_osnoise_reset(void)
{
    memset(&fake, 0, sizeof(fake));
}

static struct step *append(enum fake_osnoise_call call)
{
    if (fake.step_count[call] == MAX_STEPS) {
        fprintf(stderr, "fake_osnoise: too many steps\n");
        abort();
    }
    return &fake.steps[call][fake.step_count[call]++];
}

void fake_osnoise_return(enum fake_osnoise_call call, int status, const char *reason)
{
    *append(call) = (struct step){.status = status, .reason = reason};
}

void fake_osnoise_read(const struct hr_osnoise_reading *reading)
{
    *append(FAKE_OSNOISE_READ) = (struct step){.reading = *reading};
}

void fake_osnoise_read_last(const struct hr_osnoise_reading *reading, int status)
{
    *append(FAKE_OSNOISE_READ) =
        (struct step){.reading = *reading, .status = status, .reason = "tracing was stopped"};
}

void fake_osnoise_on(enum fake_osnoise_call call, void (*function)(void *context), void *context)
{
    fake.function[call] = function;
    fake.context[call] = context;
}

size_t fake_osnoise_count(enum fake_osnoise_call call)
{
    pthread_mutex_lock(&lock);
    size_t count = fake.count[call];
    pthread_mutex_unlock(&lock);
    return count;
}

uint64_t fake_osnoise_time_ms(enum fake_osnoise_call call, size_t n)
{
    pthread_mutex_lock(&lock);
    uint64_t time_ms = n < fake.count[call] && n < MAX_STEPS ? fake.times_ms[call][n] : 0;
    pthread_mutex_unlock(&lock);
    return time_ms;
}

bool fake_osnoise_runs(void)
{
    pthread_mutex_lock(&lock);
    bool runs = fake.runs;
    pthread_mutex_unlock(&lock);
    return runs;
}

/* Notes a call, and takes what it is to return. */
static struct step call(enum fake_osnoise_call of, struct hr_reason *reason)
{
    struct step step = {0};
    struct timespec now;

    if (fake.function[of] != NULL)
        fake.function[of](fake.context[of]);
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&lock);
    size_t n = fake.count[of]++;
    if (n < MAX_STEPS)
        fake.times_ms[of][n] = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (n < fake.step_count[of])
        step = fake.steps[of][n];
    if (of == FAKE_OSNOISE_BEGIN)
        fake.runs = fake.runs || step.status == 0;
    else if (of != FAKE_OSNOISE_READ || step.status < 0)
        fake.runs = false;
    pthread_mutex_unlock(&lock);
    if (reason != NULL) {
        reason->error = step.status;
        snprintf(reason->text, sizeof(reason->text), "%s", step.reason != NULL ? step.reason : "");
    }
    return step;
}

/* --- The collector's functions -------------------------------------------- */

int hr_osnoise_open(__attribute__((unused)) const struct hr_root *root,
                    __attribute__((unused)) const struct hr_osnoise_options *options,
                    struct hr_osnoise **osnoise, struct hr_reason *reason)
{
    struct step step = call(FAKE_OSNOISE_OPEN, reason);

    if (step.status == 0)
        *osnoise = malloc(1);
    return step.status;
}

void hr_osnoise_close(struct hr_osnoise *osnoise)
{
    if (osnoise == NULL)
        return;
    call(FAKE_OSNOISE_CLOSE, NULL);
    free(osnoise);
}

int hr_osnoise_begin(__attribute__((unused)) struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    return call(FAKE_OSNOISE_BEGIN, reason).status;
}

int hr_osnoise_read(__attribute__((unused)) struct hr_osnoise *osnoise,
                    struct hr_osnoise_reading *reading, struct hr_reason *reason)
{
    struct step step = call(FAKE_OSNOISE_READ, reason);

    *reading = step.reading;
    return step.status;
}

int hr_osnoise_end(__attribute__((unused)) struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    return call(FAKE_OSNOISE_END, reason).status;
}

const char *hr_osnoise_context_name(enum hr_osnoise_context context)
{
    return context == HR_OSNOISE_TIMER_IRQ ? "irq" : "thread";
}

/* A line in place of what is recorded. */
bool hr_osnoise_trace_print(const struct hr_osnoise_reading *reading, unsigned cpu, FILE *file)
{
    if (reading->traces == NULL)
        return false;
    fprintf(file, "a trace of CPU %u\n", cpu);
    return true;
}

const char *hr_osnoise_kind_name(enum hr_osnoise_kind kind)
{
    static const char *const names[HR_OSNOISE_KIND_COUNT] = {"irq", "softirq", "thread", "nmi"};

    return names[kind];
}
