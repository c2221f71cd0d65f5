/* SPDX-License-Identifier: MIT */
#include "plugin/psi/live_harness.h"

#include <stdlib.h>

#include "support/suite.h"

struct groups *groups;

static void set_up(void)
{
    groups = groups_new();
    if (groups == NULL)
        ck_abort_msg("needs a cgroup2 hierarchy that can be written to");
    harness_set_up();
}

static void tear_down(void)
{
    harness_tear_down();
    groups_free(groups);
}

TCase *live_new_tests(const char *name)
{
    TCase *tests = tcase_create(name);

    tcase_add_checked_fixture(tests, set_up, tear_down);
    return tests;
}

void live_begin(void)
{
    char options[256];

    snprintf(options, sizeof(options),
             "Resource \"cpu\" \"memory\" \"io\"\n<Cgroup \"%s/*\">\nInstance \"live.%%l\"\n"
             "</Cgroup>",
             groups_path(groups));
    harness_begin_live(options);
}

static bool can_run(void)
{
    struct groups *tried = groups_new();

    if (tried == NULL)
        return getenv("HEADROOM_REQUIRE_ALL") != NULL;
    groups_free(tried);
    return true;
}

int live_run(const char *name, TCase *tests)
{
    if (!can_run()) {
        puts("1..0 # SKIP no cgroup2 hierarchy that can be written to");
        return 0;
    }
    return run_suite(name, tests);
}
