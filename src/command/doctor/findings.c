/* SPDX-License-Identifier: MIT */
#include "doctor/findings.h"

#include <string.h>

#include "common/json.h"
#include "common/output.h"

static const char *const words[FINDING_STATE_COUNT] = {
    [FINDING_WORKS] = "works",     [FINDING_LACKS] = "lacks", [FINDING_WRONG] = "wrong",
    [FINDING_UNTRIED] = "untried", [FINDING_NOTE] = "note",
};

static const char *const escapes[FINDING_STATE_COUNT] = {
    [FINDING_WORKS] = "\033[32m",   [FINDING_LACKS] = "\033[31m", [FINDING_WRONG] = "\033[31m",
    [FINDING_UNTRIED] = "\033[33m", [FINDING_NOTE] = "",
};

/* Width of the column of states. */
#define INDENT 9

/* --- The list ------------------------------------------------------------- */

void findings_begin(struct findings *findings, const char *plugin,
                    enum findings_judgement judgement)
{
    findings->plugin = plugin;
    findings->judgement = judgement;
    findings_use(findings, true);
}

void findings_use(struct findings *findings, bool used)
{
    findings->used =
        findings->judgement == FINDINGS_AS_CONFIGURED ? used : findings->judgement == FINDINGS_ALL;
}

static bool shares_cause(const struct finding *finding, const struct finding *next)
{
    return finding->cause[0] != '\0' && finding->state == next->state &&
           finding->used == next->used && strcmp(finding->cause, next->cause) == 0 &&
           strcmp(finding->remedy, next->remedy) == 0;
}

static bool is_same(const struct finding *finding, const struct finding *other)
{
    return strcmp(finding->feature, other->feature) == 0 && shares_cause(finding, other);
}

/* A plugin may lack the same for each of several blocks. */
static bool is_there(const struct findings *findings, const struct finding *finding)
{
    const struct finding *before = findings->items;

    while (before < finding &&
           (strcmp(before->plugin, finding->plugin) != 0 || !is_same(before, finding)))
        before++;
    return before < finding;
}

void findings_add(struct findings *findings, enum finding_state state, const char *feature,
                  const char *cause, const char *remedy)
{
    if (findings->count == sizeof(findings->items) / sizeof(findings->items[0]))
        return;
    struct finding *finding = &findings->items[findings->count];
    finding->plugin = findings->plugin;
    finding->state = state;
    finding->used = findings->used;
    snprintf(finding->feature, sizeof(finding->feature), "%s", feature);
    snprintf(finding->cause, sizeof(finding->cause), "%s", cause != NULL ? cause : "");
    snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy != NULL ? remedy : "");
    findings->count += !is_there(findings, finding);
}

void findings_add_status(struct findings *findings, const char *feature, int status,
                         const struct advice *advice)
{
    if (status == 0) {
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
        return;
    }
    while (advice->status != 0 && advice->status != status)
        advice++;
    findings_add(findings, FINDING_LACKS, feature,
                 advice->status != 0 ? advice->cause : strerror(-status), advice->remedy);
}

void findings_add_reason(struct findings *findings, enum finding_state state, const char *feature,
                         const struct hr_reason *reason)
{
    char cause[sizeof(reason->text)];
    size_t length;
    const char *remedy = hr_reason_remedy(reason, &length);

    snprintf(cause, sizeof(cause), "%.*s", (int)length, reason->text);
    findings_add(findings, state, feature, cause, remedy);
}

/* Whether another plugin has it, too, that came before. */
static bool is_repeated(const struct findings *findings, const struct finding *finding)
{
    const struct finding *before = findings->items;

    while (before < finding && !is_same(before, finding))
        before++;
    return before < finding;
}

struct findings_counts findings_count(const struct findings *findings, const char *plugin)
{
    struct findings_counts counts = {.unused = 0};

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (plugin == NULL ? is_repeated(findings, finding) : strcmp(finding->plugin, plugin) != 0)
            continue;
        if (finding->used)
            counts.of[finding->state]++;
        else
            counts.unused++;
    }
    return counts;
}

/* --- Order of printing ---------------------------------------------------- */

/* What is seen last, above the verdict, is what has to be done: mistakes of the configuration, as
 * they keep collectd from starting, or are corrected at once. */
static int rank_of(const struct finding *finding)
{
    static const int ranks[FINDING_STATE_COUNT] = {
        [FINDING_WORKS] = 1, [FINDING_NOTE] = 2,  [FINDING_UNTRIED] = 3,
        [FINDING_LACKS] = 4, [FINDING_WRONG] = 5,
    };

    return finding->used ? ranks[finding->state] : 0;
}

/* @param last  NULL: none was printed yet.
 * @return NULL: there are no more. */
static const struct finding *next_printed(const struct findings *findings,
                                          const struct finding *last)
{
    const struct finding *end = findings->items + findings->count;
    const struct finding *next = last != NULL ? last + 1 : findings->items;

    for (int rank = last != NULL ? rank_of(last) : 0; rank <= FINDING_STATE_COUNT; rank++) {
        for (; next < end; next++)
            if (rank_of(next) == rank)
                return next;
        next = findings->items;
    }
    return NULL;
}

/* --- Lines ---------------------------------------------------------------- */

/* "psi, headroom: FEATURE" */
static void describe(const struct findings *findings, const struct finding *finding, char *text,
                     size_t size)
{
    const struct finding *end = findings->items + findings->count;
    size_t used = (size_t)snprintf(text, size, "%s", finding->plugin);

    for (const struct finding *next = finding + 1; next < end && used < size; next++)
        if (is_same(finding, next))
            used += (size_t)snprintf(text + used, size - used, ", %s", next->plugin);
    if (used < size)
        snprintf(text + used, size - used, ": %s", finding->feature);
}

