/* SPDX-License-Identifier: MIT */
#include "osnoise/instance_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/capability.h"

void hr_osnoise_instance_file(char path[HR_OSNOISE_PATH], const char *instance, const char *file)
{
    snprintf(path, HR_OSNOISE_PATH, "instances/%s%s%s", instance, file[0] != '\0' ? "/" : "", file);
}

int hr_osnoise_instance_write(const struct hr_tracefs *tracefs, const char *instance,
                              const char *file, const char *text)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, instance, file);
    return hr_tracefs_write(tracefs, path, text);
}

int hr_osnoise_instance_write_number(const struct hr_tracefs *tracefs, const char *instance,
                                     const char *file, uint64_t value)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, instance, file);
    return hr_tracefs_write_number(tracefs, path, value);
}

int hr_osnoise_instance_explain(struct hr_reason *reason, int error, const char *format, ...)
{
    char what[128], remedy[HR_REMEDY_SIZE];
    va_list arguments;

    if (error == -EACCES || error == -EPERM)
        return hr_reason_set(reason, error, "no permission to create an instance in tracefs: %s",
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    if (error == -ENOMEM)
        return hr_reason_set(reason, error,
                             "the kernel has no memory for the buffers of an instance "
                             "in tracefs: it needs 1.4 MB for each CPU at first");
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return hr_reason_set(reason, error, "%s in tracefs (%s)", what, strerror(-error));
}
