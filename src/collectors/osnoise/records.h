/* SPDX-License-Identifier: MIT */
/*
 * osnoise/records.h - decoding the trace buffers of the osnoise tracer: pages of binary events.
 *
 * Sources: see osnoise/event_format.h, osnoise/ring_page.h; include/linux/trace_events.h
 * (trace_flag_type).
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RECORDS_H
#define HEADROOM_COLLECTORS_OSNOISE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/osnoise.h"
#include "osnoise/tracefs.h"

enum hr_osnoise_record_type {
    HR_OSNOISE_RECORD_SAMPLE,       /**< a period has ended: ftrace:osnoise */
    HR_OSNOISE_RECORD_SINGLE_NOISE, /**< a single noise has ended: osnoise:sample_threshold */
    HR_OSNOISE_RECORD_PART,         /**< an interference has ended: osnoise:irq_noise, … */
    HR_OSNOISE_RECORD_LATENCY,      /**< a timer's interrupt or thread begins: ftrace:timerlat */
    HR_OSNOISE_RECORD_CAUSE,        /**< a function begins: see osnoise/cause_events.h */
    HR_OSNOISE_RECORD_IPI,          /**< who asked for one: see osnoise/ipi_senders.h */
};

/** Of `flags`: it was in an interrupt, or in a softirq. */
#define HR_OSNOISE_FLAG_HARDIRQ 0x08
#define HR_OSNOISE_FLAG_SOFTIRQ 0x10

/** What asks a CPU to run a function. */
struct hr_osnoise_ipi_sender {
    unsigned cpu;
    int pid;           /**< of the task that was current there */
    bool in_interrupt; /**< or in a softirq: that task has nothing to do with it */
};

struct hr_osnoise_record {
    enum hr_osnoise_record_type type;
    const char *event;     /**< its name: "irq_noise" */
    uint64_t time_ns;      /**< by the same clock as start_ns */
    int pid;               /**< of the task that was current */
    uint8_t flags;         /**< common_flags, see include/linux/trace_events.h */
    uint8_t preempt_count; /**< common_preempt_count */
    union {
        struct {
            uint64_t runtime_us, noise_us, max_single_us;
            uint64_t hw_count, nmi_count, irq_count, softirq_count, thread_count;
        } sample;
        struct {
            uint64_t start_ns, duration_ns, interference_count;
        } single_noise;
        struct {
            enum hr_osnoise_kind kind;
            char name[HR_OSNOISE_NAME]; /**< see hr_osnoise_part */
            int number;
            uint64_t start_ns, duration_ns; /**< net */
        } part;
        struct {
            uint64_t number;  /**< of the timers on that CPU since the thread began */
            uint64_t context; /**< enum hr_osnoise_context, or 2: a thread's return to user space */
            uint64_t ns;
        } latency;
        struct {
            uint64_t function;          /**< its address */
            char name[HR_OSNOISE_NAME]; /**< empty; set by hr_osnoise_traces_end() */
            /** The address of what another CPU asked for; 0: none did, or, in a RECORD_IPI, the
             * sender is that of another request. */
            uint64_t request;
            struct hr_osnoise_ipi_sender sender; /**< of a RECORD_IPI */
        } cause;
    };
};

/** Whether `cause` is valid. */
static inline bool hr_osnoise_is_of_function(enum hr_osnoise_record_type type)
{
    return type == HR_OSNOISE_RECORD_CAUSE || type == HR_OSNOISE_RECORD_IPI;
}

struct hr_osnoise_decoder;

/**
 * Reads the formats of the events.
 *
 * @param decoder  receives it; the caller ends it with hr_osnoise_decoder_close().
 * @return 0; -ENOENT: the kernel has no such events; -EBADMSG: a field that is needed isn't there;
 *         -ENOMEM; with the reason.
 */
int hr_osnoise_decoder_open(const struct hr_tracefs *tracefs, struct hr_osnoise_decoder **decoder,
                            struct hr_reason *reason);

/** NULL is allowed. */
void hr_osnoise_decoder_close(struct hr_osnoise_decoder *decoder);

/** The size of a page in bytes, unless it was changed for an instance (since Linux 6.8). */
size_t hr_osnoise_decoder_page_size(const struct hr_osnoise_decoder *decoder);

/**
 * Decodes one page. Other events are skipped.
 *
 * @param page    as read(2) gives it from trace_pipe_raw; @param size its bytes.
 * @param handle  called with each record, which is valid during the call.
 * @param lost    is increased by the number of events that were overwritten before this page; by 1
 * if the number is unknown. Done before the first record is handled.
 * @return 0; -EBADMSG: it is no such page, or is truncated; the records before that were handled.
 */
int hr_osnoise_decode(struct hr_osnoise_decoder *decoder, const void *page, size_t size,
                      void (*handle)(const struct hr_osnoise_record *record, void *context),
                      void *context, uint64_t *lost);

/** The name of a softirq vector: "HI", "TIMER", …; of an unknown one its number. */
void hr_osnoise_softirq_name(int vector, char name[HR_OSNOISE_NAME]);

#endif
