/* SPDX-License-Identifier: MIT */
/*
 * doctor/host_name.c - whether collectd finds out its host's name, without which it doesn't start.
 *
 * Source: collectd's daemon/collectd.c, init_hostname().
 */
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>

#include "doctor/checks.h"

/* @return 0, or why not, as getaddrinfo(3). */
static int look_up(const char *name)
{
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME};
    struct addrinfo *list = NULL;
    const int status = getaddrinfo(name, NULL, &hints, &list);

    if (status == 0)
        freeaddrinfo(list);
    return status;
}

void doctor_check_host_name(const struct usage *usage, struct findings *findings)
{
    const struct config_item *given = config_find(&usage->config, "Hostname");
    char name[HOST_NAME_MAX + 1], cause[256];

    if ((given != NULL && config_text(given)[0] != '\0') ||
        !config_boolean(config_find(&usage->config, "FQDNLookup"), true) ||
        gethostname(name, sizeof(name)) != 0)
        return;
    const int status = look_up(name);
    if (status == 0)
        return;
    snprintf(cause, sizeof(cause), "%s can't be looked up (%s), as FQDNLookup wants%s", name,
             gai_strerror(status),
             config_find(&usage->config, "FQDNLookup") == NULL ? " by default" : "");
    findings_add(findings, FINDING_LACKS, "the host's name", cause,
                 "set Hostname, or FQDNLookup to false, or add the name to /etc/hosts: collectd "
                 "doesn't start without it");
}
