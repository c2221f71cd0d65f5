/* SPDX-License-Identifier: MIT */
/*
 * top/alert_text.h - an alert in words, with what matters first, as lines are cut at their end.
 */
#ifndef HEADROOM_COMMAND_TOP_ALERT_TEXT_H
#define HEADROOM_COMMAND_TOP_ALERT_TEXT_H

#include <stdbool.h>

#include "top/alerts.h"

/** Fits any text of alert_text(). */
#define ALERT_TEXT_SIZE 1024

/** @return whether the plugin threshold has notified: its messages begin with the host. */
bool alert_is_by_threshold(const struct alert *alert);

/** @return whether it is the end of the alarm of a group of which no value comes any more. */
bool alert_lacks_group(const struct alert *alert);

/** @return how an alarm is that doesn't last any more, "over: "; "earlier: " if a later alert of it
 * says how it goes on; "" of others. */
const char *alert_state(const struct alert *alert);

/**
 * Writes the message, "-" for none, after "HOST: " if `with_host`. That of a threshold is put in
 * the words of headroom-mail: "all of GROUP waits for a CPU 54 % of the time; the limit is 40 %".
 */
void alert_text(const struct alert *alert, bool with_host, char text[ALERT_TEXT_SIZE]);

#endif
