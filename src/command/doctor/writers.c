/* SPDX-License-Identifier: MIT */
/*
 * doctor/writers.c - whether the values of a running collectd come in time, or wait for its
 * writers.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <strings.h>

#include "common/client.h"
#include "configured/backlog.h"
#include "doctor/checks.h"

static bool has_socket(const struct usage *usage)
{
    for (size_t i = 0; i < usage->config.child_count; i++) {
        const struct config_item *item = &usage->config.children[i];
        if (usage_loads(usage, item) && strcasecmp(config_text(item), "unixsock") == 0)
            return true;
    }
    return false;
}

static int pass_over(void *context, const char *identifier)
{
    (void)context;
    (void)identifier;
    return 0;
}

/* @return 0, or as client_list(), also if no collectd runs, or we may not ask it. */
static int find_newest(const char *socket, double *newest_s)
{
    struct client *client;
    int status = client_open(socket, client_wait_briefly, NULL, &client);

    if (status != 0)
        return status;
    status = client_list(client, pass_over, NULL);
    *newest_s = client_newest(client);
    client_close(client);
    return status;
}

void doctor_check_writers(const struct usage *usage, struct findings *findings)
{
    static const char feature[] = "values in time";
    const struct config_item *given =
        config_find_of_plugin(&usage->config, "unixsock", "SocketFile");
    const char *socket = given != NULL ? config_text(given) : CLIENT_DEFAULT_SOCKET;
    struct hr_reason reason;
    double newest_s;

    if (!has_socket(usage) || find_newest(socket, &newest_s) != 0)
        return;
    const struct backlog_seen seen = backlog_look(socket, newest_s);
    if (backlog_find(usage, &seen, &reason) == BACKLOG_BEHIND)
        findings_add_reason(findings, FINDING_LACKS, feature, &reason);
    else if (isnan(newest_s))
        findings_add(findings, FINDING_UNTRIED, feature, "collectd has no values yet", NULL);
    else
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
}
