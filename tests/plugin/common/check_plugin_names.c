/* SPDX-License-Identifier: MIT */
/*
 * plugin/common/check_plugin_names.c - under which names a plugin publishes groups; tried with psi.
 */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/plugin_harness.h"

#include "plugin/common/published.h"
#include "support/safe_text.h"
#include "support/suite.h"

const char *const harness_plugin = "psi";

#define POD "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice"

static const struct {
    const char *pattern;
    const char *template; /* NULL: no Instance */
    const char *group;
    const char *instance;
} named[] = {
    {"a/b.service", NULL, "a/b.service", "a_b.service"},
    {"a/b.service", "%0", "a/b.service", "a_b.service"},
    {"a/b.service", "%l", "a/b.service", "b.service"},
    {"a", "%l", "a", "a"},
    {"*/*.service", "%1-%2", "a/b.service", "a-b"},
    {"*/*.service", "%2.%1.%2", "a/b.service", "b.a.b"},
    {"kubepods.slice/**/kubepods-*-pod*.slice", "%1:%2:%3", POD,
     "kubepods-burstable.slice:burstable:1"},
    {"kubepods.slice/**/*-pod?.slice", "pod-%3", POD, "pod-1"},
    {"a**", "%1", "a/b/c", "_b_c"},
    {"*", "100%%", "a", "100%"},
    {"*", "%%1", "a", "%1"},
    {"*", "web", "a", "web"},
    {"a*", "%1", "a", "a"},        /* nothing is left of it: the path */
    {"**/a*", "%1%2", "x/a", "x"}, /* one of two is empty */
    {"**/a*", "%1%2", "a", "a"},   /* both are */
    {"*", NULL, "tab\there", "tab_here"},
    {"*", NULL, "del\x7fhere", "del_here"},
    {"*", NULL, "a b.c-d:e@f", "a b.c-d:e@f"},
    {"user-1\\\\x2d*", NULL, "user-1\\x2dfoo", "user-1\\x2dfoo"},
    {"user-1\\\\x2d*", "%1", "user-1\\x2dfoo", "foo"},
    {"gr\xc3\xbc*", "%1\xc3\xbc", "gr\xc3\xbc\xc3\x9f", "\xc3\x9f\xc3\xbc"},
};

