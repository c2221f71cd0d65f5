/* SPDX-License-Identifier: MIT */
/*
 * common/osnoise_state.h - where runs of the osnoise tracer keep what they must put back.
 */
#ifndef HEADROOM_COMMAND_COMMON_OSNOISE_STATE_H
#define HEADROOM_COMMAND_COMMON_OSNOISE_STATE_H

/** Of `headroom osnoise`. Mode attach has a file of its own, as the run that it reads along with
 * may be one of this command, too. */
#define OSNOISE_STATE_PATH        "/run/headroom-osnoise.state"
#define OSNOISE_ATTACH_STATE_PATH "/run/headroom-osnoise-attach.state"

/** Of the osnoise plugin, in collectd's usual BaseDir. */
#define OSNOISE_PLUGIN_STATE_PATH "/var/lib/collectd/headroom-osnoise.state"

#endif
