/*
 * common/json.h - texts as JSON: valid UTF-8 whatever the bytes.
 */
#ifndef HEADROOM_COMMAND_COMMON_JSON_H
#define HEADROOM_COMMAND_COMMON_JSON_H

#include <stdio.h>

/** Prints a text as a JSON string, with its quotes. A byte that is no character becomes U+FFFD. */
void json_print_string(FILE *out, const char *text);

/**
 * Prints a member of an object whose value is a text; null if it is NULL or empty.
 *
 * @param before  what separates the member from others, and its name.
 */
void json_print_text(FILE *out, const char *before, const char *text);

#endif
