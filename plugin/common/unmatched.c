/* SPDX-License-Identifier: MIT */
#include "common/unmatched.h"

#include "collectd.h"

#include "plugin.h"

#include "common/log.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"

/* Groups may be made a little later than collectd starts. */
static bool is_time_to_log(struct unmatched *unmatched)
{
    const uint64_t now_ns = hr_clock_ns();

    if (unmatched->first_read_ns == 0)
        unmatched->first_read_ns = now_ns;
    return now_ns - unmatched->first_read_ns >= 2 * CDTIME_T_TO_NS(plugin_get_interval());
}

int unmatched_add(struct unmatched *unmatched, const char *plugin, size_t first, size_t count)
{
    if (HR_ARRAY_RESERVE(unmatched->options, unmatched->capacity, unmatched->count + 1) < 0) {
        ERROR("%s: out of memory.", plugin);
        return -1;
    }
    unmatched->options[unmatched->count++] =
        (struct unmatched_option){.first = first, .count = count};
    return 0;
}

void unmatched_free(struct unmatched *unmatched)
{
    free(unmatched->options);
    *unmatched = (struct unmatched){0};
}

/* "a", "b" */
static void print_patterns(char *buffer, size_t size, const struct unmatched_option *option,
                           const struct unmatched_context *context)
{
    size_t used = 0;

    for (size_t i = 0; i < option->count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s\"%s\"", i > 0 ? ", " : "",
                                 context->patterns[option->first + i]);
}

/* " (there are: a, b)" */
static void print_nearest(char *buffer, size_t size, const struct unmatched_option *option,
                          const struct unmatched_context *context)
{
    char nearest[512];

    hr_cgroup_describe_nearest(context->root, context->controller, context->patterns[option->first],
                               nearest, sizeof(nearest));
    snprintf(buffer, size, nearest[0] != '\0' ? " (%s)" : "%s", nearest);
}

static void log_option(const struct unmatched_option *option,
                       const struct unmatched_context *context)
{
    char patterns[512], nearest[520];

    print_patterns(patterns, sizeof(patterns), option, context);
    print_nearest(nearest, sizeof(nearest), option, context);
    if (option->count == 1)
        WARNING("%s: the pattern %s matches no cgroup%s. \"headroom doctor --cgroups\" lists all.",
                context->plugin, patterns, nearest);
    else
        WARNING("%s: none of the patterns %s matches a cgroup%s. \"headroom doctor --cgroups\" "
                "lists all.",
                context->plugin, patterns, nearest);
}

static bool has_matched(const struct unmatched_option *option, const struct hr_cgroup_set *set)
{
    for (size_t i = 0; i < option->count; i++)
        if (hr_cgroup_set_matched(set, option->first + i))
            return true;
    return false;
}

static void update_option(struct unmatched_option *option, const struct unmatched_context *context)
{
    if (option->matched)
        return;
    option->matched = has_matched(option, context->set);
    if (option->matched && option->logged)
        INFO("%s: the Cgroup option of \"%s\" matches a cgroup now.", context->plugin,
             context->patterns[option->first]);
}

void unmatched_log(struct unmatched *unmatched, const struct unmatched_context *context)
{
    const bool log = is_time_to_log(unmatched);
    bool has_match = false;

    for (size_t i = 0; i < unmatched->count; i++) {
        update_option(&unmatched->options[i], context);
        has_match = has_match || unmatched->options[i].matched;
    }
    for (size_t i = 0; log && i < unmatched->count; i++) {
        struct unmatched_option *option = &unmatched->options[i];
        if (option->matched || option->logged || (option->count > 1 && has_match))
            continue;
        option->logged = true;
        log_option(option, context);
    }
}
