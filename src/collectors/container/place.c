/* SPDX-License-Identifier: MIT */
#include "container/place.h"

#include <stdio.h>
#include <string.h>

#define ID_LENGTH (HR_CONTAINER_ID_SIZE - 1)

static const char hex_digits[] = "0123456789abcdef";

static bool ends_with(const char *text, size_t length, const char *end)
{
    return length >= strlen(end) && memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

/* The processes that watch containers have scopes of their own with the same ids, as
 * libpod-conmon-ID.scope: only what is known to hold the container itself counts. */
static bool is_prefix(const char *text, size_t length)
{
    static const char *const prefixes[] = {"", "docker-", "libpod-", "cri-containerd-", "crio-"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strlen(prefixes[i]) == length && memcmp(text, prefixes[i], length) == 0)
            return true;
    return false;
}

static bool parse_id(const char *component, size_t length, char id[HR_CONTAINER_ID_SIZE])
{
    if (ends_with(component, length, ".scope"))
        length -= strlen(".scope");
    if (length < ID_LENGTH || !is_prefix(component, length - ID_LENGTH))
        return false;
    snprintf(id, HR_CONTAINER_ID_SIZE, "%s", component + length - ID_LENGTH);
    return strspn(id, hex_digits) == ID_LENGTH;
}

/* systemd's names of slices have "_" where the UID has "-". */
static bool parse_pod(const char *component, size_t length, char pod[HR_POD_UID_SIZE])
{
    const char *uid = component + strlen("pod");

    if (ends_with(component, length, ".slice")) {
        length -= strlen(".slice");
        const char *found = memmem(component, length, "-pod", strlen("-pod"));
        if (found == NULL || memcmp(component, "kubepods", strlen("kubepods")) != 0)
            return false;
        uid = found + strlen("-pod");
    } else if (length < strlen("pod") || memcmp(component, "pod", strlen("pod")) != 0) {
        return false;
    }
    const size_t rest = length - (size_t)(uid - component);
    if (rest != 32 && rest != 36)
        return false;
    memcpy(pod, uid, rest);
    pod[rest] = '\0';
    for (char *c = pod; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
    return strspn(pod, "0123456789abcdef-") == rest;
}

bool hr_container_find(const char *path, struct hr_container_place *place)
{
    struct hr_container_place found = {0};

    for (const char *component = path; component[0] != '\0';) {
        const size_t length = strcspn(component, "/");
        const char *end = component + length;
        char text[HR_CONTAINER_ID_SIZE];
        if (parse_pod(component, length, text)) {
            found = (struct hr_container_place){.below = end};
            memcpy(found.pod, text, HR_POD_UID_SIZE);
        } else if (parse_id(component, length, text)) {
            if (found.id[0] != '\0') /* a container in a container is of another runtime */
                found.pod[0] = '\0';
            memcpy(found.id, text, sizeof(found.id));
            found.below = end;
        }
        component = *end == '/' ? end + 1 : end;
    }
    if (found.below == NULL)
        return false;
    *place = found;
    return true;
}
