/* SPDX-License-Identifier: MIT */
#include "osnoise/pause.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/output.h"
#include "common/usage.h"
#include "headroom/clock.h"
#include "headroom/osnoise.h"
#include "headroom/osnoise_pause.h"
#include "headroom/root.h"

/* The plugin looks each second, and ending a run takes some tenths of one. */
#define WAIT_NS (10 * HR_NS_PER_S)
#define STEP_NS (100 * HR_NS_PER_MS)

int osnoise_pause_parse(const char *text, uint64_t *seconds)
{
    static const struct {
        const char *suffix;
        uint64_t seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return -EINVAL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || number > HR_OSNOISE_PAUSE_MOST_S)
        return -EINVAL;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].suffix) != 0)
            continue;
        if (number * units[i].seconds > HR_OSNOISE_PAUSE_MOST_S)
            return -EINVAL;
        *seconds = number * units[i].seconds;
        return 0;
    }
    return -EINVAL;
}

/* @return 0 once it is free; else as hr_osnoise_probe(). */
static int wait_for_tracer(const struct hr_root *root, struct hr_reason *reason)
{
    const uint64_t give_up_ns = hr_clock_ns() + WAIT_NS;
    const struct timespec step = {.tv_nsec = STEP_NS};
    int status;

    while ((status = hr_osnoise_probe(root, HR_OSNOISE_WORKLOAD, reason)) == -EBUSY &&
           hr_clock_ns() < give_up_ns)
        nanosleep(&step, NULL);
    return status;
}

static void print_pause(uint64_t seconds)
{
    const time_t until = time(NULL) + (time_t)seconds;
    struct tm local;
    char text[64] = "";

    if (localtime_r(&until, &local) != NULL)
        strftime(text, sizeof(text), "%H:%M:%S", &local);
    printf("The osnoise plugin leaves the tracer to others until %s. To end that before: "
           "headroom osnoise --pause 0\n",
           text);
}

static int pause_and_wait(const char *title, const struct hr_root *root, uint64_t seconds)
{
    struct hr_reason reason = {0};
    int status = hr_osnoise_pause(seconds);

    if (status < 0) {
        fprintf(stderr, "%s: cannot write %s: %s%s\n", title, HR_OSNOISE_PAUSE_PATH,
                strerror(-status), status == -EACCES ? ": run it as root" : "");
        return COMMAND_FAILED;
    }
    if (seconds == 0) {
        puts("The osnoise plugin may use the tracer again.");
        return COMMAND_DONE;
    }
    print_pause(seconds);
    fflush(stdout);
    if (wait_for_tracer(root, &reason) == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: the tracer is not free: %s\n", title, reason.text);
    return COMMAND_FAILED;
}

int osnoise_pause(const char *title, uint64_t seconds)
{
    struct hr_root *root;
    int status = hr_root_open("/", &root);

    if (status != 0) {
        fprintf(stderr, "%s: cannot use / as root directory: %s\n", title, strerror(-status));
        return COMMAND_FAILED;
    }
    status = pause_and_wait(title, root, seconds);
    hr_root_close(root);
    const int written = output_finish(title, output_flush(stdout));
    return status != COMMAND_DONE ? status : written;
}
