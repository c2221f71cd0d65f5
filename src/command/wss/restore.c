/* SPDX-License-Identifier: MIT */
#include "wss/restore.h"

#include <stdio.h>
#include <string.h>

#include "common/output.h"
#include "common/usage.h"
#include "headroom/root.h"
#include "headroom/wss.h"

int wss_restore(const char *title, const char *path)
{
    struct hr_reason reason;
    struct hr_root *root;

    int status = hr_root_open(path, &root);
    if (status < 0) {
        fprintf(stderr, "%s: can't use %s as root directory: %s\n", title, path, strerror(-status));
        return COMMAND_FAILED;
    }
    status = hr_wss_restore(root, &reason);
    hr_root_close(root);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", title, reason.text);
        return COMMAND_FAILED;
    }
    puts(status > 0 ? "Switched DAMON off, which a measurement that was killed had left on."
                    : "Nothing to restore.");
    return output_finish(title, output_flush(stdout));
}
