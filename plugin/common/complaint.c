/* SPDX-License-Identifier: MIT */
#include "common/complaint.h"

#include <errno.h>
#include <stdarg.h>

#include "common/log.h"
#include "headroom/clock.h"
#include "utils/common/common.h"

/* What wasn't seen for so long is logged again. */
#define FORGET_AFTER_NS (3600 * HR_NS_PER_S)

bool tally_should_log(struct tally *tally, size_t count)
{
    const uint64_t now_ns = hr_clock_ns(); /* the wall clock may step */

    if (count == 0) {
        if (now_ns - tally->last_seen_ns > FORGET_AFTER_NS)
            tally->logged = 0;
        return false;
    }
    tally->last_seen_ns = now_ns;
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

const char *complaint_read_remedy(int error, char *buffer, size_t size)
{
    switch (error) {
    case -EACCES:
    case -EPERM:
        return "let collectd's user read it, or run collectd as root";
    case -EMFILE:
    case -ENFILE:
        return "raise LimitNOFILE= of collectd's service (ulimit -n)";
    default:
        return sstrerror(-error, buffer, size);
    }
}
