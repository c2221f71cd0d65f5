/* SPDX-License-Identifier: MIT */
#include "osnoise/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/capability.h"
#include "osnoise/instance.h"
#include "osnoise/internal.h"
#include "osnoise/owner.h"
#include "osnoise/process_exit.h"
#include "osnoise/settings.h"
#include "osnoise/users.h"

/* --- The kernel ----------------------------------------------------------- */

/* The kernel's tracers: "timerlat osnoise hwlat function nop". */
static int check_tracer(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                        struct hr_reason *reason)
{
    char tracers[1024], remedy[HR_REMEDY_SIZE];
    int status = hr_tracefs_read(tracefs, "available_tracers", tracers, sizeof(tracers), NULL);

    if (status == -EACCES || status == -EPERM)
        return hr_reason_set(reason, status,
                             "no permission to read tracefs: %s; a kernel that is locked down "
                             "allows no tracing",
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    if (status < 0)
        return hr_reason_set(reason, status, "can't read available_tracers of tracefs (%s)",
                             strerror(-status));
    if (!hr_text_has_word(tracers, "osnoise"))
        return hr_reason_set(reason, -ENOENT,
                             "this kernel has no osnoise tracer: it needs Linux 5.17 or later with "
                             "CONFIG_OSNOISE_TRACER=y");
    if (!hr_text_has_word(tracers, hr_osnoise_tracer_name(mode)))
        return hr_reason_set(
            reason, -EOPNOTSUPP,
            "this kernel has no timerlat tracer: it needs CONFIG_TIMERLAT_TRACER=y");
    return 0;
}

static int check_features(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                          struct hr_reason *reason)
{
    struct hr_osnoise_settings settings = {0};
    int status = hr_osnoise_settings_read(tracefs, &settings, reason);

    if (status < 0)
        return status;
    if (mode == HR_OSNOISE_SOURCES && !settings.has[HR_OSNOISE_OPTION_WORKLOAD])
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "this kernel can't trace without the workload: it needs Linux 6.2 or "
                             "later");
    if (mode == HR_OSNOISE_HARDWARE && !settings.has[HR_OSNOISE_OPTION_IRQ_DISABLE])
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "this kernel can't look for noise with interrupts off: it needs Linux "
                             "6.2 or later");
    if (mode == HR_OSNOISE_HARDWARE && !hr_osnoise_exit_can_stop(tracefs))
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "here interrupts would stay off if headroom were killed: it needs "
                             "Linux 6.5 or later with CONFIG_TIMERLAT_TRACER=y; or use the osnoise "
                             "mode");
    if (mode == HR_OSNOISE_SOURCES && !hr_tracefs_exists(tracefs, "events/osnoise/irq_noise/hist"))
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "this kernel can't count events by their source: it needs "
                             "CONFIG_HIST_TRIGGERS=y");
    return 0;
}

static int check_permissions(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                             struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];
    int status = 0;

    if (faccessat(tracefs->fd, "instances", W_OK, AT_EACCESS) < 0)
        status = -errno;
    else if (mode != HR_OSNOISE_ATTACH &&
             faccessat(tracefs->fd, "osnoise/cpus", W_OK, AT_EACCESS) < 0)
        status = -errno;
    if (status == -EROFS)
        return hr_reason_set(reason, status, "tracefs is mounted read-only: mount it writable");
    if (status < 0)
        return hr_reason_set(reason, status, "no permission to use the tracer (%s): %s",
                             strerror(-status), hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    return 0;
}

int hr_osnoise_probe_kernel(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                            struct hr_reason *reason)
{
    int status = check_tracer(tracefs, mode, reason);

    if (status == 0)
        status = check_features(tracefs, mode, reason);
    if (status == 0)
        status = check_permissions(tracefs, mode, reason);
    return status;
}

/* --- Users ---------------------------------------------------------------- */

static int explain_user(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                        const struct hr_osnoise_user *user, struct hr_reason *reason)
{
    const bool is_osnoise = strcmp(user->tracer, "osnoise") == 0;
    const int is_alive = hr_osnoise_owner_has_name(user->instance)
                             ? hr_osnoise_owner_is_alive(tracefs, user->instance)
                             : -ENOENT; /* the kernel's own, or of another program */
    char who[300];
    const char *remedy = "wait until it has ended, or end it";

    hr_osnoise_user_print(user, who, sizeof(who));
    if (is_alive == 0)
        remedy = "it was left behind by a run of headroom or of collectd's plugin that was killed: "
                 "headroom osnoise --restore removes it, as does the next run, once no other "
                 "program runs the tracer or has its files open";
    else if (is_alive == 1)
        remedy = mode == HR_OSNOISE_TIMERLAT || !is_osnoise
                     ? "it is a run of headroom or of collectd's plugin that goes on, maybe in a "
                       "container: wait until it has ended, or have the plugin leave the tracer to "
                       "others for a while, by headroom osnoise --pause 10m"
                     : "it is a run of headroom or of collectd's plugin that goes on, maybe in a "
                       "container: wait until it has ended, or use the attach mode";
    else if (is_osnoise && mode != HR_OSNOISE_TIMERLAT)
        remedy = "wait until it has ended, or use the attach mode";
    return hr_reason_set(reason, -EBUSY, "%s runs the %s tracer: %s", who, user->tracer, remedy);
}

static int check_hazards(const struct hr_tracefs *tracefs, struct hr_reason *reason)
{
    struct hr_osnoise_hazards hazards = {0};
    int status = hr_osnoise_hazards_read(tracefs, &hazards, reason);

    if (status < 0)
        return status;
    return hr_osnoise_hazards_check(&hazards, -EBUSY, reason);
}

static int check_leader(const struct hr_tracefs *tracefs, const char *except,
                        struct hr_reason *reason)
{
    int status = hr_osnoise_users_find_running(tracefs, except, NULL);

    if (status > 0)
        return check_hazards(tracefs, reason);
    if (status < 0)
        return hr_reason_set(reason, status, "can't find whether a tracer is in use (%s)",
                             strerror(-status));
    return hr_reason_set(reason, -EAGAIN,
                         "no program runs the osnoise tracer: start one, such as rtla osnoise");
}

int hr_osnoise_probe_users(const struct hr_tracefs *tracefs, enum hr_osnoise_mode mode,
                           const char *except, struct hr_reason *reason)
{
    struct hr_osnoise_user user;

    if (mode == HR_OSNOISE_ATTACH)
        return check_leader(tracefs, except, reason);
    int status = hr_osnoise_users_find(tracefs, NULL, except, &user);
    if (status > 0)
        return explain_user(tracefs, mode, &user, reason);
    if (status < 0)
        return hr_reason_set(reason, status, "can't find whether a tracer is in use (%s)",
                             strerror(-status));
    return check_hazards(tracefs, reason);
}

int hr_osnoise_probe(const struct hr_root *root, enum hr_osnoise_mode mode,
                     struct hr_reason *reason)
{
    struct hr_tracefs tracefs;

    hr_reason_clear(reason);
    int status = hr_tracefs_open(root, &tracefs, reason);
    if (status < 0)
        return status;
    status = hr_osnoise_probe_kernel(&tracefs, mode, reason);
    if (status == 0)
        status = hr_osnoise_probe_users(&tracefs, mode, NULL, reason);
    hr_tracefs_close(&tracefs);
    return status;
}
