/* SPDX-License-Identifier: MIT */
/*
 * psi/open_alarms.h - the open alarms of the plugin psi, in the terms of its rules.
 */
#ifndef HEADROOM_PLUGIN_PSI_OPEN_ALARMS_H
#define HEADROOM_PLUGIN_PSI_OPEN_ALARMS_H

#include "common/open_alarms.h"
#include "psi/notification.h"

/** The key of an alarm is trigger, resource and level: "memory-stall\tmemory\tsome". */
extern const struct open_alarms_format psi_open_alarms_format;

/** The rule of an alarm, as far as the file has it: name, type_instance, of_system, resource and
 * level are set. */
void psi_open_alarm_rule(const struct open_alarm *alarm, struct psi_rule *rule);

/** Whether an alarm is by a rule: of the same name, resource, level and scope. */
bool psi_open_alarm_is_by(const struct open_alarm *alarm, const struct psi_rule *rule);

/*
 * As those of common/open_alarms.h.
 */
bool psi_open_alarms_claim(struct open_alarms *alarms, const struct psi_subject *subject,
                           enum alarm_sent *sent);
void psi_open_alarms_add_ending(struct open_alarms *alarms, uint64_t id,
                                const struct psi_subject *subject, enum alarm_sent sent);
void psi_open_alarms_add(struct open_alarms *alarms, const struct psi_subject *subject,
                         enum alarm_sent sent);

#endif
