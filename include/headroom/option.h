/* SPDX-License-Identifier: MIT */
/*
 * headroom/option.h - names of the options that the plugins' blocks have, the same in the plugins
 * and in the command.
 */
#ifndef HEADROOM_OPTION_H
#define HEADROOM_OPTION_H

#include <stdbool.h>

/** The longest text of hr_option_suggest(), and its NUL. */
#define HR_OPTION_SUGGESTION_SIZE 80

/**
 * Whether a block has an option, in any case of letters; true also if the block isn't known.
 *
 * @param block  its key: "Plugin", or that of a block within; "Include" is a file that a block
 *               includes.
 */
bool hr_option_is_known(const char *plugin, const char *block, const char *option);

/**
 * Finds what was probably meant by an option that a block doesn't have.
 *
 * @param text  receives "Resource", or of another block "Severity of <Trigger>"; "" if nothing is
 *              like it.
 */
void hr_option_suggest(const char *plugin, const char *block, const char *option,
                       char text[HR_OPTION_SUGGESTION_SIZE]);

#endif
