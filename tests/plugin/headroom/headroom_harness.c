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
