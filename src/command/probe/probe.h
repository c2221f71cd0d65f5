/* SPDX-License-Identifier: MIT */
/*
 * probe/probe.h - `headroom probe`: how much memory a group can do without, by taking it.
 */
#ifndef HEADROOM_COMMAND_PROBE_PROBE_H
#define HEADROOM_COMMAND_PROBE_PROBE_H

/** Runs the subcommand. @return an exit status, see common/usage.h. */
int probe_main(int argc, char **argv);

#endif
