/* SPDX-License-Identifier: MIT */
/*
 * top/screen_alerts.h - the alerts below the table.
 */
#ifndef HEADROOM_COMMAND_TOP_SCREEN_ALERTS_H
#define HEADROOM_COMMAND_TOP_SCREEN_ALERTS_H

#include "top/display.h"
#include "top/screen.h"

/** How many of `room` lines the alerts get: those that rows or the problem don't need. */
int screen_alerts_count_lines(const struct display *display, const struct screen_view *view,
                              int room, int width);

/**
 * Draws the alerts into the lines from `top` to before `bottom`: in their order, see
 * alert_order().
 * With few lines, the main one is drawn rather than the heading, and the heading rather than the
 * others.
 */
void screen_alerts_draw(const struct display *display, int top, int bottom, int width,
                        const struct screen_view *view);

#endif
