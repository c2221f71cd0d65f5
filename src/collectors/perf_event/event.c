/* SPDX-License-Identifier: MIT */
#include "headroom/perf_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptor.h"
#include "perf_event/label.h"
#include "perf_event/pfm.h"
#include "perf_event/pmu.h"
#include "perf_event/ratio.h"
#include "perf_event/tracepoint.h"

struct hr_perf_vocabulary {
    const struct hr_root *root;
    struct hr_perf_pmus pmus;
    size_t core_pmus; /* number of PMUs with a file "cpus" */
};

/* A text that is being looked up, and the results so far. */
struct search {
    const struct hr_perf_vocabulary *vocabulary;
    bool suggests;       /* similar names are searched, which takes long */
    struct hr_text name; /* the text without its modifier */
    struct hr_perf_modifier modifier;
    struct perf_event_attr attr;
    const struct hr_perf_pmu *pmu; /* of the event, if known */
    bool each_core;                /* each kind of core has its own encoding */
    struct hr_text own_name;       /* value of the term name= */
    struct hr_perf_ratio_role role;
    struct hr_perf_suggestions suggestions;
    struct hr_perf_event_error error;
};

/* --- The vocabulary ---------------------------------------------------------- */

int hr_perf_vocabulary_open(const struct hr_root *root, struct hr_perf_vocabulary **vocabulary)
{
    int status = hr_perf_pfm_initialize();

    if (status < 0)
        return status;
    struct hr_perf_vocabulary *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    status = hr_perf_pmus_read(root, &opened->pmus);
    if (status < 0) {
        free(opened);
        return status;
    }
    for (size_t i = 0; i < opened->pmus.count; i++)
        opened->core_pmus += opened->pmus.list[i].has_cpus;
    *vocabulary = opened;
    return 0;
}

void hr_perf_vocabulary_close(struct hr_perf_vocabulary *vocabulary)
{
    if (vocabulary == NULL)
        return;
    hr_perf_pmus_free(&vocabulary->pmus);
    free(vocabulary);
}

/* --- Modifiers --------------------------------------------------------------- */

/* @return whether it is a letter of a modifier. */
static bool add_letter(struct hr_perf_modifier *modifier, char letter)
{
    switch (letter) {
    case 'u':
        return modifier->user = true;
    case 'k':
        return modifier->kernel = true;
    case 'G':
        return modifier->guest = true;
    case 'H':
        return modifier->host = true;
    default:
        return false;
    }
}

/* Strips ":u", ":k", ":G", ":H" or several of these letters from the end. @return whether there was
 * one. */
static bool strip_modifier(struct hr_text *name, struct hr_perf_modifier *modifier)
{
    struct hr_perf_modifier found = *modifier;
    size_t start = name->length;

    while (start > 0 && add_letter(&found, name->start[start - 1]))
        start--;
    if (start == 0 || start == name->length || name->start[start - 1] != ':')
        return false;
    *modifier = found;
    name->length = start - 1;
    return true;
}

/* Parses the end after the closing slash: "", "u", ":uk", ":u:k" … @return whether it is valid. */
static bool parse_pmu_modifier(struct hr_text rest, struct hr_perf_modifier *modifier)
{
    bool after_letter = false;

    for (size_t i = 0; i < rest.length; i++) {
        char c = rest.start[i];
        if (!add_letter(modifier, c) && (c != ':' || (i > 0 && !after_letter)))
            return false;
        after_letter = c != ':';
    }
    return rest.length == 0 || after_letter;
}

static void apply_modifier(const struct hr_perf_modifier *modifier, struct perf_event_attr *attr)
{
    if (modifier->user && !modifier->kernel)
        attr->exclude_kernel = 1;
    if (modifier->kernel && !modifier->user)
        attr->exclude_user = 1;
    if (modifier->guest && !modifier->host)
        attr->exclude_host = 1;
    if (modifier->host && !modifier->guest)
        attr->exclude_guest = 1;
}

/* --- "pmu/terms/" ------------------------------------------------------------ */

