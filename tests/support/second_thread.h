/* SPDX-License-Identifier: MIT */
/*
 * support/second_thread.h - the other thread of a process that has two.
 */
#ifndef HEADROOM_TESTS_SUPPORT_SECOND_THREAD_H
#define HEADROOM_TESTS_SUPPORT_SECOND_THREAD_H

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

/** @return the thread besides the first; 0: there is none yet. */
static inline pid_t find_second_thread(pid_t pid)
{
    const struct dirent *entry;
    char path[64];
    pid_t second = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    ck_assert_ptr_nonnull(directory);
    while ((entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != pid)
            second = atoi(entry->d_name);
    closedir(directory);
    return second;
}

#endif
