/* SPDX-License-Identifier: MIT */
#include "probe/output.h"

#include <inttypes.h>
#include <limits.h>

#include "common/json.h"
#include "common/label.h"
#include "common/output.h"
#include "headroom/clock.h"
#include "headroom/quantity.h"

#define WIDTH 80

static const char *make_safe(const char *group, char label[512])
{
    label_fit(group, INT_MAX, LABEL_UTF8, label, 512);
    return label;
}

void probe_output_intent(FILE *out, const char *group, const struct probe_course *course,
                         double longest_s)
{
    char label[512], text[1600];

    snprintf(text, sizeof(text),
             "%s has %s, of which the kernel can take %s: files that are read again when they are "
             "needed, and what fits swap space. Every %d s this has it take %.0f %% of that, for "
             "%s at most, as long as tasks of the group wait for memory and for I/O less than "
             "%.1f %% of the time. Ctrl-C ends it at once. No limit is set.",
             make_safe(group, label), hr_quantity_bytes((double)course->before.current_bytes).text,
             hr_quantity_bytes((double)course->before.takeable_bytes).text, PROBE_STEP_S,
             PROBE_STEP_PCT, hr_quantity_seconds(longest_s).text, PROBE_STALLED_PCT);
    output_fold(out, text, 0, (size_t)output_width(WIDTH));
}

/* --- For people ----------------------------------------------------------------- */

/* Why it ended, and what that means. */
static void describe_end(const struct probe_course *course, char *text, size_t size)
{
    static const char *const others[] = {
        [PROBE_GOES_ON] = "",
        [PROBE_STALLED] = "",
        [PROBE_EXHAUSTED] = "The kernel finds no more that it can take: the rest is in use.",
        [PROBE_NOTHING_LEFT] = "Nothing is left that can be taken.",
        [PROBE_TIME_IS_UP] = "Its tasks hardly waited in that time: there may be more (--seconds).",
        [PROBE_INTERRUPTED] = "It was interrupted: there may be more to take.",
        [PROBE_FAILED] = "It failed before its end.",
    };

    if (course->end != PROBE_STALLED) {
        snprintf(text, size, "%s", others[course->end]);
        return;
    }
    snprintf(text, size, "Then its tasks waited for %s %.2f %% of the time (limit %.1f %%).",
             course->stalled == HR_PSI_IO ? "I/O" : "memory",
             course->now.stalled_pct[course->stalled], PROBE_STALLED_PCT);
}

void probe_output_result(FILE *out, const char *group, const struct probe_course *course,
                         uint64_t page_bytes)
{
    const uint64_t again_bytes = probe_refault_count(course) * page_bytes;
    char label[512], end[256], text[1600];

    describe_end(course, end, sizeof(end));
    snprintf(text, sizeof(text),
             "Taken from %s: %s of %s, in %zu step%s within %s; %s of it was read again. %s It has "
             "%s now, and the limits that it had.",
             make_safe(group, label), hr_quantity_bytes((double)course->taken_bytes).text,
             hr_quantity_bytes((double)course->before.current_bytes).text, course->step_count,
             course->step_count == 1 ? "" : "s",
             hr_quantity_seconds((double)course->time_ns / HR_NS_PER_S).text,
             again_bytes == 0 ? "none" : hr_quantity_bytes((double)again_bytes).text, end,
             hr_quantity_bytes((double)course->now.current_bytes).text);
    output_fold(out, text, 0, (size_t)output_width(WIDTH));
}

/* --- JSON ----------------------------------------------------------------------- */

void probe_output_json(FILE *out, const char *group, const struct probe_course *course,
                       uint64_t page_bytes)
{
    static const char *const ends[] = {
        [PROBE_GOES_ON] = "",
        [PROBE_STALLED] = "stalled",
        [PROBE_EXHAUSTED] = "exhausted",
        [PROBE_NOTHING_LEFT] = "nothing left",
        [PROBE_TIME_IS_UP] = "time",
        [PROBE_INTERRUPTED] = "interrupted",
        [PROBE_FAILED] = "failed",
    };

    json_print_text(out, "{\"group\":", group);
    json_print_count(out, ",\"taken_bytes\":", true, course->taken_bytes);
    json_print_count(out, ",\"read_again_bytes\":", true, probe_refault_count(course) * page_bytes);
    json_print_count(out, ",\"before_bytes\":", true, course->before.current_bytes);
    json_print_count(out, ",\"now_bytes\":", true, course->now.current_bytes);
    json_print_count(out, ",\"takeable_bytes\":", true, course->now.takeable_bytes);
    json_print_count(out, ",\"steps\":", true, course->step_count);
    json_print_number(out, ",\"seconds\":", true, "%.3f", (double)course->time_ns / HR_NS_PER_S);
    json_print_text(out, ",\"ended\":", ends[course->end]);
    json_print_number(out, ",\"memory_stalled_percent\":", true, "%.2f",
                      course->now.stalled_pct[HR_PSI_MEMORY]);
    json_print_number(out, ",\"io_stalled_percent\":", true, "%.2f",
                      course->now.stalled_pct[HR_PSI_IO]);
    fputs("}\n", out);
}
