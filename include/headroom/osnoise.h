/*
 * osnoise.h - operating system noise: the time that interrupts, softirqs, other threads, NMIs and
 * the hardware take from what runs on a CPU, measured by the kernel's tracer osnoise.
 *
 * Four ways of asking:
 *
 *   osnoise  The kernel runs a thread on each of the given CPUs, which for `runtime` of each
 *            `period` reads the clock in a loop: whatever gap is above the threshold is noise.
 *   hwnoise  The same with interrupts off: what is left are NMIs and the hardware (firmware, or the
 *            host of a virtual machine).
 *   sources  No thread runs: how long each interrupt, softirq and task had the CPU, by name.
 *   attach   Somebody else runs the tracer: what it finds is read along, and nothing is changed.
 *
 * The tracer's settings are the kernel's, not ours: each is saved before it is changed and put back
 * at the end, if it still is what we made it. A file remembers them, so that whoever comes after a
 * crash can do that: hr_osnoise_recover().
 *
 *     hr_osnoise_open()  hr_osnoise_begin()  …1 s…  hr_osnoise_read()  …  hr_osnoise_end()
 *
 * Other users of tracers are left in peace: a run doesn't begin while somebody has one (-EBUSY),
 * and ends by itself when somebody changes what it needs. Begin again later.
 *
 * Sources: Documentation/trace/osnoise-tracer.rst, kernel/trace/trace_osnoise.c,
 * Documentation/trace/histogram.rst. Needs Linux 5.17 or later (the first in which an instance may
 * have this tracer).
 *
 * An object is used by one thread at a time. begin, read and end may take tens of milliseconds, as
 * the kernel waits for all its CPUs: not for a thread that others wait for.
 */
#ifndef HEADROOM_OSNOISE_H
#define HEADROOM_OSNOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/cpu_set.h"
#include "headroom/reason.h"

struct hr_root;
struct hr_osnoise;

enum hr_osnoise_mode {
    HR_OSNOISE_WORKLOAD, /**< "osnoise" */
    HR_OSNOISE_HARDWARE, /**< "hwnoise" */
    HR_OSNOISE_SOURCES,  /**< "sources" */
    HR_OSNOISE_ATTACH,   /**< "attach" */
    HR_OSNOISE_MODE_COUNT
};

struct hr_osnoise_options {
    enum hr_osnoise_mode mode;
    /** Which CPUs. Empty: refused with a workload; all that are online in SOURCES; in ATTACH those
     * that the other has chosen. */
    struct hr_cpu_set cpus;
    /** WORKLOAD and HARDWARE only. Period 1 ms to 1 h; runtime 0.1 ms to the period, in HARDWARE
     * 0.1 s at most, as interrupts are off that long; threshold 1 us to 1 s. */
    uint64_t period_us, runtime_us, threshold_us;
    /** How much of a CPU the workload may take: runtime / period, in percent. Over 0, to 100. */
    double max_duty_pct;
    bool by_source;         /**< count noise by its source; always so in SOURCES */
    bool histogram;         /**< count single noises by their duration; not in SOURCES */
    uint64_t max_single_ns; /**< tell of single noises above this; 0: of none. Not in SOURCES */
    /** Where the settings that are to be restored are kept; absolute. Its folder must be there. */
    const char *state_path;
};

/** What noise is made by. */
enum hr_osnoise_kind {
    HR_OSNOISE_IRQ,
    HR_OSNOISE_SOFTIRQ,
    HR_OSNOISE_THREAD,
    HR_OSNOISE_NMI,
    HR_OSNOISE_KIND_COUNT
};

/** Longer names are cut. */
#define HR_OSNOISE_NAME 64

enum hr_osnoise_cpu_state {
    HR_OSNOISE_CPU_FINE,
    HR_OSNOISE_CPU_SILENT, /**< online, but nothing came for three periods, or 3 s if that is more
                            */
    HR_OSNOISE_CPU_OFFLINE,
};

/** A CPU, since the reading before. Without samples (sample_count 0) nothing is known of its
 * noise, which isn't the same as no noise. */
struct hr_osnoise_cpu {
    unsigned cpu;
    enum hr_osnoise_cpu_state state;
    uint64_t sample_count;  /**< periods that ended */
    uint64_t runtime_us;    /**< how long was looked for noise, really */
    uint64_t noise_us;      /**< how much of that was noise */
    uint64_t max_single_us; /**< the longest single noise */
    uint64_t max_period_us; /**< the most noise in one period */
    uint64_t hw_count;      /**< noises without any interference that the kernel saw */
    uint64_t nmi_count, irq_count, softirq_count, thread_count; /**< interferences */
    uint64_t lost_count; /**< records that were overwritten before they were read */
};

/** A source of noise on a CPU, since the reading before. Durations are net: what interrupted it is
 * counted there. */
struct hr_osnoise_source {
    unsigned cpu;
    enum hr_osnoise_kind kind;
    char name[HR_OSNOISE_NAME]; /**< of an IRQ "local_timer", of a softirq "TIMER", of a thread
                                   "kworker/0:1"; of NMIs "NMI" */
    uint64_t count;
    uint64_t duration_ns;
};

/** Single noises on a CPU, since the reading before: above lower_ns, up to twice that. */
struct hr_osnoise_bucket {
    unsigned cpu;
    uint64_t lower_ns; /**< a power of two */
    uint64_t count;
};

/** What interfered within a single noise. */
struct hr_osnoise_part {
    enum hr_osnoise_kind kind;
    char name[HR_OSNOISE_NAME];
    int number;           /**< of an IRQ or softirq its vector, of a thread its PID; else 0 */
    uint64_t duration_ns; /**< net, of all `count` together */
    uint64_t count;
};

