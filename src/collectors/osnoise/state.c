/* SPDX-License-Identifier: MIT */
#include "osnoise/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/state_file.h"
#include "process/stat.h"

/* Room for two lists of CPUs, and the rest. */
#define TEXT_SIZE (64 * 1024)

#define FIRST_LINE "headroom's osnoise state 1\n"
#define LAST_LINE  "end\n"

/* --- Parsing -------------------------------------------------------------- */

/* Parses "name value\n". */
static bool take_word(struct hr_text *rest, const char *name, char *value, size_t size)
{
    struct hr_text at = *rest;

    if (!hr_text_skip(&at, name) || !hr_text_skip(&at, " "))
        return false;
    const char *end = memchr(at.start, '\n', at.length);
    if (end == NULL || end == at.start || (size_t)(end - at.start) >= size)
        return false;
    if (memchr(at.start, '\0', (size_t)(end - at.start)) != NULL)
        return false;
    memcpy(value, at.start, (size_t)(end - at.start));
    value[end - at.start] = '\0';
    *rest = at;
    return hr_text_skip_line(rest);
}

static bool take_number(struct hr_text *rest, const char *name, uint64_t max, uint64_t *value)
{
    return hr_text_skip(rest, name) && hr_text_skip(rest, " ") && hr_text_u64(rest, value) &&
           *value <= max && hr_text_skip(rest, "\n");
}

/* The instance is going to be removed, so its name must have the prefix. */
static bool is_instance(const char *name)
{
    static const char prefix[] = HR_OSNOISE_INSTANCE_PREFIX;

    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return false;
    name += sizeof(prefix) - 1;
    return name[0] != '\0' && name[strspn(name, "0123456789_")] == '\0';
}

/* A list of CPUs, up to a space or the end of the line; "none" is the empty one. */
static bool take_cpus(struct hr_text *rest, struct hr_cpu_set *cpus)
{
    size_t length = 0;

    if (hr_text_skip(rest, "none"))
        return true;
    while (length < rest->length && rest->start[length] != ' ' && rest->start[length] != '\n')
        length++;
    if (length == 0 || hr_cpu_set_parse(rest->start, length, cpus) < 0)
        return false;
    rest->start += length;
    rest->length -= length;
    return true;
}

static bool take_value(struct hr_text *rest, enum hr_osnoise_setting setting,
                       struct hr_osnoise_settings *settings)
{
    settings->has[setting] = true;
    if (setting == HR_OSNOISE_CPUS)
        return take_cpus(rest, &settings->cpus);
    if (setting < HR_OSNOISE_OPTION_WORKLOAD)
        return hr_text_u64(rest, &settings->numbers[setting]);
    settings->numbers[setting] = hr_text_skip(rest, "on");
    return settings->numbers[setting] != 0 || hr_text_skip(rest, "off");
}

/* "period_us 100000 was 1000000\n"; absent if the run didn't have the setting. */
static bool take_setting(struct hr_text *rest, enum hr_osnoise_setting setting,
                         struct hr_osnoise_state *state)
{
    struct hr_text at = *rest;

    if (!hr_text_skip(&at, hr_osnoise_setting_name(setting)) || !hr_text_skip(&at, " "))
        return true;
    *rest = at;
    return take_value(rest, setting, &state->ours) && hr_text_skip(rest, " was ") &&
           take_value(rest, setting, &state->original) && hr_text_skip(rest, "\n");
}

static bool take_owner(struct hr_text *rest, struct hr_osnoise_state *state)
{
    uint64_t pid = 0;

    bool good = take_word(rest, "boot_id", state->boot_id, sizeof(state->boot_id)) &&
                hr_boot_id_is_valid(state->boot_id) && take_number(rest, "pid", INT32_MAX, &pid) &&
                pid > 0 && take_number(rest, "started_ticks", UINT64_MAX, &state->started_ticks);
    state->pid = (pid_t)pid;
    return good;
}

/*
 *     headroom's osnoise state 1
 *     boot_id 6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11
 *     pid 4711
 *     started_ticks 123456
 *     instance headroom_osnoise_4711
 *     cpus 2-3 was 0-7
 *     runtime_us 10000 was 1000000
 *     OSNOISE_WORKLOAD on was on
 *     end
 */
int hr_osnoise_state_parse(const char *text, size_t length, struct hr_osnoise_state *state)
{
    struct hr_text rest = {text, length};
    struct hr_osnoise_state parsed = {0};

    bool good = hr_text_skip(&rest, FIRST_LINE) && take_owner(&rest, &parsed) &&
                take_word(&rest, "instance", parsed.instance, sizeof(parsed.instance)) &&
                is_instance(parsed.instance);
    for (int i = 0; good && i < HR_OSNOISE_SETTING_COUNT; i++)
        good = take_setting(&rest, i, &parsed);
    if (!good || !hr_text_skip(&rest, LAST_LINE) || rest.length > 0)
        return -EBADMSG;
    *state = parsed;
    return 0;
}

