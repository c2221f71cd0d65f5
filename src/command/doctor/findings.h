/* SPDX-License-Identifier: MIT */
/*
 * doctor/findings.h - the findings of `headroom doctor`: a list of what works and what doesn't,
 * printed as lines or as JSON.
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
    FINDING_WRONG,   /**< no machine could do what the configuration says */
    FINDING_UNTRIED, /**< can't be tried on this machine */
    FINDING_NOTE, /**< this machine lacks it, maybe only yet; the plugin is meant to do without */
    FINDING_STATE_COUNT
};

/** One feature of one plugin. */
struct finding {
    const char *plugin;
    char feature[80]; /**< such as "irq pressure of the system"; the same on every machine */
    enum finding_state state;
    bool used;        /**< by the configuration */
    char cause[256];  /**< "" if it works */
    char remedy[256]; /**< may be "" */
};

/** Which features of a plugin count as used. */
enum findings_judgement {
    FINDINGS_ALL,          /**< there is no configuration to judge by */
    FINDINGS_NONE,         /**< the configuration doesn't load the plugin */
    FINDINGS_AS_CONFIGURED /**< those of which findings_use() says so */
};

/** All zeros is an empty list. */
struct findings {
    const char *plugin; /**< of the findings that are added from now on */
    enum findings_judgement judgement;
    bool used;
    bool tries_unused; /**< whether also what takes time is tried where it isn't used */
    size_t count;
    struct finding items[256]; /**< more than there are features */
};

/** What an error number means for a feature, and the remedy. */
struct advice {
    int status; /**< a negative errno */
    const char *cause, *remedy;
};

/** How many findings that are used have each state, and how many aren't used. What lacks the same,
 * for the same cause, in several plugins is one. */
struct findings_counts {
    size_t of[FINDING_STATE_COUNT], unused;
};

/** Begins with a plugin's findings; all are used unless findings_use() says otherwise. */
void findings_begin(struct findings *findings, const char *plugin,
                    enum findings_judgement judgement);

/** Whether the configuration uses what is added from now on; it counts if the plugin's findings are
 * judged as configured. */
void findings_use(struct findings *findings, bool used);

/** Adds a finding. Cause and remedy are NULL if it works; texts that are too long are cut. */
void findings_add(struct findings *findings, enum finding_state state, const char *feature,
                  const char *cause, const char *remedy);

/**
 * Adds a finding by its error number: 0 works, others are looked up in the advice.
 *
 * @param advice  ends with a status of 0, whose remedy, or NULL, is that of all errors that aren't
 *                listed; their cause is the text of strerror(3).
 */
void findings_add_status(struct findings *findings, const char *feature, int status,
                         const struct advice *advice);

/**
 * Adds a finding by a collector's reason: "cause: remedy", or the cause alone where it knows no
 * remedy.
 */
void findings_add_reason(struct findings *findings, enum finding_state state, const char *feature,
                         const struct hr_reason *reason);

/** @param plugin  whose findings are counted; NULL: all. */
struct findings_counts findings_count(const struct findings *findings, const char *plugin);

/** How findings are printed on a terminal. */
struct findings_style {
    size_t width; /**< lines are broken to fit */
    bool colours;
    bool works;  /**< each feature that works, too, not only how many do */
    bool unused; /**< also what isn't used */
};

/**
 * Prints a line for each finding: "works   PLUGIN: FEATURE", "lacks   PLUGIN: FEATURE: CAUSE:
 * REMEDY", or the same with "wrong", "untried" or "note"; and an empty one. What lacks the same,
 * for the same cause, in several plugins has one line: "lacks   PLUGIN, PLUGIN: ...". What works
 * comes before what lacks something, and what is wrong last. Flushes.
 *
 * @param all  also print what the configuration doesn't use, with "unused" in that place.
 * @return 0, or the negative errno of writing.
 */
int findings_print_lines(FILE *out, const struct findings *findings, bool all);

/**
 * Prints for a reader: a table with a row for each plugin, which has notes only where there are
 * some, and below it what is lacking or can't be tried, cause and remedy on lines of their own,
 * and an empty line. Those that have the same cause and remedy share them; order, and those of
 * several plugins, as findings_print_lines(). Flushes.
 *
 * @return 0, or the negative errno of writing.
 */
int findings_print_table(FILE *out, const struct findings *findings,
                         const struct findings_style *style);

/**
 * Prints one line, in which each plugin has its own:
 * {"features":[{"plugin":TEXT,"feature":TEXT,"used":true or false,"works":true, false or
 * null,"wrong":true or false,"cause":TEXT or null,"remedy":TEXT or null},...]} Flushes.
 *
 * @return 0, or the negative errno of writing.
 */
int findings_print_json(FILE *out, const struct findings *findings);

#endif
