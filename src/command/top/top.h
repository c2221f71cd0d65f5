/* SPDX-License-Identifier: MIT */
/*
 * top/top.h - the subcommand `headroom top`: a live table.
 */
#ifndef HEADROOM_COMMAND_TOP_TOP_H
#define HEADROOM_COMMAND_TOP_TOP_H

/**
 * Shows what collectd holds of headroom's plugins: `headroom top`.
 *
 * @param argc, argv  the subcommand's own arguments; argv[0] is the text that messages begin with.
 *                    The order of argv may change.
 * @return an enum command_status. Ended by SIGTERM or SIGHUP it does not return: it restores the
 *         terminal and lets the signal end the process.
 */
int top_main(int argc, char **argv);

#endif
