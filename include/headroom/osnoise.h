/* SPDX-License-Identifier: MIT */
/*
 * headroom/osnoise.h - operating system noise: the time that interrupts, softirqs, other threads,
 * NMIs and the hardware take from what runs on a CPU, measured by the kernel's osnoise tracer.
 *
 * Five modes:
 *
 *   osnoise  A kernel thread on each of the given CPUs reads the clock in a loop, for `runtime` of
 *            each `period`: every gap above the threshold is noise.
 *   hwnoise  The same with interrupts off: what remains are NMIs and the hardware (firmware, or the
 *            host of a virtual machine).
 *   sources  No thread runs: how long each interrupt, softirq and task had the CPU, by name.
 *   attach   Another program runs the tracer: its events are read, and nothing is changed; nor
 *            does it keep the workload running. Samples are events since Linux 6.15 only.
 *   timerlat A timer wakes a kernel thread on each of the given CPUs each `period`: how late its
 *            interrupt and the thread are.
 *
 * The tracer's settings belong to the whole kernel: each is saved before it is changed, and
 * restored at the end if it still has the value of this run. A state file keeps them, so that they
 * can be restored after a crash: hr_osnoise_recover().
 *
 *     hr_osnoise_open()  hr_osnoise_begin()  …1 s…  hr_osnoise_read()  …  hr_osnoise_end()
 *
 * Other users of tracers take precedence: a run doesn't begin while one is active (-EBUSY), and
 * ends by itself when another program changes what it needs. Begin again later.
 *
 * Sources: Documentation/trace/osnoise-tracer.rst, kernel/trace/trace_osnoise.c,
 * Documentation/trace/histogram.rst. Needs Linux 5.17 or later (the first in which an instance may
 * have this tracer).
 *
 * An object is used by one thread at a time. begin, read and end may take tens of milliseconds, as
 * the kernel waits for all its CPUs: don't call them in a thread that others wait for.
 */
#ifndef HEADROOM_OSNOISE_H
#define HEADROOM_OSNOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "headroom/cpu_choice.h"
#include "headroom/priority.h"
#include "headroom/reason.h"

struct hr_root;
struct hr_osnoise;
struct hr_osnoise_traces;

enum hr_osnoise_mode {
    HR_OSNOISE_WORKLOAD, /**< "osnoise" */
    HR_OSNOISE_HARDWARE, /**< "hwnoise" */
    HR_OSNOISE_SOURCES,  /**< "sources" */
    HR_OSNOISE_ATTACH,   /**< "attach" */
    HR_OSNOISE_TIMERLAT, /**< "timerlat" */
    HR_OSNOISE_MODE_COUNT
};

/** Whether a mode has a workload: a thread of the kernel on each CPU. */
static inline bool hr_osnoise_has_workload(enum hr_osnoise_mode mode)
{
    return mode == HR_OSNOISE_WORKLOAD || mode == HR_OSNOISE_HARDWARE ||
           mode == HR_OSNOISE_TIMERLAT;
}

struct hr_osnoise_options {
    enum hr_osnoise_mode mode;
    /** Which CPUs. None: refused with a workload; all in SOURCES; in ATTACH those that are online
     * and the other program measures. One that isn't listed is reported once it is online. */
    struct hr_cpu_choice cpus;
    /** WORKLOAD and HARDWARE only. Period 1 ms to 1 h; runtime 0.1 ms to the period, in HARDWARE
     * 0.1 s at most, as interrupts are off that long; threshold 1 us to 1 s. */
    uint64_t period_us, runtime_us, threshold_us;
    /** WORKLOAD and HARDWARE only: the rank of the workload's threads before other tasks. Idle ones
     * get hardly any time where others run. */
    struct hr_priority priority;
    /** TIMERLAT only: the period, 0.1 ms to 1 s; and the rank of its threads, whose latency is that
     * of tasks with this rank. */
    struct {
        uint64_t period_us;
        struct hr_priority priority;
    } timerlat;
    /** How much of a CPU the workload may take: runtime / period, in percent. Over 0, to 100. */
    double max_duty_pct;
    bool by_source;         /**< count noise by its source; always so in SOURCES, not in TIMERLAT */
    bool histogram;         /**< count single noises by their duration; not in SOURCES. In TIMERLAT
                               latencies always are */
    uint64_t max_single_ns; /**< report single noises above this; 0: none. Not in SOURCES and
                               TIMERLAT */
    bool causes;            /**< with the functions that ran in them, as far as these are known */
    bool traces; /**< and with what was recorded around them, see hr_osnoise_trace_print() */
    /** The kernel's buffer for records of each CPU that is measured, 16 KiB to 16 MiB; 0: what the
     * period, and with max_single_ns the share of it that is measured, ask for. */
    uint64_t buffer_bytes;
    /** The state file, which keeps the settings to restore; absolute. Its directory must exist. */
    const char *state_path;
};