#define HR_OSNOISE_PARTS 8

/** A single noise above max_single_ns. The parts come to less than the whole, as getting in and out
 * of them takes time, too. */
struct hr_osnoise_single_noise {
    unsigned cpu;
    uint64_t duration_ns;
    uint64_t interference_count; /**< as the kernel counts them; 0: it was the hardware */
    struct hr_osnoise_part parts[HR_OSNOISE_PARTS]; /**< the longest first */
    size_t part_count;
    bool parts_are_all; /**< false if there were more, or if records of that time were lost */
};

/** What came since the reading before, or since the beginning. Counts are of that time alone. */
struct hr_osnoise_reading {
    uint64_t elapsed_ns;               /**< how long that was */
    const struct hr_osnoise_cpu *cpus; /**< those that are measured, upwards */
    size_t cpu_count;
    bool has_sources; /**< by_source; false if they can't be told of this time */
    const struct hr_osnoise_source *sources; /**< those with noise, in no order */
    size_t source_count;
    uint64_t dropped_count; /**< noises that the kernel had no room to count by name */
    const struct hr_osnoise_bucket *buckets; /**< those that aren't empty, in no order */
    size_t bucket_count;
    const struct hr_osnoise_single_noise *single_noises; /**< in the order of each CPU */
    size_t single_noise_count;
    uint64_t single_noise_more_count; /**< there were so many more, shorter than the others of their
                                         CPU */
    /** What is in nobody's way but should be known, such as that somebody set stop_tracing_us; its
     * error tells one from another, 0 is none. */
    struct hr_reason warning;
};

/** As users write it: "osnoise", "hwnoise", "sources", "attach". */
const char *hr_osnoise_mode_name(enum hr_osnoise_mode mode);

/** Finds a mode by its name. @return 0 or -ENOENT. */
int hr_osnoise_mode_parse(const char *name, enum hr_osnoise_mode *mode);

/** "irq", "softirq", "thread" or "nmi". */
const char *hr_osnoise_kind_name(enum hr_osnoise_kind kind);

/** Checks options by themselves, wherever they are to be used. @return 0 or -EINVAL, with the
 * reason. */
int hr_osnoise_check(const struct hr_osnoise_options *options, struct hr_reason *reason);

/**
 * Tells whether a mode would work here, by looking only.
 *
 * @return 0; -ENOENT: no tracefs, or no such tracer in the kernel; -EOPNOTSUPP: the kernel can't do
 *         that mode; -EACCES or -EPERM: privilege; -EBUSY: somebody else has a tracer at work;
 *         -EAGAIN: ATTACH, and nobody runs the tracer. With the reason.
 */
int hr_osnoise_probe(const struct hr_root *root, enum hr_osnoise_mode mode,
                     struct hr_reason *reason);

/**
 * Puts back what a predecessor that died left behind: its instance of the tracer, and those of its
 * settings that still are what it made them. Without a state file there is nothing to do.
 *
 * @return 0: nothing is left behind; -EBUSY: the predecessor is alive, or somebody else uses the
 *         tracer with these settings now; -EBADMSG: the file isn't understood; … With the reason.
 */
int hr_osnoise_recover(const struct hr_root *root, const char *state_path,
                       struct hr_reason *reason);

/**
 * Tells whether a predecessor that died has left something behind which hr_osnoise_recover() would
 * put back, by looking only.
 *
 * @return 0: nothing; -ESTALE: it has; -EBADMSG: the file isn't understood; or another negative
 *         errno of reading it. With the reason, which names no remedy.
 */
int hr_osnoise_left_behind(const char *state_path, struct hr_reason *reason);

/**
 * Prepares; the kernel isn't touched.
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
 * Begins a run, after recovering what a dead predecessor left. On failure all is as it was.
 *
 * @return 0; as hr_osnoise_probe() and hr_osnoise_recover(); -EALREADY: it runs; -ENXIO: none of
 *         the CPUs is online; -E2BIG: the kernel can't take such a list of CPUs; -EMFILE; -ENOMEM;
 *         … With the reason.
 */
int hr_osnoise_begin(struct hr_osnoise *osnoise, struct hr_reason *reason);

/**
 * Reads what came. To be called each second or so: the kernel keeps a limited number of records.
 *
 * @param reading  receives it; what it points to is valid until the next call on the object.
 * @return 0; -EINVAL: nothing runs; or another negative errno: the run has ended by itself, and all
 *         is restored: -ECANCELED: somebody changed the tracer or its settings; -EAGAIN: ATTACH,
 *         and the other has ended, or has changed the settings; … With the reason.
 */
int hr_osnoise_read(struct hr_osnoise *osnoise, struct hr_osnoise_reading *reading,
                    struct hr_reason *reason);

/**
 * A descriptor to poll(2) while waiting for the next reading: once it is readable, read at once.
 * That is so in ATTACH, when the other may have ended: until then we keep their workload going.
 *
 * @return -1 if there is nothing to wait for. It is valid until the run ends; not to be closed.
 */
int hr_osnoise_fd(const struct hr_osnoise *osnoise);

/**
 * Ends the run, if there is one, and restores.
 *
 * @return 0; -EBUSY: somebody else runs the tracer with settings of ours: they are put back by the
 *         next begin, close or hr_osnoise_recover() that finds them free; … With the reason.
 */
int hr_osnoise_end(struct hr_osnoise *osnoise, struct hr_reason *reason);

#endif
