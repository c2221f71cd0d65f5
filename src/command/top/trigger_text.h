/* SPDX-License-Identifier: MIT */
/*
 * top/trigger_text.h - the parts of a message about a stall, or its end, as psi's triggers notify
 * it.
 */
#ifndef HEADROOM_COMMAND_TOP_TRIGGER_TEXT_H
#define HEADROOM_COMMAND_TOP_TRIGGER_TEXT_H

#include <stdbool.h>

#include "common/identifier.h"

/** Pieces are parts of the message; those that it lacks have length 0. */
struct trigger_text {
    char resource[8]; /**< "cpu", "memory", "io", "irq" */
    bool is_full;
    bool at_least;         /**< the stall was at least so long */
    double pct;            /**< of the time, up to 100 */
    double within_s;       /**< that is so within such a time; 0: in the time that was measured */
    struct piece duration; /**< ", for 12 s" */
    struct piece cause;    /**< "neighbours (914 ms)" */
    struct piece takers;   /**< "b 82 ms, itself 9 ms" */
    struct piece rest;     /**< "; waiting: mysqld[423] 66 ms" */
};

/**
 * Parses a message of psi_notification_write_stall() of the psi plugin.
 *
 * @param instance  of the notification, for the group that the message names: of another name, as a
 *                  configuration's Instance makes them, it isn't known where that ends.
 * @return whether it is one; otherwise *text is untouched.
 */
bool trigger_text_parse(const char *message, const char *instance, struct trigger_text *text);

/**
 * Parses a message of psi_notification_write_okay() or psi_notification_write_unwatched(): `pct` is
 * that of the limit, which is no longer reached, or `cause` why the pressure is no longer watched.
 *
 * @param instance  as above.
 * @return whether it is one; otherwise *text is untouched.
 */
bool trigger_end_parse(const char *message, const char *instance, struct trigger_text *text);

/** Finds the group that a message of a stall of the system names, as the one that waited longest.
 * @return whether it names one; otherwise *group is untouched. */
bool trigger_longest_find(const char *message, struct piece *group);

#endif
