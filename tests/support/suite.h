/* SPDX-License-Identifier: MIT */
/*
 * support/suite.h - runs a module's tests and prints the results as TAP, which the makefile's
 * harness counts.
 */
#ifndef HEADROOM_TESTS_SUPPORT_SUITE_H
#define HEADROOM_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Where tests share a process, Check's timeouts don't work: so many seconds after its start the
 * harness takes one for hung. */
#define PATIENCE_S 3600

static inline int run_in(enum fork_status processes, const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);

    suite_add_tcase(suite, tests);
    srunner_set_fork_status(runner, processes);
    srunner_set_tap(runner, "-");
    /* A test that fails ends its process at once: what it has printed must be out by then. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (srunner_fork_status(runner) == CK_NOFORK && getenv("CK_TIMEOUT_MULTIPLIER") != NULL)
        alarm(PATIENCE_S);
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0;
}

/**
 * Runs the test case of one module: each test in a process of its own or, by CK_FORK=no, all in
 * one.
 *
 * @return main's exit status: 0 even if tests fail, as the harness reads the results.
 */
static inline int run_suite(const char *name, TCase *tests)
{
    return run_in(CK_FORK_GETENV, name, tests);
}

/** The same for tests that change what is the process's, for good: each has its own in any case. */
static inline int run_isolated_suite(const char *name, TCase *tests)
{
    return run_in(CK_FORK, name, tests);
}

/** The same for a module that needs the widths of characters, which come from the locale. */
static inline int run_utf8_suite(const char *name, TCase *tests)
{
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        printf("1..0 # SKIP the locale C.UTF-8 is missing\n");
        return 0;
    }
    return run_suite(name, tests);
}

#endif
