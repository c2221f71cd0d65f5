/* SPDX-License-Identifier: MIT */
#include "doctor/cgroups.h"

#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "headroom/array.h"
#include "headroom/cgroup.h"
#include "headroom/instance.h"
#include "headroom/utf8.h"

/* Cgroups as they are now. */
struct listing {
    struct hr_cgroup_set *set; /* NULL: there are none, or they can't be listed */
    const struct usage_selection *selection;
    struct hr_container_names *containers; /* NULL: they have no names */
};

static struct listing list_cgroups(const struct hr_root *root, const struct cgroups_of_plugin *of)
{
    return (struct listing){cgroups_open(root, of), of->selection,
                            cgroups_open_names(root, of->selection)};
}

static void close_listing(struct listing *listing)
{
    hr_cgroup_set_close(listing->set);
    hr_container_names_close(listing->containers);
}

size_t cgroups_count(const struct hr_root *root, const struct cgroups_of_plugin *of)
{
    struct hr_cgroup_set *set = cgroups_open(root, of);
    const size_t count = set != NULL ? hr_cgroup_set_counts(set).populated : 0;

    hr_cgroup_set_close(set);
    return count;
}

/* --- Patterns that match nothing ------------------------------------------ */

static const char *remedy_of(const struct config_item *option)
{
    return option->value_count > 1
               ? "add an option Cgroup for what is there; headroom doctor --cgroups lists all"
               : "correct or remove it; headroom doctor --cgroups lists all that are there";
}

static const char feature[] = "patterns that match cgroups";

/* Those of a service, or of pods, may come later. */
static void add_unmatched(struct findings *findings, bool is_awaited, const char *cause,
                          const struct config_item *option)
{
    if (is_awaited)
        findings_add(findings, FINDING_NOTE, feature, cause,
                     "nothing, if some are to be created there later; headroom doctor --cgroups "
                     "lists all that are there");
    else
        findings_add(findings, FINDING_LACKS, feature, cause, remedy_of(option));
}

/* Patterns match, but there is nothing to measure. */
static void add_empty(struct findings *findings, size_t selected)
{
    if (selected > 0)
        findings_add(findings, FINDING_NOTE, feature,
                     "no cgroup is selected that has processes: all that the patterns match are "
                     "empty",
                     "nothing, if they are to have processes later; or select others: headroom "
                     "doctor --cgroups lists all that have processes");
    else
        findings_add(findings, FINDING_LACKS, feature,
                     "no cgroup is selected: ExcludeCgroup leaves out all that the patterns match",
                     "select others, if there should be some; headroom doctor --cgroups lists all "
                     "that have processes");
}

void cgroups_check(const struct hr_root *root, const struct cgroups_of_plugin *of,
                   struct findings *findings)
{
    struct hr_cgroup_set *set = cgroups_open(root, of);
    const bool has_patterns = set != NULL && of->selection->patterns.count > 0;
    const struct hr_cgroup_counts counts =
        set != NULL ? hr_cgroup_set_counts(set) : (struct hr_cgroup_counts){0};
    size_t next = 0, count = 0;
    char cause[512];

    for (; cgroups_next_unmatched(root, of, set, &next, cause, sizeof(cause)); count++)
        add_unmatched(findings, cgroups_are_awaited(root, of, next - 1), cause,
                      of->selection->options.list[next - 1]);
    if (has_patterns && counts.populated == 0 && (count == 0 || counts.selected > 0))
        add_empty(findings, counts.selected);
    else if (has_patterns && count == 0)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    hr_cgroup_set_close(set);
}

/* --- Lists ---------------------------------------------------------------- */

static void print_safely(FILE *out, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        return;
    hr_utf8_make_safe(copy);
    fputs(copy, out);
    free(copy);
}

/* The path, and below it the name if that is another. */
static void print_group(FILE *out, const struct listing *listing, const struct hr_cgroup *group)
{
    char instance[HR_INSTANCE_SIZE];

    cgroups_name(listing->selection, listing->containers, group, instance);
    fputs("  ", out);
    print_safely(out, group->path);
    fprintf(out, strcmp(instance, group->path) == 0 ? "\n" : "\n    %s\n", instance);
}

static size_t print_selected(FILE *out, const struct listing *listing)
{
    struct hr_cgroup *group = NULL;
    size_t count = 0;

    for (; (group = hr_cgroup_set_next(listing->set, group)) != NULL; count++)
        print_group(out, listing, group);
    return count;
}

static bool is_selected(const struct listing *listing, const struct hr_cgroup *group)
{
    const struct hr_cgroup *one = NULL;

    while ((one = hr_cgroup_set_next(listing->set, one)) != NULL)
        if (one->id == group->id)
            return true;
    return false;
}

static size_t print_others(FILE *out, const struct listing *all, const struct listing *selected)
{
    const struct hr_cgroup *group = NULL;
    size_t count = 0;

    while ((group = hr_cgroup_set_next(all->set, group)) != NULL) {
        if (is_selected(selected, group))
            continue;
        print_group(out, all, group);
        count++;
    }
    return count;
}

