/* SPDX-License-Identifier: MIT */
#include "support/toucher_process.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program lies in the build's directory, where tests are run. */
static void run_toucher(int procs_fd, const char *kind, int hold_mib, int touch_mib,
                        const char *file)
{
    char hold[16], touched[16];

    if (procs_fd >= 0 && dprintf(procs_fd, "%d", (int)getpid()) < 0)
        err(1, "cgroup.procs");
    snprintf(hold, sizeof(hold), "%d", hold_mib);
    snprintf(touched, sizeof(touched), "%d", touch_mib);
    execl("./toucher", "toucher", kind, hold, touched, file, (char *)NULL);
    err(1, "./toucher");
}

struct toucher toucher_start(int procs_fd, const char *kind, int hold_mib, int touch_mib,
                             const char *file)
{
    int in[2], out[2], status;
    char byte;

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        err(1, "pipe2");
    struct toucher toucher = {.pid = fork(), .input = in[1]};
    if (toucher.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        run_toucher(procs_fd, kind, hold_mib, touch_mib, file);
    }
    close(in[0]);
    close(out[1]);
    /* "ready", or the end */
    if (read(out[0], &byte, 1) <= 0) {
        waitpid(toucher.pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 77)
            errx(1, "toucher %s failed", kind);
        close(toucher.input);
        toucher = (struct toucher){.input = -1};
    }
    close(out[0]);
    return toucher;
}

void toucher_end(struct toucher *toucher)
{
    if (toucher->pid == 0)
        return;
    close(toucher->input);
    waitpid(toucher->pid, NULL, 0);
    *toucher = (struct toucher){.input = -1};
}
