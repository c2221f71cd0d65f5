/* SPDX-License-Identifier: MIT */
/*
 * collectors/base/check_capability.c - which capabilities the remedy for a missing permission
 * names.
 */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/capability.h"
#include "support/suite.h"

/* The kernel's bits, as in CapEff of /proc/PID/status. */
#define DAC_OVERRIDE    (UINT64_C(1) << 1)
#define DAC_READ_SEARCH (UINT64_C(1) << 2)
#define SYS_PTRACE      (UINT64_C(1) << 19)
#define SYS_ADMIN       (UINT64_C(1) << 21)
#define PERFMON         (UINT64_C(1) << 38)
#define BPF             (UINT64_C(1) << 39)
#define ALL             (UINT64_MAX >> 23)

static const struct {
    unsigned needed;
    uint64_t effective;
    bool is_root;
    const char *remedy;
} remedies[] = {
    {HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, 0, false,
     "run as root, or add CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"},
    {HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, DAC_OVERRIDE, false,
     "run as root, or add CAP_SYS_PTRACE"},
    {HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, SYS_PTRACE | SYS_ADMIN, false,
     "run as root, or add CAP_DAC_OVERRIDE"},
    {HR_CAP_SYS_ADMIN | HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, DAC_READ_SEARCH, false,
     "run as root, or add CAP_SYS_ADMIN, CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"},
    {HR_CAP_SYS_ADMIN | HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, SYS_PTRACE, false,
     "run as root, or add CAP_SYS_ADMIN and CAP_DAC_OVERRIDE"},
    {HR_CAP_DAC_READ_SEARCH, 0, false, "run as root, or add CAP_DAC_READ_SEARCH"},
    /* CAP_DAC_OVERRIDE implies CAP_DAC_READ_SEARCH, so that this one isn't missing. */
    {HR_CAP_DAC_READ_SEARCH | HR_CAP_SYS_PTRACE, DAC_OVERRIDE, false,
     "run as root, or add CAP_SYS_PTRACE"},
    /* Root has all of them, unless a service drops some. */
    {HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, ALL & ~SYS_PTRACE, true, "add CAP_SYS_PTRACE"},
    /* The cause of the refusal is another one, such as a user namespace. */
    {HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, ALL, true,
     "run as root, or add CAP_SYS_PTRACE and CAP_DAC_OVERRIDE"},
};

START_TEST(names_what_is_lacking)
{
    char buffer[HR_REMEDY_SIZE];

    ck_assert_str_eq(hr_capability_remedy_for(remedies[_i].needed, remedies[_i].effective,
                                              remedies[_i].is_root, buffer),
                     remedies[_i].remedy);
}
END_TEST

static const struct {
    unsigned needed;
    uint64_t effective;
    bool held;
} sets[] = {
    {HR_CAP_BPF | HR_CAP_PERFMON, 0, false},
    {HR_CAP_BPF | HR_CAP_PERFMON, BPF, false},
    {HR_CAP_BPF | HR_CAP_PERFMON, PERFMON | SYS_PTRACE, false},
    {HR_CAP_BPF | HR_CAP_PERFMON, BPF | PERFMON, true},
    {HR_CAP_BPF | HR_CAP_PERFMON, SYS_ADMIN, true},
    {HR_CAP_SYS_ADMIN, BPF | PERFMON, false},
};

START_TEST(knows_what_is_held)
{
    ck_assert_int_eq(hr_capability_is_held_in(sets[_i].needed, sets[_i].effective), sets[_i].held);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("capability");

    tcase_add_loop_test(tests, names_what_is_lacking, 0, sizeof(remedies) / sizeof(remedies[0]));
    tcase_add_loop_test(tests, knows_what_is_held, 0, sizeof(sets) / sizeof(sets[0]));
    return run_suite("capability", tests);
}
