/* SPDX-License-Identifier: MIT */
#include "headroom/container.h"

#include <stddef.h>

const char *hr_container_runtime_name(int bit)
{
    static const char *const names[HR_CONTAINER_RUNTIME_COUNT] = {"kubernetes", "docker", "podman"};

    return bit >= 0 && bit < HR_CONTAINER_RUNTIME_COUNT ? names[bit] : NULL;
}
