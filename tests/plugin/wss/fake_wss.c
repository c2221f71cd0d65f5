/* SPDX-License-Identifier: MIT */
#include "plugin/wss/fake_wss.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "headroom/clock.h"

/* Every target of processes is the one whose PID it is chosen by. */
struct hr_wss {
    struct hr_wss_options options;
    enum hr_wss_method method;
    uint64_t begun_ns;
    bool has_ended; /* the window that is read next */
};

struct fake_wss fake_wss;

void __wrap_hr_wss_interrupt(const struct hr_root *root);

void fake_wss_reset(void)
{
    memset(&fake_wss, 0, sizeof(fake_wss));
}

int hr_wss_open(const struct hr_root *root, const struct hr_wss_options *options,
                struct hr_wss **wss, struct hr_reason *reason)
{
    struct hr_wss *opened = calloc(1, sizeof(*opened));

    (void)root;
    (void)reason;
    ck_assert_ptr_nonnull(opened);
    opened->options = *options;
    opened->method = fake_wss.method;
    *wss = opened;
    return 0;
}

void hr_wss_close(struct hr_wss *wss)
{
    free(wss);
}

void hr_wss_end(struct hr_wss *wss)
{
    (void)wss;
}

enum hr_wss_method hr_wss_method(const struct hr_wss *wss)
{
    return wss->method;
}

bool hr_wss_looks_back(const struct hr_wss *wss)
{
    (void)wss;
    return false;
}

bool hr_wss_ends_windows(const struct hr_wss *wss)
{
    (void)wss;
    return fake_wss.ends_windows;
}

void hr_wss_end_window(struct hr_wss *wss)
{
    if (wss->has_ended)
        return;
    wss->has_ended = true;
    fake_wss.ended++;
    if (fake_wss.most_ended < fake_wss.ended)
        fake_wss.most_ended = fake_wss.ended;
}

static int check_processes(const struct hr_wss *wss, struct hr_reason *reason)
{
    const struct hr_wss_options *options = &wss->options;
    struct hr_process item = {.pid = options->target.processes.pid, .started_ticks = 5};
    const struct hr_process_list list = {.items = &item, .count = 1};

    if (options->target.scope != HR_WSS_PROCESSES || options->check_processes == NULL)
        return 0;
    return options->check_processes(&list, options->context, reason);
}

int hr_wss_begin(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason)
{
    (void)window_ns;
    fake_wss.begins++;
    if (fake_wss.begin_status < 0)
        return hr_reason_set(reason, fake_wss.begin_status, "it can't begin");
    int status = check_processes(wss, reason);
    if (status == 0 && wss->options.method == HR_WSS_AUTO && wss->method != fake_wss.replacement) {
        wss->method = fake_wss.replacement;
        status = check_processes(wss, reason);
        if (status == 0)
            hr_reason_set(reason, -ETIME, "scanning takes too long");
    }
    wss->begun_ns = hr_clock_ns();
    return status;
}

uint64_t hr_wss_begun_ns(const struct hr_wss *wss)
{
    return wss->begun_ns;
}

int hr_wss_try_read(struct hr_wss *wss, uint64_t window_ns, struct hr_wss_sample *sample,
                    struct hr_reason *reason)
{
    (void)window_ns;
    fake_wss.ended -= wss->has_ended;
    wss->has_ended = false;
    fake_wss.reads++;
    fake_wss.is_reading = true;
    while (fake_wss.blocks && !fake_wss.is_interrupted)
        usleep(1000);
    if (fake_wss.blocks)
        return hr_reason_set(reason, -EBUSY, "another program switched DAMON off");
    if (fake_wss.read_status < 0)
        return hr_reason_set(reason, fake_wss.read_status, "it can't be read");
    *sample = fake_wss.sample;
    return 0;
}

void __wrap_hr_wss_interrupt(const struct hr_root *root)
{
    (void)root;
    fake_wss.is_interrupted = true;
}

struct hr_wss_shared *hr_wss_shared_new(void)
{
    return NULL;
}

void hr_wss_shared_free(struct hr_wss_shared *shared)
{
    (void)shared;
}
