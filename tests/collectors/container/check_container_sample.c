/* SPDX-License-Identifier: MIT */
/*
 * container/check_container_sample.c - which cgroups the patterns select that
 * contrib/collectd.conf.d/headroom-cgroups.conf has, also those that it has as comments.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup/glob.h"
#include "collectors/container/container_paths.h"
#include "container/place.h"
#include "support/suite.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define ROOTLESS "user.slice/user-1000.slice/user@1000.service/user.slice/"
#define POD      "kubepods-burstable-pod" SYSTEMD ".slice"
#define LIBPOD   "libpod-[0-9a-f][0-9a-f]*"

/* The patterns of the sample: each has a row at least. */
static const struct {
    const char *option, *path;
    const char *pattern; /* the first that selects the path; NULL: none does */
} selected[] = {
    {"Cgroup", "system.slice/ssh.service", "system.slice/*"},
    {"Cgroup", "system.slice/docker-" ID ".scope", "system.slice/*"},
    {"Cgroup", "user.slice/user-1000.slice", "user.slice/*"},
    {"Cgroup", "machine.slice/libpod-" ID ".scope", "machine.slice/*"},
    {"Cgroup", "machine.slice/machine-libpod_pod_" OTHER ".slice", "machine.slice/*"},
    {"Cgroup", "machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope",
     "machine.slice/*/" LIBPOD ".scope"},
    {"Cgroup", "machine.slice/machine-qemu\\x2d1\\x2dweb.scope", "machine.slice/*"},
    {"Cgroup", "qemu.slice/100.scope", "qemu.slice/*"},
    {"Cgroup", "kubepods.slice/kubepods-pod" SYSTEMD ".slice", "kubepods.slice/**"},
    {"Cgroup", QOS POD "/cri-containerd-" ID ".scope", "kubepods.slice/**"},
    {"Cgroup", QOS POD "/crio-" ID ".scope", "kubepods.slice/**"},
    {"Cgroup", "kubepods/besteffort/pod" UID, "kubepods/**"},
    {"Cgroup", "kubepods/burstable/pod" UID "/" ID, "kubepods/**"},
    {"Cgroup", "docker/" ID, "docker/*"},
    {"Cgroup", "libpod_parent/libpod-" ID, "libpod_parent/*"},
    {"Cgroup", "libpod_parent/" OTHER, "libpod_parent/*"},
    {"Cgroup", "libpod_parent/" OTHER "/libpod-" ID, "libpod_parent/*/" LIBPOD},
    {"Cgroup", "lxc/a", "lxc/*"},
    {"Cgroup", "lxc/100", "lxc/*"}, /* Proxmox numbers them */
    {"Cgroup", "lxc.payload.a", "lxc.payload.*"},
    {"Cgroup", ROOTLESS "docker-" ID ".scope", "user.slice/**/docker-*.scope"},
    {"Cgroup", ROOTLESS "libpod-" ID ".scope", "user.slice/**/" LIBPOD ".scope"},
    {"Cgroup", ROOTLESS "libpod-cafe" ID ".scope", "user.slice/**/" LIBPOD ".scope"},
    {"Cgroup", ROOTLESS "user-libpod_pod_" ID ".slice/libpod-" OTHER ".scope",
     "user.slice/**/" LIBPOD ".scope"},
    {"Cgroup", "batch.slice/nightly.service", "batch.slice/*.service"},
    /* what is below a container or beside it, and what only holds others */
    {"Cgroup", "docker/" ID "/init.scope", NULL},
    {"Cgroup", "machine.slice/libpod-" ID ".scope/container", NULL},
    {"Cgroup", ROOTLESS "libpod-" ID ".scope/container", NULL},
    {"Cgroup", ROOTLESS "libpod-conmon-" ID ".scope", NULL},
    {"Cgroup", "machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-conmon-" ID ".scope", NULL},
    {"Cgroup", "machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope/container",
     NULL},
    {"Cgroup", "libpod_parent/" OTHER "/libpod-" ID "/init.scope", NULL},
    {"Cgroup", ROOTLESS "podman.service", NULL},
    {"Cgroup", "lxc/a/ns", NULL},
    {"Cgroup", "lxc.monitor.a", NULL},
    {"Cgroup", "lxc.payload.a/init.scope", NULL},
    {"Cgroup", "system.slice", NULL},
    {"Cgroup", "docker", NULL},
    {"Cgroup", "kubepods", NULL},
    {"Cgroup", "kubepods.slice", NULL},
    {"ExcludeCgroup", "system.slice/dev-hugepages.mount", "system.slice/*.mount"},
    {"ExcludeCgroup", "system.slice/dbus.socket", "system.slice/*.socket"},
    {"ExcludeCgroup", "system.slice/docker-" ID ".scope", NULL},
    {"ExcludeCgroup", "docker/" ID, NULL},
};

