/* SPDX-License-Identifier: MIT */
/*
 * report/report.h - the subcommand `headroom report`: how much room each group has left, by the
 * values that a running collectd has from the headroom plugin.
 */
#ifndef HEADROOM_COMMAND_REPORT_REPORT_H
#define HEADROOM_COMMAND_REPORT_REPORT_H

/** Runs it. @param argv  argv[0] begins each message. @return see common/usage.h. */
int report_main(int argc, char **argv);

#endif