/* --- Printing ------------------------------------------------------------- */

struct page {
    char *text;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void append_text(struct page *page, const char *format,
                                                              ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(page->text + page->length, TEXT_SIZE - page->length, format, arguments);
    va_end(arguments);
    page->length += (size_t)length;
}

/* Prints ranges only, as the patterns of hr_cpu_set_format() can't be parsed. */
static void append_cpus(struct page *page, const struct hr_cpu_set *cpus)
{
    const char *comma = "";
    unsigned first = hr_cpu_set_next(cpus, 0);

    if (first == HR_CPU_MAX)
        append_text(page, "none");
    for (unsigned last; first < HR_CPU_MAX; first = hr_cpu_set_next(cpus, last + 1)) {
        for (last = first; hr_cpu_set_has(cpus, last + 1);)
            last++;
        append_text(page, first == last ? "%s%u" : "%s%u-%u", comma, first, last);
        comma = ",";
    }
}

static void append_value(struct page *page, enum hr_osnoise_setting setting,
                         const struct hr_osnoise_settings *settings)
{
    char value[32];

    if (setting == HR_OSNOISE_CPUS) {
        append_cpus(page, &settings->cpus);
        return;
    }
    hr_osnoise_setting_print(settings, setting, value, sizeof(value));
    append_text(page, "%s", value);
}

static void print_state(const struct hr_osnoise_state *state, struct page *page)
{
    append_text(page, FIRST_LINE "boot_id %s\npid %d\nstarted_ticks %" PRIu64 "\ninstance %s\n",
                state->boot_id, (int)state->pid, state->started_ticks, state->instance);
    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++) {
        if (!state->ours.has[i] || !state->original.has[i])
            continue;
        append_text(page, "%s ", hr_osnoise_setting_name(i));
        append_value(page, i, &state->ours);
        append_text(page, " was ");
        append_value(page, i, &state->original);
        append_text(page, "\n");
    }
    append_text(page, LAST_LINE);
}

/* --- Owner ---------------------------------------------------------------- */

/* @return 0; -ESRCH: the process doesn't exist, or has ended; … */
static int read_start_time(pid_t pid, uint64_t *started_ticks)
{
    char path[64];
    struct hr_process_stat stat;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = hr_process_stat_read_and_close(fd < 0 ? -errno : fd, &stat);
    if (status == -ENOENT)
        return -ESRCH;
    if (status < 0)
        return status;
    *started_ticks = stat.started_ticks;
    return stat.is_zombie ? -ESRCH : 0;
}

int hr_osnoise_state_sign(struct hr_osnoise_state *state)
{
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    uint64_t started_ticks;

    int status = hr_boot_id_read(boot_id);
    if (status == 0)
        status = read_start_time(getpid(), &started_ticks);
    if (status < 0)
        return status;
    memcpy(state->boot_id, boot_id, sizeof(boot_id));
    state->pid = getpid();
    state->started_ticks = started_ticks;
    return 0;
}

/* If in doubt, the process is taken to be alive: then its run isn't touched. */
enum hr_osnoise_owner hr_osnoise_state_owner(const struct hr_osnoise_state *state)
{
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    uint64_t started_ticks = state->started_ticks;

    if (hr_boot_id_read(boot_id) == 0 && strcmp(boot_id, state->boot_id) != 0)
        return HR_OSNOISE_OWNER_OTHER_BOOT;
    if (read_start_time(state->pid, &started_ticks) == -ESRCH ||
        started_ticks != state->started_ticks)
        return HR_OSNOISE_OWNER_DEAD;
    return state->pid == getpid() ? HR_OSNOISE_OWNER_SELF : HR_OSNOISE_OWNER_ALIVE;
}

/* --- The file ------------------------------------------------------------- */

int hr_osnoise_state_read(const char *path, struct hr_osnoise_state *state)
{
    size_t length;
    char *text = malloc(TEXT_SIZE);

    int status = text == NULL ? -ENOMEM : hr_state_file_read(path, text, TEXT_SIZE, &length);
    if (status == 0)
        status = hr_osnoise_state_parse(text, length, state);
    free(text);
    return status;
}

int hr_osnoise_state_write(const char *path, const struct hr_osnoise_state *state)
{
    struct page page = {.text = malloc(TEXT_SIZE)};
    struct hr_osnoise_state again;

    if (page.text == NULL)
        return -ENOMEM;
    print_state(state, &page);
    int status = hr_osnoise_state_parse(page.text, page.length, &again) < 0 ? -EINVAL : 0;
    if (status == 0)
        status = hr_state_file_write(path, page.text, page.length);
    free(page.text);
    return status;
}

int hr_osnoise_state_remove(const char *path)
{
    return hr_state_file_remove(path);
}
