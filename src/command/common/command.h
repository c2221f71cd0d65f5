/*
 * common/command.h - what main.c and the subcommands of `headroom` know of each other.
 */
#ifndef HEADROOM_COMMAND_COMMON_COMMAND_H
#define HEADROOM_COMMAND_COMMON_COMMAND_H

/** Exit statuses of every subcommand; a signal's default action comes on top. */
enum command_status {
    COMMAND_DONE = 0,   /**< did what it was asked, or was ended by q or Ctrl-C */
    COMMAND_FAILED = 1, /**< could not; standard error says why */
    COMMAND_MISUSED = 2 /**< unknown option, argument or value; standard error names it */
};

/**
 * Says on standard error what is wrong with the arguments, and where help is.
 *
 * @param title  the subcommand's argv[0].
 * @return COMMAND_MISUSED.
 */
__attribute__((format(printf, 2, 3))) int command_misused(const char *title, const char *format,
                                                          ...);

/**
 * Shows what collectd holds of headroom's plugins: `headroom top`.
 *
 * @param argc, argv  the subcommand's own arguments; argv[0] is the text that messages begin with.
 *                    The order of argv may change.
 * @return an enum command_status. Ended by SIGTERM or SIGHUP it does not return: it restores the
 *         terminal and lets the signal end the process.
 */
int top_main(int argc, char **argv);

/**
 * Measures working sets: `headroom wss`.
 *
 * @param argc, argv  as of top_main().
 * @return an enum command_status. Ended by a signal it does not return, unless Ctrl-C is the usual
 *         end: it tells what was measured, and lets the signal end the process.
 */
int wss_main(int argc, char **argv);

/**
 * Measures operating system noise: `headroom osnoise`.
 *
 * @param argc, argv  as of top_main().
 * @return an enum command_status. Ended by SIGTERM or SIGHUP it does not return: it puts back what
 *         it changed, tells what was measured, and lets the signal end the process.
 */
int osnoise_main(int argc, char **argv);

/**
 * Tells what of the plugins works on this machine: `headroom doctor`.
 *
 * @param argc, argv  likewise.
 * @return COMMAND_DONE; COMMAND_FAILED also if something is lacking; COMMAND_MISUSED also if there
 *         is no such root or plugin.
 */
int doctor_main(int argc, char **argv);

#endif
