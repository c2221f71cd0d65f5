/* SPDX-License-Identifier: MIT */
/*
 * support/fake_config.h - collectd's configuration syntax, as far as a <Plugin> block needs it:
 * options and blocks, texts in quotes with \" and \\, bare words, numbers, booleans, comments, and
 * lines that go on after a backslash.
 *
 * collectd's own parser lives in its daemon and can't be linked; what that exports of it,
 * oconfig_parse_file() and oconfig_free(), is defined here. As there, "1e12" and "True" are
 * bare words, which are texts, and a backslash before any character stands for that character.
 * Unlike there, an option may do without values, so that a test can hand over what no file could.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_CONFIG_H
#define HEADROOM_TESTS_SUPPORT_FAKE_CONFIG_H

#include "collectd.h"

#include "liboconfig/oconfig.h"

/**
 * Parses a text; an error in it ends the program with a message.
 *
 * @return an item without a key, whose children are the items at the top; for fake_config_free().
 */
oconfig_item_t *fake_config_parse(const char *text);

/** Frees an item and all in it. */
void fake_config_free(oconfig_item_t *item);

#endif
