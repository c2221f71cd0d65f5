/* SPDX-License-Identifier: MIT */
#include "osnoise/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/capability.h"

#define OPTIONS_FILE "osnoise/options"
#define NO           "NO_"

/* No list of ranges is longer. */
#define LIST_SIZE (32 * 1024)

/* The longest list that all kernels accept: before 6.18 or so osnoise/cpus takes no more with one
 * write(2), the newline included. */
#define SAFE_LIST_LENGTH 255

enum kind { KIND_CPUS, KIND_NUMBER, KIND_OPTION };

static const struct setting {
    enum kind kind;
    const char *name;
    const char *file;
    uint64_t value_if_absent; /* the behaviour of a kernel without the option */
    bool may_lack;            /* kernels without the timerlat tracer have no such file */
} table[HR_OSNOISE_SETTING_COUNT] = {
    [HR_OSNOISE_CPUS] = {KIND_CPUS, "cpus", "osnoise/cpus", 0, false},
    [HR_OSNOISE_PERIOD] = {KIND_NUMBER, "period_us", "osnoise/period_us", 0, false},
    [HR_OSNOISE_RUNTIME] = {KIND_NUMBER, "runtime_us", "osnoise/runtime_us", 0, false},
    [HR_OSNOISE_THRESHOLD] = {KIND_NUMBER, "tracing_thresh", "tracing_thresh", 0, false},
    [HR_OSNOISE_TIMERLAT_PERIOD] = {KIND_NUMBER, "timerlat_period_us", "osnoise/timerlat_period_us",
                                    0, true},
    [HR_OSNOISE_PRINT_STACK] = {KIND_NUMBER, "print_stack", "osnoise/print_stack", 0, true},
    [HR_OSNOISE_OPTION_WORKLOAD] = {KIND_OPTION, "OSNOISE_WORKLOAD", OPTIONS_FILE, 1, false},
    [HR_OSNOISE_OPTION_IRQ_DISABLE] = {KIND_OPTION, "OSNOISE_IRQ_DISABLE", OPTIONS_FILE, 0, false},
    [HR_OSNOISE_OPTION_PREEMPT_DISABLE] = {KIND_OPTION, "OSNOISE_PREEMPT_DISABLE", OPTIONS_FILE, 0,
                                           false},
    [HR_OSNOISE_OPTION_ALIGN] = {KIND_OPTION, "TIMERLAT_ALIGN", OPTIONS_FILE, 0, false},
};

const char *hr_osnoise_setting_name(enum hr_osnoise_setting setting)
{
    return table[setting].name;
}

/* --- Reading -------------------------------------------------------------- */

struct options {
    char text[512]; /* empty if the kernel has no such file */
};

static int read_options(const struct hr_tracefs *tracefs, struct options *options)
{
    int status = hr_tracefs_read(tracefs, OPTIONS_FILE, options->text, sizeof(options->text), NULL);

    if (status == -ENOENT) {
        options->text[0] = '\0';
        return 0;
    }
    return status;
}

/*
 * The kernel prints the options that are on, and the others with the prefix "NO_":
 *
 *     DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE
 *
 * @return 1, 0, or -ENOENT if the kernel lacks the option.
 */
static int find_option(const struct options *options, const char *name)
{
    char no[64];

    if (hr_text_has_word(options->text, name))
        return 1;
    snprintf(no, sizeof(no), NO "%s", name);
    return hr_text_has_word(options->text, no) ? 0 : -ENOENT;
}

static int read_cpus(const struct hr_tracefs *tracefs, const char *file, struct hr_cpu_set *cpus)
{
    char list[LIST_SIZE];
    size_t length;

    int status = hr_tracefs_read(tracefs, file, list, sizeof(list), &length);
    if (status == 0)
        status = hr_cpu_set_parse(list, length, cpus);
    return status == -ERANGE ? -EBADMSG : status;
}

static int read_setting(const struct hr_tracefs *tracefs, const struct options *options,
                        enum hr_osnoise_setting setting, struct hr_osnoise_settings *settings)
{
    int status = 0;

