/* SPDX-License-Identifier: MIT */
/*
 * wss/run.h - one run of `headroom wss`: measuring as planned, and printing the results.
 */
#ifndef HEADROOM_COMMAND_WSS_RUN_H
#define HEADROOM_COMMAND_WSS_RUN_H

#include "headroom/wss.h"
#include "wss/output.h"
#include "wss/plan.h"

/** The options of the user. */
struct wss_request {
    const char *title; /**< begins each message */
    const char *root;
    struct hr_wss_target target;
    enum hr_wss_method method;
    bool aging;
    struct wss_plan plan; /**< but for looks_back */
    enum wss_format format;
    bool timestamps;
    bool plot;           /**< draws a chart at the end */
    const char *picture; /**< the chart's file; NULL: standard output */
    bool linear;         /**< its axis of time */
};

/**
 * Measures.
 *
 * @return an enum command_status. On a signal other than the usual end of the run it does not
 *         return: it prints what was measured, and ends the process by that signal.
 */
int wss_run(const struct wss_request *request);

#endif
