/* SPDX-License-Identifier: MIT */
#include "headroom/option.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define OPTIONS_MAX 16
#define LENGTH_MAX  32

/* In what hr_option_compare() returns; more than there can be. */
#define ONE_EDIT 100

/* A beginning that is shorter says little. */
#define BEGINNING_MIN 4

struct block {
    const char *plugin; /* NULL: any */
    const char *key;
    const char *options[OPTIONS_MAX]; /* NULL after the last */
};

#define OF_SELECTION "Cgroup", "ExcludeCgroup", "MaxCgroups", "MinAge", "NameFrom"

static const struct block blocks[] = {
    {"psi",
     "Plugin",
     {"Include", OF_SELECTION, "System", "Resource", "Report", "ReportAverages", "Blame", "Trigger",
      "TopGroups", "MaxNotificationsPerSecond", "StateFile", "Root"}},
    {"psi",
     "Trigger",
     {"Resource", "Level", "Stall", "Window", "Scope", "Severity", "Quiet", "Repeat", "TopTasks",
      "TopTasksWindow", "TopTasksLimit", "Mode"}},
    {"psi", "Cgroup", {"Instance"}},
    {"cgroup_perf",
     "Plugin",
     {"Include", OF_SELECTION, "System", "CPUs", "Event", "Counting", "RequireEvents",
      "ReportPerCPU", "ReportRunning", "MaxFiles", "Root"}},
    {"cgroup_perf", "Cgroup", {"Instance"}},
    {"wss",
     "Plugin",
     {"Include", OF_SELECTION, "Process", "System", "MaxScanTime", "MaxRSS", "Root"}},
    {"wss", "Process", {"Name", "PidFile", "Pid", "Method", "Window", "Aging"}},
    {"wss", "System", {"Method", "Window", "Aging"}},
    {"wss", "Cgroup", {"Instance", "Method", "Window", "Aging"}},
    {"osnoise",
     "Plugin",
     {"CPUs", "Mode", "Period", "Runtime", "Threshold", "MaxDuty", "Priority", "Sources",
      "Histogram", "BufferSize", "StateFile", "Root", "Alert"}},
    {"osnoise", "Alert", {"MaxSingle", "Severity", "Quiet", "Repeat", "Causes", "KeepTraces"}},
    {"headroom",
     "Plugin",
     {"Include", OF_SELECTION, "System", "Trouble", "Horizon", "Alert", "OOM", "StateFile",
      "Root"}},
    {"headroom", "Alert", {"Before", "RoomBelow", "Severity", "TopTakers"}},
    {"headroom", "Cgroup", {"Instance", "Trouble"}},
    {NULL, "Include", {OF_SELECTION}},
    {NULL, "LoadPlugin", {"Interval"}}, /* collectd's own, as are the following */
    {"threshold", "Plugin", {"Type", "Plugin", "Host"}},
    {"threshold", "Host", {"Type", "Plugin"}},
    {"threshold",
     "Type",
     {"Instance", "DataSource", "WarningMin", "WarningMax", "FailureMin", "FailureMax", "Invert",
      "Interesting", "Persist", "PersistOK", "Percentage", "Hits", "Hysteresis"}},
    {"threshold", HR_OPTION_PLUGIN_WITHIN, {"Instance", "Type"}},
    {"csv", "Plugin", {"DataDir", "StoreRates", "FileDate"}},
    {"logfile", "Plugin", {"LogLevel", "File", "Timestamp", "PrintSeverity"}},
    {"syslog", "Plugin", {"LogLevel", "NotifyLevel"}},
    {"unixsock", "Plugin", {"SocketFile", "SocketGroup", "SocketPerms", "DeleteSocket"}},
};

#define BLOCK_COUNT (sizeof(blocks) / sizeof(blocks[0]))

/* Options without which the plugin refuses its configuration. */
static const struct {
    const char *plugin, *block, *option;
} required[] = {
    {"psi", "Trigger", "Resource"},
    {"psi", "Trigger", "Stall"},
    {"osnoise", "Alert", "MaxSingle"},
};

#define REQUIRED_COUNT (sizeof(required) / sizeof(required[0]))