/** The limits of buffer_bytes: all of a buffer is read at a time. */
#define HR_OSNOISE_LEAST_BUFFER (UINT64_C(16) << 10)
#define HR_OSNOISE_MOST_BUFFER  (UINT64_C(16) << 20)

/** A workload of 1 % of a CPU, and timers each millisecond for threads that go before nearly all
 * others (f:95), as the kernel has them; without CPUs and a state file. */
extern const struct hr_osnoise_options hr_osnoise_defaults;

/** @return the period of the workload. */
static inline uint64_t hr_osnoise_period_us(const struct hr_osnoise_options *options)
{
    return options->mode == HR_OSNOISE_TIMERLAT ? options->timerlat.period_us : options->period_us;
}

/** What causes noise. */
enum hr_osnoise_kind {
    HR_OSNOISE_IRQ,
    HR_OSNOISE_SOFTIRQ,
    HR_OSNOISE_THREAD,
    HR_OSNOISE_NMI,
    HR_OSNOISE_KIND_COUNT
};

/** The remedies where the workload can't be given a priority, the same for root and other users:
 * root, too, lacks the capability in a service or a container that drops it. */
#define HR_OSNOISE_ADD_SYS_NICE                                                                    \
    "add CAP_SYS_NICE (of a service AmbientCapabilities= and CapabilityBoundingSet=, of a "        \
    "container --cap-add; elsewhere root has it), "
#define HR_OSNOISE_PRIORITY_REMEDY          HR_OSNOISE_ADD_SYS_NICE "or take the priority o:0"
#define HR_OSNOISE_TIMERLAT_PRIORITY_REMEDY HR_OSNOISE_ADD_SYS_NICE "or leave the priority as it is"

/** Longer names are truncated. */
#define HR_OSNOISE_NAME 64

/** SOURCES: the name of the time that a thread has had which hasn't left its CPU yet, as the kernel
 * reports whose time that is only then. It is deducted from what is reported then, so that no
 * interval has more than its own time. Its count is 0. No thread has a name of that length. */
#define HR_OSNOISE_RUNNING "not yet switched out"

enum hr_osnoise_cpu_state {
    HR_OSNOISE_CPU_FINE,
    HR_OSNOISE_CPU_SILENT, /**< online, but without samples for three periods, or 3 s if that is
                              longer */
    HR_OSNOISE_CPU_OFFLINE,
};

/** A CPU, since the last reading. Without samples (sample_count 0) its noise is unknown, which is
 * not the same as no noise. */
struct hr_osnoise_cpu {
    unsigned cpu;
    enum hr_osnoise_cpu_state state;
    uint64_t sample_count;  /**< periods that ended; in TIMERLAT all else up to lost_count is 0 */
    uint64_t runtime_us;    /**< how long the kernel looked for noise */
    uint64_t noise_us;      /**< how much of that was noise */
    uint64_t max_single_us; /**< the longest single noise */
    uint64_t max_period_us; /**< the most noise in one period */
    uint64_t hw_count;      /**< noises without any interference that the kernel saw */
    uint64_t nmi_count, irq_count, softirq_count, thread_count; /**< interferences */
    uint64_t lost_count;   /**< records that were overwritten before they were read */
    uint64_t single_count; /**< single noises above max_single_ns; not of those that were lost */
};

/** A source of noise on a CPU, since the last reading. Durations are net: what interrupted the
 * source is counted for the interrupting one. */
struct hr_osnoise_source {
    unsigned cpu;
    enum hr_osnoise_kind kind;
    char name[HR_OSNOISE_NAME]; /**< of an IRQ "local_timer", of a softirq "TIMER", of a thread
                                   "kworker/0:1"; of NMIs "NMI". Empty: all IRQs, or threads, that
                                   have none, or that the kernel had no room to count by name */
    uint64_t count;
    uint64_t duration_ns;
};

