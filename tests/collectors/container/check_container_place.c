/* SPDX-License-Identifier: MIT */
/*
 * container/check_container_place.c - which container a cgroup is of.
 */
#include <check.h>

#include "container/place.h"
#include "support/suite.h"

#define ID      "748a7a914a7d9c6f4f5b1d2e3a4b5c6d7e8f90123456789abcdef0123456789a"
#define OTHER   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID     "6d3e0f51-0b0b-4f0e-9c3e-1d2c3b4a5968"
#define SYSTEMD "6d3e0f51_0b0b_4f0e_9c3e_1d2c3b4a5968"
#define STATIC  "1c70d0f6fa58a9d2c7c9bb9ae8d9e2cd"
#define QOS     "kubepods.slice/kubepods-burstable.slice/"

static const struct {
    const char *path, *id, *pod, *below;
} found[] = {
    {"system.slice/docker-" ID ".scope", ID, "", ""},
    {"docker/" ID, ID, "", ""},
    {"docker/" ID "/init.scope", ID, "", "/init.scope"},
    {"machine.slice/libpod-" ID ".scope/container", ID, "", "/container"},
    {"libpod_parent/libpod-" ID, ID, "", ""},
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

START_TEST(is_found)
{
    struct hr_container_place place;

    ck_assert(hr_container_find(found[_i].path, &place));
    ck_assert_str_eq(place.id, found[_i].id);
    ck_assert_str_eq(place.pod, found[_i].pod);
    ck_assert_str_eq(place.below, found[_i].below);
}
END_TEST

static const char *const none[] = {
    "",
    "system.slice/ssh.service",
    "machine.slice/libpod-conmon-" ID ".scope",
    QOS "kubepods-burstable-pod" SYSTEMD,
    "kubepods.slice",
    "kubepods/burstable",
    "pod",
    "pods/podium",
    "system.slice/other-pod" SYSTEMD ".slice",
    "docker/" ID "0",
    "docker/A" OTHER,
    "docker/748A7a914a7d9c6f4f5b1d2e3a4b5c6d7e8f90123456789abcdef0123456789a",
    "docker/748a7a914a7d.scope",
    "docker-" ID ".service",
    "kubepods/pod6d3e0f51-0b0b-4f0e-9c3e-1d2c3b4a596g",
};

START_TEST(is_none)
{
    struct hr_container_place place = {.id = "untouched"};

    ck_assert(!hr_container_find(none[_i], &place));
    ck_assert_str_eq(place.id, "untouched");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("container_place");

    tcase_add_loop_test(tests, is_found, 0, sizeof(found) / sizeof(found[0]));
    tcase_add_loop_test(tests, is_none, 0, sizeof(none) / sizeof(none[0]));
    return run_suite("container_place", tests);
}
