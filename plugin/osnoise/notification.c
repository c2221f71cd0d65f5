/* SPDX-License-Identifier: MIT */
#include "osnoise/notification.h"

#include "common/message.h"

#define PLUGIN "osnoise"
#define SERIES "max_single"

/* "thread spinner[812] 2001 us (3 times)", "thread kworker/1:0[21] (vmstat_update) 12 us" */
#define FUNCTIONS_SIZE (HR_OSNOISE_FUNCTIONS * (HR_OSNOISE_NAME + HR_OSNOISE_SENDER + 8) + 16)
#define PART_SIZE      (HR_OSNOISE_NAME + FUNCTIONS_SIZE + 128)

/* "2013 us", "1.5 us" */
static void print_us(uint64_t ns, char *buffer, size_t size)
{
    snprintf(buffer, size, ns >= 9950 ? "%.0f us" : "%.2g us", (double)ns / 1000);
}

/* The limit as in the configuration: "50 us", "1500.5 us". */
static void print_limit(const struct osnoise_rule *rule, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.12g us", (double)rule->max_single_ns / 1000);
}

static struct message begin_notification(notification_t *notice, unsigned cpu, int severity)
{
    char instance[16];

    snprintf(instance, sizeof(instance), "cpu%u", cpu);
    return message_begin(notice, severity,
                         &(struct message_series){
                             .plugin = PLUGIN,
                             .instance = instance,
                             .type = "duration",
                             .type_instance = SERIES,
                         });
}

static void add_common_metadata(notification_t *notice, const struct osnoise_rule *rule,
                                unsigned cpu)
{
    plugin_notification_meta_add_unsigned_int(notice, "CPU", cpu);
    if (rule->max_single_ns > 0)
        plugin_notification_meta_add_double(notice, "Limit", (double)rule->max_single_ns / 1e9);
}

/* --- A noise -------------------------------------------------------------- */

/* "thread spinner[812]", "irq local_timer[236]", "softirq TIMER", "nmi" */
static void print_source(const struct hr_osnoise_part *part, char *buffer, size_t size)
{
    const char *kind = hr_osnoise_kind_name(part->kind);

    if (part->kind == HR_OSNOISE_NMI)
        snprintf(buffer, size, "%s", kind);
    else if (part->kind == HR_OSNOISE_SOFTIRQ)
        snprintf(buffer, size, "%s %s", kind, part->name);
    else
        snprintf(buffer, size, "%s %s[%d]", kind, part->name, part->number);
}

/* " (vmstat_update, remote_function for perf[423] on CPU 0)", or nothing */
static void print_functions(const struct hr_osnoise_part *part, char buffer[FUNCTIONS_SIZE])
{
    size_t length = 0;

    buffer[0] = '\0';
    for (size_t i = 0; i < part->function_count; i++)
        length += (size_t)snprintf(buffer + length, FUNCTIONS_SIZE - length, "%s%s%s%s",
                                   i > 0 ? ", " : " (", part->functions[i],
                                   part->senders[i][0] != '\0' ? " for " : "", part->senders[i]);
    if (length > 0)
        snprintf(buffer + length, FUNCTIONS_SIZE - length, "%s)",
                 part->has_more_functions ? " and more" : "");
}

static void print_part(const struct hr_osnoise_part *part, char buffer[PART_SIZE])
{
    char who[HR_OSNOISE_NAME + 32], functions[FUNCTIONS_SIZE], lasted[32], times[40] = "";

    print_source(part, who, sizeof(who));
    print_functions(part, functions);
    print_us(part->duration_ns, lasted, sizeof(lasted));
    if (part->count > 1)
        snprintf(times, sizeof(times), " (%" PRIu64 " times)", part->count);
    snprintf(buffer, PART_SIZE, "%s%s %s%s", who, functions, lasted, times);
}

static void append_parts(struct message *message,
                         const struct hr_osnoise_single_noise *single_noise)
{
    static const char more[] = ", and more";
    const uint64_t left_ns = hr_osnoise_unexplained_ns(single_noise);
    char text[PART_SIZE], lasted[32];
    bool fits = true;

    message->room -= strlen(more);
    for (size_t i = 0; i < single_noise->part_count && fits; i++) {
        print_part(&single_noise->parts[i], text);
        fits = message_append(message, "%s%s", i == 0 ? ": " : ", ", text);
    }
    message->room += strlen(more);
    if (!fits || !single_noise->parts_are_all)
        message_append(message, "%s", more);
    print_us(left_ns, lasted, sizeof(lasted));
    if (left_ns > 0)
        message_append(message, "; %s unexplained", lasted);
}

