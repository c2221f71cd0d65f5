/* SPDX-License-Identifier: MIT */
/*
 * osnoise/osnoise.h - the subcommand `headroom osnoise`: operating system noise.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_OSNOISE_H
#define HEADROOM_COMMAND_OSNOISE_OSNOISE_H

/**
 * Measures operating system noise: `headroom osnoise`.
 *
 * @param argc, argv  as of top_main() in top/top.h.
 * @return an enum command_status. If ended by SIGTERM or SIGHUP it does not return: it restores
 * what it changed, prints what was measured, and lets the signal end the process.
 */
int osnoise_main(int argc, char **argv);

#endif
