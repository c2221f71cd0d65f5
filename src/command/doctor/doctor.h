/* SPDX-License-Identifier: MIT */
/*
 * doctor/doctor.h - the subcommand `headroom doctor`: what works on this machine.
 */
#ifndef HEADROOM_COMMAND_DOCTOR_DOCTOR_H
#define HEADROOM_COMMAND_DOCTOR_DOCTOR_H

/**
 * Reports what of the plugins works on this machine: `headroom doctor`.
 *
 * @param argc, argv  as of top_main() in top/top.h.
 * @return COMMAND_DONE; COMMAND_FAILED also if something is lacking; COMMAND_MISUSED also for an
 *         unknown root or plugin.
 */
int doctor_main(int argc, char **argv);

#endif
