/* SPDX-License-Identifier: MIT */
/*
 * common/usage.h - exit statuses, and the message about a wrong argument.
 */
#ifndef HEADROOM_COMMAND_COMMON_USAGE_H
#define HEADROOM_COMMAND_COMMON_USAGE_H

/** Exit statuses of every subcommand, unless a signal ends it. */
enum command_status {
    COMMAND_DONE = 0,          /**< succeeded, or was ended by q or Ctrl-C */
    COMMAND_FAILED = 1,        /**< standard error has the cause */
    COMMAND_MISUSED = 2,       /**< unknown option, argument or value; standard error names it */
    COMMAND_MISCONFIGURED = 3, /**< of doctor: collectd's configuration has a mistake */
    COMMAND_EXCEEDED = 4       /**< of osnoise: a noise was longer than --max-single, whatever else
                                  failed */
};

/**
 * Prints on standard error what is wrong with the arguments, and where help is.
 *
 * @param title  the subcommand's argv[0].
 * @return COMMAND_MISUSED.
 */
__attribute__((format(printf, 2, 3))) int command_misused(const char *title, const char *format,
                                                          ...);

#endif
