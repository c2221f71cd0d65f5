/* SPDX-License-Identifier: MIT */
/*
 * osnoise/pause.h - `headroom osnoise --pause`: the plugin leaves the tracer to others.
 */
#ifndef HEADROOM_COMMAND_OSNOISE_PAUSE_H
#define HEADROOM_COMMAND_OSNOISE_PAUSE_H

#include <stdint.h>

/** Parses "90", "90s", "10m" or "1h", up to a day; 0 ends a pause. @return 0 or -EINVAL. */
int osnoise_pause_parse(const char *text, uint64_t *seconds);

/** Begins the pause, and waits until the tracer is free; or ends it. Prints what it did. @return
 * COMMAND_DONE, or COMMAND_FAILED after a message. */
int osnoise_pause(const char *title, uint64_t seconds);

#endif