static void append_cause(struct message *message,
                         const struct hr_osnoise_single_noise *single_noise)
{
    if (single_noise->part_count > 0)
        append_parts(message, single_noise);
    else if (single_noise->interference_count == 0)
        message_append(message,
                       ", without any interference that the kernel saw: hardware, firmware or the "
                       "host of a virtual machine");
    else
        message_append(message, "; what interfered isn't known, as its records were lost");
}

/* ", 241 in 60 s, the longest 3013 us" */
static void append_excess(struct message *message, const struct osnoise_excess *excess,
                          uint64_t lasting_ns)
{
    char longest[32];

    print_us(excess->longest_ns, longest, sizeof(longest));
    message_append(message, ", %s%" PRIu64 " in %.0f s, the longest %s",
                   excess->is_more ? "at least " : "", excess->count, (double)lasting_ns / 1e9,
                   longest);
}

void osnoise_notification_single_noise(notification_t *notice, const struct osnoise_rule *rule,
                                       const struct hr_osnoise_single_noise *single_noise,
                                       const struct osnoise_excess *excess, uint64_t lasting_ns)
{
    struct message message = begin_notification(notice, single_noise->cpu, rule->severity);
    char lasted[32], limit[32], name[32], text[PART_SIZE];

    print_us(single_noise->duration_ns, lasted, sizeof(lasted));
    print_limit(rule, limit, sizeof(limit));
    message_append(&message, "noise of %s on CPU %u, above %s", lasted, single_noise->cpu, limit);
    if (excess != NULL)
        append_excess(&message, excess, lasting_ns);
    append_cause(&message, single_noise);
    add_common_metadata(notice, rule, single_noise->cpu);
    plugin_notification_meta_add_double(notice, "Duration",
                                        (double)single_noise->duration_ns / 1e9);
    plugin_notification_meta_add_unsigned_int(notice, "Interferences",
                                              single_noise->interference_count);
    for (size_t i = 0; i < single_noise->part_count; i++) {
        snprintf(name, sizeof(name), "Part%zu", i + 1);
        print_part(&single_noise->parts[i], text);
        message_add_text(notice, name, text);
    }
}

void osnoise_notification_add_trace(notification_t *notice, const char *path)
{
    message_add_text(notice, "Trace", path);
}

/* --- Its end -------------------------------------------------------------- */

/* "; 12 were above, the longest 2013 us" */
static void append_all(struct message *message, const struct osnoise_excess *excess)
{
    char longest[32];

    if (excess->count == 0) /* all were before collectd was restarted */
        return;
    print_us(excess->longest_ns, longest, sizeof(longest));
    message_append(message, "; %s%" PRIu64 " %s above%s, the longest %s",
                   excess->is_more ? "at least " : "", excess->count,
                   excess->count == 1 ? "was" : "were",
                   excess->is_since_restart ? " since collectd was restarted" : "", longest);
}

void osnoise_notification_quiet(notification_t *notice, const struct osnoise_rule *rule,
                                unsigned cpu, const struct osnoise_excess *excess)
{
    struct message message = begin_notification(notice, cpu, NOTIF_OKAY);
    char limit[32];

    print_limit(rule, limit, sizeof(limit));
    message_append(&message, "no noise above %s on CPU %u for %.6g s", limit, cpu,
                   (double)rule->quiet_ns / 1e9);
    append_all(&message, excess);
    add_common_metadata(notice, rule, cpu);
}

/* As missing.c says it of the same series. */
void osnoise_notification_unwatched(notification_t *notice, const struct osnoise_rule *rule,
                                    unsigned cpu, const char *reason)
{
    struct message message = begin_notification(notice, cpu, NOTIF_OKAY);

    message_append(&message, SERIES ": no longer watched: %s", reason);
    add_common_metadata(notice, rule, cpu);
    message_add_text(notice, "NoLongerWatched", reason);
}
