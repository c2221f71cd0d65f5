/* SPDX-License-Identifier: MIT */
#include "common/open_files.h"

#include "common/log.h"
#include "headroom/descriptor.h"

void open_files_raise_limit(const char *plugin, size_t count)
{
    const struct hr_descriptor_limits limits = hr_descriptor_raise_limit(count);

    if (limits.now > limits.before)
        INFO("%s: raised the limit of open files of collectd from %zu to %zu, so that what is "
             "read at each interval can be kept open.",
             plugin, limits.before, limits.now);
}
