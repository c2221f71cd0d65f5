/* SPDX-License-Identifier: MIT */
/*
 * common/host.h - whether a host of collectd's series is the machine that we run on.
 */
#ifndef HEADROOM_COMMAND_COMMON_HOST_H
#define HEADROOM_COMMAND_COMMON_HOST_H

#include <stdbool.h>

/** Names are the same up to a domain that one of them has; collectd may have looked it up.
 * @param own  this machine's name, see gethostname(2). */
bool host_is(const char *host, const char *own);

#endif
