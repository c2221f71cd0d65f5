/* SPDX-License-Identifier: MIT */
/*
 * container/place.h - which container or pod a cgroup is of, by its path.
 */
#ifndef HEADROOM_COLLECTORS_CONTAINER_PLACE_H
#define HEADROOM_COLLECTORS_CONTAINER_PLACE_H

#include <stdbool.h>

#define HR_CONTAINER_ID_SIZE 65 /* 64 hexadecimal digits and a NUL */
#define HR_POD_UID_SIZE      37 /* "6d3e…-…": 36 characters, of a static pod 32, and a NUL */

struct hr_container_place {
    char id[HR_CONTAINER_ID_SIZE]; /**< of the container; "": it is the pod's own cgroup */
    char pod[HR_POD_UID_SIZE];     /**< of the pod that kubernetes has it in; "": none */
    const char *below;             /**< the rest of the path: "" or "/init.scope" */
};

/**
 * Finds the innermost container or pod in a path, as the runtimes lay them out with both of their
 * cgroup drivers:
 *
 *     system.slice/docker-ID.scope                  docker/ID
 *     machine.slice/libpod-ID.scope                 libpod_parent/libpod-ID
 *     kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
 *     kubepods/burstable/podUID/ID                  …/crio-ID.scope
 *
 * @return false if there is none.
 */
bool hr_container_find(const char *path, struct hr_container_place *place);

#endif
