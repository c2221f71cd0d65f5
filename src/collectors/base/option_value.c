/* SPDX-License-Identifier: MIT */
#include "headroom/option_value.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "headroom/cpu_choice.h"
#include "headroom/option.h"
#include "headroom/priority.h"
#include "headroom/root.h"

#define WINDOWS_MAX 8

#define HOUR_S 3600
#define DAY_S  86400

/* Up to 2^53 a double can hold each whole number. */
#define WHOLE_MAX ((double)(UINT64_C(1) << 53))

struct rule {
    const char *plugin; /* NULL: any */
    const char *block;
    const char *option;
    bool (*accepts)(const struct rule *rule, const struct hr_option *option);
    double min, max;
    const char *accepted; /* NULL: the limits, or the words */
    const char *words[HR_OPTION_WORDS_MAX];
};

/* --- Kinds of values ------------------------------------------------------ */

static bool is_one(const struct hr_option *option, enum hr_option_type type)
{
    return option->count == 1 && option->values[0].type == type;
}

static bool are_texts(const struct hr_option *option)
{
    for (size_t i = 0; i < option->count; i++)
        if (option->values[i].type != HR_OPTION_TEXT)
            return false;
    return option->count > 0;
}

static bool accepts_boolean(const struct rule *rule, const struct hr_option *option)
{
    (void)rule;
    return is_one(option, HR_OPTION_BOOLEAN);
}

static bool accepts_number(const struct rule *rule, const struct hr_option *option)
{
    return is_one(option, HR_OPTION_NUMBER) && option->values[0].number >= rule->min &&
           option->values[0].number <= rule->max;
}

/* Half a microsecond is what a decimal fraction may lack in binary. */
static bool accepts_seconds(const struct rule *rule, const struct hr_option *option)
{
    return is_one(option, HR_OPTION_NUMBER) &&
           option->values[0].number * 1e6 >= rule->min * 1e6 - 0.5 &&
           option->values[0].number * 1e6 <= rule->max * 1e6 + 0.5;
}

/* Compared before the conversion, which is undefined out of range. */
static bool accepts_count(const struct rule *rule, const struct hr_option *option)
{
    return accepts_number(rule, option) &&
           option->values[0].number == (double)(uint64_t)option->values[0].number;
}

bool hr_option_parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    /* not strchr(), which also finds the terminating NUL: ' ' & ~0x20 is NUL */
    const char *unit = memchr(units, *end & ~0x20, sizeof(units) - 1);
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (errno != 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')) ||
        number > UINT64_MAX >> shift)
        return false;
    *bytes = number << shift;
    return true;
}

static bool accepts_bytes(const struct rule *rule, const struct hr_option *option)
{
    uint64_t bytes;

    if (!is_one(option, HR_OPTION_TEXT))
        return accepts_count(rule, option);
    return hr_option_parse_bytes(option->values[0].text, &bytes) && (double)bytes >= rule->min &&
           (double)bytes <= rule->max;
}

static bool accepts_text(const struct rule *rule, const struct hr_option *option)
{
    (void)rule;
    return is_one(option, HR_OPTION_TEXT) && option->values[0].text[0] != '\0';
}

static bool accepts_path(const struct rule *rule, const struct hr_option *option)
{
    return accepts_text(rule, option) && option->values[0].text[0] == '/';
}

static bool accepts_file(const struct rule *rule, const struct hr_option *option)
{
    return accepts_path(rule, option) &&
           option->values[0].text[strlen(option->values[0].text) - 1] != '/';
}

/* @return 0, or why it can't be opened. */
static int try_root(const struct hr_option *option)
{
    struct hr_root *root;

    int status = hr_root_open(option->values[0].text, &root);
    if (status == 0)
        hr_root_close(root);
    return status;
}

static bool accepts_root(const struct rule *rule, const struct hr_option *option)
{
    return accepts_path(rule, option) && try_root(option) == 0;
}

/* The name of a trigger is part of a series' name: nothing that collectd would change. */
static bool accepts_name(const struct rule *rule, const struct hr_option *option)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-.";

    if (!accepts_text(rule, option))
        return false;
    const size_t length = strlen(option->values[0].text);
    return (double)length <= rule->max && strspn(option->values[0].text, allowed) == length;
}

static bool accepts_texts(const struct rule *rule, const struct hr_option *option)
{
    (void)rule;
    return are_texts(option);
}