static int find_in_pmu(struct search *search, struct hr_text pmu_name, struct hr_text terms)
{
    const struct hr_perf_vocabulary *vocabulary = search->vocabulary;
    struct hr_perf_terms found;

    search->pmu = hr_perf_pmus_find(&vocabulary->pmus, pmu_name);
    if (search->pmu == NULL) {
        if (search->suggests)
            hr_perf_pmus_suggest(vocabulary->root, &vocabulary->pmus, pmu_name, terms,
                                 &search->suggestions);
        return hr_perf_set_error(&search->error, -ENOENT, "this machine has no PMU \"%.*s\"",
                                 HR_PERF_EXCERPT(pmu_name));
    }
    int status = hr_perf_pmu_encode(vocabulary->root, search->pmu, terms, &search->attr, &found,
                                    &search->error);
    if (status == -ENOENT && found.unknown.length > 0 && search->suggests)
        hr_perf_pmu_suggest(vocabulary->root, search->pmu, terms, &found, &search->suggestions);
    if (status < 0)
        return status;
    search->attr.size = sizeof(search->attr);
    search->own_name = found.name;
    if (found.alias_alone && hr_perf_pmu_is_core(search->pmu))
        search->role = hr_perf_role_of_alias(found.alias, search->pmu, vocabulary->core_pmus > 1);
    return 0;
}

static int find_by_pmu_and_terms(struct search *search, struct hr_text text)
{
    size_t first = hr_text_find(text, '/');
    struct hr_text rest = hr_text_tail(text, first + 1);
    size_t last = hr_text_find(rest, '/');

    if (first == 0)
        return hr_perf_set_error(&search->error, -EINVAL, "there is no PMU before the slash");
    if (last == rest.length)
        return hr_perf_set_error(&search->error, -EINVAL, "there is no closing slash");
    struct hr_text after = hr_text_tail(rest, last + 1);
    if (!parse_pmu_modifier(after, &search->modifier))
        return hr_perf_set_error(
            &search->error, -EINVAL,
            "the closing slash may be followed by u, k, G and H, not by \"%.*s\"",
            HR_PERF_EXCERPT(after));
    search->name = hr_text_head(text, first + 1 + last + 1);
    return find_in_pmu(search, hr_text_head(text, first), hr_text_head(rest, last));
}

/* --- Raw codes --------------------------------------------------------------- */

static int find_raw(struct search *search)
{
    uint64_t code;

    if (!hr_perf_hex_parse(hr_text_tail(search->name, 1), &code))
        return hr_perf_set_error(&search->error, -EINVAL, "it has more than 64 bits");
    search->attr.type = PERF_TYPE_RAW;
    search->attr.size = sizeof(search->attr);
    search->attr.config = code;
    search->each_core = true;
    return 0;
}

/* --- Tracepoints ------------------------------------------------------------- */

/* Splits "subsystem:name". @return whether the name has this form. */
static bool split_tracepoint(struct hr_text name, struct hr_text *subsystem, struct hr_text *event)
{
    size_t colon = hr_text_find(name, ':');

    if (colon == 0 || colon + 1 >= name.length)
        return false;
    *subsystem = hr_text_head(name, colon);
    *event = hr_text_tail(name, colon + 1);
    return hr_text_find(*event, ':') == event->length;
}

static bool has_capitals(struct hr_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.start[i] >= 'A' && text.start[i] <= 'Z')
            return true;
    return false;
}

/* Decides whether a name that is known nowhere was meant as a tracepoint or for libpfm4, sets the
 * error accordingly, and suggests libpfm4's names if it may have been meant for that.
 * @param pfm_status, status  what libpfm4 and tracefs returned.
 * @param error  of tracefs. */
static int report_unknown_name(struct search *search, int pfm_status, int status,
                               bool has_subsystem, struct hr_text subsystem,
                               const struct hr_perf_event_error *error)
{
    bool is_tracepoint = pfm_status == -ENOENT && (has_subsystem || !has_capitals(subsystem));

    if (search->suggests && (!is_tracepoint || (status == -ENOENT && !has_subsystem)))
        hr_perf_pfm_suggest(search->name, &search->suggestions);
    if (!is_tracepoint)
        return pfm_status;
    search->error = *error;
    return status;
}

