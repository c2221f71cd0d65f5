/* SPDX-License-Identifier: MIT */
/*
 * osnoise/config.h - the configuration of the plugin osnoise, checked as it is read.
 */
#ifndef HEADROOM_PLUGIN_OSNOISE_CONFIG_H
#define HEADROOM_PLUGIN_OSNOISE_CONFIG_H

#include "osnoise/notification.h"

/** Initially all zeros. */
struct osnoise_config {
    bool has_defaults;             /**< the defaults are set */
    struct hr_osnoise_options run; /**< of the collector; state_path is NULL unless configured */
    bool has_top;
    size_t top; /**< Sources */
    bool has_alert;
    struct osnoise_rule rule;
    char *state_path, *root; /**< NULL: not configured */
};

/** Reads a block <Plugin osnoise>, in addition to previous ones, and checks the whole. Errors are
 * logged. @return 0 or -1. */
int osnoise_config_read(struct osnoise_config *config, const oconfig_item_t *block);

/** Whether the mode has a workload, but there is no CPU for it. */
bool osnoise_config_is_idle(const struct osnoise_config *config);

void osnoise_config_end(struct osnoise_config *config);

#endif
