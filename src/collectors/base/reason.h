/* SPDX-License-Identifier: MIT */
/*
 * base/reason.h - setting the reason that a function returns to its caller.
 */
#ifndef HEADROOM_COLLECTORS_BASE_REASON_H
#define HEADROOM_COLLECTORS_BASE_REASON_H

#include "headroom/reason.h"

/** Sets a reason, made safe by hr_utf8_make_safe(), as it may name tasks and files. @param reason
 * may be NULL. @return error. */
__attribute__((format(printf, 3, 4))) int hr_reason_set(struct hr_reason *reason, int error,
                                                        const char *format, ...);

/** Clears a reason. @param reason may be NULL. */
void hr_reason_clear(struct hr_reason *reason);

#endif
