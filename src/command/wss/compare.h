/* SPDX-License-Identifier: MIT */
/*
 * wss/compare.h - headroom wss --compare: one window by each method in turn, side by side.
 */
#ifndef HEADROOM_COMMAND_WSS_COMPARE_H
#define HEADROOM_COMMAND_WSS_COMPARE_H

#include "wss/run.h"

/**
 * Measures one window of a target by each method that can.
 *
 * @param request  its window, target, aging and format count.
 * @return an enum command_status: COMMAND_DONE if one of them measured it. On a signal it does not
 *         return: it prints what was measured, and ends the process by that signal.
 */
int wss_compare(const struct wss_request *request);

#endif
