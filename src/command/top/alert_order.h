/* SPDX-License-Identifier: MIT */
/*
 * top/alert_order.h - which alerts a reader sees first.
 */
#ifndef HEADROOM_COMMAND_TOP_ALERT_ORDER_H
#define HEADROOM_COMMAND_TOP_ALERT_ORDER_H

#include <stddef.h>

#include "top/alerts.h"
#include "top/table.h"

/**
 * Picks alerts for a reader: of the alarms that last those that are FAILUREs, then WARNINGs, then
 * those of which others say more; then the others. The newest of each come first.
 *
 * @param picked  receives up to `most` of them, in this order.
 * @return how many.
 */
size_t alert_order(const struct alert_list *list, const struct alert *picked[], size_t most);

/** @return whether it lasts, and no other says more of the same cause. */
bool alert_is_first(const struct alert *alert);

/**
 * Marks the alarms of groups that take the CPU, as the table has it, while one of another group by
 * CPU time lasts which is as severe: headroom-mail(1) mails of none of these. Who was marked stays
 * so until the table marks another group of that host.
 *
 * And marks those of a machine's CPUs while one of a group by CPU time lasts which is as severe;
 * and of its memory and I/O, while one of a group does that was seen to wait at least half as long
 * for that resource.
 */
void alert_order_mark(struct alert_list *list, const struct table *table);

#endif