/* --- Reading the sample ----------------------------------------------------- */

static struct {
    const char *option; /* of the table above */
    char *pattern;
    struct hr_glob *glob;
} patterns[64];
static int count;

static void add_pattern(const char *option, const char *pattern, size_t length)
{
    const char *reason = "";

    ck_assert_int_lt(count, COUNT(patterns));
    patterns[count].option = option;
    patterns[count].pattern = strndup(pattern, length);
    ck_assert_ptr_nonnull(patterns[count].pattern);
    ck_assert_msg(hr_glob_compile(patterns[count].pattern, &patterns[count].glob, &reason) == 0,
                  "%s: %s", patterns[count].pattern, reason);
    count++;
}

/* The texts in quotes that follow. */
static void add_patterns(const char *option, const char *text)
{
    while (*text == '"') {
        const char *end = strchr(text + 1, '"');
        ck_assert_ptr_nonnull(end);
        add_pattern(option, text + 1, (size_t)(end - text - 1));
        text = end + 1 + strspn(end + 1, " ");
        if (strncmp(text, "\\\n", 2) == 0) /* it goes on in the next line */
            text += 2 + strspn(text + 2, " ");
    }
}

static void read_sample(void)
{
    static const char *const options[] = {"Cgroup \"", "ExcludeCgroup \""};
    const char *directory = getenv("srcdir");
    char path[PATH_MAX];
    char text[16384];

    snprintf(path, sizeof(path), "%s/contrib/collectd.conf.d/headroom-cgroups.conf",
             directory ? directory : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    ck_assert_uint_lt(length, sizeof(text) - 1);
    text[length] = '\0';
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *option = line + (strncmp(line, "# ", 2) == 0 ? 2 : 0);
        for (int i = 0; i < COUNT(options); i++)
            if (strncmp(option, options[i], strlen(options[i])) == 0)
                add_patterns(i == 0 ? "Cgroup" : "ExcludeCgroup", strchr(option, '"'));
    }
}

static void free_sample(void)
{
    while (count > 0) {
        hr_glob_free(patterns[--count].glob);
        free(patterns[count].pattern);
    }
}

/* --- What it selects -------------------------------------------------------- */

static const char *first_pattern(const char *option, const char *path)
{
    for (int i = 0; i < count; i++)
        if (strcmp(patterns[i].option, option) == 0 && hr_glob_match(patterns[i].glob, path))
            return patterns[i].pattern;
    return NULL;
}

START_TEST(selects_paths)
{
    const char *pattern = first_pattern(selected[_i].option, selected[_i].path);

    if (selected[_i].pattern == NULL) {
        ck_assert_msg(pattern == NULL, "%s selects %s", pattern, selected[_i].path);
    } else {
        ck_assert_msg(pattern != NULL, "nothing selects %s", selected[_i].path);
        ck_assert_str_eq(pattern, selected[_i].pattern);
    }
}
END_TEST

/* The outermost container or pod of each path; what is within one has series if a pattern says so.
 */
START_TEST(selects_containers)
{
    const char *path = container_paths[_i].path;
    struct hr_container_place place;
    char outermost[PATH_MAX];
    size_t length = 0;

    do {
        ck_assert_uint_lt(length, strlen(path));
        length += strspn(path + length, "/");
        length += strcspn(path + length, "/");
        snprintf(outermost, sizeof(outermost), "%.*s", (int)length, path);
    } while (!hr_container_find(outermost, &place));
    ck_assert_msg(first_pattern("Cgroup", outermost) != NULL, "nothing selects %s", outermost);
}
END_TEST

START_TEST(has_a_row_for_each_pattern)
{
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        bool is_known = false;
        for (int j = 0; j < COUNT(selected); j++)
            is_known = is_known || (selected[j].pattern != NULL &&
                                    strcmp(selected[j].pattern, patterns[i].pattern) == 0);
        ck_assert_msg(is_known, "%s is not in the table", patterns[i].pattern);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("container_sample");

    tcase_add_checked_fixture(tests, read_sample, free_sample);
    tcase_add_loop_test(tests, selects_paths, 0, COUNT(selected));
    tcase_add_loop_test(tests, selects_containers, 0, CONTAINER_PATH_COUNT);
    tcase_add_test(tests, has_a_row_for_each_pattern);
    return run_suite("container_sample", tests);
}
