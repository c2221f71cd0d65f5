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
 * Marks the alarms of groups that take the CPU, as the table has it, while one lasts of another
 * group that waits for a CPU, or has no room by it, which is as severe. Who was marked stays so
 * until the table marks another group of that host.
 *
 * And marks those of a machine's CPUs, but for a trigger's, while one of such a group lasts which
 * is as severe, unless that group's limit is why; and of the machine's memory and I/O, while one of
 * a group does that was seen to wait at least half as long for that resource.
 */
void alert_order_mark(struct alert_list *list, const struct table *table);

#endif