int findings_print_lines(FILE *out, const struct findings *findings, bool all)
{
    const struct finding *finding = NULL;
    char text[256];

    while ((finding = next_printed(findings, finding)) != NULL) {
        if ((!finding->used && !all) || is_repeated(findings, finding))
            continue;
        describe(findings, finding, text, sizeof(text));
        fprintf(out, "%-*s%s%s%s%s%s\n", INDENT, finding->used ? words[finding->state] : "unused",
                text, finding->cause[0] != '\0' ? ": " : "", finding->cause,
                finding->remedy[0] != '\0' ? ": " : "", finding->remedy);
    }
    putc('\n', out);
    return output_flush(out);
}

/* --- The table ------------------------------------------------------------ */

/* A number, or "-" for none, in a colour if there are any. */
static void print_count(FILE *out, size_t count, const char *colour)
{
    if (count > 0)
        fprintf(out, "%s%10zu%s", colour, count, colour[0] != '\0' ? "\033[m" : "");
    else
        fprintf(out, "%10s", "-");
}

/* How many columns of states there are: those before the notes, if there is none. */
static int count_columns(const struct findings *findings)
{
    return findings_count(findings, NULL).of[FINDING_NOTE] > 0 ? FINDING_STATE_COUNT : FINDING_NOTE;
}

static void print_row(FILE *out, const struct findings *findings, const char *plugin, bool colours)
{
    const struct findings_counts counts = findings_count(findings, plugin);
    const int columns = count_columns(findings);

    fprintf(out, "%-12s", plugin);
    for (int state = 0; state < columns; state++)
        print_count(out, counts.of[state], colours ? escapes[state] : "");
    print_count(out, counts.unused, "");
    putc('\n', out);
}

static void print_rows(FILE *out, const struct findings *findings, bool colours)
{
    const int columns = count_columns(findings);
    const char *plugin = "";

    fprintf(out, "%-12s", "plugin");
    for (int state = 0; state < columns; state++)
        fprintf(out, "%10s", words[state]);
    fprintf(out, "%10s\n", "not used");
    for (size_t i = 0; i < findings->count; i++) {
        if (strcmp(plugin, findings->items[i].plugin) != 0)
            print_row(out, findings, findings->items[i].plugin, colours);
        plugin = findings->items[i].plugin;
    }
}

static bool is_shown(const struct findings *findings, const struct finding *finding,
                     const struct findings_style *style)
{
    const bool is_wanted = !finding->used                    ? style->unused
                           : finding->state == FINDING_WORKS ? style->works
                                                             : true;

    return is_wanted && !is_repeated(findings, finding);
}

/* Prints a text after a label. */
static void print_text(FILE *out, const char *label, const char *text, size_t width)
{
    if (text[0] == '\0')
        return;
    fprintf(out, "  %-*s", INDENT, label);
    output_fold(out, text, INDENT + 2, width);
}

static void print_finding(FILE *out, const struct findings *findings, const struct finding *finding,
                          const struct finding *next, const struct findings_style *style)
{
    const char *word = finding->used ? words[finding->state] : "unused";
    const char *colour = style->colours && finding->used ? escapes[finding->state] : "";
    char text[256];

    describe(findings, finding, text, sizeof(text));
    fprintf(out, "%s%-*s%s  ", colour, INDENT, word, colour[0] != '\0' ? "\033[m" : "");
    output_fold(out, text, INDENT + 2, style->width);
    if (next != NULL && shares_cause(finding, next))
        return;
    print_text(out, "cause", finding->cause, style->width);
    print_text(out, "remedy", finding->remedy, style->width);
}

int findings_print_table(FILE *out, const struct findings *findings,
                         const struct findings_style *style)
{
    const struct finding *finding = NULL, *last = NULL;

    print_rows(out, findings, style->colours);
    putc('\n', out);
    while ((finding = next_printed(findings, finding)) != NULL) {
        if (!is_shown(findings, finding, style))
            continue;
        if (last != NULL)
            print_finding(out, findings, last, finding, style);
        last = finding;
    }
    if (last != NULL) {
        print_finding(out, findings, last, NULL, style);
        putc('\n', out);
    }
    return output_flush(out);
}

static void print_json_finding(FILE *out, const struct finding *finding)
{
    static const char *const works[FINDING_STATE_COUNT] = {
        [FINDING_WORKS] = "true",   [FINDING_LACKS] = "false", [FINDING_WRONG] = "false",
        [FINDING_UNTRIED] = "null", [FINDING_NOTE] = "null",
    };

    json_print_text(out, "{\"plugin\":", finding->plugin);
    json_print_text(out, ",\"feature\":", finding->feature);
    fprintf(out, ",\"used\":%s", finding->used ? "true" : "false");
    fprintf(out, ",\"works\":%s", works[finding->state]);
    fprintf(out, ",\"wrong\":%s", finding->state == FINDING_WRONG ? "true" : "false");
    json_print_text(out, ",\"cause\":", finding->cause);
    json_print_text(out, ",\"remedy\":", finding->remedy);
    putc('}', out);
}

int findings_print_json(FILE *out, const struct findings *findings)
{
    fputs("{\"features\":[", out);
    for (size_t i = 0; i < findings->count; i++) {
        if (i > 0)
            putc(',', out);
        print_json_finding(out, &findings->items[i]);
    }
    fputs("]}\n", out);
    return output_flush(out);
}
