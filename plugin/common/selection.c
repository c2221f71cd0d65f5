/* SPDX-License-Identifier: MIT */
#include "common/selection.h"

#include <errno.h>
#include <sys/queue.h>

#include "common/absence.h"
#include "common/complaint.h"
#include "common/container_names.h"
#include "common/log.h"
#include "common/names.h"
#include "common/options.h"
#include "common/unmatched.h"
#include "configfile.h"
#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/utf8.h"
#include "liboconfig/oconfig.h"
#include "utils/common/common.h"

#define DEFAULT_MAX_CGROUPS 1000

/* An array of texts that grows. */
struct texts {
    char **list;
    size_t count, capacity;
};

/* Of a set: what is called for each change. */
struct follower {
    struct selection *selection;
    void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event, void *context);
    void *context;
    SLIST_ENTRY(follower) next;
};

struct selection {
    const char *plugin;
    const char *controller; /* NULL: cgroup2 */
    struct texts patterns;
    struct texts templates; /* of each pattern: its Instance, or NULL */
    struct texts excludes;
    size_t max_count;
    uint64_t min_age_us;
    int (*option)(const char *block, size_t pattern, const oconfig_item_t *item, void *context);
    void *option_context;
    struct names *names;
    struct container_names containers;
    SLIST_HEAD(, follower) followers;
    const struct hr_root *root; /* of the sets; NULL: none was opened */
    struct unmatched unmatched;
    struct complaint mount;
    struct tally excess;
    struct tally watches;
    struct tally unreadable;
    struct tally unfollowed;
};

struct selection *selection_new(const char *plugin, const char *controller)
{
    struct selection *selection = calloc(1, sizeof(*selection));

    if (selection == NULL)
        return NULL;
    selection->plugin = plugin;
    selection->controller = controller;
    selection->max_count = DEFAULT_MAX_CGROUPS;
    selection->names = names_new(plugin);
    if (selection->names == NULL) {
        free(selection);
        return NULL;
    }
    container_names_init(&selection->containers);
    return selection;
}

static void free_texts(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->list[i]);
    free(texts->list);
}

void selection_free(struct selection *selection)
{
    if (selection == NULL)
        return;
    while (!SLIST_EMPTY(&selection->followers)) {
        struct follower *follower = SLIST_FIRST(&selection->followers);
        SLIST_REMOVE_HEAD(&selection->followers, next);
        free(follower);
    }
    names_free(selection->names);
    container_names_destroy(&selection->containers);
    free_texts(&selection->patterns);
    free_texts(&selection->templates);
    free_texts(&selection->excludes);
    unmatched_free(&selection->unmatched);
    free(selection);
}

/* --- Options -------------------------------------------------------------- */

/* Appends a copy of a text, or NULL. @return 0; -1, and logged. */
static int append_text(const char *plugin, struct texts *texts, const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    if ((text != NULL && copy == NULL) ||
        HR_ARRAY_RESERVE(texts->list, texts->capacity, texts->count + 1) < 0) {
        free(copy);
        ERROR("%s: out of memory.", plugin);
        return -1;
    }
    texts->list[texts->count++] = copy;
    return 0;
}

static int check_pattern(const char *plugin, const oconfig_item_t *item, const char *pattern,
                         size_t *wildcards)
{
    const char *reason = "out of memory";
    char accepted[256];

    if (hr_cgroup_pattern_check(pattern, wildcards, &reason) == 0)
        return 0;
    snprintf(accepted, sizeof(accepted), HR_CGROUP_PATTERNS, pattern, reason);
    return option_refuse(plugin, item, accepted);
}

static int read_instance(const char *block, const oconfig_item_t *item, size_t wildcards,
                         const char **template)
{
    char accepted[256];

    if (option_text(block, item, template) < 0)
        return -1;
    if (hr_cgroup_template_check(*template, wildcards))
        return 0;
    snprintf(accepted, sizeof(accepted), HR_CGROUP_TEMPLATE, wildcards);
    return option_refuse(block, item, accepted);
}

/* The options within <Cgroup …>. */
static int read_block(struct selection *selection, const oconfig_item_t *item, size_t wildcards,
                      const char **template)
{
    char block[256];

    snprintf(block, sizeof(block), "%s: <Cgroup \"%s\">", selection->plugin,
             item->values[0].value.string);
    for (int i = 0; i < item->children_num; i++) {
        const oconfig_item_t *child = &item->children[i];
        int status = 1;
        if (strcasecmp(child->key, "Instance") == 0)
            status = read_instance(block, child, wildcards, template);
        else if (selection->option != NULL)
            status = selection->option(block, selection->patterns.count, child,
                                       selection->option_context);
        if (status < 0)
            return -1;
        if (status > 0)
            option_warn_unknown(block, child);
    }
    return 0;
}

