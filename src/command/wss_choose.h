/*
 * wss_choose.h - which method `headroom wss` takes.
 */
#ifndef HEADROOM_WSS_CHOOSE_H
#define HEADROOM_WSS_CHOOSE_H

#include "wss_run.h"

/**
 * Opens the method that was asked for; with HR_WSS_AUTO the first one that works and can be read as
 * often as is planned.
 *
 * @param wss     receives it; the caller ends it with hr_wss_close().
 * @param reason  receives, on failure, why.
 * @return 0; -E2BIG: it can't be read that often; or as hr_wss_open().
 */
int wss_choose(const struct hr_root *root, const struct wss_request *request, struct hr_wss **wss,
               struct hr_wss_reason *reason);

#endif
