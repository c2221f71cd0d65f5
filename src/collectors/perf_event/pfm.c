/* SPDX-License-Identifier: MIT */
#include "perf_event/pfm.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>

/* Longest name that is tried; libpfm4's own are far shorter. */
#define NAME_BYTES 512

int hr_perf_pfm_initialize(void)
{
    return pfm_initialize() == PFM_SUCCESS ? 0 : -EIO;
}

/* --- Encoding ---------------------------------------------------------------- */

static pfm_err_t encode_text(const char *name, struct perf_event_attr *attr)
{
    pfm_perf_encode_arg_t argument = {.attr = attr, .size = sizeof(argument)};

    memset(attr, 0, sizeof(*attr));
    return pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
}

static pfm_err_t encode_in_pmu(const char *pmu, struct hr_text name, struct perf_event_attr *attr)
{
    char text[NAME_BYTES];
    int length = snprintf(text, sizeof(text), "%s%.*s", pmu, (int)name.length, name.start);

    return length < (int)sizeof(text) ? encode_text(text, attr) : PFM_ERR_NOTFOUND;
}

/* The end of the event's own name, at a ":" or "."; "pmu::" is part of the name. */
static size_t find_name_end(struct hr_text name)
{
    const char *prefix = memmem(name.start, name.length, "::", 2);
    size_t i = prefix != NULL ? (size_t)(prefix - name.start) + 2 : 0;

    while (i < name.length && name.start[i] != ':' && name.start[i] != '.')
        i++;
    return i;
}

/* The end of the piece that follows the separator at `from`. */
static size_t find_piece_end(struct hr_text name, size_t from)
{
    size_t i = from < name.length ? from + 1 : from;

    while (i < name.length && name.start[i] != ':' && name.start[i] != '.')
        i++;
    return i;
}

static bool has_attribute(struct hr_text name, const char *attribute)
{
    size_t length = strlen(attribute);

    for (size_t from = find_name_end(name); from < name.length; from = find_piece_end(name, from)) {
        struct hr_text piece = hr_text_head(name, find_piece_end(name, from));
        piece = hr_text_tail(piece, from + 1);
        if (piece.length >= length && strncasecmp(piece.start, attribute, length) == 0 &&
            (piece.length == length || piece.start[length] == '='))
            return true;
    }
    return false;
}

/* libpfm4 excludes hypervisors and guests by default. */
static void include_hypervisor_and_guests(struct hr_text name, struct perf_event_attr *attr)
{
    attr->size = sizeof(*attr);
    if (!has_attribute(name, "h"))
        attr->exclude_hv = 0;
    if (!has_attribute(name, "mg") && !has_attribute(name, "mh")) {
        attr->exclude_guest = 0;
        attr->exclude_host = 0;
    }
}

bool hr_perf_pfm_encode_generic(struct hr_text name, struct perf_event_attr *attr)
{
    if (encode_in_pmu("perf::", name, attr) != PFM_SUCCESS)
        return false;
    include_hypervisor_and_guests(name, attr);
    return true;
}

/* --- Errors ------------------------------------------------------------------ */

static const struct {
    pfm_err_t pfm_error;
    const char *text;
} error_texts[] = {
    {PFM_ERR_FEATCOMB, "these unit masks and modifiers can't be combined"},
    {PFM_ERR_UMASK, "the event needs a unit mask, or another one"},
    {PFM_ERR_TOOMANY, "there are too many unit masks and modifiers"},
    {PFM_ERR_INVAL, "it is malformed"},
};

/* The first piece after the event's name for which libpfm4 returns this error; empty if none. */
static struct hr_text find_refused_piece(struct hr_text name, pfm_err_t pfm_error)
{
    struct perf_event_attr attr;

    for (size_t from = find_name_end(name); from < name.length; from = find_piece_end(name, from)) {
        struct hr_text head = hr_text_head(name, find_piece_end(name, from));
        if (encode_in_pmu("", head, &attr) == pfm_error)
            return hr_text_tail(head, from + 1);
    }
    return hr_text_tail(name, name.length);
}

static int report_piece(struct hr_text name, pfm_err_t pfm_error, struct hr_perf_event_error *error)
{
    struct hr_text event = hr_text_head(name, find_name_end(name));
    struct hr_text refused = find_refused_piece(name, pfm_error);

    if (pfm_error == PFM_ERR_ATTR)
        return hr_perf_set_error(error, -EINVAL,
                                 "the event \"%.*s\" has no unit mask or modifier \"%.*s\"",
                                 HR_PERF_EXCERPT(event), HR_PERF_EXCERPT(refused));
    if (pfm_error == PFM_ERR_ATTR_VAL)
        return hr_perf_set_error(error, -EINVAL, "the value in \"%.*s\" is out of its range",
                                 HR_PERF_EXCERPT(refused));
    return hr_perf_set_error(error, -EINVAL, "\"%.*s\" is set already", HR_PERF_EXCERPT(refused));
}

