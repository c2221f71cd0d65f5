/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_perf_event.c - names of perf events. An input is the terms between a PMU's slashes, a
 * NUL, the text of a file in "format", a NUL, and that of one in "events"; the PMU knows the terms
 * "t" and "u", which have that format, and the events "e" and "f". The terms are tried as a name of
 * any other kind, too, on a machine without PMUs and without tracepoints.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"
#include "perf_event/label.h"
#include "perf_event/pmu.h"
#include "perf_event/terms.h"
#include "perf_event/tracepoint.h"

const char fuzz_corpus[] = "perf_event";

struct input {
    struct hr_text terms, format, alias;
};

static struct hr_text take_part(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size > 0 ? memchr(*data, '\0', *size) : NULL;
    size_t length = end != NULL ? (size_t)(end - *data) : *size;
    struct hr_text part = {(const char *)*data, length};

    *data += length + (end != NULL);
    *size -= length + (end != NULL);
    return part;
}

static int read_file(const void *context, const char *directory, struct hr_text name, char *buffer,
                     size_t size, size_t *length)
{
    const struct input *input = context;
    bool is_format = strcmp(directory, "format") == 0;
    struct hr_text text = is_format ? input->format : input->alias;

    require(hr_perf_is_name(name));
    if (name.length != 1 || strchr(is_format ? "tu" : "ef", *name.start) == NULL)
        return -ENOENT;
    if (text.length >= size)
        return -EBADMSG;
    if (text.length > 0)
        memcpy(buffer, text.start, text.length);
    *length = text.length;
    return 0;
}

static void require_error(int status, const struct hr_perf_event_error *error)
{
    require(status == -ENOENT || status == -EINVAL || status == -EBADMSG || status == -ENODEV);
    require(error->reason[0] != '\0');
    require(memchr(error->reason, '\0', sizeof(error->reason)) != NULL);
    require(error->nearest_count <= 3);
    for (size_t i = 0; i < error->nearest_count; i++)
        require(error->nearest[i][0] != '\0' &&
                memchr(error->nearest[i], '\0', sizeof(error->nearest[i])) != NULL);
}

static void encode_terms(const struct input *input)
{
    const struct hr_perf_term_files files = {read_file, input};
    struct perf_event_attr attr = {0};
    struct hr_perf_event_error error = {0};
    struct hr_perf_terms found;

    int status = hr_perf_terms_encode(&files, "pmu", input->terms, &attr, &found, &error);
    if (status < 0)
        require_error(status, &error);
    else
        require(input->terms.length > 0);
}

static void parse_files(const struct input *input)
{
    struct hr_perf_format format = {HR_PERF_WORDS, 0};
    uint32_t type = 4711;
    uint64_t id = 4711;

    if (hr_perf_format_parse(input->format.start, input->format.length, &format) == 0)
        require(format.word < HR_PERF_WORDS && format.bits != 0);
    else
        require(format.word == HR_PERF_WORDS);
    if (hr_perf_pmu_type_parse(input->format.start, input->format.length, &type) < 0)
        require(type == 4711);
    if (hr_perf_tracepoint_id_parse(input->alias.start, input->alias.length, &id) < 0)
        require(id == 4711);
}

static void require_event(const struct hr_perf_event *event, const char *text)
{
    size_t length = strlen(event->label);

    require(strcmp(event->text, text) == 0);
    require(length > 0 && length <= HR_PERF_LABEL_LENGTH && event->label[length - 1] != '_');
    for (size_t i = 0; i < length; i++)
        require(event->label[i] >= ' ' && event->label[i] <= '~' && event->label[i] != '/');
    require(event->encoding_count == 1 && event->encodings[0].every_cpu);
    require(event->encodings[0].attr.size == sizeof(event->encodings[0].attr));
}

static void find_event(const char *text)
{
    static struct hr_perf_vocabulary *vocabulary;
    static struct hr_root *root;
    struct hr_perf_event *event = NULL;
    struct hr_perf_event_error error = {0};

    if (vocabulary == NULL)
        require(hr_root_open("/proc/self/fdinfo", &root) == 0 &&
                hr_perf_vocabulary_open(root, &vocabulary) == 0);
    int status = hr_perf_event_find(vocabulary, text, &event, &error);
    if (status < 0)
        require_error(status, &error);
    else
        require_event(event, text);
    hr_perf_event_free(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.terms = take_part(&data, &size)};

    input.format = take_part(&data, &size);
    input.alias = take_part(&data, &size);
    encode_terms(&input);
    parse_files(&input);
    char *text = strndup(input.terms.start != NULL ? input.terms.start : "", input.terms.length);
    require(text != NULL);
    find_event(text);
    free(text);
    return 0;
}
