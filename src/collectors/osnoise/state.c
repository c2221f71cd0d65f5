/* SPDX-License-Identifier: MIT */
#include "osnoise/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/state_file.h"
#include "osnoise/owner.h"

/* Room for two lists of CPUs, and the rest. */
#define TEXT_SIZE (64 * 1024)

/* The usual BaseDir: whoever owns it is collectd's user. */
#define COLLECTD_FOLDER "/var/lib/collectd"

#define FIRST_LINE "headroom's osnoise state 2\n"
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
                pid > 0 && take_number(rest, "pid_namespace", UINT64_MAX, &state->pid_namespace);
    state->pid = (pid_t)pid;
    return good;
}

/*
 *     headroom's osnoise state 2
 *     boot_id 6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11
 *     pid 4711
 *     pid_namespace 4026531836
 *     instance headroom_osnoise_4711_81234567890
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
                hr_osnoise_owner_has_name(parsed.instance); /* it is going to be removed */
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
    append_text(page, FIRST_LINE "boot_id %s\npid %d\npid_namespace %" PRIu64 "\ninstance %s\n",
                state->boot_id, (int)state->pid, state->pid_namespace, state->instance);
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

/* --- The process ---------------------------------------------------------- */

/* 0 where the kernel has none, without CONFIG_PID_NS. */
static int find_pid_namespace(uint64_t *pid_namespace)
{
    struct stat pids = {.st_ino = 0};

    if (stat("/proc/self/ns/pid", &pids) < 0 && errno != ENOENT)
        return -errno;
    *pid_namespace = pids.st_ino;
    return 0;
}

int hr_osnoise_state_sign(struct hr_osnoise_state *state)
{
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    uint64_t pid_namespace = 0;

    int status = hr_boot_id_read(boot_id);
    if (status == 0)
        status = find_pid_namespace(&pid_namespace);
    if (status < 0)
        return status;
    memcpy(state->boot_id, boot_id, sizeof(boot_id));
    state->pid = getpid();
    state->pid_namespace = pid_namespace;
    return 0;
}

bool hr_osnoise_state_is_past(const struct hr_osnoise_state *state)
{
    char boot_id[HR_BOOT_ID_LENGTH + 1];

    return hr_boot_id_read(boot_id) == 0 && strcmp(boot_id, state->boot_id) != 0;
}

static bool has_our_pids(const struct hr_osnoise_state *state)
{
    uint64_t ours = 0;

    return find_pid_namespace(&ours) == 0 && ours == state->pid_namespace;
}

bool hr_osnoise_state_is_own(const struct hr_osnoise_state *state)
{
    return state->pid == getpid() && has_our_pids(state);
}

void hr_osnoise_state_print_process(const struct hr_osnoise_state *state, char *text, size_t size)
{
    if (has_our_pids(state))
        snprintf(text, size, "process %d", (int)state->pid);
    else
        snprintf(text, size, "process %d of the PID namespace %" PRIu64, (int)state->pid,
                 state->pid_namespace);
}

/* --- The file ------------------------------------------------------------- */

int hr_osnoise_state_read(const char *path, struct hr_osnoise_state *state)
{
    size_t length;
    char *text = malloc(TEXT_SIZE);

    int status = text == NULL
                     ? -ENOMEM
                     : hr_state_file_read_in(COLLECTD_FOLDER, path, text, TEXT_SIZE, &length);
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