/* None of them empty, up to the rule's number. */
static bool accepts_events(const struct rule *rule, const struct hr_option *option)
{
    for (size_t i = 0; are_texts(option) && i < option->count; i++)
        if (option->values[i].text[0] == '\0')
            return false;
    return are_texts(option) && (double)option->count <= rule->max;
}

static bool accepts_nothing(const struct rule *rule, const struct hr_option *option)
{
    (void)rule;
    return option->count == 0;
}

static int find_word(const struct rule *rule, const char *text)
{
    for (int i = 0; i < HR_OPTION_WORDS_MAX && rule->words[i] != NULL; i++)
        if (strcasecmp(rule->words[i], text) == 0)
            return i;
    return -1;
}

static bool accepts_words(const struct rule *rule, const struct hr_option *option)
{
    for (size_t i = 0; are_texts(option) && i < option->count; i++)
        if (find_word(rule, option->values[i].text) < 0)
            return false;
    return are_texts(option);
}

static bool accepts_word(const struct rule *rule, const struct hr_option *option)
{
    return option->count == 1 && accepts_words(rule, option);
}

/* A word and a number. */
static bool accepts_pair(const struct rule *rule, const struct hr_option *option)
{
    const struct hr_option word = {.values = option->values, .count = 1};
    const struct hr_option number = {.values = option->values + 1, .count = 1};

    return option->count == 2 && accepts_word(rule, &word) && accepts_number(rule, &number);
}

static bool accepts_number_and_word(const struct rule *rule, const struct hr_option *option)
{
    const struct hr_option number = {.values = option->values, .count = 1};
    const struct hr_option word = {.values = option->values + 1, .count = 1};

    return option->count == 2 && accepts_count(rule, &number) && accepts_word(rule, &word);
}

/* Each above the one before, in whole milliseconds but for what a decimal fraction may lack. */
static bool accepts_windows(const struct rule *rule, const struct hr_option *option)
{
    double previous_ms = 0;

    for (size_t i = 0; i < option->count; i++) {
        const struct hr_option one = {.values = &option->values[i], .count = 1};
        if (!accepts_seconds(rule, &one))
            return false;
        const double ms = option->values[i].number * 1000;
        const double whole_ms = (double)(uint64_t)(ms + 0.5);
        if (ms - whole_ms > 1e-6 || whole_ms - ms > 1e-6 || whole_ms <= previous_ms)
            return false;
        previous_ms = whole_ms;
    }
    return option->count > 0 && option->count <= WINDOWS_MAX;
}

static bool is_cpu_choice(const struct rule *rule, const struct hr_option_value *value)
{
    const struct hr_option one = {.values = value, .count = 1};
    struct hr_cpu_choice choice;

    if (value->type != HR_OPTION_TEXT)
        return accepts_count(rule, &one);
    return hr_cpu_choice_parse(value->text, &choice) == 0;
}

static bool accepts_cpu_choices(const struct rule *rule, const struct hr_option *option)
{
    for (size_t i = 0; i < option->count; i++)
        if (!is_cpu_choice(rule, &option->values[i]))
            return false;
    return option->count > 0;
}

static bool accepts_priority(const struct rule *rule, const struct hr_option *option)
{
    struct hr_priority priority;

    return accepts_text(rule, option) && hr_priority_parse(option->values[0].text, &priority) == 0;
}

static bool accepts_cpu_choice(const struct rule *rule, const struct hr_option *option)
{
    return option->count == 1 && accepts_cpu_choices(rule, option);
}

/* --- Rules ---------------------------------------------------------------- */

#define LIMITS(least, most)  .min = (least), .max = (most)
#define BOOLEAN              accepts_boolean, .accepted = "true or false, without quotes"
#define COUNT(least, most)   accepts_count, LIMITS(least, most)
#define SECONDS(least, most) accepts_seconds, LIMITS(least, most)
#define WORD(...)            accepts_word, .words = {__VA_ARGS__}
#define TEXT                 accepts_text, .accepted = "one text in quotes, not empty"
#define STATE_FILE           accepts_file, .accepted = "the absolute path of a file"
#define PATTERNS             accepts_texts, .accepted = "one path or pattern in quotes, or more"
#define BLOCK(key)           accepts_nothing, .accepted = "no value, as it is a block: <" key ">"
#define SEVERITY             WORD("WARNING", "FAILURE")
#define METHOD               WORD("auto", "referenced", "idle", "lru_gen", "damon")
#define WINDOW                                                                                     \
    accepts_windows, LIMITS(0.001, HOUR_S),                                                        \
        .accepted = "1 to 8 numbers of seconds from 0.001 to 3600, in whole milliseconds, each "   \
                    "above the one before"
