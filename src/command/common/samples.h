/* SPDX-License-Identifier: MIT */
/*
 * common/samples.h - where the samples of configurations are installed.
 */
#ifndef HEADROOM_COMMAND_COMMON_SAMPLES_H
#define HEADROOM_COMMAND_COMMON_SAMPLES_H

#define SAMPLES EXAMPLES_DIR "/collectd.conf.d"

#endif
