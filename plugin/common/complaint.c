/* SPDX-License-Identifier: MIT */
#include "common/complaint.h"

#include <stdarg.h>

#include "common/log.h"

/* What wasn't seen for so long is logged again. */
#define FORGET_AFTER TIME_T_TO_CDTIME_T_STATIC(3600)

bool tally_should_log(struct tally *tally, size_t count)
{
    cdtime_t now = cdtime();

    if (count == 0) {
        if (now - tally->last_seen > FORGET_AFTER)
            tally->logged = 0;
        return false;
    }
    tally->last_seen = now;
    if (count < 2 * tally->logged)
        return false;
    tally->logged = count;
    return true;
}

void complaint_log(struct complaint *complaint, int severity, int cause, const char *format, ...)
{
    va_list arguments;

    if (complaint->cause == cause)
        return;
    complaint->cause = cause;
    va_start(arguments, format);
    log_safely_list(severity, format, arguments);
    va_end(arguments);
}

void complaint_resolve(struct complaint *complaint, const char *format, ...)
{
    va_list arguments;

    if (complaint->cause == 0)
        return;
    complaint->cause = 0;
    va_start(arguments, format);
    log_safely_list(LOG_INFO, format, arguments);
    va_end(arguments);
}
