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

/**
 * Runs the test case of one module.
 *
 * @return main's exit status: 0 even if tests fail, as the harness reads the results.
 */
static inline int run_suite(const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);

    suite_add_tcase(suite, tests);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0;
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
