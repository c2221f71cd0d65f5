/* SPDX-License-Identifier: MIT */
/*
 * container/container_paths.h - paths of containers and pods, as the runtimes make them.
 */
#ifndef HEADROOM_TESTS_CONTAINER_CONTAINER_PATHS_H
#define HEADROOM_TESTS_CONTAINER_CONTAINER_PATHS_H

#define ID      "748a7a914a7d9c6f4f5b1d2e3a4b5c6d7e8f90123456789abcdef0123456789a"
#define OTHER   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID     "6d3e0f51-0b0b-4f0e-9c3e-1d2c3b4a5968"
#define SYSTEMD "6d3e0f51_0b0b_4f0e_9c3e_1d2c3b4a5968"
#define STATIC  "1c70d0f6fa58a9d2c7c9bb9ae8d9e2cd"
#define QOS     "kubepods.slice/kubepods-burstable.slice/"

static const struct {
    const char *path, *id, *pod, *below;
} container_paths[] = {
    {"system.slice/docker-" ID ".scope", ID, "", ""},
    {"docker/" ID, ID, "", ""},
    {"docker/" ID "/init.scope", ID, "", "/init.scope"},
    {"machine.slice/libpod-" ID ".scope/container", ID, "", "/container"},
    {"machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope", ID, "", ""},
    {"libpod_parent/libpod-" ID, ID, "", ""},
    {"libpod_parent/" OTHER "/libpod-" ID, ID, "", ""},
    {"user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", ID, "", ""},
    {QOS "kubepods-burstable-pod" SYSTEMD ".slice", "", UID, ""},
    {"kubepods.slice/kubepods-pod" SYSTEMD ".slice", "", UID, ""},
    {QOS "kubepods-burstable-pod" STATIC ".slice", "", STATIC, ""},
    {QOS "kubepods-burstable-pod" SYSTEMD ".slice/cri-containerd-" ID ".scope", ID, UID, ""},
    {QOS "kubepods-burstable-pod" SYSTEMD ".slice/crio-" ID ".scope", ID, UID, ""},
    {"kubepods/burstable/pod" UID "/" ID, ID, UID, ""},
    {"kubepods/pod" UID, "", UID, ""},
    {"kubepods/pod" UID "/" ID "/system.slice/a.service", ID, UID, "/system.slice/a.service"},
    /* a cluster within containers: the innermost */
    {"docker/" OTHER "/kubelet/kubepods/pod" UID "/" ID, ID, UID, ""},
    {"kubepods/pod" UID "/" OTHER "/docker/" ID, ID, "", ""},
    {"kubepods/pod" UID "/" OTHER "/kubepods/pod" STATIC, "", STATIC, ""},
};

#define CONTAINER_PATH_COUNT ((int)(sizeof(container_paths) / sizeof(container_paths[0])))

#endif
