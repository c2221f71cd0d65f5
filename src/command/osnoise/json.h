/*
 * osnoise/json.h - operating system noise as JSON.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_JSON_H
#define HEADROOM_COMMAND_OSNOISE_JSON_H

#include "osnoise/report.h"

#include <stdio.h>

/**
 * Prints one line, an object as headroom(1) describes it, with null for what isn't known. It is
 * valid JSON in UTF-8 whatever the names. The caller sees to it that the locale (LC_NUMERIC) has a
 * decimal point.
 *
 * Errors of writing are the file's.
 */
void osnoise_json_print(FILE *file, const struct osnoise_report *report);

#endif
