/*
 * osnoise/report.h - what `headroom osnoise` tells, in whichever format.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_REPORT_H
#define HEADROOM_COMMAND_OSNOISE_REPORT_H

#include "common/label.h"
#include "osnoise/totals.h"

struct osnoise_report {
    const struct hr_osnoise_options *options;
    const char *cpus;              /**< the list of CPUs, as the user has written it; NULL: none */
    size_t sources;                /**< how many of each CPU */
    struct osnoise_totals *totals; /**< its sources get sorted */
    struct timespec begin, end;    /**< since 1970 */
    const char *ended;             /**< why it ended by itself; NULL: it didn't */
    const char *warning;           /**< of the last that the collector gave; NULL: none */
    enum label_charset charset;    /**< for names in lines; JSON is always in UTF-8 */
};

#endif