    settings->has[setting] = true;
    switch (table[setting].kind) {
    case KIND_CPUS:
        status = read_cpus(tracefs, table[setting].file, &settings->cpus);
        break;
    case KIND_NUMBER:
        status = hr_tracefs_read_number(tracefs, table[setting].file, &settings->numbers[setting]);
        settings->has[setting] = status == 0;
        if (status == -ENOENT && table[setting].may_lack)
            status = 0;
        break;
    case KIND_OPTION:
        status = find_option(options, table[setting].name);
        settings->has[setting] = status >= 0;
        settings->numbers[setting] = status > 0;
        status = 0;
        break;
    }
    return status;
}

static int explain_read_error(int status, struct hr_reason *reason)
{
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             "this kernel has no osnoise tracer: it needs Linux 5.17 or later with "
                             "CONFIG_OSNOISE_TRACER=y");
    return hr_reason_set(reason, status, "can't read the settings of the osnoise tracer (%s)",
                         strerror(-status));
}

int hr_osnoise_settings_read(const struct hr_tracefs *tracefs, struct hr_osnoise_settings *settings,
                             struct hr_reason *reason)
{
    struct hr_osnoise_settings found = {0};
    struct options options;

    int status = read_options(tracefs, &options);
    for (int i = 0; status == 0 && i < HR_OSNOISE_SETTING_COUNT; i++)
        status = read_setting(tracefs, &options, i, &found);
    if (status < 0)
        return explain_read_error(status, reason);
    *settings = found;
    return 0;
}

int hr_osnoise_hazards_read(const struct hr_tracefs *tracefs, struct hr_osnoise_hazards *hazards,
                            struct hr_reason *reason)
{
    struct hr_osnoise_hazards found = {0};
    struct options options;

    int status = read_options(tracefs, &options);
    if (status == 0)
        status = hr_tracefs_read_number(tracefs, "osnoise/stop_tracing_us", &found.stop_us);
    if (status == 0)
        status =
            hr_tracefs_read_number(tracefs, "osnoise/stop_tracing_total_us", &found.stop_total_us);
    if (status < 0)
        return explain_read_error(status, reason);
    found.panic = find_option(&options, "PANIC_ON_STOP") > 0;
    *hazards = found;
    return 0;
}

int hr_osnoise_hazards_check(const struct hr_osnoise_hazards *hazards, int error,
                             struct hr_reason *reason)
{
    if (!hazards->panic || (hazards->stop_us == 0 && hazards->stop_total_us == 0))
        return 0;
    return hr_reason_set(
        reason, error,
        "PANIC_ON_STOP and a stop_tracing value of the osnoise tracer are set: noise would panic "
        "the machine; write NO_PANIC_ON_STOP to /sys/kernel/tracing/osnoise/options");
}

/* --- Comparing and printing ----------------------------------------------- */

static uint64_t effective_number(const struct hr_osnoise_settings *settings,
                                 enum hr_osnoise_setting setting)
{
    return settings->has[setting] ? settings->numbers[setting] : table[setting].value_if_absent;
}

static bool is_same(const struct hr_osnoise_settings *a, const struct hr_osnoise_settings *b,
                    enum hr_osnoise_setting setting)
{
    if (table[setting].kind == KIND_OPTION)
        return effective_number(a, setting) == effective_number(b, setting);
    if (a->has[setting] != b->has[setting])
        return false;
    return table[setting].kind == KIND_CPUS ? hr_cpu_set_equal(&a->cpus, &b->cpus)
                                            : a->numbers[setting] == b->numbers[setting];
}

enum hr_osnoise_setting hr_osnoise_settings_differ(const struct hr_osnoise_settings *ours,
                                                   const struct hr_osnoise_settings *now)
{
    int setting = 0;

    while (setting < HR_OSNOISE_SETTING_COUNT &&
           (!ours->has[setting] || is_same(ours, now, setting)))
        setting++;
    return setting;
}

void hr_osnoise_setting_print(const struct hr_osnoise_settings *settings,
                              enum hr_osnoise_setting setting, char *text, size_t size)
{
    char list[4096];

    switch (table[setting].kind) {
    case KIND_CPUS:
        if (hr_cpu_set_format(&settings->cpus, list, sizeof(list)) < 0)
            snprintf(list, sizeof(list), "%zu CPUs", hr_cpu_set_count(&settings->cpus));
        snprintf(text, size, "%.*s", (int)sizeof(list), list[0] != '\0' ? list : "none");
        break;
    case KIND_NUMBER:
        snprintf(text, size, "%" PRIu64, settings->numbers[setting]);
        break;
    case KIND_OPTION:
        snprintf(text, size, "%s", effective_number(settings, setting) != 0 ? "on" : "off");
        break;
    }
}

