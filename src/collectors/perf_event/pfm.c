#include "perf_event/pfm.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>

/* The longest name that is tried; libpfm4's own are far shorter. */
#define NAME_BYTES 512

int hr_perf_pfm_initialize(void)
{
    return pfm_initialize() == PFM_SUCCESS ? 0 : -EIO;
}

/* --- Encoding ---------------------------------------------------------------- */

static pfm_err_t encode(const char *name, struct perf_event_attr *attr)
{
    pfm_perf_encode_arg_t argument = {.attr = attr, .size = sizeof(argument)};

    memset(attr, 0, sizeof(*attr));
    return pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
}

static pfm_err_t encode_in(const char *pmu, struct hr_text name, struct perf_event_attr *attr)
{
    char text[NAME_BYTES];
    int length = snprintf(text, sizeof(text), "%s%.*s", pmu, (int)name.length, name.start);

    return length < (int)sizeof(text) ? encode(text, attr) : PFM_ERR_NOTFOUND;
}

/* Where the event's own name ends, and what follows begins: at a ":" or ".". */
static size_t find_end(struct hr_text name)
{
    const char *prefix = memmem(name.start, name.length, "::", 2);
    size_t i = prefix != NULL ? (size_t)(prefix - name.start) + 2 : 0;

    while (i < name.length && name.start[i] != ':' && name.start[i] != '.')
        i++;
    return i;
}

/* The end of the piece that begins behind the separator at `from`. */
static size_t find_next(struct hr_text name, size_t from)
{
    size_t i = from < name.length ? from + 1 : from;

    while (i < name.length && name.start[i] != ':' && name.start[i] != '.')
        i++;
    return i;
}

static bool asks_for(struct hr_text name, const char *attribute)
{
    size_t length = strlen(attribute);

    for (size_t from = find_end(name); from < name.length; from = find_next(name, from)) {
        struct hr_text piece = hr_text_head(name, find_next(name, from));
        piece = hr_text_tail(piece, from + 1);
        if (piece.length >= length && strncasecmp(piece.start, attribute, length) == 0 &&
            (piece.length == length || piece.start[length] == '='))
            return true;
    }
    return false;
}

/* libpfm4 leaves hypervisors and guests out unless it is asked not to. */
static void count_everything(struct hr_text name, struct perf_event_attr *attr)
{
    attr->size = sizeof(*attr);
    if (!asks_for(name, "h"))
        attr->exclude_hv = 0;
    if (!asks_for(name, "mg") && !asks_for(name, "mh")) {
        attr->exclude_guest = 0;
        attr->exclude_host = 0;
    }
}

bool hr_perf_pfm_encode_generic(struct hr_text name, struct perf_event_attr *attr)
{
    if (encode_in("perf::", name, attr) != PFM_SUCCESS)
        return false;
    count_everything(name, attr);
    return true;
}

/* --- What is wrong ----------------------------------------------------------- */

static const struct {
    pfm_err_t error;
    const char *meaning;
} complaints[] = {
    {PFM_ERR_FEATCOMB, "these unit masks and modifiers don't go together"},
    {PFM_ERR_UMASK, "the event needs a unit mask, or another one"},
    {PFM_ERR_TOOMANY, "there are too many unit masks and modifiers"},
    {PFM_ERR_INVAL, "it is malformed"},
};

/* The first piece behind the event's name with which libpfm4 has this trouble; nothing if none. */
static struct hr_text find_culprit(struct hr_text name, pfm_err_t error)
{
    struct perf_event_attr attr;

    for (size_t from = find_end(name); from < name.length; from = find_next(name, from)) {
        struct hr_text head = hr_text_head(name, find_next(name, from));
        if (encode_in("", head, &attr) == error)
            return hr_text_tail(head, from + 1);
    }
    return hr_text_tail(name, name.length);
}

static int fault_of_piece(struct hr_text name, pfm_err_t error, struct hr_perf_fault *fault)
{
    struct hr_text event = hr_text_head(name, find_end(name));
    struct hr_text culprit = find_culprit(name, error);

    if (error == PFM_ERR_ATTR)
        return hr_perf_fault_set(fault, -EINVAL,
                                 "the event \"%.*s\" has no unit mask or modifier \"%.*s\"",
                                 HR_SHOWN(event), HR_SHOWN(culprit));
    if (error == PFM_ERR_ATTR_VAL)
        return hr_perf_fault_set(fault, -EINVAL, "the value in \"%.*s\" is out of its range",
                                 HR_SHOWN(culprit));
    return hr_perf_fault_set(fault, -EINVAL, "\"%.*s\" is set already", HR_SHOWN(culprit));
}

