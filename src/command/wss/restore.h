/* SPDX-License-Identifier: MIT */
/*
 * wss/restore.h - headroom wss --restore: ends what a measurement that was killed has left behind.
 */
#ifndef HEADROOM_COMMAND_WSS_RESTORE_H
#define HEADROOM_COMMAND_WSS_RESTORE_H

/** @param title  begins each message. @param path  where the host's / is mounted. @return an enum
 * command_status. */
int wss_restore(const char *title, const char *path);

#endif