/* --- Writing -------------------------------------------------------------- */

/* The kernel takes an empty line for white space, and parses what is beyond it: the empty set is
 * written as "of each group of 1 the first 0". */
static int write_cpus(const struct hr_tracefs *tracefs, const char *file,
                      const struct hr_cpu_set *cpus)
{
    char list[4096];

    int status = hr_cpu_set_format(cpus, list, sizeof(list) - 1);
    if (status < 0)
        return status;
    status = hr_tracefs_write(tracefs, file, list[0] != '\0' ? list : "0-0:0/1");
    return status == -EINVAL && strlen(list) + 1 > SAFE_LIST_LENGTH ? -E2BIG : status;
}

static int write_setting(const struct hr_tracefs *tracefs, enum hr_osnoise_setting setting,
                         const struct hr_osnoise_settings *settings)
{
    char word[64];

    switch (table[setting].kind) {
    case KIND_CPUS:
        return write_cpus(tracefs, table[setting].file, &settings->cpus);
    case KIND_NUMBER:
        return hr_tracefs_write_number(tracefs, table[setting].file, settings->numbers[setting]);
    case KIND_OPTION:
        break;
    }
    snprintf(word, sizeof(word), "%s%s", effective_number(settings, setting) != 0 ? "" : NO,
             table[setting].name);
    return hr_tracefs_write(tracefs, table[setting].file, word);
}

bool hr_osnoise_setting_is_disruptive(enum hr_osnoise_setting setting)
{
    return setting == HR_OSNOISE_OPTION_IRQ_DISABLE || setting == HR_OSNOISE_OPTION_PREEMPT_DISABLE;
}

/* The step at which a setting is written: a disruptive option is on only while the other settings
 * are those it was meant for. Otherwise a process that dies midway leaves it with another program's
 * runtime: 1 s of 1 s with interrupts off. */
static int write_rank(const struct hr_osnoise_settings *wanted, enum hr_osnoise_setting setting)
{
    if (!hr_osnoise_setting_is_disruptive(setting))
        return 1;
    return effective_number(wanted, setting) != 0 ? 2 : 0;
}

/* Finds the order of writing. The kernel refuses a runtime above the period at every step. */
static void order_writes(const struct hr_osnoise_settings *now,
                         const struct hr_osnoise_settings *wanted,
                         enum hr_osnoise_setting order[HR_OSNOISE_SETTING_COUNT])
{
    bool shrinks = wanted->has[HR_OSNOISE_PERIOD] &&
                   wanted->numbers[HR_OSNOISE_PERIOD] < now->numbers[HR_OSNOISE_RUNTIME];
    int count = 0;

    for (int of = 0; of <= 2; of++)
        for (int setting = 0; setting < HR_OSNOISE_SETTING_COUNT; setting++) {
            if (write_rank(wanted, setting) != of)
                continue;
            order[count] = setting;
            if (shrinks && (setting == HR_OSNOISE_PERIOD || setting == HR_OSNOISE_RUNTIME))
                order[count] = HR_OSNOISE_PERIOD + HR_OSNOISE_RUNTIME - setting;
            count++;
        }
}

static int explain_write_error(const struct hr_osnoise_settings *wanted,
                               enum hr_osnoise_setting setting, int error, struct hr_reason *reason)
{
    const char *file = table[setting].file;
    char value[64], remedy[HR_REMEDY_SIZE];

    if (error == -E2BIG)
        return hr_reason_set(reason, error,
                             "the list of CPUs is too long for the kernel, which takes 255 bytes: "
                             "choose CPUs that can be written as ranges or in a regular pattern");
    if (error == -EACCES || error == -EPERM)
        return hr_reason_set(reason, error, "no permission to write tracefs' %s: %s", file,
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    hr_osnoise_setting_print(wanted, setting, value, sizeof(value));
    return hr_reason_set(reason, error, "can't set %s to %s in tracefs' %s (%s)",
                         table[setting].name, value, file, strerror(-error));
}

static int refuse_option(enum hr_osnoise_setting setting, struct hr_reason *reason)
{
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "the kernel's osnoise has no option %s: it needs Linux 6.2 or later",
                         table[setting].name);
}

