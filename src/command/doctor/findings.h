/* SPDX-License-Identifier: MIT */
/*
 * doctor/findings.h - what `headroom doctor` found out: a list of what works and what doesn't, as
 * lines and as JSON.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_FINDINGS_H
#define HEADROOM_COMMAND_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "headroom/reason.h"

enum finding_state {
    FINDING_WORKS,
    FINDING_LACKS,
    FINDING_UNTRIED, /**< there is nothing here to try it on */
    FINDING_STATE_COUNT
};

/** One facility of one plugin. */
struct finding {
    const char *plugin;
    char facility[80]; /**< such as "irq pressure of the system"; the same on every machine */
    enum finding_state state;
    char cause[256];  /**< why it doesn't work; "" if it does */
    char remedy[256]; /**< what would help; may be "" */
};

/** All zeros is an empty list. */
struct findings {
    const char *plugin; /**< of the findings that are added from now on */
    size_t count;
    struct finding items[48]; /**< more than there are facilities */
};

/** What an error number means for a facility, and what helps. */
struct advice {
    int status; /**< a negative errno */
    const char *cause, *remedy;
};

/** How many times each state was found. */
struct findings_counts {
    size_t of[FINDING_STATE_COUNT];
};

/** Adds a finding. Cause and remedy of what works are NULL; what is too long is cut. */
void findings_add(struct findings *findings, enum finding_state state, const char *facility,
                  const char *cause, const char *remedy);

/**
 * Adds a finding by its error number: 0 works, others are looked up.
 *
 * @param advice  ends with a status of 0, whose remedy, or NULL, is that of all errors that aren't
 *                listed; their cause is the system's text.
 */
void findings_add_status(struct findings *findings, const char *facility, int status,
                         const struct advice *advice);

/**
 * Adds a finding by a collector's reason: "cause: remedy", or the cause alone where it knows no
 * remedy.
 */
void findings_add_reason(struct findings *findings, enum finding_state state, const char *facility,
                         const struct hr_reason *reason);

struct findings_counts findings_count(const struct findings *findings);

/** How lines are printed. */
struct findings_style {
    size_t width; /**< lines are broken to fit; 0: each finding is one line */
    bool colours;
    bool brief; /**< what is said of several in a row is said once */
};

/**
 * Prints a line for each finding: "works   PLUGIN: FACILITY", "lacks   PLUGIN: FACILITY: CAUSE:
 * REMEDY", or likewise "untried". If brief, cause and remedy that are those of the line before are
 * "likewise". Flushes.
 *
 * @return 0, or the negative errno of writing.
 */
int findings_print(FILE *out, const struct findings *findings, const struct findings_style *style);

/**
 * Prints one line: {"facilities":[{"plugin":TEXT,"facility":TEXT,"works":true, false or null,
 * "cause":TEXT or null,"remedy":TEXT or null},...]} Flushes.
 *
 * @return 0, or the negative errno of writing.
 */
int findings_print_json(FILE *out, const struct findings *findings);

#endif
