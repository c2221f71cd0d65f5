/* SPDX-License-Identifier: MIT */
#include "wss/output.h"

#include <inttypes.h>

#include "common/output.h"
#include "headroom/clock.h"

#define MIB 1048576.0

/* A time of day with milliseconds: 2026-11-21T02:31:12.345. */
#define TIME_WIDTH 23

/* --- Columns -------------------------------------------------------------- */

static void print_time(FILE *file, const struct timespec *time)
{
    char text[32];
    struct tm local;
    localtime_r(&time->tv_sec, &local);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &local);
    fprintf(file, "%s.%03d ", text, (int)(time->tv_nsec / 1000000));
}

static void print_mib(FILE *file, bool known, uint64_t bytes)
{
    if (known)
        fprintf(file, " %10.2f", (double)bytes / MIB);
    else
        fprintf(file, " %10s", "-");
}

static void print_columns(const struct wss_output *output, const struct wss_reading *reading)
{
    const struct hr_wss_sample *sample = &reading->sample;
    if (output->timestamps)
        print_time(output->file, &reading->time);
    fprintf(output->file, "%-7.3f", (double)sample->window_ns / HR_NS_PER_S);
    print_mib(output->file, sample->has_rss, sample->rss_bytes);
    print_mib(output->file, sample->has_pss, sample->pss_bytes);
    print_mib(output->file, true, sample->referenced_bytes);
    if (output->scans)
        fprintf(output->file, " %10.4f", (double)sample->scan_ns / HR_NS_PER_S);
    putc('\n', output->file);
}

/* --- Members of JSON objects and CSV records ------------------------------ */

/* One list for both formats: the name, and the function that prints the value. */
struct member {
    const char *name;
    void (*print)(FILE *file, const struct wss_reading *reading, const char *unknown);
};

static void print_bytes(FILE *file, bool known, uint64_t bytes, const char *unknown)
{
    if (known)
        fprintf(file, "%" PRIu64, bytes);
    else
        fputs(unknown, file);
}

static void print_seconds(FILE *file, uint64_t ns)
{
    fprintf(file, "%.6f", (double)ns / HR_NS_PER_S);
}

#define MEMBER(name)                                                                               \
    static void print_##name(FILE *file, const struct wss_reading *reading, const char *unknown)

MEMBER(time_s)
{
    (void)unknown;
    fprintf(file, "%lld.%03d", (long long)reading->time.tv_sec,
            (int)(reading->time.tv_nsec / 1000000));
}

/* JSON requires the quotes, CSV allows them. */
MEMBER(method)
{
    (void)unknown;
    fprintf(file, "\"%s\"", hr_wss_method_name(reading->method));
}

MEMBER(asked_s)
{
    (void)unknown;
    print_seconds(file, reading->asked_ns);
}

MEMBER(window_s)
{
    (void)unknown;
    print_seconds(file, reading->sample.window_ns);
}

MEMBER(referenced_bytes)
{
    print_bytes(file, true, reading->sample.referenced_bytes, unknown);
}

MEMBER(rss_bytes)
{
    print_bytes(file, reading->sample.has_rss, reading->sample.rss_bytes, unknown);
}

MEMBER(pss_bytes)
{
    print_bytes(file, reading->sample.has_pss, reading->sample.pss_bytes, unknown);
}

MEMBER(scan_s)
{
    (void)unknown;
    print_seconds(file, reading->sample.scan_ns);
}

MEMBER(process_count)
{
    (void)unknown;
    fprintf(file, "%zu", reading->sample.process_count);
}

MEMBER(ended_count)
{
    (void)unknown;
    fprintf(file, "%zu", reading->sample.ended_count);
}

MEMBER(left_count)
{
    (void)unknown;
    fprintf(file, "%zu", reading->sample.left_count);
}

static const struct member members[] = {
    {"time_s", print_time_s},
    {"method", print_method},
    {"asked_s", print_asked_s},
    {"window_s", print_window_s},
    {"referenced_bytes", print_referenced_bytes},
    {"rss_bytes", print_rss_bytes},
    {"pss_bytes", print_pss_bytes},
    {"scan_s", print_scan_s},
    {"process_count", print_process_count},
    {"ended_count", print_ended_count},
    {"left_count", print_left_count},
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

static void print_json_line(FILE *file, const struct wss_reading *reading)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        fprintf(file, "%c\"%s\":", i > 0 ? ',' : '{', members[i].name);
        members[i].print(file, reading, "null");
    }
    fputs("}\n", file);
}

static void print_csv_line(FILE *file, const struct wss_reading *reading)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (i > 0)
            putc(',', file);
        members[i].print(file, reading, "");
    }
    putc('\n', file);
}

/* --- Lines ---------------------------------------------------------------- */

int wss_output_heading(const struct wss_output *output)
{
    switch (output->format) {
    case WSS_COLUMNS:
        if (output->timestamps)
            fprintf(output->file, "%-*s ", TIME_WIDTH, "Time");
        fprintf(output->file, "%-7s %10s %10s %10s", "Est(s)", "RSS(MiB)", "PSS(MiB)", "Ref(MiB)");
        if (output->scans)
            fprintf(output->file, " %10s", "Scan(s)");
        putc('\n', output->file);
        break;
    case WSS_JSON:
        break;
    case WSS_CSV:
        for (size_t i = 0; i < MEMBER_COUNT; i++)
            fprintf(output->file, "%s%s", i > 0 ? "," : "", members[i].name);
        putc('\n', output->file);
        break;
    }
    return output_flush(output->file);
}

int wss_output_reading(const struct wss_output *output, const struct wss_reading *reading)
{
    switch (output->format) {
    case WSS_COLUMNS:
        print_columns(output, reading);
        break;
    case WSS_JSON:
        print_json_line(output->file, reading);
        break;
    case WSS_CSV:
        print_csv_line(output->file, reading);
        break;
    }
    return output_flush(output->file);
}