/* @param pfm_status  why libpfm4 doesn't know the name. */
static int find_tracepoint(struct search *search, struct hr_text subsystem, struct hr_text event,
                           int pfm_status)
{
    struct hr_perf_event_error error = {0};
    uint64_t id;
    int events = hr_perf_tracepoint_open(search->vocabulary->root, &error);
    bool has_subsystem = events >= 0 && hr_perf_tracepoint_has_subsystem(events, subsystem);
    int status =
        events < 0 ? events : hr_perf_tracepoint_find(events, subsystem, event, &id, &error);

    if (status < 0) {
        if (events >= 0 && pfm_status == -ENOENT && search->suggests)
            hr_perf_tracepoint_suggest(events, subsystem, event, &search->suggestions);
        hr_descriptor_close(&events);
        return report_unknown_name(search, pfm_status, status, has_subsystem, subsystem, &error);
    }
    hr_descriptor_close(&events);
    search->attr = (struct perf_event_attr){
        .type = PERF_TYPE_TRACEPOINT, .size = sizeof(search->attr), .config = id};
    return 0;
}

/* --- Names ------------------------------------------------------------------- */

/* Suggests names with a subsystem or a PMU for one that lacks it, and those of libpfm4. */
static void suggest_names(struct search *search)
{
    const struct hr_perf_vocabulary *vocabulary = search->vocabulary;
    struct hr_perf_event_error ignored;
    int events = hr_perf_tracepoint_open(vocabulary->root, &ignored);

    hr_perf_pmus_suggest_events(vocabulary->root, &vocabulary->pmus, search->name,
                                &search->suggestions);
    if (events >= 0)
        hr_perf_tracepoint_suggest_in_full(events, search->name, &search->suggestions);
    hr_descriptor_close(&events);
    hr_perf_pfm_suggest(search->name, &search->suggestions);
}

static void classify_event(struct search *search)
{
    bool is_hardware =
        search->attr.type == PERF_TYPE_HARDWARE || search->attr.type == PERF_TYPE_HW_CACHE;

    search->role = hr_perf_role_of_generic(search->attr.type, search->attr.config);
    if (!is_hardware)
        search->pmu = hr_perf_pmus_find_type(&search->vocabulary->pmus, search->attr.type);
    search->each_core = is_hardware || (search->attr.type == PERF_TYPE_RAW && search->pmu == NULL);
}

static int find_by_name(struct search *search)
{
    struct hr_text subsystem, event;
    int status = hr_perf_pfm_encode(search->name, &search->attr, &search->error);

    if (status == 0) {
        classify_event(search);
        return 0;
    }
    if (status == -ENOMEM)
        return status;
    if (split_tracepoint(search->name, &subsystem, &event))
        return find_tracepoint(search, subsystem, event, status);
    if (search->suggests)
        suggest_names(search);
    return status;
}

/* Finds a character that no event's name has, such as the comma between two events. */
static bool find_stray_character(struct hr_text text, char *stray)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.start[i];
        if (c > ' ' && c <= '~' && strchr(",*?{}", c) == NULL)
            continue;
        *stray = c;
        return true;
    }
    return false;
}

static int find_event(struct search *search, struct hr_text text)
{
    char stray;

    if (hr_text_find(text, '/') < text.length)
        return find_by_pmu_and_terms(search, text);
    search->name = text;
    while (strip_modifier(&search->name, &search->modifier))
        continue;
    if (search->name.length == 0)
        return hr_perf_set_error(&search->error, -EINVAL, "there is no name");
    if (find_stray_character(text, &stray))
        return hr_perf_set_error(&search->error, -EINVAL,
                                 "the name of one event can't contain \"%c\"", stray);
    return hr_perf_is_raw(search->name) ? find_raw(search) : find_by_name(search);
}

/* --- Encodings --------------------------------------------------------------- */

