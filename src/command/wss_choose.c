#include "wss_choose.h"

#include <errno.h>
#include <stdio.h>

static int open_method(const struct hr_root *root, const struct wss_request *request,
                       enum hr_wss_method method, struct hr_wss **wss, struct hr_wss_reason *reason)
{
    const struct hr_wss_options options = {
        .target = request->target,
        .method = method,
        .aging = request->aging,
    };
    return hr_wss_open(root, &options, wss, reason);
}

static bool can_be_read(const struct hr_wss *wss, const struct wss_plan *plan)
{
    size_t most = hr_wss_max_windows(wss), wanted = wss_plan_readings(plan);
    return most == 0 || (wanted > 0 && wanted <= most);
}

static int refuse(const struct hr_wss *wss, const struct wss_request *request,
                  struct hr_wss_reason *reason)
{
    size_t most = hr_wss_max_windows(wss);
    const char *name = hr_wss_method_name(hr_wss_method(wss));
    const char *option = request->plan.mode == WSS_PROFILE ? "-P" : "-C";
    reason->error = -E2BIG;
    if (request->target.scope != HR_WSS_SYSTEM)
        snprintf(
            reason->text, sizeof(reason->text),
            "the method %s can be read only %zu time%s once it has begun, which is too few for "
            "%s: choose --method referenced or idle, or leave out %s",
            name, most, most == 1 ? "" : "s", option, option);
    else
        snprintf(reason->text, sizeof(reason->text),
                 "the method %s can be read only %zu time%s once it has begun, and no method that "
                 "measures the whole system more often: leave out %s, or repeat snapshots with -s",
                 name, most, most == 1 ? "" : "s", option);
    return reason->error;
}

/* Looks among the methods that auto would pass over. */
static int choose_another(const struct hr_root *root, const struct wss_request *request,
                          struct hr_wss **wss)
{
    static const enum hr_wss_method others[] = {HR_WSS_IDLE, HR_WSS_REFERENCED, HR_WSS_LRU_GEN,
                                                HR_WSS_DAMON};
    struct hr_wss *other;
    struct hr_wss_reason ignored;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (open_method(root, request, others[i], &other, &ignored) != 0)
            continue;
        if (can_be_read(other, &request->plan)) {
            *wss = other;
            return 0;
        }
        hr_wss_close(other);
    }
    return -E2BIG;
}

int wss_choose(const struct hr_root *root, const struct wss_request *request, struct hr_wss **wss,
               struct hr_wss_reason *reason)
{
    struct hr_wss *opened;
    int rc = open_method(root, request, request->method, &opened, reason);
    if (rc != 0)
        return rc;
    if (can_be_read(opened, &request->plan)) {
        *wss = opened;
        return 0;
    }
    if (request->method == HR_WSS_AUTO)
        rc = choose_another(root, request, wss);
    else
        rc = -E2BIG;
    if (rc != 0)
        refuse(opened, request, reason);
    hr_wss_close(opened);
    return rc;
}
