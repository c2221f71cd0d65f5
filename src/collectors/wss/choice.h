/* SPDX-License-Identifier: MIT */
/*
 * wss/choice.h - which methods there are, which of them work here, and which one is chosen.
 */
#ifndef HEADROOM_COLLECTORS_WSS_CHOICE_H
#define HEADROOM_COLLECTORS_WSS_CHOICE_H

#include "wss/method.h"

const struct hr_wss_ops *hr_wss_ops_of(enum hr_wss_method method);

/** See hr_wss_max_windows(). */
size_t hr_wss_max_windows_of(const struct hr_wss_ops *ops, bool aging);

/** Checks whether a method works here and allows the number of windows. @return 0 or a negative
 * errno, with its reason. */
int hr_wss_check_method(const struct hr_root *root, const struct hr_wss_options *options,
                        enum hr_wss_method method, struct hr_reason *reason);

/**
 * Chooses the first method of HR_WSS_AUTO that works here and allows the number of windows.
 *
 * @param excluded  a bit for each method that isn't tried.
 * @param reason    receives why those before it don't, each one's, "" if it is the first; if none
 *                  does, that of all. May be NULL.
 * @return 0; or the error of the first that was tried; -ENOENT: none was.
 */
int hr_wss_choose_method(const struct hr_root *root, const struct hr_wss_options *options,
                         unsigned excluded, enum hr_wss_method *method, struct hr_reason *reason);

/** Opens the mount of cgroup2. @return a descriptor, or a negative errno, with its reason. */
int hr_wss_open_mount(const struct hr_root *root, struct hr_reason *reason);

/** Fills in the default reason of an error, unless the method has set a more exact one. @return the
 * error. */
int hr_wss_fill_in_reason(struct hr_reason *reason, int status);

#endif