static int explain(struct hr_text name, pfm_err_t error, struct hr_perf_fault *fault)
{
    if (error == PFM_ERR_NOMEM)
        return -ENOMEM;
    if (error == PFM_ERR_NOTSUPP)
        return hr_perf_fault_set(fault, -ENOENT, "the kernel has no PMU for this event");
    if (error == PFM_ERR_ATTR || error == PFM_ERR_ATTR_VAL || error == PFM_ERR_ATTR_SET)
        return fault_of_piece(name, error, fault);
    for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++)
        if (complaints[i].error == error)
            return hr_perf_fault_set(fault, -EINVAL, "%s", complaints[i].meaning);
    return hr_perf_fault_set(fault, -ENOENT, "this machine knows no such event");
}

int hr_perf_pfm_encode(struct hr_text name, struct perf_event_attr *attr,
                       struct hr_perf_fault *fault)
{
    if (hr_perf_pfm_encode_generic(name, attr))
        return 0;
    pfm_err_t error = encode_in("", name, attr);
    if (error != PFM_SUCCESS)
        return explain(name, error, fault);
    count_everything(name, attr);
    return 0;
}

/* --- Names that are near ----------------------------------------------------- */

static void print_lower(char *text, size_t size, const char *name)
{
    size_t i = 0;

    for (; name[i] != '\0' && i + 1 < size; i++)
        text[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    text[i] = '\0';
}

static void offer_event(const pfm_pmu_info_t *pmu, int index, struct hr_perf_nearest *nearest)
{
    pfm_event_info_t event = {.size = sizeof(event)};
    bool is_generic = pmu->pmu == PFM_PMU_PERF_EVENT;
    char name[128];

    if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
        return;
    /* each of these has a shorter name, too */
    if (is_generic && strncmp(event.name, "PERF_COUNT_", strlen("PERF_COUNT_")) == 0)
        return;
    print_lower(name, sizeof(name), event.name);
    hr_perf_nearest_offer(nearest, hr_text_of(name), "%s%s%s", is_generic ? "" : pmu->name,
                          is_generic ? "" : "::", name);
}

static void offer_events(struct hr_text event, struct hr_perf_nearest *nearest)
{
    const char *prefix = memmem(event.start, event.length, "::", 2);

    if (prefix != NULL)
        event = hr_text_tail(event, (size_t)(prefix - event.start) + 2);
    hr_perf_nearest_want(nearest, event);
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t pmu = {.size = sizeof(pmu)};
        if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || !pmu.is_present ||
            pmu.pmu == PFM_PMU_PERF_EVENT_RAW)
            continue;
        for (int index = pmu.first_event; index != -1; index = pfm_get_event_next(index))
            offer_event(&pmu, index, nearest);
    }
}

static int find_event(struct hr_text event)
{
    char text[NAME_BYTES];
    int length = snprintf(text, sizeof(text), "%.*s", (int)event.length, event.start);

    return length < (int)sizeof(text) ? pfm_find_event(text) : PFM_ERR_NOTFOUND;
}

static void offer_masks(int index, struct hr_text event, struct hr_text culprit,
                        struct hr_perf_nearest *nearest)
{
    pfm_event_info_t info = {.size = sizeof(info)};

    if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
        return;
    hr_perf_nearest_want(nearest, culprit);
    for (int i = 0; i < info.nattrs; i++) {
        pfm_event_attr_info_t mask = {.size = sizeof(mask)};
        char name[128];
        if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        print_lower(name, sizeof(name), mask.name);
        hr_perf_nearest_offer(nearest, hr_text_of(name), "%.*s:%s", (int)event.length, event.start,
                              name);
    }
}

void hr_perf_pfm_offer(struct hr_text name, struct hr_perf_nearest *nearest)
{
    struct hr_text event = hr_text_head(name, find_end(name));
    struct hr_text culprit = find_culprit(name, PFM_ERR_ATTR);
    int index = find_event(event);

    if (index < 0)
        offer_events(event, nearest);
    else if (culprit.length > 0)
        offer_masks(index, event, culprit, nearest);
}
