/* SPDX-License-Identifier: MIT */
#include "doctor/findings.h"

#include <string.h>

#include "common/json.h"
#include "common/output.h"

static const char *const words[FINDING_STATE_COUNT] = {
    [FINDING_WORKS] = "works",
    [FINDING_LACKS] = "lacks",
    [FINDING_UNTRIED] = "untried",
};

/* Width of the column of states. */
#define INDENT 9

/* --- The list ------------------------------------------------------------- */

void findings_add(struct findings *findings, enum finding_state state, const char *facility,
                  const char *cause, const char *remedy)
{
    if (findings->count == sizeof(findings->items) / sizeof(findings->items[0]))
        return;
    struct finding *finding = &findings->items[findings->count++];
    finding->plugin = findings->plugin;
    finding->state = state;
    snprintf(finding->facility, sizeof(finding->facility), "%s", facility);
    snprintf(finding->cause, sizeof(finding->cause), "%s", cause != NULL ? cause : "");
    snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy != NULL ? remedy : "");
}

void findings_add_status(struct findings *findings, const char *facility, int status,
                         const struct advice *advice)
{
    if (status == 0) {
        findings_add(findings, FINDING_WORKS, facility, NULL, NULL);
        return;
    }
    while (advice->status != 0 && advice->status != status)
        advice++;
    findings_add(findings, FINDING_LACKS, facility,
                 advice->status != 0 ? advice->cause : strerror(-status), advice->remedy);
}

void findings_add_reason(struct findings *findings, enum finding_state state, const char *facility,
                         const struct hr_reason *reason)
{
    char cause[sizeof(reason->text)];
    const char *remedy = strstr(reason->text, ": ");
    size_t length = remedy != NULL ? (size_t)(remedy - reason->text) : strlen(reason->text);

    snprintf(cause, sizeof(cause), "%.*s", (int)length, reason->text);
    findings_add(findings, state, facility, cause, remedy != NULL ? remedy + 2 : NULL);
}

struct findings_counts findings_count(const struct findings *findings)
{
    struct findings_counts counts = {{0}};

    for (size_t i = 0; i < findings->count; i++)
        counts.of[findings->items[i].state]++;
    return counts;
}

/* --- Printing ------------------------------------------------------------- */

static void print_word(FILE *out, enum finding_state state, bool colours)
{
    static const char *const escapes[FINDING_STATE_COUNT] = {
        [FINDING_WORKS] = "\033[32m",
        [FINDING_LACKS] = "\033[31m",
        [FINDING_UNTRIED] = "\033[33m",
    };

    fprintf(out, "%s%s%s%*s", colours ? escapes[state] : "", words[state], colours ? "\033[m" : "",
            INDENT - (int)strlen(words[state]), "");
}

/* Prints a text from column INDENT on, broken at blanks to fit `width`. */
static void print_text(FILE *out, const char *text, size_t width)
{
    size_t column = INDENT;

    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        bool first = column == INDENT;
        if (!first && width > 0 && column + 1 + length > width) {
            fprintf(out, "\n%*s", INDENT, "");
            column = INDENT;
        } else if (!first) {
            putc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length + strspn(text + length, " ");
    }
    putc('\n', out);
}

static bool repeats_cause(const struct finding *finding, const struct finding *before)
{
    return finding->cause[0] != '\0' && strcmp(finding->cause, before->cause) == 0 &&
           strcmp(finding->remedy, before->remedy) == 0;
}

static void print_finding(FILE *out, const struct finding *finding, bool repeated,
                          const struct findings_style *style)
{
    const char *cause = repeated ? "as above" : finding->cause;
    const char *remedy = repeated ? "" : finding->remedy;
    char text[sizeof(struct finding) + 64];

    snprintf(text, sizeof(text), "%s: %s%s%s%s%s", finding->plugin, finding->facility,
             cause[0] != '\0' ? ": " : "", cause, remedy[0] != '\0' ? ": " : "", remedy);
    print_word(out, finding->state, style->colours);
    print_text(out, text, style->width);
}

int findings_print(FILE *out, const struct findings *findings, const struct findings_style *style)
{
    const struct finding *items = findings->items;

    for (size_t i = 0; i < findings->count; i++) {
        bool repeated = style->brief && i > 0 && repeats_cause(&items[i], &items[i - 1]);
        print_finding(out, &items[i], repeated, style);
    }
    return output_flush(out);
}

static void print_json_finding(FILE *out, const struct finding *finding)
{
    static const char *const works[FINDING_STATE_COUNT] = {
        [FINDING_WORKS] = "true",
        [FINDING_LACKS] = "false",
        [FINDING_UNTRIED] = "null",
    };

    json_print_text(out, "{\"plugin\":", finding->plugin);
    json_print_text(out, ",\"facility\":", finding->facility);
    fprintf(out, ",\"works\":%s", works[finding->state]);
    json_print_text(out, ",\"cause\":", finding->cause);
    json_print_text(out, ",\"remedy\":", finding->remedy);
    putc('}', out);
}

int findings_print_json(FILE *out, const struct findings *findings)
{
    fputs("{\"facilities\":[", out);
    for (size_t i = 0; i < findings->count; i++) {
        if (i > 0)
            putc(',', out);
        print_json_finding(out, &findings->items[i]);
    }
    fputs("]}\n", out);
    return output_flush(out);
}
