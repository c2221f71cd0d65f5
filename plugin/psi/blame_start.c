/* SPDX-License-Identifier: MIT */
/*
 * psi/blame_start.c - the option Blame: whether who took the CPU is measured at all.
 */
#include "common/log.h"
#include "common/options.h"
#include "psi/blame.h"

#define PLUGIN "psi"

int psi_blame_option(struct psi_blame_options *options, const oconfig_item_t *item)
{
    int mode;

    if (option_word(PLUGIN, item, &mode) < 0)
        return -1;
    *options = (struct psi_blame_options){.mode = mode, .is_given = true};
    return 0;
}

/* A warning only where the option asks for it: by default it is measured where that is possible. */
void psi_blame_log_unavailable(const struct psi_blame_options *options, const char *reason)
{
    if (options->is_given)
        WARNING(PLUGIN ": who takes the CPU can't be measured: %s.", reason);
    else
        INFO(PLUGIN ": alerts don't name who takes the CPU (Blame \"off\" silences this): %s.",
             reason);
}

static bool has_cpu_rule(const struct psi_rule *rules, size_t count, bool of_system)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].trigger.resource == HR_PSI_CPU && rules[i].of_system == of_system)
            return true;
    return false;
}

struct psi_blame *psi_blame_start(const struct hr_root *root,
                                  const struct psi_blame_options *options,
                                  const struct psi_rule *rules, size_t rule_count,
                                  size_t max_groups)
{
    const bool of_system = has_cpu_rule(rules, rule_count, true);

    if (options->mode == PSI_BLAME_OFF)
        return NULL;
    if (options->mode == PSI_BLAME_ALERT && !of_system && !has_cpu_rule(rules, rule_count, false))
        return NULL;
    return psi_blame_open(root, options, max_groups, of_system);
}