/* Those that need a match, with what is there, once where that is the same for several. */
static void print_unmatched(FILE *out, const struct hr_root *root,
                            const struct cgroups_of_plugin *of, const struct listing *listing)
{
    char nearest[160], before[160] = "";
    bool is_first = true;

    for (size_t i = 0; i < of->selection->patterns.count; i++) {
        if (hr_cgroup_set_matched(listing->set, i) || cgroups_need_no_match(of, listing->set, i))
            continue;
        const char *pattern = of->selection->patterns.list[i];
        hr_cgroup_describe_nearest(root, of->controller, pattern, nearest, sizeof(nearest));
        hr_utf8_make_safe(nearest);
        if (is_first)
            fprintf(out, "%s: patterns that match nothing:\n", of->plugin);
        fprintf(out, strcmp(nearest, before) == 0 ? "  \"%s\"\n" : "  \"%s\" (%s)\n", pattern,
                nearest);
        snprintf(before, sizeof(before), "%s", nearest);
        is_first = false;
    }
    if (!is_first)
        putc('\n', out);
}

/* As of one option with the layouts of all kinds of machines. */
static void print_alternatives(FILE *out, const struct cgroups_of_plugin *of,
                               const struct listing *listing)
{
    bool is_first = true;

    for (size_t i = 0; i < of->selection->patterns.count; i++) {
        if (hr_cgroup_set_matched(listing->set, i) || !cgroups_need_no_match(of, listing->set, i))
            continue;
        if (is_first)
            fprintf(out, "\n%s: patterns that match nothing, and needn't, as others match:\n",
                    of->plugin);
        fprintf(out, "  \"%s\"\n", of->selection->patterns.list[i]);
        is_first = false;
    }
}

static const char *const everything[] = {"**"};

static struct usage_selection select_all(void)
{
    return (struct usage_selection){.patterns = {.list = (const char **)everything, .count = 1}};
}

/* How old each is isn't known here. */
static void print_heading(FILE *out, const struct cgroups_of_plugin *of)
{
    fprintf(out, "%s selects, with the name in series below each", of->plugin);
    if (of->selection->min_age_s > 0)
        fprintf(out, ", once it is %.9g seconds old (MinAge)", of->selection->min_age_s);
    fputs(":\n", out);
}

static void print_empty(FILE *out, const struct listing *listing)
{
    const size_t count = hr_cgroup_set_counts(listing->set).selected;

    if (count > 0)
        fprintf(out, "  none that has processes: %zu match%s, without any\n", count,
                count == 1 ? "es" : "");
    else
        fputs("  none\n", out);
}

static void print_plugin(FILE *out, const struct hr_root *root, const struct cgroups_of_plugin *of)
{
    struct usage_selection any = select_all();
    const struct cgroups_of_plugin all = {of->plugin, of->controller, &any};

    any.runtimes = of->selection->runtimes;
    struct listing listing = list_cgroups(root, of), others = list_cgroups(root, &all);

    if (listing.set == NULL || others.set == NULL) {
        fprintf(out, "%s: cgroups can't be listed; see headroom doctor %s\n", of->plugin,
                of->plugin);
    } else {
        print_unmatched(out, root, of, &listing); /* first, so that they are seen */
        print_heading(out, of);
        if (print_selected(out, &listing) == 0)
            print_empty(out, &listing);
        fprintf(out,
                "\n%s doesn't select, of those with processes, with the name that each would "
                "have:\n",
                of->plugin);
        if (print_others(out, &others, &listing) == 0)
            fputs("  none\n", out);
        print_alternatives(out, of, &listing);
    }
    close_listing(&listing);
    close_listing(&others);
}

static bool are_same(const struct usage_texts *a, const struct usage_texts *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->list[i], b->list[i]) != 0)
            return false;
    return a->count == b->count;
}

static bool are_same_templates(const struct usage_selection *a, const struct usage_selection *b)
{
    for (size_t i = 0; i < a->patterns.count; i++) {
        const char *first = usage_template(a, i), *second = usage_template(b, i);
        if ((first == NULL) != (second == NULL) || (first != NULL && strcmp(first, second) != 0))
            return false;
    }
    return true;
}

static bool is_same_selection(const struct usage_selection *a, const struct usage_selection *b)
{
    return are_same(&a->patterns, &b->patterns) && are_same_templates(a, b) &&
           are_same(&a->excludes, &b->excludes) && a->max_count == b->max_count &&
           a->min_age_s == b->min_age_s && a->runtimes == b->runtimes;
}

/* Without a configuration. */
static void print_candidates(FILE *out, const struct hr_root *root)
{
    const struct usage_selection any = select_all();
    const struct cgroups_of_plugin all = {"headroom", NULL, &any};
    struct listing listing = list_cgroups(root, &all);

    fputs("Cgroups with processes, and below each its name in series:\n", out);
    if (listing.set == NULL || print_selected(out, &listing) == 0)
        fputs("  none\n", out);
    close_listing(&listing);
}

int cgroups_print(FILE *out, const struct hr_root *root, const struct cgroups_of_plugin *of,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putc('\n', out);
        if (i > 0 && is_same_selection(of[i].selection, of[i - 1].selection))
            fprintf(out, "%s selects the same.\n", of[i].plugin);
        else
            print_plugin(out, root, &of[i]);
    }
    if (count == 0)
        print_candidates(out, root);
    return output_flush(out);
}
