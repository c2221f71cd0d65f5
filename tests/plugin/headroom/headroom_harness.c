/* SPDX-License-Identifier: MIT */
#include "plugin/headroom/headroom_harness.h"

const char *const harness_plugin = "headroom";

void headroom_set_up(void)
{
    frozen_ns = BEGUN_NS;
    harness_set_up();
    room_tree_machine(tree, 0, 0, 0);
    tree_write(tree, "proc/vmstat", "oom_kill 7\n");
    room_tree_add_group(tree, "a");
    room_tree_cpu(tree, "a", 1, 0, 0, 0);
}

void headroom_tear_down(void)
{
    harness_tear_down();
    frozen_ns = 0;
}

void headroom_pass(unsigned seconds)
{
    frozen_ns += seconds * HR_NS_PER_S;
    harness_read();
}

void headroom_use_memory(unsigned mib, unsigned intervals)
{
    room_tree_memory(tree, "a", mib, 0);
    for (unsigned i = 0; i < intervals; i++)
        headroom_pass(10);
}

size_t headroom_count_notices(int severity)
{
    size_t count = 0;

    for (size_t i = 0; i < fake_notifications(); i++)
        count += fake_notification(i)->severity == severity;
    return count;
}

const notification_t *headroom_await_notice(int severity, size_t number)
{
    for (int i = 0; i < 1000 && headroom_count_notices(severity) < number; i++) {
        frozen_ns += (i % 20 == 19) * HR_NS_PER_S; /* its clock goes on */
        harness_sleep(50);
    }
    for (size_t i = 0; i < fake_notifications(); i++)
        if (fake_notification(i)->severity == severity && --number == 0)
            return fake_notification(i);
    ck_abort_msg("no notification of severity %d", severity);
    return NULL;
}

void headroom_assert_says(const notification_t *notice, const char *text)
{
    if (strstr(notice->message, text) == NULL)
        ck_abort_msg("\"%s\" isn't in \"%s\"", text, notice->message);
}
