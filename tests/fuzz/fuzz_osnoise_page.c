/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_osnoise_page.c - hr_osnoise_decode: an input is a page of the kernel in
 * fixtures/osnoise/6.12-singles, broken or not. Its records are given to
 * hr_osnoise_single_noises_add_record and hr_osnoise_traces_add, too, and latencies to
 * hr_osnoise_timerlat_add_record.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "osnoise/records.h"
#include "osnoise/single_noise.h"
#include "osnoise/timerlat.h"
#include "osnoise/traces.h"

const char fuzz_corpus[] = "osnoise_page";

struct seen {
    struct hr_osnoise_single_noises *single_noises;
    struct hr_osnoise_timerlat *timerlat;
    struct hr_osnoise_traces *traces;
    size_t count;
};

static void add_record(const struct hr_osnoise_record *record, void *context)
{
    struct seen *seen = context;

    seen->count++;
    if (record->type == HR_OSNOISE_RECORD_PART) {
        require(record->part.kind < HR_OSNOISE_KIND_COUNT);
        require(memchr(record->part.name, '\0', sizeof(record->part.name)) != NULL);
        require(record->part.kind != HR_OSNOISE_NMI || record->part.number == 0);
    } else {
        require(record->type == HR_OSNOISE_RECORD_SAMPLE ||
                record->type == HR_OSNOISE_RECORD_SINGLE_NOISE ||
                record->type == HR_OSNOISE_RECORD_LATENCY ||
                record->type == HR_OSNOISE_RECORD_CAUSE);
    }
    if (record->type == HR_OSNOISE_RECORD_LATENCY && seen->timerlat != NULL)
        hr_osnoise_timerlat_add_record(seen->timerlat, 0, record);
    else if (record->type != HR_OSNOISE_RECORD_LATENCY && seen->single_noises != NULL)
        hr_osnoise_single_noises_add_record(seen->single_noises, 0, 1, record);
    if (record->type != HR_OSNOISE_RECORD_LATENCY && seen->traces != NULL)
        hr_osnoise_traces_add(seen->traces, 0, 1, record, 0);
}

static const char *name_function(void *context, uint64_t function)
{
    (void)context;
    return function % 2 == 0 ? "even" : NULL;
}

static void print_sender(void *context, const struct hr_osnoise_ipi_sender *sender,
                         char text[HR_OSNOISE_SENDER])
{
    (void)context;
    snprintf(text, HR_OSNOISE_SENDER, "%d on CPU %u", sender->pid, sender->cpu);
}

static const struct hr_osnoise_namer namer = {name_function, print_sender, NULL};

static void require_single_noise(const struct hr_osnoise_single_noise *single_noise)
{
    uint64_t count = 0;

    require(single_noise->cpu == 1 && single_noise->duration_ns > 10 &&
            single_noise->part_count <= HR_OSNOISE_PARTS);
    for (size_t i = 0; i < single_noise->part_count; i++) {
        require(single_noise->parts[i].count > 0);
        require(i == 0 ||
                single_noise->parts[i].duration_ns <= single_noise->parts[i - 1].duration_ns);
        count += single_noise->parts[i].count;
    }
    require(count <= HR_OSNOISE_RECENT_PARTS);
    require(!single_noise->parts_are_all || count >= single_noise->interference_count);
}

static struct hr_osnoise_decoder *open_recorded(void)
{
    struct hr_tracefs tracefs = {open(FIXTURE, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    struct hr_osnoise_decoder *decoder = NULL;

    require(tracefs.fd >= 0 && hr_osnoise_decoder_open(&tracefs, &decoder, NULL) == 0);
    close(tracefs.fd);
    return decoder;
}

static void require_single_noises(struct hr_osnoise_single_noises *single_noises)
{
    const uint64_t all_count = hr_osnoise_single_noises_count(single_noises, 0);
    size_t count;
    const struct hr_osnoise_single_noise *found =
        hr_osnoise_single_noises_take(single_noises, &namer, &count);

    require(count == (all_count < HR_OSNOISE_SINGLE_NOISES ? all_count : HR_OSNOISE_SINGLE_NOISES));
    for (size_t i = 0; i < count; i++)
        require_single_noise(&found[i]);
}

static void require_latencies(struct hr_osnoise_timerlat *timerlat)
{
    const struct hr_osnoise_cpu row = {.cpu = 1};
    const struct hr_osnoise_cpu_latencies *found =
        hr_osnoise_timerlat_take(timerlat, &row, &row, 1);

    for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++) {
        const struct hr_osnoise_latency *latency = &found->of[context];
        uint64_t count = 0;
        for (int power = 0; power < HR_OSNOISE_LATENCY_BUCKETS; power++)
            count += latency->buckets[power];
        require(count == latency->count && latency->min_ns <= latency->max_ns);
        require(latency->last_ns >= latency->min_ns && latency->last_ns <= latency->max_ns);
    }
}

static void require_trace(struct hr_osnoise_traces *traces)
{
    const struct hr_osnoise_reading reading = {.traces = traces};
    char *text = NULL;
    size_t length, line_count = 0;
    FILE *stream = open_memstream(&text, &length);

    require(stream != NULL);
    hr_osnoise_traces_end(traces, &namer);
    hr_osnoise_trace_print(&reading, 1, stream);
    fclose(stream);
    for (size_t i = 0; i < length; i++)
        line_count += text[i] == '\n';
    require(strlen(text) == length &&
            line_count <= 8 + HR_OSNOISE_TRACE_BEFORE + HR_OSNOISE_TRACE_AFTER);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hr_osnoise_decoder *decoder;
    struct seen seen = {.count = 0}, again = {.count = 0};
    uint64_t lost = 0;
    void *page = malloc(size); /* of just this size, so that reading past it is seen */

    if (decoder == NULL)
        decoder = open_recorded();
    if (size > 0)
        memcpy(page, data, size);
    require(hr_osnoise_single_noises_open(1, 10, &seen.single_noises) == 0 &&
            hr_osnoise_timerlat_open(1, &seen.timerlat) == 0 &&
            hr_osnoise_traces_open(1, 10, &seen.traces) == 0);
    hr_osnoise_traces_begin(seen.traces);
    int status = hr_osnoise_decode(decoder, page, size, add_record, &seen, &lost);
    require(status == 0 || status == -EBADMSG);
    require(seen.count <= size / 20); /* the shortest has four bytes before it */
    require(hr_osnoise_decode(decoder, page, size, add_record, &again, &lost) == status);
    require(again.count == seen.count);
    require_single_noises(seen.single_noises);
    require_latencies(seen.timerlat);
    hr_osnoise_timerlat_close(seen.timerlat);
    hr_osnoise_single_noises_close(seen.single_noises);
    require_trace(seen.traces);
    hr_osnoise_traces_close(seen.traces);
    free(page);
    return 0;
}
