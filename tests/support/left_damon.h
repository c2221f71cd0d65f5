/* SPDX-License-Identifier: MIT */
/*
 * support/left_damon.h - what a measurement by DAMON leaves behind if it is killed, in a tree of
 * files.
 */
#ifndef HEADROOM_TESTS_SUPPORT_LEFT_DAMON_H
#define HEADROOM_TESTS_SUPPORT_LEFT_DAMON_H

#include "support/tree.h"

#define LEFT_DAMON_KDAMONDS "sys/kernel/mm/damon/admin/kdamonds/"

/** Adds a monitoring of DAMON's that runs for a process which has ended, of this PID namespace. */
void left_damon_add(struct tree *tree);

#endif
