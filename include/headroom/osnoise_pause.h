/* SPDX-License-Identifier: MIT */
/*
 * headroom/osnoise_pause.h - that those who measure noise all the time leave the tracer to others
 * for a while: timerlat, for one, can't start while any instance has the osnoise tracer.
 *
 * A file in /run, which only root can write, says until when, by the time since boot
 * (CLOCK_BOOTTIME). Whoever measures all the time reads it each second. After a reboot it is gone.
 */
#ifndef HEADROOM_OSNOISE_PAUSE_H
#define HEADROOM_OSNOISE_PAUSE_H

#include <stdint.h>

struct hr_root;

#define HR_OSNOISE_PAUSE_PATH "/run/headroom-osnoise.pause"

/** The longest pause: a day. */
#define HR_OSNOISE_PAUSE_MOST_S 86400

/**
 * Begins a pause on this machine, instead of one that lasts.
 *
 * @param seconds  1 to HR_OSNOISE_PAUSE_MOST_S; 0 ends it.
 * @return 0 or a negative errno.
 */
int hr_osnoise_pause(uint64_t seconds);

/** @return how long a pause still lasts; 0: there is none, or its file isn't to be trusted, as
 * others than root and this user may write it, or isn't understood. */
uint64_t hr_osnoise_pause_left_ns(const struct hr_root *root);

#endif