static int read_cgroup(struct selection *selection, const oconfig_item_t *item)
{
    const size_t first = selection->patterns.count;

    if (option_check(selection->plugin, item) < 0)
        return -1;
    if (item->children_num > 0 && item->values_num != 1)
        return option_refuse(selection->plugin, item, "one pattern, as it is a block");
    for (int i = 0; i < item->values_num; i++) {
        const char *pattern = item->values[i].value.string;
        const char *template = NULL;
        size_t wildcards;
        if (check_pattern(selection->plugin, item, pattern, &wildcards) < 0 ||
            read_block(selection, item, wildcards, &template) < 0 ||
            append_text(selection->plugin, &selection->templates, template) < 0 ||
            append_text(selection->plugin, &selection->patterns, pattern) < 0)
            return -1;
    }
    return unmatched_add(&selection->unmatched, selection->plugin, first, item->values_num);
}

static int read_exclude(struct selection *selection, const oconfig_item_t *item)
{
    if (option_check(selection->plugin, item) < 0)
        return -1;
    for (int i = 0; i < item->values_num; i++) {
        const char *pattern = item->values[i].value.string;
        if (check_pattern(selection->plugin, item, pattern, NULL) < 0 ||
            append_text(selection->plugin, &selection->excludes, pattern) < 0)
            return -1;
    }
    return 0;
}

/* The directories that a relative path is looked for in: those of configurations, by distribution,
 * and collectd's own. */
static const char *include_directory(size_t index)
{
    static const char *const directories[] = {
        "/etc/collectd/collectd.conf.d",
        "/etc/collectd.d",
        "/etc/collectd",
    };

    if (index < STATIC_ARRAY_SIZE(directories))
        return directories[index];
    return index == STATIC_ARRAY_SIZE(directories) ? global_option_get("BaseDir") : NULL;
}

/* @return the path to read, which the caller frees; NULL: there is no such file. */
static char *find_include(const char *path)
{
    const char *directory;
    char *found;

    if (path[0] == '/')
        return access(path, R_OK) == 0 ? strdup(path) : NULL;
    for (size_t i = 0; (directory = include_directory(i)) != NULL; i++) {
        if (asprintf(&found, "%s/%s", directory, path) < 0)
            return NULL;
        if (access(found, R_OK) == 0)
            return found;
        free(found);
    }
    return NULL;
}

static int read_included(struct selection *selection, const char *path,
                         const oconfig_item_t *included)
{
    for (int i = 0; i < included->children_num; i++) {
        const oconfig_item_t *child = &included->children[i];
        bool is_include = strcasecmp(child->key, "Include") == 0;
        int status = is_include ? 1 : selection_option(selection, child);
        if (status < 0)
            return -1;
        if (status > 0)
            WARNING("%s: %s: option %s has no effect there: it is for Cgroup, ExcludeCgroup, "
                    "MaxCgroups, MinAge and NameFrom.",
                    selection->plugin, path, child->key);
    }
    return 0;
}

/* collectd's own Include works outside of blocks only. */
static int read_include(struct selection *selection, const oconfig_item_t *item)
{
    static const char accepted[] =
        "the path of a file with Cgroup options, such as headroom-cgroups.conf, that is there and "
        "may be read; if it isn't absolute, in /etc/collectd/collectd.conf.d, /etc/collectd.d, "
        "/etc/collectd or collectd's BaseDir";
    const char *text;

    if (option_text(selection->plugin, item, &text) < 0)
        return -1;
    char *path = find_include(text);
    oconfig_item_t *included = path != NULL ? oconfig_parse_file(path) : NULL;
    int status = included != NULL ? read_included(selection, path, included)
                                  : option_refuse(selection->plugin, item, accepted);
    if (included != NULL)
        oconfig_free(included);
    free(path);
    return status;
}

