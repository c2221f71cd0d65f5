/* SPDX-License-Identifier: MIT */
/*
 * support/fake_tracefs_kernel.c - what writing to the files of the fake does.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/cpu_set.h"
#include "support/fake_tracefs_inside.h"

/* What the kernel is built for; the machine has fewer. */
#define KERNEL_CPUS 1024

static unsigned long get_number(const char *file)
{
    return strtoul(fake_tracefs_get(file), NULL, 10);
}

/* --- Instances with a tracer ---------------------------------------------- */

static bool has_tracer(const char *directory, const char *tracer)
{
    char file[PATH_MAX];

    fake_tracefs_print_name(file, "%scurrent_tracer", directory);
    const char *text = fake_tracefs_get(file);
    return strncmp(text, tracer, strlen(tracer)) == 0 && strcmp(text + strlen(tracer), "\n") == 0;
}

static bool is_at_work(const char *tracer)
{
    char path[PATH_MAX], directory[PATH_MAX];
    struct dirent *entry;
    bool found = has_tracer("", tracer);

    fake_tracefs_name_path(path, "instances");
    DIR *instances = opendir(path);
    while (!found && instances != NULL && (entry = readdir(instances)) != NULL) {
        fake_tracefs_print_name(directory, "instances/%s/", entry->d_name);
        found = entry->d_name[0] != '.' && has_tracer(directory, tracer);
    }
    if (instances != NULL)
        closedir(instances);
    return found;
}

/* --- What writing does ---------------------------------------------------- */

static int set(const char *directory, const char *file, const char *text)
{
    char made[PATH_MAX];

    fake_tracefs_print_name(made, "%s%s", directory, file);
    fake_tracefs_set(made, "%s\n", text);
    return 0;
}

/* One of "3", "0-3", "0-7:1/2". @return where it ends, or NULL. */
static const char *parse_region(const char *text, struct hr_cpu_set *set)
{
    unsigned first, last, used, group;
    int length = 0;

    if (sscanf(text, "%u-%u:%u/%u%n", &first, &last, &used, &group, &length) < 4 || length == 0) {
        if (sscanf(text, "%u-%u%n", &first, &last, &length) < 2 || length == 0) {
            if (sscanf(text, "%u%n", &first, &length) < 1)
                return NULL;
            last = first;
        }
        used = group = last + 1;
    }
    if (first > last || group == 0 || used > group || last >= KERNEL_CPUS)
        return NULL;
    for (unsigned cpu = first; cpu <= last; cpu++)
        if ((cpu - first) % group < used)
            hr_cpu_set_add(set, cpu);
    return text + length;
}

static int write_cpus(const char *directory, const char *file, const char *text)
{
    struct hr_cpu_set cpus = {0};
    char list[32 * 1024] = "";
    size_t length = 0;
    unsigned last;

    if (strlen(text) + 1 >= 256)
        return EINVAL;
    for (const char *at = text; *at != '\0'; at += *at == ',')
        if ((at = parse_region(at, &cpus)) == NULL || (*at != ',' && *at != '\0'))
            return EINVAL;
    for (unsigned cpu = 0; (cpu = hr_cpu_set_next(&cpus, cpu)) < HR_CPU_MAX; cpu = last + 1) {
        for (last = cpu; hr_cpu_set_has(&cpus, last + 1);)
            last++;
        length += (size_t)sprintf(list + length, cpu == last ? "%s%u" : "%s%u-%u",
                                  length > 0 ? "," : "", cpu, last);
    }
    return set(directory, file, list);
}

static int write_period(const char *directory, const char *file, const char *text)
{
    if (strtoul(text, NULL, 10) < get_number("osnoise/runtime_us"))
        return EINVAL;
    return set(directory, file, text);
}

static int write_runtime(const char *directory, const char *file, const char *text)
{
    if (strtoul(text, NULL, 10) > get_number("osnoise/period_us"))
        return EINVAL;
    return set(directory, file, text);
}

