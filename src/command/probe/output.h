/* SPDX-License-Identifier: MIT */
/*
 * probe/output.h - what a probe will do, and what it has found, for people and as JSON.
 */
#ifndef HEADROOM_COMMAND_PROBE_OUTPUT_H
#define HEADROOM_COMMAND_PROBE_OUTPUT_H

#include <stdio.h>

#include "probe/course.h"

/** Prints what will be done. @param group  its path. @param longest_s  after which it ends. */
void probe_output_intent(FILE *out, const char *group, const struct probe_course *course,
                         double longest_s);

/** Prints what was found. @param page_bytes  of a page. */
void probe_output_result(FILE *out, const char *group, const struct probe_course *course,
                         uint64_t page_bytes);

/** The same as a line of JSON. The locale must have a decimal point. */
void probe_output_json(FILE *out, const char *group, const struct probe_course *course,
                       uint64_t page_bytes);

#endif
