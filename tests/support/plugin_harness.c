/* SPDX-License-Identifier: MIT */
#include "support/plugin_harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "support/safe_text.h"

/* The plugin keeps descriptors up to three quarters of the limit. */
#define SHORT_LIMIT 64
#define SHORT_KEPT  (SHORT_LIMIT / 4 * 3)

struct tree *tree;

static size_t descriptors_before;
static int occupied[SHORT_LIMIT];
static size_t occupied_count;

static size_t count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    size_t count = 0;

    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

void harness_set_up(void)
{
    tree = tree_new();
    descriptors_before = count_descriptors();
    fake_start(harness_plugin);
    fake_set_base_dir(tree_path(tree));
}

/* "warning: psi: …." */
static void assert_line(const char *line)
{
    const char *message = strstr(line, ": ") + 2;
    size_t length = strlen(line), named = strlen(harness_plugin);

    ck_assert_msg(strncmp(message, harness_plugin, named) == 0 &&
                      strncmp(message + named, ": ", 2) == 0,
                  "whose line is this: %s", line);
    ck_assert_msg(line[length - 1] == '.' && line[length - 2] != '.', "not a sentence: %s", line);
    ck_assert_msg(is_safe_text(line), "not safe to show, or more than a line: %s", line);
}

/* Lines are checked when they are forgotten, so that none is missed. */
static void forget_logs(void)
{
    for (size_t i = 0; fake_log(i) != NULL; i++)
        assert_line(fake_log(i));
    fake_forget_logs();
}

static void assert_safe(const char *text)
{
    ck_assert_msg(is_safe_text(text), "not safe to show: %s", text);
}

static void assert_safe_notification(const notification_t *notice)
{
    assert_safe(notice->message);
    assert_safe(notice->plugin_instance);
    assert_safe(notice->type_instance);
    for (const notification_meta_t *meta = notice->meta; meta != NULL; meta = meta->next)
        if (meta->type == NM_TYPE_STRING)
            assert_safe(meta->nm_value.nm_string);
}

void harness_tear_down(void)
{
    for (size_t i = 0; fake_notification(i) != NULL; i++)
        assert_safe_notification(fake_notification(i));
    ck_assert_int_eq(fake_shutdown(), 0);
    harness_release_descriptors();
    ck_assert_uint_eq(count_descriptors(), descriptors_before);
    ck_assert_uint_eq(fake_rejections(), 0);
    ck_assert_uint_eq(fake_truncations(), 0);
    forget_logs();
    fake_stop();
    tree_free(tree);
}

void harness_begin(const char *options)
{
    char *text;

    ck_assert_int_gt(asprintf(&text, "<Plugin %s>\nRoot \"%s\"\n%s\n</Plugin>\n", harness_plugin,
                              tree_path(tree), options),
                     0);
    ck_assert_int_eq(fake_configure(text), 0);
    free(text);
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 1);
}

void harness_begin_live(const char *options)
{
    char *text;

    ck_assert_int_gt(asprintf(&text, "<Plugin %s>\n%s\n</Plugin>\n", harness_plugin, options), 0);
    ck_assert_int_eq(fake_configure(text), 0);
    free(text);
    ck_assert_int_eq(fake_init(), 0);
}

void harness_read(void)
{
    ck_assert_int_eq(fake_read(), 0);
}

void harness_sleep(unsigned milliseconds)
{
    usleep(milliseconds * 1000);
}

double harness_number(const char *identifier)
{
    const struct fake_value *value = fake_find(identifier);

    ck_assert_msg(value != NULL, "%s wasn't published", identifier);
    return value->number;
}

void harness_assert_logs(size_t count, const char *containing)
{
    const char *first = fake_log(0);

    ck_assert_msg(fake_logs(0, NULL) == count, "%zu lines instead of %zu: %s …", fake_logs(0, NULL),
                  count, first != NULL ? first : "");
    ck_assert_msg(fake_logs(0, containing) == count, "no \"%s\" in: %s", containing, first);
    forget_logs();
}

void harness_run_short_of_descriptors(void)
{
    struct rlimit limit;
    int fd;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max = SHORT_LIMIT; /* for good: the plugin would raise it */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) < SHORT_KEPT) {
        ck_assert_int_ge(fd, 0);
        occupied[occupied_count++] = fd;
    }
    close(fd);
}

void harness_release_descriptors(void)
{
    while (occupied_count > 0)
        close(occupied[--occupied_count]);
}

void harness_assert_exports_one_symbol(void)
{
    const char *directory = getenv("HEADROOM_PLUGIN_DIR");
    char command[512], line[256];
    size_t count = 0;

    snprintf(command, sizeof(command), "nm -D --defined-only '%s/%s.so'",
             directory != NULL ? directory : ".", harness_plugin);
    FILE *symbols = popen(command, "r");
    ck_assert_ptr_nonnull(symbols);
    while (fgets(line, sizeof(line), symbols) != NULL) {
        ck_assert_msg(strstr(line, " T module_register\n") != NULL, "exported: %s", line);
        count++;
    }
    ck_assert_int_eq(pclose(symbols), 0);
    ck_assert_uint_eq(count, 1);
}

const notification_meta_t *harness_find_meta(const notification_t *notice, const char *name)
{
    const notification_meta_t *meta = notice->meta;

    while (meta != NULL && strcmp(meta->name, name) != 0)
        meta = meta->next;
    return meta;
}
