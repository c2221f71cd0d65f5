/* SPDX-License-Identifier: MIT */
/*
 * top/top.h - the subcommand `headroom top`: a live table.
 */
#ifndef HEADROOM_COMMAND_TOP_TOP_H
#define HEADROOM_COMMAND_TOP_TOP_H

/**
 * Shows the values that collectd has from headroom's plugins: `headroom top`.
 *
 * @param argc, argv  the subcommand's own arguments; messages begin with argv[0].
 *                    The order of argv may change.
 * @return an enum command_status. On SIGTERM or SIGHUP it does not return: it restores the terminal
 *         and ends the process by that signal.
 */
int top_main(int argc, char **argv);

#endif
