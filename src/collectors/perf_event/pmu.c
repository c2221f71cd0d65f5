/* SPDX-License-Identifier: MIT */
#include "perf_event/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/descriptor.h"
#include "headroom/array.h"

#define DEVICES "sys/bus/event_source/devices"

/* A file of sysfs is at most one page long, and our paths are far shorter. */
#define PAGE_BYTES 4096
#define PATH_BYTES 1024

/* --- Files ------------------------------------------------------------------ */

static int read_small_file(const struct hr_root *root, const char *path, char *buffer, size_t size,
                           size_t *length)
{
    int status = hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), buffer, size, length);

    return status == -ENOTDIR ? -ENOENT : status;
}

static int read_device(const struct hr_root *root, const char *pmu, const char *file, char *buffer,
                       size_t size, size_t *length)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
    return read_small_file(root, path, buffer, size, length);
}

static DIR *open_directory(const struct hr_root *root, const char *path)
{
    return hr_descriptor_opendir(hr_root_openat(root, path, O_RDONLY | O_DIRECTORY));
}

/* --- A PMU ------------------------------------------------------------------ */

/*
 * The number that perf_event_open(2) takes as a type:
 *
 *     10
 */
int hr_perf_pmu_type_parse(const char *text, size_t length, uint32_t *type)
{
    uint64_t number;
    int status = hr_text_number_parse(text, length, UINT32_MAX, &number);

    if (status == 0)
        *type = (uint32_t)number;
    return status;
}

/* @return 0, also if there is no such file; or a negative errno. */
static int read_cpus(const struct hr_root *root, struct hr_perf_pmu *pmu, const char *file,
                     bool *has)
{
    char text[PAGE_BYTES + 1];
    size_t length;
    int status = read_device(root, pmu->name, file, text, sizeof(text), &length);

    if (status == -ENOENT)
        return 0;
    *has = true;
    if (status == 0)
        status = hr_cpu_set_parse(text, length, &pmu->cpus);
    return status == -ERANGE ? -EBADMSG : status;
}

/* @return -ENOENT if it has no type, or -ENOMEM; other errors go into the PMU's status. */
static int read_pmu(const struct hr_root *root, const char *name, struct hr_perf_pmu *pmu)
{
    char text[32];
    size_t length;
    int status = read_device(root, name, "type", text, sizeof(text), &length);

    if (status == -ENOENT)
        return status;
    *pmu = (struct hr_perf_pmu){.name = strdup(name)};
    if (pmu->name == NULL)
        return -ENOMEM;
    if (status == 0)
        status = hr_perf_pmu_type_parse(text, length, &pmu->type);
    int cpus = read_cpus(root, pmu, "cpus", &pmu->has_cpus);
    if (cpus == 0 && !pmu->has_cpus)
        cpus = read_cpus(root, pmu, "cpumask", &pmu->has_cpumask);
    pmu->status = status < 0 ? status : cpus;
    return 0;
}

bool hr_perf_pmu_is_core(const struct hr_perf_pmu *pmu)
{
    return pmu->has_cpus || strcmp(pmu->name, "cpu") == 0;
}

/* --- All of them ------------------------------------------------------------ */

static int add_pmu(const struct hr_root *root, const char *name, struct hr_perf_pmus *pmus)
{
    if (HR_ARRAY_RESERVE(pmus->list, pmus->capacity, pmus->count + 1) < 0)
        return -ENOMEM;
    int status = read_pmu(root, name, &pmus->list[pmus->count]);
    pmus->count += status == 0;
    return status == -ENOENT ? 0 : status;
}

static int compare_pmus(const void *a, const void *b)
{
    const struct hr_perf_pmu *one = a, *other = b;

    if (one->type != other->type)
        return one->type < other->type ? -1 : 1;
    return strcmp(one->name, other->name);
}

int hr_perf_pmus_read(const struct hr_root *root, struct hr_perf_pmus *pmus)
{
    DIR *directory = open_directory(root, DEVICES);
    struct hr_perf_pmus read = {0};
    const struct dirent *entry;
    int status = 0;

    if (directory == NULL && errno != ENOENT)
        return -errno;
    while (status == 0 && directory != NULL && (errno = 0, entry = readdir(directory)) != NULL)
        if (*entry->d_name != '.')
            status = add_pmu(root, entry->d_name, &read);
    if (status == 0 && directory != NULL)
        status = -errno;
    if (directory != NULL)
        closedir(directory);
    if (status < 0) {
        hr_perf_pmus_free(&read);
        return status;
    }
    if (read.count > 0)
        qsort(read.list, read.count, sizeof(*read.list), compare_pmus);
    *pmus = read;
    return 0;
}

void hr_perf_pmus_free(struct hr_perf_pmus *pmus)
{
    for (size_t i = 0; i < pmus->count; i++)
        free(pmus->list[i].name);
    free(pmus->list);
    *pmus = (struct hr_perf_pmus){0};
}

const struct hr_perf_pmu *hr_perf_pmus_find(const struct hr_perf_pmus *pmus, struct hr_text name)
{
    for (size_t i = 0; i < pmus->count; i++)
        if (hr_text_is(name, pmus->list[i].name))
            return &pmus->list[i];
    return NULL;
}

