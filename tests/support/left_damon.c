/* SPDX-License-Identifier: MIT */
#include "support/left_damon.h"

#include <err.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that has existed. */
static pid_t find_ended(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        err(1, "fork");
    return pid;
}

/* Of the parts of a tag, see wss/damon_owner.c, the start and the number are 0. */
void left_damon_add(struct tree *tree)
{
    struct stat namespace;

    if (stat("/proc/self/ns/pid", &namespace) < 0)
        err(1, "/proc/self/ns/pid");
    const uint64_t tag =
        (UINT64_C(1) << 61) + namespace.st_ino % 65536 * UINT64_C(4194304) + (uint64_t)find_ended();
    tree_write(tree, LEFT_DAMON_KDAMONDS "nr_kdamonds", "1\n");
    tree_write(tree, LEFT_DAMON_KDAMONDS "0/state", "on\n");
    tree_write(tree, LEFT_DAMON_KDAMONDS "0/contexts/0/schemes/0/quotas/reset_interval_ms",
               "%" PRIu64 "\n", tag);
}