static int write_options(const char *directory, const char *file, const char *text)
{
    char words[512], all[512] = "";
    const char *name = strncmp(text, "NO_", 3) == 0 ? text + 3 : text;
    char *rest = NULL;
    bool known = false;

    snprintf(words, sizeof(words), "%s%s", directory, file);
    snprintf(words, sizeof(words), "%s", fake_tracefs_get(words));
    for (char *word = strtok_r(words, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        bool is_it = strcmp(strncmp(word, "NO_", 3) == 0 ? word + 3 : word, name) == 0;
        known = known || is_it;
        strcat(strcat(all, is_it ? text : word), " ");
    }
    return known ? set(directory, file, all) : EINVAL;
}

static int write_tracer(const char *directory, const char *file, const char *text)
{
    static const char *const rivals[][2] = {{"osnoise", "timerlat"}, {"timerlat", "osnoise"}};
    char tracers[PATH_MAX];

    fake_tracefs_print_name(tracers, "%savailable_tracers", directory);
    if (strstr(fake_tracefs_get(tracers), text) == NULL)
        return EINVAL;
    for (int i = 0; i < 2; i++)
        if (strcmp(text, rivals[i][0]) == 0 && is_at_work(rivals[i][1]))
            return EBUSY;
    return fake_tracefs_is_open(directory, "per_cpu/cpu*/trace_pipe_raw")
               ? EBUSY
               : set(directory, file, text);
}

static int write_buffer_size(const char *directory, const char *file, const char *text)
{
    char made[PATH_MAX];

    for (unsigned cpu = 0; cpu < fake_tracefs_cpu_count(); cpu++) {
        fake_tracefs_print_name(made, "per_cpu/cpu%u/buffer_size_kb", cpu);
        set(directory, made, text);
    }
    return set(directory, file, text);
}

/* "traceoff if pid == 1" */
static int write_traceoff(const char *directory, const char *file, const char *text)
{
    static const char command[] = "traceoff if ";
    char made[PATH_MAX];

    if (strncmp(text, command, sizeof(command) - 1) != 0)
        return EINVAL;
    fake_tracefs_print_name(made, "%s%s", directory, file);
    fake_tracefs_set(made, "%straceoff:unlimited if %s\n", fake_tracefs_get(made),
                     text + sizeof(command) - 1);
    return 0;
}

/* A table is the same whatever its size. */
static void remove_sizes(char *triggers)
{
    char *size;

    while ((size = strstr(triggers, ":size=")) != NULL) {
        const size_t length = 6 + strspn(size + 6, "0123456789");
        memmove(size, size + length, strlen(size + length) + 1);
    }
}

static bool is_known(const char *triggers, const char *wanted)
{
    char those[4096], this[1024];

    snprintf(those, sizeof(those), "%s", triggers);
    snprintf(this, sizeof(this), "%s", wanted);
    remove_sizes(those);
    remove_sizes(this);
    return strstr(those, this) != NULL;
}

static int write_trigger(const char *directory, const char *file, const char *text)
{
    char made[PATH_MAX], triggers[4096], wanted[1024], hist[PATH_MAX];

    fake_tracefs_print_name(made, "%s%s", directory, file);
    snprintf(triggers, sizeof(triggers), "%s", fake_tracefs_get(made));
    fake_tracefs_print_name(hist, "%.*shist", (int)(strlen(made) - strlen("trigger")), made);
    snprintf(wanted, sizeof(wanted), "%s\n", text);
    char *clear = strstr(wanted, ":clear");
    if (clear != NULL)
        memmove(clear, clear + 6, strlen(clear + 6) + 1);
    bool known = is_known(triggers, wanted);
    if (strncmp(text, "hist:keys=", 10) != 0 || (clear != NULL && !known))
        return EINVAL;
    if (clear == NULL && known)
        return EEXIST;
    if (clear == NULL)
        fake_tracefs_set(made, "%s%s", triggers, wanted);
    fake_tracefs_set(hist,
                     "# event histogram\n#\n# trigger info: %.*s [active]\n#\n\n\nTotals:\n"
                     "    Hits: 0\n    Entries: 0\n    Dropped: 0\n",
                     (int)strcspn(wanted, "\n"), wanted);
    return 0;
}

/* As with the options "raw" and "context-info". */
static int write_marker(const char *directory, const char *file, const char *text)
{
    char made[PATH_MAX];

    (void)file;
    fake_tracefs_print_name(made, "%strace", directory);
    fake_tracefs_set(made, "# tracer: nop\n#\n" FAKE_TRACEFS_PID " 1 812345 # ffffffff81 %s\n",
                     text);
    return 0;
}

static const struct {
    const char *pattern;
    int (*write)(const char *directory, const char *file, const char *text);
} handlers[] = {
    {"osnoise/cpus", write_cpus},          {"osnoise/period_us", write_period},
    {"osnoise/runtime_us", write_runtime}, {"osnoise/options", write_options},
    {"current_tracer", write_tracer},      {"buffer_size_kb", write_buffer_size},
    {"trace_marker", write_marker},        {"events/sched/*/trigger", write_traceoff},
    {"events/*/trigger", write_trigger},   {"*", set},
};

/* @return 0 or an errno. */
int fake_tracefs_take(const char *name, const char *text)
{
    size_t i = 0, in = 0;
    char directory[PATH_MAX];

    if (strncmp(name, "instances/", 10) == 0 && strchr(name + 10, '/') != NULL)
        in = (size_t)(strchr(name + 10, '/') + 1 - name);
    fake_tracefs_print_name(directory, "%.*s", (int)in, name);
    while (fnmatch(handlers[i].pattern, name + in, 0) != 0)
        i++;
    return handlers[i].write(directory, name + in, text);
}
