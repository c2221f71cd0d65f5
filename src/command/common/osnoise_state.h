/* SPDX-License-Identifier: MIT */
/*
 * common/osnoise_state.h - the files in which runs of the osnoise tracer keep the settings to
 * restore.
 */
#ifndef HEADROOM_COMMAND_COMMON_OSNOISE_STATE_H
#define HEADROOM_COMMAND_COMMON_OSNOISE_STATE_H

/** Of `headroom osnoise`. The attach mode has a file of its own, as the run whose results it reads
 * may also be one of this command. */
#define OSNOISE_STATE_PATH        "/run/headroom-osnoise.state"
#define OSNOISE_ATTACH_STATE_PATH "/run/headroom-osnoise-attach.state"

/** Of the osnoise plugin, in collectd's usual BaseDir. */
#define OSNOISE_PLUGIN_STATE_PATH "/var/lib/collectd/headroom-osnoise.state"

#endif
