/* SPDX-License-Identifier: MIT */
/*
 * psi/report.h - what is reported of an alert's alarm: its beginning, that it lasts if the rule
 * asks for that, and its end.
 *
 * A report of a stall is prepared first: who waits and why is found out, and the alarm is recorded
 * as open. Then it is queued. alert.c decides when there is an alarm; these functions change what
 * struct psi_alert has of its report.
 */
#ifndef HEADROOM_PLUGIN_PSI_REPORT_H
#define HEADROOM_PLUGIN_PSI_REPORT_H

#include "psi/alert.h"

/* --- A stall -------------------------------------------------------------- */

/** Starts a report of the last event if one is due: the alarm has begun, or lasts. While the
 * queue is full, or while a group below has an alarm by the same rule, the next event tries again.
 */
void psi_report_if_due(struct psi_alert *alert);

/** Goes on with a report that is being prepared, if its time is over. */
void psi_report_run_due(struct psi_alert *alert, uint64_t now_ns);

/** When psi_report_run_due() or psi_report_update_causes() is due; TIMER_NEVER. */
uint64_t psi_report_due_ns(const struct psi_alert *alert);

/** Takes the counters that show causes, if they are due. To be called when the trigger, which must
 * be armed, was read, and when psi_report_due_ns() is over. */
void psi_report_update_causes(struct psi_alert *alert);

/*
 * Sampling waiting tasks takes long, so it is done without a lock: begin a scan, release the lock,
 * psi_scan_run(), lock, and psi_alert_end_scan(). Meanwhile no alert may be freed.
 */

/** @return the alert whose waiting tasks are to be sampled, NULL: none. */
struct psi_alert *psi_report_begin_scan(struct psi_alert_context *context, struct psi_scan *scan);

/** Takes what was sampled, unless the alarm is over; for alert.c. */
void psi_report_end_scan(struct psi_alert *alert, struct psi_scan *scan);

/* --- Its end -------------------------------------------------------------- */

/** Reports the end of the alarm, after what is to be said of its beginning. @param reason  why the
 * trigger is disarmed; NULL: it was quiet. */
void psi_report_end(struct psi_alert *alert, const char *reason);

/** Withdraws the end of the alarm before, which goes on. @return whether the end still waited. */
bool psi_report_withdraw_end(struct psi_alert *alert);

/* --- The record of open alarms -------------------------------------------- */

/** Adds the alarm to those that are open, or removes it. */
void psi_report_set_recorded(struct psi_alert *alert, bool is_recorded);

/** Brings up to date which beginnings were sent. @return how many more are to be. */
size_t psi_report_update_sent(struct psi_alert_context *context,
                              const struct dispatcher_waiting *waiting);

/** At shutdown, once nothing is dispatched any more: forgets the alarms that weren't sent. */
void psi_report_forget_unsent(struct psi_alert_context *context);

#endif
