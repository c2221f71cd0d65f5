/* SPDX-License-Identifier: MIT */
#include "common/container_names.h"

#include <errno.h>

#include "common/log.h"
#include "common/options.h"
#include "headroom/utf8.h"
#include "utils/common/common.h"

void container_names_init(struct container_names *names)
{
    *names = (struct container_names){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void container_names_destroy(struct container_names *names)
{
    hr_container_names_close(names->names);
    pthread_mutex_destroy(&names->lock);
}

int container_names_option(struct container_names *names, const char *plugin,
                           const oconfig_item_t *item)
{
    bool chosen[HR_CONTAINER_RUNTIME_COUNT] = {false};
    struct hr_container_names *opened = NULL;

    if (option_words(plugin, item, chosen) < 0)
        return -1;
    for (int i = 0; i < HR_CONTAINER_RUNTIME_COUNT; i++)
        if (chosen[i])
            names->runtimes |= 1U << i;
    if (hr_container_names_open(NULL, names->runtimes, &opened) == -EOPNOTSUPP) {
        WARNING("%s: NameFrom has no effect, as headroom was built without libjansson: cgroups are "
                "named by their paths. Install libjansson's development files, and build it again.",
                plugin);
        names->runtimes = 0;
        return 0;
    }
    hr_container_names_close(opened);
    return 0;
}

static const char *remedy(int status, char *buffer, size_t size)
{
    return status == -EBADMSG
               ? "it isn't in a format that is known: report that, with the runtime's version"
               : complaint_read_remedy(status, buffer, size);
}

static void report_status(struct container_names *names, const char *plugin, int status,
                          const char *failed)
{
    char path[256], reason[256];

    if (status == 0 || status == -ENOENT || status == -ENOMEM)
        return;
    sstrncpy(path, failed, sizeof(path));
    hr_utf8_make_safe(path);
    /* Not resolved by the next name that can be read: another file may have that. */
    complaint_log(&names->unreadable, LOG_WARNING, status,
                  "%s: the names of some containers can't be read, so their cgroups keep the names "
                  "of their paths; containers that are made once it is mended have theirs: %s: %s.",
                  plugin, path, remedy(status, reason, sizeof(reason)));
}

char *container_names_find(struct container_names *names, const char *plugin,
                           const struct hr_root *root, const char *path)
{
    const char *failed = "";
    char *name = NULL;
    int status = -ENOENT;

    pthread_mutex_lock(&names->lock);
    if (names->names == NULL && names->runtimes != 0)
        status = hr_container_names_open(root, names->runtimes, &names->names);
    if (names->names != NULL) {
        status = hr_container_name(names->names, path, &name, &failed);
        report_status(names, plugin, status, failed);
    }
    pthread_mutex_unlock(&names->lock);
    return status == 0 ? name : NULL;
}