/** Single noises on a CPU, since the last reading: above lower_ns, up to twice that. */
struct hr_osnoise_bucket {
    unsigned cpu;
    uint64_t lower_ns; /**< a power of two */
    uint64_t count;
};

/** What a timer of TIMERLAT makes run, one after the other. */
enum hr_osnoise_context {
    HR_OSNOISE_TIMER_IRQ,    /**< its interrupt */
    HR_OSNOISE_TIMER_THREAD, /**< the thread that the interrupt wakes */
    HR_OSNOISE_CONTEXT_COUNT
};

#define HR_OSNOISE_LATENCY_BUCKETS 64

/** Latencies: the times from when timers were due until their interrupts began, or the threads.
 * All zeros is none. */
struct hr_osnoise_latency {
    uint64_t count;
    uint64_t last_ns, min_ns, max_ns, sum_ns;
    /** [i]: how many were above 2^i ns, up to twice that; [0] also those of less. */
    uint64_t buckets[HR_OSNOISE_LATENCY_BUCKETS];
};

/** Adds later latencies to others. */
void hr_osnoise_latency_add(struct hr_osnoise_latency *sum, const struct hr_osnoise_latency *later);

/**
 * Finds what so many of a thousand durations don't exceed.
 *
 * @param buckets    how many were in each, the shortest first.
 * @param per_mille  1 to 1000.
 * @return the bucket up to whose end they are, or -ENODATA if there was no duration.
 */
int hr_osnoise_percentile(const uint64_t *buckets, size_t count, unsigned per_mille);

/** The latencies on a CPU, since the last reading. A thread whose interrupt was before that is
 * counted when it runs, so the counts may differ. */
struct hr_osnoise_cpu_latencies {
    unsigned cpu;
    struct hr_osnoise_latency of[HR_OSNOISE_CONTEXT_COUNT];
};

/** How many functions of an interference are named. */
#define HR_OSNOISE_FUNCTIONS 3

/** Longer senders are truncated. */
#define HR_OSNOISE_SENDER 80

/** An interference within a single noise; equal ones are added up. */
struct hr_osnoise_part {
    enum hr_osnoise_kind kind;
    char name[HR_OSNOISE_NAME];
    int number;           /**< of an IRQ or softirq the vector, of a thread the PID; else 0 */
    uint64_t duration_ns; /**< net, of all `count` together */
    uint64_t count;
    /** With causes, the kernel's functions that ran in it, as far as they are known, those that
     * took longest first: of a kworker what it worked on, of an interrupt or a softirq its timers,
     * or what another CPU asked for. */
    char functions[HR_OSNOISE_FUNCTIONS][HR_OSNOISE_NAME];
    /** What asked for each of these on another CPU, if it is known (since Linux 6.5): "perf[423] on
     * CPU 0", "an interrupt on CPU 0"; else empty. A function is there for each of several. */
    char senders[HR_OSNOISE_FUNCTIONS][HR_OSNOISE_SENDER];
    size_t function_count;
    bool has_more_functions;
};

#define HR_OSNOISE_PARTS 8

/** A single noise above max_single_ns. The parts add up to less than the whole, as entering and
 * leaving them takes time, too. */
struct hr_osnoise_single_noise {
    unsigned cpu;
    uint64_t duration_ns;
    uint64_t interference_count; /**< as the kernel counts them; 0: the hardware */
    struct hr_osnoise_part parts[HR_OSNOISE_PARTS]; /**< the longest first */
    size_t part_count;
    bool parts_are_all; /**< false if there were more, or if records of that time were lost */
};

/** @return the part of a single noise that its parts don't explain; 0: none, or it is unknown. */
static inline uint64_t hr_osnoise_unexplained_ns(const struct hr_osnoise_single_noise *noise)
{
    uint64_t left_ns = noise->parts_are_all ? noise->duration_ns : 0;

    for (size_t i = 0; i < noise->part_count; i++)
        left_ns -= left_ns < noise->parts[i].duration_ns ? left_ns : noise->parts[i].duration_ns;
    return left_ns;
}

/** What was measured since the last reading, or since the beginning. Counts are of that time alone.
 */
