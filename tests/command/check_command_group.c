/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_group.c - which groups a user means, by paths and by names in series.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/group.h"
#include "common/short_name.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

static struct tree *tree;
static struct hr_root *root;
static struct group_patterns patterns;

static void set_up(void)
{
    tree = tree_new();
    tree_add_group(tree, "a", true);
    tree_add_group(tree, "a/b", true);
    tree_add_group(tree, "a/b.c[0]", true);
    tree_add_group(tree, "a/idle", false);
    tree_add_group(tree, "x.slice", true);
    tree_add_group(tree, "x.slice/web.service", true);
    tree_add_group(tree, "y.slice", true);
    tree_add_group(tree, "y.slice/web.service", true);
    tree_add_group(tree, "y.slice/only.service", true);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    group_patterns_free(&patterns);
    hr_root_close(root);
    tree_free(tree);
}

START_TEST(paths_and_names_are_compared)
{
    static const struct {
        const char *wanted, *group;
        bool is_meant;
    } cases[] = {
        {"a/b", "a/b", true},         {"a_b", "a/b", true},
        {"a/b", "a_b", true},         {"/a/b", "a_b", true},
        {"a_b", "a_b", true},         {"a", "a/b", false},
        {"a*", "a/b", true},          {"*/b", "a_b", true},
        {"a?b", "a/b", true},         {"a/b", "a/bc", false},
        {"a\\x2db", "a\\x2db", true}, {"a[0]", "a[0]", true},
        {"system", "system", true},   {"", "a", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(group_is_meant(cases[i].wanted, cases[i].group) == cases[i].is_meant,
                      "%s and %s", cases[i].wanted, cases[i].group);
}
END_TEST

#define ID  "748a7a914a7d0123456789abcdef0123456789abcdef01234567890123308963"
#define UID "00000007_1111_2222_3333_444444444444"
#define POD "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID ".slice"
#define CRI POD "/cri-containerd-" ID ".scope"
#define CUT "kubepods.slice_kubepods-burstabl~79a6c79c_cri-containerd-" ID ".scope"
#define APP "user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope"

static const struct {
    const char *text, *group;
    bool is_short;
} short_paths[] =
    {
        {"cri-containerd-748a7a914a7d.scope of pod 00000007", CRI, true},
        {"cri-containerd-748a7a914a7d.scope of pod 00000008", CRI, false},
        {"cri-containerd-748a7a914a7d.scope of pod 0000000", CRI, false},
        {"cri-containerd-748a7a914a7d.scope of pod ", CRI, false},
        {" of pod 00000007", CRI, false},
        {"cri-containerd-748a7a914a7d.scope", CRI, true},
        {"cri-containerd-" ID ".scope", CRI, true},
        {"cri-containerd-748a7a914a7e.scope", CRI, false},
        {"kubepods-burstable-pod00000007.slice", POD, true},
        {"docker-748a7a914a7d.scope", "system.slice/docker-" ID ".scope", true},
        {"system.slice_docker-748a7a914a7d.scope", "system.slice/docker-" ID ".scope", true},
        {"docker_748a7a914a7d", "docker/" ID, true},
        {"user.slice/.../app-x.scope", APP, true},
        {"user.slice/.../app-y.scope", APP, false},
        {"app.slice/app-x.scope", APP, true},
        {"app-x.scope", APP, true},
        {"pp-x.scope", APP, false},
        {"", APP, false},
        {"...", APP, false},
        {"user.slice...", APP, false},
        {"b", "a_b", false},
        {"batch", "nightly_batch", false},
        {"b", "x/a_b", false},
        {"a/b/c", "b/c", false},
        /* As narrow terminals have them. */
        {"cri-contain\xe2\x80\xa6scope of pod 00000007", CRI, true},
        {"cri-contain..scope of pod 00000007", CRI, true},
        {"cri-contain..scope of pod 00000008", CRI, false},
        {"aaa...aaa", "aaaa", false},
},
  short_instances[] = {
      /* A shortened instance has no pod. */
      {"cri-containerd-748a7a914a7d.scope of pod 00000007", CUT, true},
      {"cri-containerd-748a7a914a7d.scope", CUT, true},
      {"kubepods.slice/.../cri-containerd-748a7a914a7d.scope", CUT, true},
      {"kubepods.slice/.../cri-containerd-748a7a914a7e.scope", CUT, false},
      {"docker-748a7a914a7d.scope", "system.slice_docker-" ID ".scope", true},
      {"b", "a_b", true}, /* of an instance it isn't known */
};

START_TEST(a_path_has_short_names)
{
    ck_assert_msg(short_name_means(short_paths[_i].text, short_paths[_i].group, NAME_PATH) ==
                      short_paths[_i].is_short,
                  "'%s' and %s", short_paths[_i].text, short_paths[_i].group);
}
END_TEST

static const struct {
    const char *path, *name;
} shortened[] = {
    {"a/b_c", "a/b_c"},
    {CRI, "cri-containerd-748a7a914a7d.scope of pod 00000007"},
    {POD, "kubepods-burstable-pod00000007.slice"},
    {"system.slice/docker-" ID ".scope", "system.slice/docker-748a7a914a7d.scope"},
    {APP, "user.slice/.../app-x.scope"},
    {"a.slice/a-name-that-is-quite-long-for-a-cgroup.service",
     "a.slice/a-name-that-is-quite-long-for-a-cgroup.service"},
};

START_TEST(a_path_is_shortened)
{
    char name[SHORT_NAME_SIZE];

    short_path(shortened[_i].path, name);
    ck_assert_str_eq(name, shortened[_i].name);
}
END_TEST

START_TEST(names_that_are_the_same_are_not_short)
{
    static const struct short_name_of groups[] = {
        {"h", CUT, CRI},
        {"h", "a", NULL},
        {"h", "user.slice_user-1000.slice_user@1000.service_app.slice_app.scope", NULL},
        {"h", "user.slice_user-1001.slice_user@1001.service_app.slice_app.scope", NULL},
        {"i", "user.slice_user-1001.slice_user@1001.service_app.slice_app.scope", NULL},
    };
    char *names[5];

    ck_assert_int_eq(short_names_find(groups, 5, names), 0);
    ck_assert_pstr_eq(names[0], "cri-containerd-748a7a914a7d.scope of pod 00000007");
    ck_assert_ptr_null(names[1]);
    ck_assert_ptr_null(names[2]);
    ck_assert_ptr_null(names[3]);
    ck_assert_pstr_eq(names[4], "user.slice/.../app.scope");
    free(names[0]);
    free(names[4]);
}
END_TEST

START_TEST(an_instance_has_short_names)
{
    ck_assert_msg(short_name_means(short_instances[_i].text, short_instances[_i].group,
                                   NAME_INSTANCE) == short_instances[_i].is_short,
                  "'%s' and %s", short_instances[_i].text, short_instances[_i].group);
}
END_TEST

static int choose(const char *wanted, const char *const *groups, size_t count)
{
    return group_choose(wanted, groups, count, NAME_PATH, &patterns);
}

START_TEST(the_only_one_of_a_short_name_is_chosen)
{
    static const char *const groups[] = {"a/web", "b/web", "web", "c/db", "c/db", "b/x/db2"};

    ck_assert_int_eq(choose("db2", groups, 6), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_str_eq(patterns.list[0], "b/x/db2");
    ck_assert_int_eq(choose("db", groups, 6), 0); /* the same twice */
    ck_assert_uint_eq(patterns.count, 2);
    ck_assert_str_eq(patterns.list[1], "c/db");
    ck_assert_int_eq(choose("web", groups, 6), 0); /* not short for the others */
    ck_assert_uint_eq(patterns.count, 3);
    ck_assert_int_eq(choose("api", groups, 6), -ENODEV);
    ck_assert_uint_eq(patterns.count, 3);
    ck_assert_int_eq(choose("web", groups, 2), -ENOTUNIQ);
    ck_assert_uint_eq(patterns.count, 2);
    ck_assert_str_eq(patterns.list[0], "a/web");
    ck_assert_str_eq(patterns.list[1], "b/web");
}
END_TEST

START_TEST(several_are_listed)
{
    static const char *const groups[] = {"a", "b", "c", "d", "e\n", "f", "g"};
    char text[100];

    group_describe_list(groups, 6, text, sizeof(text));
    ck_assert_str_eq(text, "a, b, c, d, e?, f");
    group_describe_list(groups, 7, text, sizeof(text));
    ck_assert_str_eq(text, "a, b, c, d, e? and 2 more");
}
END_TEST

START_TEST(what_stands_for_several_is_described)
{
    char first[] = "a/web", second[] = "b/web\n";
    char *list[] = {first, second};
    const struct group_patterns several = {.list = list, .count = 2};
    char text[100];

    group_describe_several("we\033", &several, text, sizeof(text));
    ck_assert_str_eq(text, "'we?' stands for several cgroups: a/web, b/web?");
}
END_TEST

static int find(const char *wanted, const char **missing)
{
    group_patterns_free(&patterns);
    return group_find_patterns(root, NULL, &wanted, 1, GROUP_SHORT, &patterns, missing);
}

START_TEST(a_pattern_of_paths_stays_as_it_is)
{
    const char *missing;

    ck_assert_int_eq(find("a/*", &missing), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_str_eq(patterns.list[0], "a/*");
    ck_assert_int_eq(find("a/idle", &missing), 0);
    ck_assert_str_eq(patterns.list[0], "a/idle");
}
END_TEST

START_TEST(a_name_becomes_the_paths_of_its_cgroups)
{
    const char *missing;

    ck_assert_int_eq(find("a_b", &missing), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_str_eq(patterns.list[0], "a/b");
    ck_assert_int_eq(find("a_b*", &missing), 0);
    ck_assert_uint_eq(patterns.count, 2);
    ck_assert_int_eq(find("a_b.c*", &missing), 0);
    ck_assert_str_eq(patterns.list[0], "a/b.c?0]");
}
END_TEST

START_TEST(a_short_name_becomes_the_path_of_its_only_cgroup)
{
    const char *missing;

    ck_assert_int_eq(find("only.service", &missing), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_str_eq(patterns.list[0], "y.slice/only.service");
    ck_assert_int_eq(find("web.service", &missing), -ENOTUNIQ);
    ck_assert_str_eq(missing, "web.service");
    ck_assert_uint_eq(patterns.count, 2);
    ck_assert_int_eq(find("x.slice/web.service", &missing), 0);
    ck_assert_uint_eq(patterns.count, 1);
    ck_assert_int_eq(group_find_named(root, "only.service", &patterns), 0);
    ck_assert_str_eq(patterns.list[1], "y.slice/only.service");
}
END_TEST

START_TEST(the_end_of_a_name_is_no_short_name_of_a_path)
{
    tree_add_group(tree, "nightly_batch", true);
    ck_assert_int_eq(group_find_named(root, "batch", &patterns), -ENODEV);
}
END_TEST

START_TEST(whole_names_only_are_found_if_wanted)
{
    static const char *const by_short[] = {"only.service"}, *const by_series[] = {"a_b"};
    const char *missing;

    ck_assert_int_eq(group_find_patterns(root, NULL, by_short, 1, GROUP_WHOLE, &patterns, &missing),
                     -ENODEV);
    ck_assert_str_eq(missing, "only.service");
    group_patterns_free(&patterns);
    ck_assert_int_eq(
        group_find_patterns(root, NULL, by_series, 1, GROUP_WHOLE, &patterns, &missing), 0);
    ck_assert_str_eq(patterns.list[0], "a/b");
}
END_TEST

static void add_version_1(void)
{
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /" TREE_CGROUPS " cgroup2 rw 0 0\ncgroup /cpu cgroup rw,cpu 0 0\n");
    tree_write(tree, "cpu/cgroup.procs", "1\n");
    tree_write(tree, "cpu/v1/cgroup.procs", "1\n");
    tree_write(tree, "cpu/only.service/cgroup.procs", "1\n");
    tree_write(tree, "cpu/x.slice/cgroup.procs", "1\n");
}

/* What a user gets on a host with both versions. */
static const struct {
    const char *wanted, *controller;
    int status;
    const char *first; /* of the patterns */
} in_hierarchies[] = {
    {"x.slice", NULL, 0, "x.slice"},            /* in both */
    {"v1", "cpu", 0, "v1"},                     /* in version 1 alone */
    {"only.service", "cpu", 0, "only.service"}, /* its path rather than cgroup2's short name */
    {"a/idle", NULL, 0, "a/idle"},              /* without processes */
    {"b.c[0]", NULL, 0, "a/b.c?0]"},            /* short */
    {"web.service", NULL, -ENOTUNIQ, NULL},     /* short for several */
    {"none", NULL, -ENODEV, NULL},
};

START_TEST(whole_names_of_both_hierarchies_come_before_short_ones)
{
    const char *controller = "cpu", *missing = NULL;
    const char *wanted = in_hierarchies[_i].wanted;

    add_version_1();
    ck_assert_int_eq(group_find_hierarchy(root, &controller, &wanted, 1, &patterns, &missing),
                     in_hierarchies[_i].status);
    ck_assert_pstr_eq(controller, in_hierarchies[_i].controller);
    if (in_hierarchies[_i].status == 0)
        ck_assert_str_eq(patterns.list[0], in_hierarchies[_i].first);
    else
        ck_assert_str_eq(missing, wanted);
}
END_TEST

START_TEST(patterns_are_covered_with_all_below)
{
    char with_slash[] = "a/", wildcard[] = "b/*";
    char *list[] = {with_slash, wildcard};
    const struct group_patterns some = {.list = list, .count = 2};

    ck_assert_int_eq(group_patterns_cover(&some, &patterns), 0);
    ck_assert_uint_eq(patterns.count, 4);
    ck_assert_str_eq(patterns.list[0], "a/");
    ck_assert_str_eq(patterns.list[1], "a/**");
    ck_assert_str_eq(patterns.list[2], "b/*");
    ck_assert_str_eq(patterns.list[3], "b/*/**");
}
END_TEST

START_TEST(what_matches_nothing_is_returned_and_what_is_there_described)
{
    static const char *const wanted[] = {"a/b", "a/c"};
    const char *missing;
    char others[200];

    ck_assert_int_eq(group_find_patterns(root, NULL, wanted, 2, GROUP_SHORT, &patterns, &missing),
                     -ENODEV);
    ck_assert_str_eq(missing, "a/c");
    group_describe_others(root, missing, others, sizeof(others));
    ck_assert_str_eq(others, " (in a there are: b, b.c[0], idle)");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("groups");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, paths_and_names_are_compared);
    tcase_add_test(tcase, a_pattern_of_paths_stays_as_it_is);
    tcase_add_test(tcase, a_name_becomes_the_paths_of_its_cgroups);
    tcase_add_loop_test(tcase, a_path_has_short_names, 0,
                        sizeof(short_paths) / sizeof(short_paths[0]));
    tcase_add_loop_test(tcase, a_path_is_shortened, 0, sizeof(shortened) / sizeof(shortened[0]));
    tcase_add_test(tcase, names_that_are_the_same_are_not_short);
    tcase_add_loop_test(tcase, an_instance_has_short_names, 0,
                        sizeof(short_instances) / sizeof(short_instances[0]));
    tcase_add_test(tcase, the_only_one_of_a_short_name_is_chosen);
    tcase_add_test(tcase, several_are_listed);
    tcase_add_test(tcase, what_stands_for_several_is_described);
    tcase_add_test(tcase, the_end_of_a_name_is_no_short_name_of_a_path);
    tcase_add_test(tcase, whole_names_only_are_found_if_wanted);
    tcase_add_loop_test(tcase, whole_names_of_both_hierarchies_come_before_short_ones, 0,
                        sizeof(in_hierarchies) / sizeof(in_hierarchies[0]));
    tcase_add_test(tcase, a_short_name_becomes_the_path_of_its_only_cgroup);
    tcase_add_test(tcase, patterns_are_covered_with_all_below);
    tcase_add_test(tcase, what_matches_nothing_is_returned_and_what_is_there_described);
    return run_suite("command_group", tcase);
}
