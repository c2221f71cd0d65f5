/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_plugin_osnoise_lasting.c - alarms of the plugin osnoise in the stand-in daemon,
 * over a restart.
 */
#include "plugin/osnoise/life_harness.h"

#include "headroom/clock.h"
#include "headroom/state_file.h"
#include "support/frozen_clock.h"
#include "support/suite.h"

#define ALARMS STATE ".alarms"
#define ALERT  "<Alert>\nMaxSingle 0.002\n</Alert>"

static bool is_left_open(const char *line)
{
    char path[PATH_MAX], content[1024];

    snprintf(path, sizeof(path), "%s/" ALARMS, tree_path(tree));
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s", path);
    content[fread(content, 1, sizeof(content) - 1, stream)] = '\0';
    fclose(stream);
    return strstr(content, line) != NULL;
}

START_TEST(goes_on_with_an_alarm_of_the_run_before)
{
    for (int run = 0; run < 3; run++) {
        harness_begin(WORKLOAD ALERT);
        await_run(getpid());
        add_recorded_page();
        if (run == 0)
            await_notification();
        await_value("osnoise-cpu1/derive-runtime_us");
        ck_assert_int_eq(fake_shutdown(), 0);
        ck_assert_uint_eq(fake_notifications(), run == 0);
        ck_assert(is_left_open("1\topen\tcpu1\n"));
        start_again();
    }
}
END_TEST

/* Neither is anything measured, nor does the clock go on. */
START_TEST(ends_an_alarm_without_cpus)
{
    char text[PATH_MAX + 128], boot_id[HR_BOOT_ID_LENGTH + 1];

    ck_assert_int_eq(hr_boot_id_read(boot_id), 0);
    tree_write(tree, ALARMS, "headroom's open alarms of noise 1\nboot %s\n1\topen\tcpu1\nend\n",
               boot_id);
    frozen_ns = 1000 * HR_NS_PER_S;
    snprintf(text, sizeof(text), "<Plugin osnoise>\nRoot \"%s\"\n%s\n</Plugin>\n", tree_path(tree),
             _i == 0 ? "" : ALERT);
    ck_assert_int_eq(fake_configure(text), 0);
    ck_assert_int_eq(fake_init(), 0);
    frozen_ns += 29 * HR_NS_PER_S;
    harness_read();
    frozen_ns += HR_NS_PER_S;
    harness_read();
    ck_assert_uint_eq(fake_notifications(), 0); /* an end is held back for a second */
    for (int i = 0; fake_notifications() == 0 && i < 1000; i++) {
        frozen_ns += HR_NS_PER_S;
        harness_sleep(50);
    }
    ck_assert_uint_eq(fake_notifications(), 1);
    ck_assert_str_eq(fake_notification(0)->message,
                     _i == 0 ? "max_single: no longer watched: <Alert> is no longer configured"
                             : "max_single: no longer watched: it is no longer measured");
    for (int i = 0; is_left_open("cpu1") && i < 1000; i++) {
        harness_read();
        harness_sleep(20);
    }
    ck_assert(!is_left_open("cpu1"));
    harness_assert_count("*", 0);
    harness_assert_logs(1, "the workload isn't started");
    frozen_ns = 0;
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("lasting");

    tcase_set_timeout(tests, 90);
    add_life_fixture(tests);
    tcase_add_test(tests, goes_on_with_an_alarm_of_the_run_before);
    tcase_add_loop_test(tests, ends_an_alarm_without_cpus, 0, 2);
    return run_suite("osnoise lasting", tests);
}