/* A list that was written as a pattern may be too long to be written as it is read: find out before
 * it is overwritten. Writing the same list changes nothing. */
static int check_list_restorable(const struct hr_tracefs *tracefs,
                                 const struct hr_osnoise_settings *now, struct hr_reason *reason)
{
    char list[SAFE_LIST_LENGTH];

    if (hr_cpu_set_format(&now->cpus, list, sizeof(list)) == 0)
        return 0;
    int status = write_setting(tracefs, HR_OSNOISE_CPUS, now);
    if (status == -E2BIG)
        return hr_reason_set(reason, status,
                             "tracefs' osnoise/cpus has a list of CPUs that is too long to be "
                             "restored afterwards: write a shorter one to it");
    return status < 0 ? explain_write_error(now, HR_OSNOISE_CPUS, status, reason) : 0;
}

static int set_setting(const struct hr_tracefs *tracefs, const struct hr_osnoise_settings *now,
                       const struct hr_osnoise_settings *wanted, enum hr_osnoise_setting setting,
                       struct hr_reason *reason)
{
    int status = 0;

    if (!wanted->has[setting] || is_same(now, wanted, setting))
        return 0;
    if (!now->has[setting])
        return refuse_option(setting, reason);
    if (setting == HR_OSNOISE_CPUS)
        status = check_list_restorable(tracefs, now, reason);
    if (status < 0)
        return status;
    status = write_setting(tracefs, setting, wanted);
    return status < 0 ? explain_write_error(wanted, setting, status, reason) : 0;
}

int hr_osnoise_settings_set(const struct hr_tracefs *tracefs,
                            const struct hr_osnoise_settings *wanted, struct hr_reason *reason)
{
    enum hr_osnoise_setting order[HR_OSNOISE_SETTING_COUNT];
    struct hr_osnoise_settings now;

    int status = hr_osnoise_settings_read(tracefs, &now, reason);
    if (status < 0)
        return status;
    order_writes(&now, wanted, order);
    for (int i = 0; status == 0 && i < HR_OSNOISE_SETTING_COUNT; i++)
        status = set_setting(tracefs, &now, wanted, order[i], reason);
    if (status == 0)
        status = hr_osnoise_settings_read(tracefs, &now, reason);
    if (status < 0)
        return status;
    enum hr_osnoise_setting other = hr_osnoise_settings_differ(wanted, &now);
    if (other == HR_OSNOISE_SETTING_COUNT)
        return 0;
    return hr_reason_set(
        reason, -EBUSY,
        "the osnoise tracer's setting %s didn't keep its value: another program changes it",
        table[other].name);
}

/* --- Restoring ------------------------------------------------------------ */

/* A program that changed the period or the runtime may have left no room for the other's original.
 * It chose its value to go with the present one, which then stays. */
static void drop_impossible_runtime(const struct hr_osnoise_settings *now,
                                    struct hr_osnoise_settings *wanted)
{
    uint64_t period = now->numbers[HR_OSNOISE_PERIOD], runtime = now->numbers[HR_OSNOISE_RUNTIME];

    if (wanted->has[HR_OSNOISE_PERIOD])
        period = wanted->numbers[HR_OSNOISE_PERIOD];
    if (wanted->has[HR_OSNOISE_RUNTIME])
        runtime = wanted->numbers[HR_OSNOISE_RUNTIME];
    if (runtime > period)
        wanted->has[HR_OSNOISE_PERIOD] = wanted->has[HR_OSNOISE_RUNTIME] = false;
}

int hr_osnoise_settings_restore(const struct hr_tracefs *tracefs,
                                const struct hr_osnoise_settings *ours,
                                const struct hr_osnoise_settings *original)
{
    enum hr_osnoise_setting order[HR_OSNOISE_SETTING_COUNT];
    struct hr_osnoise_settings now, wanted = *original;

    int status = hr_osnoise_settings_read(tracefs, &now, NULL);
    if (status < 0)
        return status;
    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++)
        wanted.has[i] = original->has[i] && ours->has[i] && now.has[i] && is_same(ours, &now, i);
    drop_impossible_runtime(&now, &wanted);
    order_writes(&now, &wanted, order);
    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++) {
        if (!wanted.has[order[i]] || is_same(&now, &wanted, order[i]))
            continue;
        int written = write_setting(tracefs, order[i], &wanted);
        if (status == 0)
            status = written;
    }
    return status;
}
