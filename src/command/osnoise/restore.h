/* SPDX-License-Identifier: MIT */
/*
 * osnoise/restore.h - `headroom osnoise --restore`: restores what runs that were killed have left.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_RESTORE_H
#define HEADROOM_COMMAND_OSNOISE_RESTORE_H

/**
 * Restores, and prints what it did.
 *
 * @param title       the prefix of messages.
 * @param state_path  of such a run; NULL: the usual ones.
 * @return an enum command_status.
 */
int osnoise_restore(const char *title, const char *state_path);

#endif
