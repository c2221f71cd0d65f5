/* SPDX-License-Identifier: MIT */
/*
 * support/safe_text.h - whether a text is safe to show, as libc knows characters: another source
 * than headroom/utf8.h.
 */
#ifndef HEADROOM_TESTS_SUPPORT_SAFE_TEXT_H
#define HEADROOM_TESTS_SUPPORT_SAFE_TEXT_H

#include <stdbool.h>

/** Whether a text is valid UTF-8, without control characters, separators of lines and paragraphs,
 * and characters that change the direction of others. */
bool is_safe_text(const char *text);

#endif