struct hr_osnoise_reading {
    uint64_t elapsed_ns;               /**< the length of that time */
    const struct hr_osnoise_cpu *cpus; /**< those that are measured, by number */
    size_t cpu_count;
    /** TIMERLAT: those of each of `cpus`, in that order; else NULL. */
    const struct hr_osnoise_cpu_latencies *latencies;
    bool lacks_samples; /**< ATTACH before Linux 6.15: sample_count stays 0 */
    bool has_sources;   /**< by_source; false if the sources of this time are unknown */
    const struct hr_osnoise_source *sources; /**< those with noise, in no order */
    size_t source_count;
    uint64_t dropped_count; /**< noises that the kernel had no room to count by name: they are in a
                               source without a name */
    const struct hr_osnoise_bucket *buckets; /**< those that aren't empty, in no order */
    size_t bucket_count;
    /** Of each CPU the longest, and the last few besides; in order of time on each CPU. */
    const struct hr_osnoise_single_noise *single_noises;
    size_t single_noise_count;
    uint64_t single_noise_more_count;       /**< how many more there were, on all CPUs */
    const struct hr_osnoise_traces *traces; /**< see hr_osnoise_trace_print(); NULL: none */
    /** What doesn't prevent measuring but should be known, such as a stop_tracing_us that another
     * program has set. The error identifies the warning; 0 is none. */
    struct hr_reason warning;
};

/** As users write it: "osnoise", "hwnoise", "sources", "attach", "timerlat". */
const char *hr_osnoise_mode_name(enum hr_osnoise_mode mode);

/** Finds a mode by its name. @return 0 or -ENOENT. */
int hr_osnoise_mode_parse(const char *name, enum hr_osnoise_mode *mode);

/** "irq", "softirq", "thread" or "nmi". */
const char *hr_osnoise_kind_name(enum hr_osnoise_kind kind);

/** "irq" or "thread". */
const char *hr_osnoise_context_name(enum hr_osnoise_context context);

/** Checks options for themselves, independently of the machine. @return 0 or -EINVAL, with the
 * reason. */
int hr_osnoise_check(const struct hr_osnoise_options *options, struct hr_reason *reason);

/**
 * Finds which CPUs a run would measure, be they online or not: those of the list, and of the others
 * that are chosen the ones that this machine may have. ATTACH leaves those of them out that the
 * other program doesn't measure.
 *
 * @return 0; -ENXIO: none is chosen, as none is isolated; or a negative errno of reading. With the
 *         reason.
 */
int hr_osnoise_find_cpus(const struct hr_root *root, const struct hr_cpu_choice *choice,
                         struct hr_cpu_set *cpus, struct hr_reason *reason);

/**
 * Checks whether a mode would work here, without changing anything.
 *
 * @return 0; -ENOENT: no tracefs, or no such tracer in the kernel; -EOPNOTSUPP: the kernel lacks
 * that mode; -EACCES or -EPERM: privilege; -EBUSY: another program uses a tracer; -EAGAIN: ATTACH,
 *         and no program runs the tracer. With the reason.
 */
int hr_osnoise_probe(const struct hr_root *root, enum hr_osnoise_mode mode,
                     struct hr_reason *reason);

/**
 * Restores what a run of a dead process left: removes its trace instance, and restores those of its
 * settings that still have its values. Without a state file there is nothing to do. The process may
 * have been one of a container.
 *
 * @return 0: nothing is left; -EBUSY: that process is alive, or another program uses the tracer
 * with these settings now; -EBADMSG: the state file isn't understood; -EPERM: it isn't trusted, as
 * it belongs to a user other than root and ours (and for root, that of collectd), or others may
 * write it; … With the reason.
 */
int hr_osnoise_recover(const struct hr_root *root, const char *state_path,
                       struct hr_reason *reason);

/**
 * Checks whether a run of a dead process has left something that hr_osnoise_recover() would
 * restore, without changing anything.
 *
 * @return 0: nothing; 1: the run goes on; -ESTALE: it has; -EBADMSG: the state file isn't
 * understood; or another negative errno. With the reason, which names no remedy.
 */
int hr_osnoise_left_behind(const struct hr_root *root, const char *state_path,
                           struct hr_reason *reason);

