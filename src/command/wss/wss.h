/* SPDX-License-Identifier: MIT */
/*
 * wss/wss.h - the subcommand `headroom wss`: working sets.
 */
#ifndef HEADROOM_COMMAND_WSS_WSS_H
#define HEADROOM_COMMAND_WSS_WSS_H

/**
 * Measures working sets: `headroom wss`.
 *
 * @param argc, argv  as of top_main() in top/top.h.
 * @return an enum command_status. On a signal, unless Ctrl-C is the usual end, it does not return:
 * it prints what was measured, and ends the process by that signal.
 */
int wss_main(int argc, char **argv);

#endif
