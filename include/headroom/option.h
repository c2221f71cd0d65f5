/* SPDX-License-Identifier: MIT */
/*
 * headroom/option.h - names of the options that the plugins' blocks have, the same in the plugins
 * and in the command; and of those of collectd's own plugins that the examples use, if collectd
 * doesn't start with one that isn't known.
 *
 * Source: collectd 5.12's threshold.c, csv.c, logfile.c, syslog.c, unixsock.c; csv's FileDate came
 * later.
 */
#ifndef HEADROOM_OPTION_H
#define HEADROOM_OPTION_H

#include <stdbool.h>
#include <stddef.h>

/** The key of a block Plugin in the block of a plugin, as threshold has it. */
#define HR_OPTION_PLUGIN_WITHIN "Plugin/Plugin"

/** The longest text of hr_option_suggest(), and its NUL. */
#define HR_OPTION_SUGGESTION_SIZE 80

/**
 * Whether a block has an option, in any case of letters; true also if the block isn't known.
 *
 * @param block  its key: "Plugin", or that of a block within, HR_OPTION_PLUGIN_WITHIN if that is
 *               "Plugin", too; "Include" is a file that a block includes.
 */
bool hr_option_is_known(const char *plugin, const char *block, const char *option);

/** @return the option of that index without which a plugin refuses such a block, so that collectd
 * doesn't start; NULL: there are no more. */
const char *hr_option_required(const char *plugin, const char *block, size_t index);

/**
 * Finds what was probably meant by an option that a block doesn't have.
 *
 * @param text  receives "Resource", or of another block "Severity of <Trigger>"; "" if nothing is
 *              like it.
 */
void hr_option_suggest(const char *plugin, const char *block, const char *option,
                       char text[HR_OPTION_SUGGESTION_SIZE]);

/** @return how unlike a name is to one that is known; UINT_MAX: too much for that to be meant. */
unsigned hr_option_compare(const char *name, const char *known);

#endif