/** What is called for trace instances of runs. */
struct hr_osnoise_visitor {
    /** @param is_alive  whether the process of the run is alive, in whatever container; otherwise
     * the instance was left behind. */
    void (*visit)(const char *instance, bool is_alive, void *context);
    void *context;
};

/** Visits the trace instances of all runs, without changing anything. @return 0 or a negative
 * errno, with the reason. */
int hr_osnoise_visit(const struct hr_root *root, const struct hr_osnoise_visitor *visitor,
                     struct hr_reason *reason);

/**
 * Removes the trace instances of runs that were killed, of whatever container; first restore by the
 * state files that are known, as here a lost one's settings stay. Except for those that switch
 * interrupts or preemption off: they are restored first, and as long as another program runs the
 * tracer with any of them, the instances stay, too.
 *
 * @param visitor  called for those that are alive, which aren't touched, and those that were
 *                 removed; may be NULL.
 * @return 0; -EBUSY: another program reads one that was left behind, or runs the tracer with
 *         interrupts or preemption off; or another negative errno. With the first reason.
 */
int hr_osnoise_remove_left_behind(const struct hr_root *root,
                                  const struct hr_osnoise_visitor *visitor,
                                  struct hr_reason *reason);

/**
 * Makes an object; the kernel isn't changed yet.
 *
 * @param root     must outlive the object.
 * @param options  copied, text included.
 * @param osnoise  receives the object; the caller ends it with hr_osnoise_close().
 * @return 0; -EINVAL, as hr_osnoise_check(); -ENOMEM.
 */
int hr_osnoise_open(const struct hr_root *root, const struct hr_osnoise_options *options,
                    struct hr_osnoise **osnoise, struct hr_reason *reason);

/** Ends a run, if there is one, and the object. NULL is allowed. */
void hr_osnoise_close(struct hr_osnoise *osnoise);

/**
 * Begins a run, after hr_osnoise_recover(). On failure everything is as before. -EPERM may also be
 * for want of CAP_SYS_NICE, which another priority takes than the kernel's own: "o:0", in TIMERLAT
 * "f:95".
 *
 * The calling thread, which is to read, is moved off the CPUs of the workload, as it would be noise
 * there; in ATTACH all of the other program's. If it may run nowhere else it stays.
 *
 * @return 0; as hr_osnoise_probe() and hr_osnoise_recover(); -EALREADY: there is a run; -ENXIO:
 * none of the CPUs is online, or none is chosen; -EOPNOTSUPP: also ATTACH without samples, if
 * nothing else is wanted; -E2BIG: the kernel can't take such a list of CPUs; -EMFILE; -ENOMEM; …
 * With the reason.
 */
int hr_osnoise_begin(struct hr_osnoise *osnoise, struct hr_reason *reason);

/**
 * Reads what was measured. To be called about once a second: the kernel keeps a limited number of
 * records.
 *
 * @param reading  receives it; what it points to is valid until the next call on the object. If the
 * run has ended by itself, it is what was measured until then, such as the noise that stopped
 * tracing; without CPUs if that can't be read.
 * @return 0; -EINVAL: there is no run; or another negative errno: the run has ended by itself, and
 *         everything is restored: -ECANCELED: another program changed the tracer or its settings;
 *         -EAGAIN: ATTACH, and the other program has ended, or has changed the settings; … With the
 *         reason.
 */
int hr_osnoise_read(struct hr_osnoise *osnoise, struct hr_osnoise_reading *reading,
                    struct hr_reason *reason);

/**
 * Prints what the kernel recorded of a CPU around its longest single noise of a reading, of those
 * above max_single_ns: up to 128 records until the noise, and 16 behind it, as far as these were
 * read with it; nearly as the kernel's `trace` has them. A line has less than 256 bytes.
 *
 * @param reading  the last one.
 * @return false: there is none, and nothing is printed.
 */
bool hr_osnoise_trace_print(const struct hr_osnoise_reading *reading, unsigned cpu, FILE *file);

/**
 * Ends the run, if there is one, and restores.
 *
 * @return 0; -EBUSY: another program runs the tracer with settings of this run: they are restored
 * by the next begin, close or hr_osnoise_recover() that finds them unused; … With the reason.
 */
int hr_osnoise_end(struct hr_osnoise *osnoise, struct hr_reason *reason);

#endif
