/* SPDX-License-Identifier: MIT */
#include "collectors/osnoise/osnoise_pages.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hr_tracefs open_tracefs(const char *path)
{
    struct hr_tracefs tracefs = {open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

    ck_assert_int_ge(tracefs.fd, 0);
    return tracefs;
}

void fixture_path(const char *file, char path[512])
{
    const char *directory = getenv("srcdir");

    snprintf(path, 512, "%s/tests/fixtures/osnoise/6.12-singles/%s", directory ? directory : ".",
             file);
}

size_t read_fixture(const char *file, char *buffer, size_t size)
{
    char path[512];

    fixture_path(file, path);
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s", path);
    size_t length = fread(buffer, 1, size - 1, stream);
    fclose(stream);
    buffer[length] = '\0';
    return length;
}

struct hr_osnoise_decoder *open_recorded(void)
{
    struct hr_osnoise_decoder *decoder = NULL;
    struct hr_reason reason = {0};
    char path[512];

    fixture_path("", path);
    struct hr_tracefs tracefs = open_tracefs(path);
    ck_assert_msg(hr_osnoise_decoder_open(&tracefs, &decoder, &reason) == 0, "%s", reason.text);
    close(tracefs.fd);
    return decoder;
}

/* --- As the kernel prints it ---------------------------------------------- */

static void print_sample(const struct hr_osnoise_record *record, struct text *text)
{
    uint64_t runtime = record->sample.runtime_us;
    uint64_t available = (runtime - record->sample.noise_us) * 10000000 / runtime;

    text->length += (size_t)sprintf(
        text->bytes + text->length,
        "%" PRIu64 " %10" PRIu64 " %3" PRIu64 ".%05" PRIu64 " %7" PRIu64 " %6" PRIu64 " %6" PRIu64
        " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 "\n",
        runtime, record->sample.noise_us, available / 100000, available % 100000,
        record->sample.max_single_us, record->sample.hw_count, record->sample.nmi_count,
        record->sample.irq_count, record->sample.softirq_count, record->sample.thread_count);
}

static void print_times(uint64_t start_ns, uint64_t duration_ns, struct text *text)
{
    text->length += (size_t)sprintf(text->bytes + text->length,
                                    "start %" PRIu64 ".%09" PRIu64 " duration %" PRIu64 " ns",
                                    start_ns / 1000000000, start_ns % 1000000000, duration_ns);
}

static void print_single_noise(const struct hr_osnoise_record *record, struct text *text)
{
    text->length += (size_t)sprintf(text->bytes + text->length, "sample_threshold: ");
    print_times(record->single_noise.start_ns, record->single_noise.duration_ns, text);
    text->length += (size_t)sprintf(text->bytes + text->length, " interference %" PRIu64 "\n",
                                    record->single_noise.interference_count);
}

static void print_part(const struct hr_osnoise_record *record, struct text *text)
{
    static const char *const formats[] = {"irq_noise: %s:%d ", "softirq_noise: %8s:%d ",
                                          "thread_noise: %8s:%d "};

    if (record->part.kind == HR_OSNOISE_NMI) {
        ck_assert_str_eq(record->part.name, "NMI");
        ck_assert_int_eq(record->part.number, 0);
        text->length += (size_t)sprintf(text->bytes + text->length, "nmi_noise: ");
    } else {
        text->length += (size_t)sprintf(text->bytes + text->length, formats[record->part.kind],
                                        record->part.name, record->part.number);
    }
    print_times(record->part.start_ns, record->part.duration_ns, text);
    text->length += (size_t)sprintf(text->bytes + text->length, "\n");
}

static void print_latency(const struct hr_osnoise_record *record, struct text *text)
{
    static const char *const contexts[] = {"irq", "thread", "user-ret"};

    ck_assert_uint_lt(record->latency.context, 3);
    text->length += (size_t)sprintf(
        text->bytes + text->length, "#%-5" PRIu64 " context %6s timer_latency %9" PRIu64 " ns\n",
        record->latency.number, contexts[record->latency.context], record->latency.ns);
}

void print_record(const struct hr_osnoise_record *record, void *context)
{
    struct text *text = context;

    ck_assert_uint_lt(text->length + 512, sizeof(text->bytes));
    text->record_count++;
    if (record->type == HR_OSNOISE_RECORD_SAMPLE)
        print_sample(record, text);
    else if (record->type == HR_OSNOISE_RECORD_SINGLE_NOISE)
        print_single_noise(record, text);
    else if (record->type == HR_OSNOISE_RECORD_LATENCY)
        print_latency(record, text);
    else
        print_part(record, text);
}

/* --- Pages made here ------------------------------------------------------ */

void put_word(struct page *page, uint32_t word)
{
    memcpy(page->bytes + 16 + page->used, &word, sizeof(word));
    page->used += sizeof(word);
}

static void put_data(struct page *page, const void *data, size_t size)
{
    memcpy(page->bytes + 16 + page->used, data, size);
    page->used += (size + 3) / 4 * 4;
}

void put_event(struct page *page, const void *data, size_t size)
{
    put_word(page, (1 << 5) | (uint32_t)(size + 3) / 4);
    put_data(page, data, size);
}

void put_long_event(struct page *page, const void *data, size_t size)
{
    put_word(page, 1 << 5);
    put_word(page, (uint32_t)(size + 3) / 4 * 4 + 4);
    put_data(page, data, size);
}

void put_padding(struct page *page, uint32_t size)
{
    put_word(page, (1 << 5) | 29);
    put_word(page, size + 4);
    page->used += size;
}

void put_time(struct page *page, uint32_t type)
{
    put_word(page, (77 << 5) | type);
    put_word(page, 0x12345);
}

size_t end_page(struct page *page, uint64_t flags)
{
    uint64_t commit = page->used | flags;

    memcpy(page->bytes + 8, &commit, sizeof(commit));
    return 16 + page->used;
}

void put_latency(struct page *page, uint32_t number, uint32_t context, uint64_t ns)
{
    const struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint32_t seqnum, context;
        uint64_t timer_latency;
    } latency = {TIMERLAT, 0, 0, 125, number, context, ns};

    put_event(page, &latency, sizeof(latency));
}

void put_nmi(struct page *page, uint64_t duration)
{
    struct nmi nmi = {.type = NMI_NOISE, .start = 5000000007, .duration = duration};

    put_event(page, &nmi, sizeof(nmi));
}