START_TEST(names_groups)
{
    char options[512];

    if (named[_i].template != NULL)
        snprintf(options, sizeof(options), "<Cgroup \"%s\">\nInstance \"%s\"\n</Cgroup>",
                 named[_i].pattern, named[_i].template);
    else
        snprintf(options, sizeof(options), "Cgroup \"%s\"", named[_i].pattern);
    tree_add_group(tree, named[_i].group, true);
    harness_begin(options);
    harness_read();
    assert_instance(named[_i].instance, FIRST);
    harness_read();
    assert_instance(named[_i].instance, LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(names_groups_by_the_first_pattern_that_selects_them)
{
    tree_add_group(tree, "a.service", true);
    tree_add_group(tree, "b.service", true);
    harness_begin("<Cgroup \"a*\">\nInstance \"first%1\"\n</Cgroup>\n"
                  "<Cgroup \"*.service\">\nInstance \"second-%1\"\n</Cgroup>\nCgroup \"*\"");
    harness_read();
    assert_instance("first.service", FIRST);
    assert_instance("second-b", FIRST);
    harness_assert_count("*", 5 + 2 * FIRST);
}
END_TEST

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LONG_HEAD                                                                                  \
    "kubepods.slice/kubepods-burstable.slice/"                                                     \
    "kubepods-burstable-pod6aaa9ae7_e1b0_4a64_8d70_3c52c7a1d1b1.slice/"
#define LONG_HEAD_NAMED "kubepods.slice_kubepods-burstable.slice_kubepods-burstable-pod6aaa9ae7"
#define LONG_LEAF       "cri-containerd-" ID ".scope"

/* Where "~" and 8 hexadecimal digits begin; asserts that they are there. */
static const char *find_mark(const char *instance)
{
    const char *mark = strchr(instance, '~');

    ck_assert_msg(mark != NULL, "no ~ in %s", instance);
    ck_assert_uint_ge(strspn(mark + 1, "0123456789abcdef"), 8);
    return mark;
}

START_TEST(shortens_long_names)
{
    char first[DATA_MAX_NAME_LEN];

    tree_add_group(tree, LONG_HEAD LONG_LEAF, true);
    harness_begin("Cgroup \"kubepods.slice/**/cri-containerd-*.scope\"");
    harness_read();
    const char *instance = only_instance();
    const char *mark = find_mark(instance);
    ck_assert_uint_ge(strlen(LONG_HEAD LONG_LEAF), 180);
    ck_assert_uint_eq(strlen(instance), DATA_MAX_NAME_LEN - 1); /* no more, and no less */
    ck_assert_int_ge(mark - instance, 16);
    ck_assert_int_eq(strncmp(instance, LONG_HEAD_NAMED, (size_t)(mark - instance)), 0);
    ck_assert_str_eq(mark + 9, "_" LONG_LEAF);
    assert_instance(instance, FIRST);

    snprintf(first, sizeof(first), "%s", instance);
    tree_remove_group(tree, "kubepods.slice");
    harness_read();
    tree_add_group(tree, LONG_HEAD LONG_LEAF, true);
    harness_read();
    assert_instance(first, FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Two names with the same head and last component differ by the hash of the path. */
START_TEST(distinguishes_long_names)
{
    tree_add_group(tree, LONG_HEAD "one.slice/" LONG_LEAF, true);
    tree_add_group(tree, LONG_HEAD "two.slice/" LONG_LEAF, true);
    harness_begin("Cgroup \"**/cri-containerd-*\"");
    harness_read();
    harness_assert_count("psi-kubepods*/total_time_in_ms-io-some", 2);
    harness_assert_count("psi-kubepods*", 2 * FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

static const struct {
    size_t length;
    bool shortened;
} lengths[] = {{126, false}, {127, false}, {128, true}, {129, true}, {255, true}};

START_TEST(shortens_no_more_than_needed)
{
    char name[256];

    memset(name, 'x', sizeof(name));
    name[lengths[_i].length] = '\0';
    tree_add_group(tree, name, true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    if (lengths[_i].shortened) {
        ck_assert_uint_le(strlen(only_instance()), DATA_MAX_NAME_LEN - 1);
        find_mark(only_instance());
    } else {
        ck_assert_str_eq(only_instance(), name);
    }
    assert_instance(only_instance(), FIRST);
}
END_TEST

/* Characters of 2, 3 and 4 bytes, pushed along so that each cut falls anywhere in one. */
static const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\xa7"};

START_TEST(keeps_characters_whole)
{
    const char *character = characters[_i / 4];
    char name[512];
    size_t length = (size_t)snprintf(name, sizeof(name), "%.*s", _i % 4, "xxx");

    while (length < 80)
        length += (size_t)snprintf(name + length, sizeof(name) - length, "%s", character);
    length += (size_t)snprintf(name + length, sizeof(name) - length, "/");
    for (size_t begin = length; length < begin + 200;)
        length += (size_t)snprintf(name + length, sizeof(name) - length, "%s", character);
    tree_add_group(tree, name, true);
    harness_begin("Cgroup \"*/*\"");
    harness_read();
    const char *instance = only_instance();
    ck_assert_uint_le(strlen(instance), DATA_MAX_NAME_LEN - 1);
    ck_assert_uint_ge(strlen(instance), DATA_MAX_NAME_LEN - 1 - 6);
    find_mark(instance);
    assert_instance(instance, FIRST);
}
END_TEST

/* Names that anybody may give to a group, and what the series is named. */
static const struct {
    const char *group, *instance;
} unsafe[] = {
    {"a\x1b[2Jb", "a_[2Jb"},
    {"a\rb\x7f", "a_b_"},
    {"a\xc2\x9b"
     "31mb",
     "a__31mb"}, /* C1 */
    {"a\xe2\x80\xae"
     "b\xe2\x81\xa6",
     "a___b___"}, /* an override, an isolate */
    {"a\xe2\x80\xa8"
     "b",
     "a___b"},                 /* a line separator */
    {"a\x9b\xff\xc3", "a___"}, /* no UTF-8 */
    {"a\xed\xa0\x80", "a___"}, /* a surrogate */
    /* These are fine, and stay what they are. */
    {"user@1\\x2d2.service", "user@1\\x2d2.service"},
    {"caf\xc3\xa9 \xf0\x9f\x90\xa7", "caf\xc3\xa9 \xf0\x9f\x90\xa7"},
    {"?*[]{}'\"%s$`&<>|;:", "?*[]{}'\"%s$`&<>|;:"},
};

START_TEST(makes_names_safe)
{
    tree_add_group(tree, unsafe[_i].group, true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    assert_instance(unsafe[_i].instance, FIRST);
    harness_assert_count("psi-*", 2 * FIRST - 1); /* the system's, too, without cpu full */
    harness_assert_logs(0, NULL);
}
END_TEST

/* Its pressure can't be read, and the path is in the line. */
START_TEST(logs_names_made_safe)
{
    char options[64];

    tree_add_group(tree, unsafe[_i].group, true);
    snprintf(options, sizeof(options), "Cgroup \"*\"\nResource \"io\"");
    tree_remove_pressure(tree, unsafe[_i].group, "io");
    harness_begin(options);
    harness_read();
    harness_assert_logs(1, "io pressure of cgroup ");
}
END_TEST

/* Whatever the bytes: a long name is shortened to one that is safe. */
START_TEST(shortens_any_bytes)
{
    char name[256];

    memset(name, _i, sizeof(name));
    memcpy(name, "\xe2\x80", 2);
    name[sizeof(name) - 1] = '\0';
    tree_add_group(tree, name, true);
    harness_begin("Cgroup \"*\"");
    harness_read();
    find_mark(only_instance());
    assert_instance(only_instance(), FIRST);
}
END_TEST

/* Two groups that would get one name; which of them comes first is left open. */
static const struct {
    const char *one, *other;
    const char *options;
    const char *name;
} alike[] = {
    {"a/b", "a_b", "Cgroup \"a_b\" \"a/b\"", "a_b"},
    {"x/svc", "y/svc", "<Cgroup \"*/svc\">\nInstance \"%l\"\n</Cgroup>", "svc"},
    {"a\x1b", "a\x9b", "Cgroup \"a*\"", "a_"},
    {"p", "q", "<Cgroup \"[pq]\">\nInstance \"same\"\n</Cgroup>", "same"},
};

START_TEST(distinguishes_two_of_one_name)
{
    char pattern[64];
    const char *plain = alike[_i].name;

    tree_add_group(tree, alike[_i].one, true);
    tree_add_group(tree, alike[_i].other, true);
    harness_begin(alike[_i].options);
    harness_read();
    assert_instance(plain, FIRST);
    snprintf(pattern, sizeof(pattern), "psi-%s~*/*", plain);
    harness_assert_count(pattern, FIRST);
    if (is_safe_text(alike[_i].one))
        ck_assert_uint_eq(fake_logs(LOG_WARNING, alike[_i].one), 1);
    if (is_safe_text(alike[_i].other))
        ck_assert_uint_eq(fake_logs(LOG_WARNING, alike[_i].other), 1);
    harness_assert_logs(1, plain);
    harness_read();
    assert_instance(plain, LATER);
    harness_assert_count(pattern, LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A template that gives many groups one name: a line for each would flood the log. */
START_TEST(reports_many_of_one_name_now_and_then)
{
    add_groups("g", 100);
    harness_begin("System false\nResource \"io\"\n<Cgroup \"g*\">\nInstance \"web\"\n</Cgroup>");
    harness_read();
    harness_assert_count("psi-web*/total_time_in_ms-io-some", 100);
    harness_assert_logs(7, "web is the name of g0000"); /* the 1st, 2nd, 4th … 64th of 99 */
}
END_TEST

START_TEST(frees_the_names_of_groups_that_went)
{
    tree_add_group(tree, "x/svc", true);
    harness_begin("<Cgroup \"*/svc\">\nInstance \"%l\"\n</Cgroup>");
    harness_read();
    assert_instance("svc", FIRST);
    tree_remove_group(tree, "x");
    harness_read();
    tree_add_group(tree, "y/svc", true);
    harness_read();
    assert_instance("svc", FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

/* A group may be called as the system is. */
START_TEST(keeps_the_name_of_the_system)
{
    tree_add_group(tree, "system", true);
    tree_add_group(tree, "other", true);
    tree_pressure(tree, "system", "io", 77000, 66000);
    harness_begin(_i == 0 ? "Cgroup \"system\""
                          : "<Cgroup \"system\">\nInstance \"%l\"\n</Cgroup>");
    harness_read();
    assert_instance("system", 5);
    ck_assert_double_eq(harness_number("psi-system/total_time_in_ms-io-some"), 0);
    harness_assert_count("psi-system~*/*", FIRST);
    harness_assert_logs(1, "system as a whole");
}
END_TEST

/* --- Names of containers --------------------------------------------------- */

#define OTHER_ID "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define DOCKER   "var/lib/docker/containers/" ID "/config.v2.json"
#define PODMAN   "machine.slice/libpod-" OTHER_ID ".scope"
#define UNKNOWN  "docker/" OTHER_ID

static const struct {
    const char *options, *group, *name, *instance;
} contained[] = {
    {"NameFrom \"docker\"\nCgroup \"docker/*\"", "docker/" ID, "/web", "web"},
    {"NameFrom \"kubernetes\"\nNameFrom \"Docker\"\nCgroup \"docker/*\"", "docker/" ID, "/web",
     "web"},
    {"NameFrom \"podman\"\nCgroup \"docker/*\"", "docker/" ID, "/web", "docker_" ID},
    {"Cgroup \"docker/*\"", "docker/" ID, "/web", "docker_" ID},
    {"NameFrom \"docker\"\nCgroup \"docker/*\"", UNKNOWN, "/web", "docker_" OTHER_ID},
    {"NameFrom \"docker\"\n<Cgroup \"docker/*\">\nInstance \"container-%n\"\n</Cgroup>",
     "docker/" ID, "/web", "container-web"},
    {"NameFrom \"docker\"\n<Cgroup \"docker/*\">\nInstance \"%0\"\n</Cgroup>", "docker/" ID, "/web",
     "docker_" ID},
    {"<Cgroup \"*\">\nInstance \"x-%n\"\n</Cgroup>", "a.service", "/web", "x-a.service"},
    {"NameFrom \"docker\"\nCgroup \"docker/**\"", "docker/" ID "/init.scope", "/web",
     "web_init.scope"},
    {"NameFrom \"docker\"\nCgroup \"docker/*\"", "docker/" ID, "/a/b\\u0007\\u202e", "a_b____"},
};

START_TEST(names_containers)
{
    tree_write(tree, DOCKER, "{\"Name\":\"%s\"}", contained[_i].name);
    tree_add_group(tree, contained[_i].group, false);
    tree_set_populated(tree, contained[_i].group, true);
    harness_begin(contained[_i].options);
    harness_read();
    harness_assert_logs(0, NULL);
    assert_instance(contained[_i].instance, FIRST);
}
END_TEST

/* The series go on with the next container of that name. */
START_TEST(keeps_the_name_of_a_container_that_is_made_again)
{
    const char *const groups[] = {"docker/" ID, UNKNOWN};

    tree_write(tree, DOCKER, "{\"Name\":\"/web\"}");
    tree_add_group(tree, groups[0], true);
    harness_begin("NameFrom \"docker\"\nCgroup \"docker/*\"");
    harness_read();
    assert_instance("web", FIRST);
    tree_remove_group(tree, groups[0]);
    tree_remove(tree, DOCKER);
    harness_read();
    tree_write(tree, "var/lib/docker/containers/" OTHER_ID "/config.v2.json",
               "{\"Name\":\"/web\"}");
    tree_add_group(tree, groups[1], true);
    harness_read();
    assert_instance("web", FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

/* Two runtimes may have one name; which of the containers comes first is left open. */
START_TEST(distinguishes_containers_of_one_name)
{
    tree_write(tree, DOCKER, "{\"Name\":\"/web\"}");
    tree_write(tree, "var/lib/containers/storage/overlay-containers/containers.json",
               "[{\"id\":\"" OTHER_ID "\",\"names\":[\"web\"]}]");
    tree_add_group(tree, "docker/" ID, true);
    tree_add_group(tree, PODMAN, true);
    harness_begin("NameFrom \"docker\" \"podman\"\nCgroup \"docker/*\" \"machine.slice/*\"");
    harness_read();
    assert_instance("web", FIRST);
    harness_assert_count("psi-web~*/total_time_in_ms-io-some", 1);
    harness_assert_count("psi-web~*/*", FIRST);
    harness_assert_count("psi-web*/*", 2 * FIRST);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "docker/" ID), 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, PODMAN), 1);
    harness_assert_logs(1, "web is the name of ");
    harness_read();
    assert_instance("web", LATER);
    harness_assert_count("psi-web~*/*", LATER);
    harness_assert_logs(0, NULL);
}
END_TEST

/* @return the file's text, for free(); NULL: there is none. */
static char *read_list(void)
{
    char path[PATH_MAX], text[1024];

    snprintf(path, sizeof(path), "%s/headroom-psi.names", tree_path(tree));
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return strdup(text);
}

/* A thread writes it. */
static void assert_list_becomes(const char *expected)
{
    char *text = NULL;

    for (int i = 0; i < 10000 && (text == NULL || strcmp(text, expected) != 0); i++) {
        free(text);
        usleep(1000);
        text = read_list();
    }
    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(lists_the_paths_of_names_that_dont_tell_them)
{
    struct stat stat_of;
    char path[PATH_MAX];

    tree_write(tree, DOCKER, "{\"Name\":\"/web\"}");
    tree_add_group(tree, "docker/" ID, true);
    tree_add_group(tree, "docker/a", true);
    harness_begin("NameFrom \"docker\"\nCgroup \"docker/*\"");
    harness_read();
    assert_list_becomes("web\tdocker/" ID "\n");
    snprintf(path, sizeof(path), "%s/headroom-psi.names", tree_path(tree));
    ck_assert_int_eq(stat(path, &stat_of), 0);
    ck_assert_uint_eq(stat_of.st_mode & 0777, 0644);
    tree_remove_group(tree, "docker/" ID);
    harness_read();
    assert_list_becomes("");
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(lists_nothing_where_instances_are_paths)
{
    tree_add_group(tree, "docker/tab\there_and.there", true);
    harness_begin("NameFrom \"docker\"\nCgroup \"docker/*\"");
    harness_read();
    harness_read();
    usleep(10000); /* for a thread that there shouldn't be */
    ck_assert_ptr_null(read_list());
}
END_TEST

START_TEST(lists_the_paths_of_shortened_names)
{
    char expected[512];

    tree_add_group(tree, LONG_HEAD "cri-containerd-" ID ".scope", true);
    harness_begin("Cgroup \"**/cri-*\"");
    harness_read();
    snprintf(expected, sizeof(expected), "%s\t%s\n", only_instance(),
             LONG_HEAD "cri-containerd-" ID ".scope");
    assert_list_becomes(expected);
}
END_TEST

START_TEST(reports_once_that_the_list_cant_be_written)
{
    tree_write(tree, DOCKER, "{\"Name\":\"/web\"}");
    tree_add_group(tree, "docker/" ID, true);
    tree_write(tree, "headroom-psi.names/in/it", "text");
    harness_begin("NameFrom \"docker\"\nCgroup \"docker/*\"");
    harness_read();
    for (int i = 0; i < 10000 && fake_logs(0, NULL) == 0; i++)
        usleep(1000);
    harness_assert_logs(1, "the paths of cgroups by their names can't be saved to ");
}
END_TEST

START_TEST(reports_once_that_names_cant_be_read)
{
    tree_write(tree, DOCKER, "{");
    tree_add_group(tree, "docker/" ID, true);
    harness_begin("NameFrom \"docker\"\nCgroup \"docker/*\"");
    harness_read();
    assert_instance("docker_" ID, FIRST);
    harness_assert_logs(1, "/config.v2.json: it isn't in a format that is known");
    tree_remove_group(tree, "docker/" ID);
    harness_read();
    tree_add_group(tree, "docker/" ID, true);
    harness_read();
    harness_assert_logs(0, NULL);
    tree_remove_group(tree, "docker/" ID);
    harness_read();
    tree_write(tree, DOCKER, "{\"Name\":\"/web\"}");
    tree_add_group(tree, "docker/" ID, true);
    harness_read();
    assert_instance("web", FIRST);
    harness_assert_logs(0, NULL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_loop_test(tests, names_groups, 0, COUNT(named));
    tcase_add_test(tests, names_groups_by_the_first_pattern_that_selects_them);
    tcase_add_test(tests, shortens_long_names);
    tcase_add_test(tests, distinguishes_long_names);
    tcase_add_loop_test(tests, shortens_no_more_than_needed, 0, COUNT(lengths));
    tcase_add_loop_test(tests, keeps_characters_whole, 0, 4 * COUNT(characters));
    tcase_add_loop_test(tests, makes_names_safe, 0, COUNT(unsafe));
    tcase_add_loop_test(tests, logs_names_made_safe, 0, COUNT(unsafe));
    tcase_add_loop_test(tests, shortens_any_bytes, 1, '/');
    tcase_add_loop_test(tests, shortens_any_bytes, '/' + 1, '~'); /* the mark itself */
    tcase_add_loop_test(tests, shortens_any_bytes, '~' + 1, 256);
    tcase_add_loop_test(tests, distinguishes_two_of_one_name, 0, COUNT(alike));
    tcase_add_test(tests, reports_many_of_one_name_now_and_then);
    tcase_add_test(tests, frees_the_names_of_groups_that_went);
    tcase_add_loop_test(tests, keeps_the_name_of_the_system, 0, 2);
    tcase_add_loop_test(tests, names_containers, 0, COUNT(contained));
    tcase_add_test(tests, keeps_the_name_of_a_container_that_is_made_again);
    tcase_add_test(tests, distinguishes_containers_of_one_name);
    tcase_add_test(tests, lists_the_paths_of_names_that_dont_tell_them);
    tcase_add_test(tests, lists_nothing_where_instances_are_paths);
    tcase_add_test(tests, lists_the_paths_of_shortened_names);
    tcase_add_test(tests, reports_once_that_the_list_cant_be_written);
    tcase_add_test(tests, reports_once_that_names_cant_be_read);
    return run_suite("plugin names", tests);
}