/* One encoding, on the CPUs of the PMU if it has a file with these. */
static void encode_for_all_cores(const struct search *search, struct hr_perf_event *event)
{
    struct hr_perf_encoding *encoding = &event->encodings[0];
    const struct hr_perf_pmu *pmu = search->pmu;

    event->encoding_count = 1;
    encoding->attr = search->attr;
    encoding->every_cpu = pmu == NULL || (!pmu->has_cpus && !pmu->has_cpumask);
    if (!encoding->every_cpu)
        encoding->cpus = pmu->cpus;
    event->whole_machine = pmu != NULL && pmu->has_cpumask;
}

static void encode_for_pmu(const struct search *search, const struct hr_perf_pmu *pmu,
                           struct hr_perf_event *event)
{
    struct hr_perf_encoding *encoding = &event->encodings[event->encoding_count];

    encoding->attr = search->attr;
    if (encoding->attr.type == PERF_TYPE_RAW)
        encoding->attr.type = pmu->type;
    else
        encoding->attr.config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
    encoding->cpus = pmu->cpus;
    for (size_t i = 0; i < event->encoding_count; i++)
        hr_cpu_set_remove(&encoding->cpus, &event->encodings[i].cpus);
    event->encoding_count++;
}

static int encode_for_each_core(struct search *search, struct hr_perf_event *event)
{
    const struct hr_perf_pmus *pmus = &search->vocabulary->pmus;

    for (size_t i = 0; i < pmus->count; i++) {
        const struct hr_perf_pmu *pmu = &pmus->list[i];
        if (!pmu->has_cpus)
            continue;
        if (pmu->status < 0)
            return hr_perf_set_error(
                &search->error, pmu->status, "a file of the PMU \"%.32s\", type or cpus, %s",
                pmu->name, pmu->status == -EBADMSG ? "isn't understood" : "can't be read");
        encode_for_pmu(search, pmu, event);
    }
    return 0;
}

static enum hr_perf_mode mode_of(const struct perf_event_attr *attr)
{
    if (attr->exclude_user == attr->exclude_kernel)
        return HR_PERF_ANY_MODE;
    return attr->exclude_kernel ? HR_PERF_USER : HR_PERF_KERNEL;
}

static int make_event(struct search *search, const char *text, struct hr_perf_event *event)
{
    size_t core_pmus = search->vocabulary->core_pmus;
    bool by_core = search->each_core && core_pmus > 1;

    apply_modifier(&search->modifier, &search->attr);
    event->role = search->role.role;
    event->cache = search->role.cache;
    event->mode = mode_of(&search->attr);
    event->text = strdup(text);
    event->label = hr_perf_label(
        text, search->own_name.length > 0 ? search->own_name : search->name, &search->modifier);
    event->encodings = calloc(by_core ? core_pmus : 1, sizeof(*event->encodings));
    if (event->text == NULL || event->label == NULL || event->encodings == NULL)
        return -ENOMEM;
    if (by_core)
        return encode_for_each_core(search, event);
    encode_for_all_cores(search, event);
    return 0;
}

static int find_and_make(struct search *search, const char *text, struct hr_perf_event **event)
{
    struct hr_perf_event *made = NULL;
    int status = find_event(search, hr_text_of(text));

    if (status == 0) {
        made = calloc(1, sizeof(*made));
        status = made != NULL ? make_event(search, text, made) : -ENOMEM;
    }
    if (status == 0)
        *event = made;
    else
        hr_perf_event_free(made);
    return status;
}

int hr_perf_event_find(const struct hr_perf_vocabulary *vocabulary, const char *text,
                       struct hr_perf_event **event, struct hr_perf_event_error *error)
{
    struct search search = {.vocabulary = vocabulary, .suggests = true};
    int status = find_and_make(&search, text, event);

    if (status == 0 || status == -ENOMEM)
        return status;
    hr_perf_suggestions_copy(&search.suggestions, &search.error);
    *error = search.error;
    return status;
}

static bool has_encoding_of(const struct hr_perf_event *event, unsigned cpu)
{
    for (size_t i = 0; i < event->encoding_count; i++)
        if (event->encodings[i].every_cpu || hr_cpu_set_has(&event->encodings[i].cpus, cpu))
            return true;
    return false;
}