const struct hr_perf_pmu *hr_perf_pmus_find_type(const struct hr_perf_pmus *pmus, uint32_t type)
{
    for (size_t i = 0; i < pmus->count; i++)
        if (pmus->list[i].status == 0 && pmus->list[i].type == type)
            return &pmus->list[i];
    return NULL;
}

/* --- Events ----------------------------------------------------------------- */

/* The context of read_term_file(). */
struct pmu_context {
    const struct hr_root *root;
    const struct hr_perf_pmu *pmu;
};

static int read_term_file(const void *context, const char *directory, struct hr_text name,
                          char *buffer, size_t size, size_t *length)
{
    const struct pmu_context *pmu_context = context;
    char file[PATH_BYTES / 2];

    snprintf(file, sizeof(file), "%s/%.*s", directory, (int)name.length, name.start);
    return read_device(pmu_context->root, pmu_context->pmu->name, file, buffer, size, length);
}

int hr_perf_pmu_encode(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                       struct hr_text terms, struct perf_event_attr *attr,
                       struct hr_perf_terms *found, struct hr_perf_event_error *error)
{
    const struct pmu_context pmu_context = {root, pmu};
    const struct hr_perf_term_files files = {read_term_file, &pmu_context};

    *found = (struct hr_perf_terms){0};
    if (pmu->status < 0)
        return hr_perf_set_error(error, pmu->status, "a file of the PMU \"%.32s\", %s, %s",
                                 pmu->name, "type, cpus or cpumask",
                                 pmu->status == -EBADMSG ? "isn't understood" : "can't be read");
    attr->type = pmu->type;
    return hr_perf_terms_encode(&files, pmu->name, terms, attr, found, error);
}

/* --- Suggestions ------------------------------------------------------------- */

static bool has_terms(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                      struct hr_text terms)
{
    struct perf_event_attr attr;
    struct hr_perf_terms found;
    struct hr_perf_event_error error;

    return hr_perf_pmu_encode(root, pmu, terms, &attr, &found, &error) == 0;
}

void hr_perf_pmus_suggest(const struct hr_root *root, const struct hr_perf_pmus *pmus,
                          struct hr_text name, struct hr_text terms,
                          struct hr_perf_suggestions *suggestions)
{
    hr_perf_suggestions_set_wanted(suggestions, name);
    for (size_t i = 0; i < pmus->count; i++)
        if (has_terms(root, &pmus->list[i], terms))
            hr_perf_suggestions_add(suggestions, hr_text_of(pmus->list[i].name), "%s/%.*s/",
                                    pmus->list[i].name, (int)terms.length, terms.start);
}

/* Suggests a name in place of the unknown one, if the result is an event. */
static void suggest_term(const struct pmu_context *pmu_context, struct hr_text terms,
                         struct hr_text unknown, const char *name,
                         struct hr_perf_suggestions *suggestions)
{
    size_t before = (size_t)(unknown.start - terms.start);
    struct hr_text after = hr_text_tail(terms, before + unknown.length);
    char text[PATH_BYTES];

    int length = snprintf(text, sizeof(text), "%.*s%s%.*s", (int)before, terms.start, name,
                          (int)after.length, after.start);
    if (length >= (int)sizeof(text) || hr_perf_distance(unknown, hr_text_of(name)) == HR_PERF_FAR)
        return;
    if (has_terms(pmu_context->root, pmu_context->pmu, (struct hr_text){text, (size_t)length}))
        hr_perf_suggestions_add(suggestions, hr_text_of(name), "%s/%s/", pmu_context->pmu->name,
                                text);
}

static void suggest_terms_in(const struct pmu_context *pmu_context, const char *directory_name,
                             struct hr_text terms, struct hr_text unknown,
                             struct hr_perf_suggestions *suggestions)
{
    char path[PATH_BYTES];
    const struct dirent *entry;

    snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu_context->pmu->name, directory_name);
    DIR *directory = open_directory(pmu_context->root, path);
    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL)
        if (*entry->d_name != '.')
            suggest_term(pmu_context, terms, unknown, entry->d_name, suggestions);
    closedir(directory);
}

void hr_perf_pmu_suggest(const struct hr_root *root, const struct hr_perf_pmu *pmu,
                         struct hr_text terms, const struct hr_perf_terms *found,
                         struct hr_perf_suggestions *suggestions)
{
    const struct pmu_context pmu_context = {root, pmu};

    hr_perf_suggestions_set_wanted(suggestions, found->unknown);
    suggest_terms_in(&pmu_context, "events", terms, found->unknown, suggestions);
    suggest_terms_in(&pmu_context, "format", terms, found->unknown, suggestions);
}

void hr_perf_pmus_suggest_events(const struct hr_root *root, const struct hr_perf_pmus *pmus,
                                 struct hr_text name, struct hr_perf_suggestions *suggestions)
{
    char file[PATH_BYTES / 2], text[PAGE_BYTES + 1];
    size_t length;

    hr_perf_suggestions_set_wanted(suggestions, name);
    snprintf(file, sizeof(file), "events/%.*s", (int)name.length, name.start);
    if (!hr_perf_is_name(name))
        return;
    for (size_t i = 0; i < pmus->count; i++)
        if (read_device(root, pmus->list[i].name, file, text, sizeof(text), &length) == 0)
            hr_perf_suggestions_add(suggestions, name, "%s/%.*s/", pmus->list[i].name,
                                    (int)name.length, name.start);
}