int selection_option(struct selection *selection, const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "Include") == 0)
        return read_include(selection, item);
    if (strcasecmp(item->key, "Cgroup") == 0)
        return read_cgroup(selection, item);
    if (strcasecmp(item->key, "ExcludeCgroup") == 0)
        return read_exclude(selection, item);
    if (strcasecmp(item->key, "MaxCgroups") == 0)
        return option_count(selection->plugin, item, &selection->max_count);
    if (strcasecmp(item->key, "MinAge") == 0)
        return option_seconds(selection->plugin, item, &selection->min_age_us);
    if (strcasecmp(item->key, "NameFrom") == 0)
        return container_names_option(&selection->containers, selection->plugin, item);
    return 1;
}

void selection_on_option(struct selection *selection,
                         int (*option)(const char *block, size_t pattern,
                                       const oconfig_item_t *item, void *context),
                         void *context)
{
    selection->option = option;
    selection->option_context = context;
}

const char *selection_pattern(const struct selection *selection, size_t index)
{
    return index < selection->patterns.count ? selection->patterns.list[index] : NULL;
}

size_t selection_max(const struct selection *selection)
{
    return selection->max_count;
}

bool selection_is_empty(const struct selection *selection)
{
    return selection->patterns.count == 0;
}

/* --- Following ------------------------------------------------------------ */

/* Before the group's name is released. */
static void note_absence(const struct selection *selection, const struct hr_cgroup *group,
                         enum hr_cgroup_event event)
{
    char instance[HR_INSTANCE_SIZE];

    if (event == HR_CGROUP_ADDED || !names_find(selection->names, group->path, instance))
        return;
    if (event == HR_CGROUP_EMPTIED)
        absence_note(instance, ABSENCE_EMPTY);
    else if (event == HR_CGROUP_REMOVED && hr_cgroup_is_gone(group))
        absence_note(instance, ABSENCE_REMOVED);
    else
        absence_note(instance, ABSENCE_UNKNOWN);
}

static void handle_event(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    const struct follower *follower = context;

    note_absence(follower->selection, group, event);
    follower->event(group, event, follower->context);
}

static uint64_t min_age_ns(const struct selection *selection)
{
    return selection->min_age_us * HR_NS_PER_US;
}

static int open_set(struct selection *selection, const struct hr_root *root, uint64_t age_ns,
                    void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                  void *context),
                    void *context, struct hr_cgroup_set **set)
{
    if (selection_is_empty(selection))
        return 0;
    selection->root = root;
    struct follower *follower = calloc(1, sizeof(*follower));
    if (follower == NULL)
        return -ENOMEM;
    *follower = (struct follower){.selection = selection, .event = event, .context = context};
    SLIST_INSERT_HEAD(&selection->followers, follower, next);

    const struct hr_cgroup_options options = {
        .controller = selection->controller,
        .patterns = (const char *const *)selection->patterns.list,
        .pattern_count = selection->patterns.count,
        .excludes = (const char *const *)selection->excludes.list,
        .exclude_count = selection->excludes.count,
        .max_count = selection->max_count,
        .min_age_ns = age_ns,
        .event = handle_event,
        .context = follower,
    };
    return hr_cgroup_set_open(root, &options, set);
}

int selection_open(struct selection *selection, const struct hr_root *root,
                   void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                 void *context),
                   void *context, struct hr_cgroup_set **set)
{
    return open_set(selection, root, min_age_ns(selection), event, context, set);
}

int selection_open_all(struct selection *selection, const struct hr_root *root,
                       void (*event)(struct hr_cgroup *group, enum hr_cgroup_event event,
                                     void *context),
                       void *context, struct hr_cgroup_set **set)
{
    return open_set(selection, root, 0, event, context, set);
}

bool selection_is_young(const struct selection *selection, const struct hr_cgroup *group)
{
    return !hr_cgroup_has_age(group, min_age_ns(selection));
}

static void report_no_mount(struct selection *selection)
{
    const char *controller = selection->controller;
    char otherwise[128] = "";

    if (controller != NULL)
        snprintf(otherwise, sizeof(otherwise), ", nor one of version 1 with the controller %s",
                 controller);
    complaint_log(&selection->mount, LOG_WARNING, -ENOENT,
                  "%s: no cgroup2 hierarchy is mounted%s, so no cgroup is sampled. Mount one "
                  "(mount -t cgroup2 none /sys/fs/cgroup/unified); it is checked again at each "
                  "interval.",
                  selection->plugin, otherwise);
}