static int report_error(struct hr_text name, pfm_err_t pfm_error, struct hr_perf_event_error *error)
{
    if (pfm_error == PFM_ERR_NOMEM)
        return -ENOMEM;
    if (pfm_error == PFM_ERR_NOTSUPP)
        return hr_perf_set_error(error, -ENOENT, "the kernel has no PMU for this event");
    if (pfm_error == PFM_ERR_ATTR || pfm_error == PFM_ERR_ATTR_VAL || pfm_error == PFM_ERR_ATTR_SET)
        return report_piece(name, pfm_error, error);
    for (size_t i = 0; i < sizeof(error_texts) / sizeof(error_texts[0]); i++)
        if (error_texts[i].pfm_error == pfm_error)
            return hr_perf_set_error(error, -EINVAL, "%s", error_texts[i].text);
    return hr_perf_set_error(error, -ENOENT, "this machine knows no such event");
}

int hr_perf_pfm_encode(struct hr_text name, struct perf_event_attr *attr,
                       struct hr_perf_event_error *error)
{
    if (hr_perf_pfm_encode_generic(name, attr))
        return 0;
    pfm_err_t pfm_error = encode_in_pmu("", name, attr);
    if (pfm_error != PFM_SUCCESS)
        return report_error(name, pfm_error, error);
    include_hypervisor_and_guests(name, attr);
    return 0;
}

/* --- Suggestions ------------------------------------------------------------- */

static void copy_lowercase(char *text, size_t size, const char *name)
{
    size_t i = 0;

    for (; name[i] != '\0' && i + 1 < size; i++)
        text[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    text[i] = '\0';
}

static void suggest_event(const pfm_pmu_info_t *pmu, int index,
                          struct hr_perf_suggestions *suggestions)
{
    pfm_event_info_t event = {.size = sizeof(event)};
    bool is_generic = pmu->pmu == PFM_PMU_PERF_EVENT;
    char name[128];

    if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
        return;
    /* each of these also has a shorter name */
    if (is_generic && strncmp(event.name, "PERF_COUNT_", strlen("PERF_COUNT_")) == 0)
        return;
    copy_lowercase(name, sizeof(name), event.name);
    hr_perf_suggestions_add(suggestions, hr_text_of(name), "%s%s%s", is_generic ? "" : pmu->name,
                            is_generic ? "" : "::", name);
}

static void suggest_events(struct hr_text event, struct hr_perf_suggestions *suggestions)
{
    const char *prefix = memmem(event.start, event.length, "::", 2);

    if (prefix != NULL)
        event = hr_text_tail(event, (size_t)(prefix - event.start) + 2);
    hr_perf_suggestions_set_wanted(suggestions, event);
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t pmu = {.size = sizeof(pmu)};
        if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || !pmu.is_present ||
            pmu.pmu == PFM_PMU_PERF_EVENT_RAW)
            continue;
        for (int index = pmu.first_event; index != -1; index = pfm_get_event_next(index))
            suggest_event(&pmu, index, suggestions);
    }
}

static int find_pfm_event(struct hr_text event)
{
    char text[NAME_BYTES];
    int length = snprintf(text, sizeof(text), "%.*s", (int)event.length, event.start);

    return length < (int)sizeof(text) ? pfm_find_event(text) : PFM_ERR_NOTFOUND;
}

static void suggest_unit_masks(int index, struct hr_text event, struct hr_text refused,
                               struct hr_perf_suggestions *suggestions)
{
    pfm_event_info_t info = {.size = sizeof(info)};

    if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
        return;
    hr_perf_suggestions_set_wanted(suggestions, refused);
    for (int i = 0; i < info.nattrs; i++) {
        pfm_event_attr_info_t mask = {.size = sizeof(mask)};
        char name[128];
        if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        copy_lowercase(name, sizeof(name), mask.name);
        hr_perf_suggestions_add(suggestions, hr_text_of(name), "%.*s:%s", (int)event.length,
                                event.start, name);
    }
}

void hr_perf_pfm_suggest(struct hr_text name, struct hr_perf_suggestions *suggestions)
{
    struct hr_text event = hr_text_head(name, find_name_end(name));
    struct hr_text refused = find_refused_piece(name, PFM_ERR_ATTR);
    int index = find_pfm_event(event);

    if (index < 0)
        suggest_events(event, suggestions);
    else if (refused.length > 0)
        suggest_unit_masks(index, event, refused, suggestions);
}
