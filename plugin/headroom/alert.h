/* SPDX-License-Identifier: MIT */
/*
 * headroom/alert.h - the block <Alert>: a notification when a group, or the system, has little room
 * left by a resource, or its memory leads to trouble soon, and one when that is over.
 *
 * Trouble to come is notified at once, as a trend is taken for one late enough; little room once it
 * has lasted for ALERT_STREAK intervals. The alarm ends after as many that are clearly otherwise.
 *
 * Alarms that are open when collectd ends go on with the next run, see alarms.h.
 *
 * Used by the thread that reads. collectd's handlers run in one of their own.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_ALERT_H
#define HEADROOM_PLUGIN_HEADROOM_ALERT_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/subject.h"
#include "headroom/takers.h"

#define ALERT_STREAK 6

/** The options of the block. */
struct alert_rule {
    bool is_on;
    uint64_t before_us; /**< trouble that is nearer */
    double room_below_pct;
    int severity;
    size_t top_takers;
};

/** What there is without options. */
extern const struct alert_rule alert_rule_default;

/** Reads the block. @return 0 or -1: refused, and logged. */
int alert_option(const oconfig_item_t *block, struct alert_rule *rule);

struct alert;

struct hr_root;

/**
 * @param rule        must outlive the object, as root must.
 * @param state_file  as configured; NULL: the default.
 * @param alert       NULL if the rule isn't on, and no alarm of a previous run is left.
 * @return 0 or a negative errno.
 */
int alert_open(const struct alert_rule *rule, const char *state_file, const struct hr_root *root,
               struct alert **alert);

/** NULL is allowed. */
void alert_close(struct alert *alert);

/** Goes on with the alarms that the previous run left open of a subject that is watched from now
 * on. */
void alert_resume(struct alert *alert, struct subject *subject);

/** Evaluates the rule for a subject after all were read, and notifies of what is new. @param others
 * who may take from it, or wait for it. */
void alert_evaluate(struct alert *alert, struct subject *subject, struct takers *others);

/** Saves which alarms are open, after all subjects were evaluated. */
void alert_save(struct alert *alert);

/** Ends the alarms of a subject that is no longer watched. @param reason  why. */
void alert_end(struct alert *alert, struct subject *subject, const char *reason);

#endif