static bool is_of(const struct block *block, const char *plugin)
{
    return block->plugin == NULL || strcasecmp(block->plugin, plugin) == 0;
}

static bool has_option(const struct block *block, const char *option)
{
    for (size_t i = 0; i < OPTIONS_MAX && block->options[i] != NULL; i++)
        if (strcasecmp(block->options[i], option) == 0)
            return true;
    return false;
}

static const struct block *find_block(const char *plugin, const char *key)
{
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        if (is_of(&blocks[i], plugin) && strcasecmp(blocks[i].key, key) == 0)
            return &blocks[i];
    return NULL;
}

bool hr_option_is_known(const char *plugin, const char *block, const char *option)
{
    const struct block *found = find_block(plugin, block);

    return found == NULL || has_option(found, option);
}

const char *hr_option_required(const char *plugin, const char *block, size_t index)
{
    for (size_t i = 0; i < REQUIRED_COUNT; i++)
        if (strcasecmp(required[i].plugin, plugin) == 0 &&
            strcasecmp(required[i].block, block) == 0 && index-- == 0)
            return required[i].option;
    return NULL;
}

/* --- What is like it ------------------------------------------------------ */

static unsigned least_of_three(unsigned a, unsigned b, unsigned c)
{
    const unsigned less = a < b ? a : b;

    return less < c ? less : c;
}

static bool is_same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* How many letters were added, left out, replaced, or swapped with their neighbour. Of LENGTH_MAX
 * at most. */
static unsigned count_edits(const char *a, const char *b)
{
    unsigned rows[3][LENGTH_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    const size_t length = strlen(b);

    for (size_t j = 0; j <= length; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= length; j++) {
            const bool is_same = is_same_letter(a[i - 1], b[j - 1]);
            row[j] = least_of_three(last[j] + 1, row[j - 1] + 1, last[j - 1] + !is_same);
            if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
                is_same_letter(a[i - 2], b[j - 1]))
                row[j] = least_of_three(row[j], before[j - 2] + 1, UINT_MAX);
        }
        unsigned *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[length];
}

/* At most a third of the letters may be wrong, or one is the beginning of the other, which is more
 * than one wrong letter, and less than two. */
unsigned hr_option_compare(const char *name, const char *known)
{
    const size_t length = strlen(name), known_length = strlen(known);
    const size_t common = length < known_length ? length : known_length;

    if (length > LENGTH_MAX || known_length > LENGTH_MAX)
        return UINT_MAX;
    const unsigned edits = count_edits(name, known);
    const bool is_beginning = common >= BEGINNING_MIN && strncasecmp(name, known, common) == 0;
    if (is_beginning && edits > 1)
        return ONE_EDIT + edits;
    return 3 * edits <= length ? edits * ONE_EDIT : UINT_MAX;
}

static const char *find_closest(const struct block *block, const char *option, unsigned *difference)
{
    const char *closest = NULL;

    for (size_t i = 0; i < OPTIONS_MAX && block->options[i] != NULL; i++) {
        const unsigned other = hr_option_compare(option, block->options[i]);
        if (other < *difference) {
            closest = block->options[i];
            *difference = other;
        }
    }
    return closest;
}

/* In its own block, or else in another. */
void hr_option_suggest(const char *plugin, const char *block, const char *option,
                       char text[HR_OPTION_SUGGESTION_SIZE])
{
    const struct block *own = find_block(plugin, block);
    unsigned difference = UINT_MAX;
    const char *closest = own != NULL ? find_closest(own, option, &difference) : NULL;

    snprintf(text, HR_OPTION_SUGGESTION_SIZE, "%s", closest != NULL ? closest : "");
    for (size_t i = 0; closest == NULL && i < BLOCK_COUNT; i++) {
        const char *found = is_of(&blocks[i], plugin) && strcmp(blocks[i].key, "Include") != 0
                                ? find_closest(&blocks[i], option, &difference)
                                : NULL;
        const bool has_plugin = strstr(blocks[i].key, "Plugin") != NULL;
        if (found != NULL)
            snprintf(text, HR_OPTION_SUGGESTION_SIZE, "%s of <%s%s%s>", found, blocks[i].key,
                     has_plugin ? " " : "", has_plugin ? plugin : "");
    }
}