#define CPU_WORDS     .words = {"isolated", "!isolated", "nohz_full"}
#define RUNTIME_WORDS .words = {"kubernetes", "docker", "podman"}
#define TROUBLE_WORDS .words = {"cpu", "memory", "io"}
#define RUNTIMES                                                                                   \
    accepts_words, RUNTIME_WORDS,                                                                  \
        .accepted = "one or more of \"kubernetes\", \"docker\" and \"podman\""
#define TROUBLE                                                                                    \
    accepts_pair, LIMITS(DBL_MIN, 100), TROUBLE_WORDS,                                             \
        .accepted = "\"cpu\", \"memory\" or \"io\", and a percentage above 0, up to 100"

/* Words stand in the order of the values that the plugins give them. */
static const struct rule rules[] = {
    {NULL, "Plugin", "Include", TEXT},
    {NULL, "Plugin", "Cgroup", PATTERNS},
    {NULL, "Plugin", "ExcludeCgroup", PATTERNS},
    {NULL, "Plugin", "MaxCgroups", COUNT(1, 1000000)},
    {NULL, "Plugin", "MinAge", SECONDS(0, DAY_S)},
    {NULL, "Plugin", "NameFrom", RUNTIMES},
    {NULL, "Plugin", "Root", accepts_root,
     .accepted = "the absolute path of a directory where the host's / is mounted"},
    {NULL, "Plugin", "StateFile", STATE_FILE},
    {NULL, "Include", "Cgroup", PATTERNS},
    {NULL, "Include", "ExcludeCgroup", PATTERNS},
    {NULL, "Include", "MaxCgroups", COUNT(1, 1000000)},
    {NULL, "Include", "MinAge", SECONDS(0, DAY_S)},
    {NULL, "Include", "NameFrom", RUNTIMES},
    {NULL, "Cgroup", "Instance", TEXT},
    {"psi", "Plugin", "System", BOOLEAN},
    {"psi", "Plugin", "Resource", accepts_words,
     .accepted = "one or more of \"cpu\", \"memory\", \"io\" and \"irq\"",
     .words = {"cpu", "memory", "io", "irq"}},
    {"psi", "Plugin", "Report", accepts_words,
     .accepted = "one or both of \"percent\" and \"total\"", .words = {"percent", "total"}},
    {"psi", "Plugin", "ReportAverages", BOOLEAN},
    {"psi", "Plugin", "TopGroups", accepts_number_and_word, LIMITS(1, 1000000),
     .accepted = "a whole number from 1 to 1000000, and \"cpu-some\", \"cpu-full\", "
                 "\"memory-some\", \"memory-full\", \"io-some\", \"io-full\" or \"irq-full\"",
     .words = {"cpu-some", "cpu-full", "memory-some", "memory-full", "io-some", "io-full",
               "irq-full"}},
    {"psi", "Plugin", "Blame", WORD("alert", "always", "off")},
    {"psi", "Plugin", "MaxNotificationsPerSecond", COUNT(1, 100000)},
    {"psi", "Plugin", "Trigger", accepts_name, LIMITS(1, HR_OPTION_NAME_MAX),
     .accepted = "a name of 1 to 64 letters, digits, \"_\", \"-\" and \".\" in quotes, as in "
                 "<Trigger \"memory-stall\">"},
    {"psi", "Trigger", "Resource", WORD("cpu", "memory", "io", "irq")},
    {"psi", "Trigger", "Level", WORD("some", "full")},
    {"psi", "Trigger", "Stall", SECONDS(0.000001, 10)},
    {"psi", "Trigger", "Window", SECONDS(0.1, 10)},
    {"psi", "Trigger", "Scope", WORD("system", "cgroups")},
    {"psi", "Trigger", "Severity", SEVERITY},
    {"psi", "Trigger", "Quiet", SECONDS(0.1, DAY_S)},
    {"psi", "Trigger", "Repeat", SECONDS(0, DAY_S)},
    {"psi", "Trigger", "TopTasks", COUNT(0, 10)},
    {"psi", "Trigger", "TopTasksWindow", SECONDS(0.01, 1)},
    {"psi", "Trigger", "TopTasksLimit", COUNT(1, 100000)},
    {"psi", "Trigger", "Mode", WORD("auto", "kernel", "poll")},
    {"cgroup_perf", "Plugin", "System", BOOLEAN},
    {"cgroup_perf", "Plugin", "Event", accepts_events, LIMITS(1, 32),
     .accepted = "names of events in quotes, up to 32, which are counted together"},
    {"cgroup_perf", "Plugin", "CPUs", accepts_cpu_choice, LIMITS(0, HR_CPU_MAX - 1),
     .accepted = "CPUs as the kernel writes them, such as \"0-3\" or \"0,4-6\", below 8192; "
                 "\"isolated\", \"!isolated\" or \"nohz_full\"",
     CPU_WORDS},
    {"cgroup_perf", "Plugin", "Counting", WORD("auto", "descriptors", "bpf")},
    {"cgroup_perf", "Plugin", "RequireEvents", BOOLEAN},
    {"cgroup_perf", "Plugin", "ReportPerCPU", BOOLEAN},
    {"cgroup_perf", "Plugin", "ReportRunning", BOOLEAN},
    {"cgroup_perf", "Plugin", "MaxFiles", COUNT(1, 100000000)},
    {"wss", "Plugin", "Process", TEXT},
    {"wss", "Plugin", "System", accepts_nothing, .accepted = "no value, but is a block: <System>"},
    {"wss", "Plugin", "MaxScanTime", SECONDS(0.001, 60)},
    {"wss", "Plugin", "MaxRSS", accepts_bytes, LIMITS(0, WHOLE_MAX),
     .accepted = "a whole number of bytes, or with K, M, G or T, as \"64G\""},
    {"wss", "Process", "Name", TEXT},
    {"wss", "Process", "PidFile", accepts_path, .accepted = "an absolute path"},
    {"wss", "Process", "Pid", COUNT(1, 4194304)},
    {"wss", "Process", "Method", METHOD},
    {"wss", "Process", "Window", WINDOW},
    {"wss", "Process", "Aging", BOOLEAN},
    {"wss", "System", "Method", METHOD},
    {"wss", "System", "Window", WINDOW},
    {"wss", "System", "Aging", BOOLEAN},
    {"wss", "Cgroup", "Method", METHOD},
    {"wss", "Cgroup", "Window", WINDOW},
    {"wss", "Cgroup", "Aging", BOOLEAN},
    {"osnoise", "Plugin", "CPUs", accepts_cpu_choices, LIMITS(0, HR_CPU_MAX - 1),
     .accepted = "CPUs as the kernel writes them, such as \"2-7\" or \"0,4-6\", below 8192; "
                 "\"isolated\", \"!isolated\" or \"nohz_full\"",
     CPU_WORDS},
    {"osnoise", "Plugin", "Mode", WORD("osnoise", "hwnoise", "sources", "attach", "timerlat")},
    {"osnoise", "Plugin", "Period", SECONDS(0.0001, HOUR_S)},
    {"osnoise", "Plugin", "Runtime", SECONDS(0.0001, HOUR_S)},
    {"osnoise", "Plugin", "Threshold", SECONDS(0.000001, 1)},
    {"osnoise", "Plugin", "MaxDuty", accepts_number, LIMITS(DBL_MIN, 100),
     .accepted = "a number of percent above 0, up to 100"},
    {"osnoise", "Plugin", "Priority", accepts_priority,
     .accepted = "\"idle\", \"o:NICE\" (-20 to 19), \"r:PRIORITY\" or \"f:PRIORITY\" (1 to 99)"},
    {"osnoise", "Plugin", "Sources", COUNT(0, 100)},
    {"osnoise", "Plugin", "Histogram", BOOLEAN},
    {"osnoise", "Plugin", "BufferSize", accepts_bytes, LIMITS(16384, 16777216),
     .accepted = "16K to 16M: a whole number of bytes, or with K or M, as \"256K\""},
    {"osnoise", "Plugin", "Alert", BLOCK("Alert")},
    {"osnoise", "Alert", "MaxSingle", SECONDS(0.000001, HOUR_S)},
    {"osnoise", "Alert", "Severity", SEVERITY},
    {"osnoise", "Alert", "Quiet", SECONDS(1, DAY_S)},
    {"osnoise", "Alert", "Repeat", SECONDS(0, DAY_S)},
    {"osnoise", "Alert", "Causes", BOOLEAN},
    {"osnoise", "Alert", "KeepTraces", COUNT(0, 1000)},
    {"headroom", "Plugin", "System", BOOLEAN},
    {"headroom", "Plugin", "Trouble", TROUBLE},
    {"headroom", "Plugin", "Horizon", SECONDS(60, DAY_S)},
    {"headroom", "Plugin", "OOM", BOOLEAN},
    {"headroom", "Plugin", "Alert", BLOCK("Alert")},
    {"headroom", "Cgroup", "Trouble", TROUBLE},
    {"headroom", "Alert", "Before", SECONDS(0, DAY_S)},
    {"headroom", "Alert", "RoomBelow", accepts_number, LIMITS(0, 90),
     .accepted = "a percentage from 0 (never notifies) to 90"},
    {"headroom", "Alert", "Severity", SEVERITY},
    {"headroom", "Alert", "TopTakers", COUNT(0, 10)},
};