static void report_mount(struct selection *selection, int status)
{
    const char *plugin = selection->plugin;

    if (status == 0)
        complaint_resolve(&selection->mount, "%s: cgroups are being read again.", plugin);
    else if (status == -ENOENT)
        report_no_mount(selection);
    else if (status == -EACCES || status == -EPERM)
        complaint_log(&selection->mount, LOG_WARNING, status,
                      "%s: no permission to list the %s mount, so no cgroup is sampled: let "
                      "collectd's user read it, or run collectd as root.",
                      plugin, selection->controller != NULL ? "cgroup" : "cgroup2");
    else if (status == -EMFILE || status == -ENFILE)
        complaint_log(&selection->mount, LOG_WARNING, status,
                      "%s: cgroups can't be listed as file descriptors ran out: raise "
                      "LimitNOFILE= of collectd's service (ulimit -n).",
                      plugin);
    else
        complaint_log(&selection->mount, LOG_WARNING, status,
                      "%s: some cgroups can't be listed, retrying at each interval: %s.", plugin,
                      STRERROR(-status));
}

static void report_excess(struct selection *selection, size_t excess)
{
    if (tally_should_log(&selection->excess, excess))
        WARNING("%s: %zu cgroups with processes match but are left out: MaxCgroups is %zu. Raise "
                "it, or select fewer.",
                selection->plugin, excess, selection->max_count);
}

static void report_watches(struct selection *selection, const struct hr_cgroup_counts *counts)
{
    const char *remedy = counts->watch_error == -ENOSPC ? "raise sysctl fs.inotify.max_user_watches"
                         : counts->watch_error == -EMFILE
                             ? "raise sysctl fs.inotify.max_user_instances, or LimitNOFILE= of "
                               "collectd's service"
                             : STRERROR(-counts->watch_error);

    if (tally_should_log(&selection->watches, counts->unwatched))
        NOTICE(
            "%s: %zu inotify watches can't be added, so these cgroups are read at each interval, "
            "which costs more: %s.",
            selection->plugin, counts->unwatched, remedy);
}

static void report_unreadable(struct selection *selection, const struct hr_cgroup_counts *counts)
{
    char path[256], reason[256];

    if (!tally_should_log(&selection->unreadable, counts->unreadable))
        return;
    bool is_cut = snprintf(path, sizeof(path), "%s", counts->unreadable_path) >= (int)sizeof(path);
    hr_utf8_make_safe(path);
    WARNING("%s: %zu cgroups can't be read, such as %s%s; each is retried, at least every 64 "
            "seconds: %s.",
            selection->plugin, counts->unreadable, path, is_cut ? "..." : "",
            complaint_read_remedy(counts->read_error, reason, sizeof(reason)));
}

static void report_unfollowed(struct selection *selection, size_t unfollowed)
{
    if (tally_should_log(&selection->unfollowed, unfollowed))
        WARNING("%s: %zu cgroups without processes are too many to follow, so that processes in "
                "them may be noticed a minute late: MaxCgroups is %zu. Raise it, or select fewer.",
                selection->plugin, unfollowed, selection->max_count);
}

int selection_read(struct selection *selection, struct hr_cgroup_set *set)
{
    if (set == NULL)
        return 0;
    int status = hr_cgroup_set_read(set);
    names_save(selection->names);
    report_mount(selection, status);

    struct hr_cgroup_counts counts = hr_cgroup_set_counts(set);
    report_excess(selection, counts.excess);
    report_watches(selection, &counts);
    report_unreadable(selection, &counts);
    report_unfollowed(selection, counts.unfollowed);
    if (status == 0)
        unmatched_log(
            &selection->unmatched,
            &(struct unmatched_context){selection->plugin, selection->root, selection->controller,
                                        (const char *const *)selection->patterns.list, set});
    return status;
}

/* --- Names ---------------------------------------------------------------- */

const char *selection_name(struct selection *selection, const struct hr_cgroup *group)
{
    char *name = container_names_find(&selection->containers, selection->plugin, selection->root,
                                      group->path);
    char *text = hr_cgroup_template_expand(selection->templates.list[group->pattern], group, name);
    const char *instance = NULL;

    if (text == NULL)
        ERROR("%s: cgroup %s is left out: out of memory.", selection->plugin, group->path);
    else
        instance = names_take(selection->names, group->path, text);
    free(text);
    free(name);
    return instance;
}

const char *selection_reserve(struct selection *selection, const char *owner, const char *text)
{
    return names_reserve(selection->names, owner, text);
}

void selection_unname(struct selection *selection, const char *instance)
{
    names_release(selection->names, instance);
}
