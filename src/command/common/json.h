/* SPDX-License-Identifier: MIT */
/*
 * common/json.h - members of JSON objects: texts, valid UTF-8 whatever their bytes, and numbers.
 *
 * `before` is what separates a member from those before it, and its name: ",\"count\":".
 */
#ifndef HEADROOM_COMMAND_COMMON_JSON_H
#define HEADROOM_COMMAND_COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Prints a text as a JSON string, with its quotes. Bytes that are not UTF-8 become U+FFFD;
 * what hr_utf8_is_unsafe() has is escaped. */
void json_print_string(FILE *out, const char *text);

/** Prints a member whose value is a text; null if it is NULL or empty. */
void json_print_text(FILE *out, const char *before, const char *text);

/** Prints a member whose value is a whole number; null if it is not known. */
void json_print_count(FILE *out, const char *before, bool known, uint64_t count);

/**
 * Prints a member whose value is any other number; null if it is not known. The caller ensures that
 * the locale (LC_NUMERIC) has a decimal point, and that the number is finite.
 */
__attribute__((format(printf, 4, 5))) void json_print_number(FILE *out, const char *before,
                                                             bool known, const char *format, ...);

#endif
