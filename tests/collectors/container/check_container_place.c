/* SPDX-License-Identifier: MIT */
/*
 * container/check_container_place.c - which container a cgroup is of.
 */
#include <check.h>

#include "collectors/container/container_paths.h"
#include "container/place.h"
#include "support/suite.h"

START_TEST(is_found)
{
    struct hr_container_place place;

    ck_assert(hr_container_find(container_paths[_i].path, &place));
    ck_assert_str_eq(place.id, container_paths[_i].id);
    ck_assert_str_eq(place.pod, container_paths[_i].pod);
    ck_assert_str_eq(place.below, container_paths[_i].below);
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

    tcase_add_loop_test(tests, is_found, 0, CONTAINER_PATH_COUNT);
    tcase_add_loop_test(tests, is_none, 0, sizeof(none) / sizeof(none[0]));
    return run_suite("container_place", tests);
}