#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

static const struct rule *find_rule(const struct hr_option *option)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if ((rules[i].plugin == NULL || strcasecmp(rules[i].plugin, option->plugin) == 0) &&
            strcasecmp(rules[i].block, option->block) == 0 &&
            strcasecmp(rules[i].option, option->name) == 0)
            return &rules[i];
    return NULL;
}

/* --- What is accepted ----------------------------------------------------- */

/* "\"some\" or \"full\"" */
static void list_words(const struct rule *rule, char *buffer, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < HR_OPTION_WORDS_MAX && rule->words[i] != NULL && used < size; i++) {
        const bool is_last = i + 1 == HR_OPTION_WORDS_MAX || rule->words[i + 1] == NULL;
        used += (size_t)snprintf(buffer + used, size - used, "%s\"%s\"",
                                 i == 0    ? ""
                                 : is_last ? " or "
                                           : ", ",
                                 rule->words[i]);
    }
}

static void describe_root(const struct rule *rule, const struct hr_option *option, char *buffer,
                          size_t size)
{
    const int status = accepts_path(rule, option) ? try_root(option) : 0;

    if (status == -ENOSYS)
        snprintf(buffer, size, "\"/\" only, as this kernel is older than Linux 5.6");
    else
        snprintf(buffer, size, "%s%s%s%s", rule->accepted, status < 0 ? " (" : "",
                 status < 0 ? strerror(-status) : "", status < 0 ? ")" : "");
}

