/* SPDX-License-Identifier: MIT */
/*
 * blame/blame.h - `headroom blame`: who took the CPU from whom.
 */
#ifndef HEADROOM_COMMAND_BLAME_BLAME_H
#define HEADROOM_COMMAND_BLAME_BLAME_H

/** Runs the subcommand. @return an enum command_status. */
int blame_main(int argc, char **argv);

#endif