static struct hr_perf_encoding *find_same(const struct hr_perf_event *event,
                                          const struct perf_event_attr *attr)
{
    for (size_t i = 0; i < event->encoding_count; i++)
        if (memcmp(&event->encodings[i].attr, attr, sizeof(*attr)) == 0)
            return &event->encodings[i];
    return NULL;
}

/* A PMU of cores may have those that are online only: one that goes offline is no change. */
static void keep_cpus(struct hr_perf_event *found, const struct hr_perf_event *event)
{
    for (size_t i = 0; i < event->encoding_count; i++) {
        const struct hr_perf_encoding *before = &event->encodings[i];
        struct hr_perf_encoding *now = find_same(found, &before->attr);
        unsigned cpu = hr_cpu_set_next(&before->cpus, 0);
        for (; now != NULL && cpu < HR_CPU_MAX; cpu = hr_cpu_set_next(&before->cpus, cpu + 1))
            if (!has_encoding_of(found, cpu))
                hr_cpu_set_add(&now->cpus, cpu);
    }
}

static bool has_same_cpus(const struct hr_perf_event *a, const struct hr_perf_event *b)
{
    for (size_t i = 0; i < a->encoding_count; i++)
        if (a->encodings[i].every_cpu != b->encodings[i].every_cpu ||
            memcmp(&a->encodings[i].cpus, &b->encodings[i].cpus, sizeof(struct hr_cpu_set)) != 0)
            return false;
    return true;
}

/* @return whether it took the encodings that were found. */
static bool take_encodings(struct hr_perf_event *event, struct hr_perf_event *found)
{
    struct hr_perf_encoding *before = event->encodings;

    if (found->whole_machine != event->whole_machine)
        return false; /* it is something else now */
    if (!found->whole_machine)
        keep_cpus(found, event);
    if (hr_perf_event_is_same(event, found) && has_same_cpus(event, found))
        return false;
    event->encodings = found->encodings;
    event->encoding_count = found->encoding_count;
    found->encodings = before;
    return true;
}

int hr_perf_event_new_unknown(const char *text, struct hr_perf_event **event)
{
    static const struct hr_perf_modifier none;
    struct hr_perf_event *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return -ENOMEM;
    made->text = strdup(text);
    made->label = hr_perf_label(text, hr_text_of(text), &none);
    made->encodings = calloc(1, sizeof(*made->encodings));
    if (made->text == NULL || made->label == NULL || made->encodings == NULL) {
        hr_perf_event_free(made);
        return -ENOMEM;
    }
    *event = made;
    return 0;
}

static void swap_events(struct hr_perf_event *a, struct hr_perf_event *b)
{
    const struct hr_perf_event before = *a;

    *a = *b;
    *b = before;
}

/* Whether what failed says nothing about the event. */
static bool is_obstacle(int status, bool was_known)
{
    switch (status) {
    case -ENOENT:
    case -EINVAL:
    case -ENODEV:
    case -EACCES:
    case -EPERM:
        return false;
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
        return true;
    default:
        return was_known; /* as of an unknown one, it is why */
    }
}

int hr_perf_event_update(const struct hr_perf_vocabulary *vocabulary, struct hr_perf_event *event)
{
    struct search search = {.vocabulary = vocabulary};
    bool changed = event->encoding_count == 0;
    struct hr_perf_event *found;

    int status = find_and_make(&search, event->text, &found);
    if (status < 0)
        return is_obstacle(status, !changed) ? status : 0;
    if (changed)
        swap_events(event, found);
    else
        changed = take_encodings(event, found);
    hr_perf_event_free(found);
    return changed;
}

bool hr_perf_event_is_same(const struct hr_perf_event *a, const struct hr_perf_event *b)
{
    if (a->encoding_count != b->encoding_count)
        return false;
    for (size_t i = 0; i < a->encoding_count; i++)
        if (memcmp(&a->encodings[i].attr, &b->encodings[i].attr, sizeof(a->encodings[i].attr)) != 0)
            return false;
    return true;
}

void hr_perf_event_free(struct hr_perf_event *event)
{
    if (event == NULL)
        return;
    free(event->text);
    free(event->label);
    free(event->encodings);
    free(event);
}