static void describe(const struct rule *rule, const struct hr_option *option, char *buffer,
                     size_t size)
{
    if (rule->accepts == accepts_root)
        describe_root(rule, option, buffer, size);
    else if (rule->accepted != NULL)
        snprintf(buffer, size, "%s", rule->accepted);
    else if (rule->words[0] != NULL)
        list_words(rule, buffer, size);
    else if (rule->accepts == accepts_count)
        snprintf(buffer, size, "a whole number from %.0f to %.0f", rule->min, rule->max);
    else
        snprintf(buffer, size, "a number of seconds from %s%.9g to %.9g",
                 rule->min == 0.000001 ? "0.00000" : "", rule->min == 0.000001 ? 1 : rule->min,
                 rule->max);
}

/* Of the first text that is none of the words. */
static const char *find_closest(const struct rule *rule, const struct hr_option *option)
{
    const char *closest = NULL;
    unsigned difference = UINT_MAX;

    for (size_t i = 0; i < option->count; i++) {
        const struct hr_option_value *value = &option->values[i];
        if (value->type != HR_OPTION_TEXT || find_word(rule, value->text) >= 0)
            continue;
        for (int j = 0; j < HR_OPTION_WORDS_MAX && rule->words[j] != NULL; j++) {
            const unsigned other = hr_option_compare(value->text, rule->words[j]);
            closest = other < difference ? rule->words[j] : closest;
            difference = other < difference ? other : difference;
        }
        break;
    }
    return closest;
}

bool hr_option_accepts(const struct hr_option *option, char accepted[HR_OPTION_ACCEPTED_SIZE])
{
    const struct rule *rule = find_rule(option);

    if (rule == NULL || rule->accepts(rule, option))
        return true;
    describe(rule, option, accepted, HR_OPTION_ACCEPTED_SIZE);
    const char *closest = find_closest(rule, option);
    const size_t length = strlen(accepted);
    if (closest != NULL)
        snprintf(accepted + length, HR_OPTION_ACCEPTED_SIZE - length, "; \"%s\" may be meant",
                 closest);
    return false;
}

int hr_option_find_word(const struct hr_option *option, size_t value)
{
    const struct rule *rule = find_rule(option);

    return rule != NULL && value < option->count && option->values[value].type == HR_OPTION_TEXT
               ? find_word(rule, option->values[value].text)
               : -1;
}
