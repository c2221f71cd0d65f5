/* SPDX-License-Identifier: MIT */
#include "plugin/common/published.h"

#include <check.h>
#include <string.h>

#include "support/plugin_harness.h"

size_t count_of(const char *instance)
{
    size_t all, count = 0;
    const struct fake_value *values = fake_values(&all);

    for (size_t i = 0; i < all; i++)
        count += strcmp(values[i].instance, instance) == 0;
    return count;
}

void assert_instance(const char *instance, size_t count)
{
    ck_assert_msg(count_of(instance) == count, "%zu values of %s instead of %zu",
                  count_of(instance), instance, count);
}

const char *only_instance(void)
{
    size_t count;
    const struct fake_value *values = fake_values(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].instance, "system") != 0)
            return values[i].instance;
    ck_abort_msg("no group was published");
}

void add_groups(const char *prefix, int count)
{
    char name[32];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s%04d", prefix, i);
        tree_add_group(tree, name, true);
    }
}
