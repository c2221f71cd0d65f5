/* SPDX-License-Identifier: MIT */
/*
 * container/check_container.c - names of containers, in the layouts of the runtimes' files.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "container/place.h"
#include "headroom/container.h"
#include "headroom/root.h"
#include "support/suite.h"
#include "support/tree.h"

#define ID    "748a7a914a7d9c6f4f5b1d2e3a4b5c6d7e8f90123456789abcdef0123456789a"
#define OTHER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID   "6d3e0f51-0b0b-4f0e-9c3e-1d2c3b4a5968"
#define POD   "kubepods/burstable/pod" UID

#define CONTAINERD "run/containerd/io.containerd.runtime.v2.task/k8s.io/"
#define CRIO       "run/containers/storage/overlay-containers/"
#define STORAGE    "var/lib/containers/storage/overlay-containers/"

#define ALL (HR_CONTAINER_KUBERNETES | HR_CONTAINER_DOCKER | HR_CONTAINER_PODMAN)

static struct tree *tree;
static struct hr_root *root;
static struct hr_container_names *names;

static void open_names(unsigned runtimes)
{
    hr_container_names_close(names);
    ck_assert_int_eq(hr_container_names_open(root, runtimes, &names), 0);
}

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    open_names(ALL);
}

static void tear_down(void)
{
    hr_container_names_close(names);
    names = NULL;
    hr_root_close(root);
    tree_free(tree);
}

static int find(const char *path, char **name, const char **failed)
{
    *failed = "";
    return hr_container_name(names, path, name, failed);
}

static void assert_named(const char *path, const char *expected)
{
    const char *failed;
    char *name;

    ck_assert_int_eq(find(path, &name, &failed), 0);
    ck_assert_str_eq(name, expected);
    free(name);
}

static void assert_status(const char *path, int status, const char *file)
{
    const char *failed;
    char *name;

    ck_assert_int_eq(find(path, &name, &failed), status);
    ck_assert_str_eq(failed, file);
}

static void assert_unnamed(const char *path)
{
    const char *failed;
    char *name;

    ck_assert_int_eq(find(path, &name, &failed), -ENOENT);
}

/* A file of tests/fixtures/container, as it was recorded. */
static void add_recorded(const char *file, const char *path, char text[4096])
{
    const char *directory = getenv("srcdir");
    char source[512];

    snprintf(source, sizeof(source), "%s/tests/fixtures/container/%s", directory ? directory : ".",
             file);
    FILE *stream = fopen(source, "r");
    ck_assert_msg(stream != NULL, "%s: %s", source, strerror(errno));
    text[fread(text, 1, 4095, stream)] = '\0';
    fclose(stream);
    tree_write(tree, path, "%s", text);
}

/* The cgroup that runc was told to make, in the text of a bundle, which it ends. */
static const char *cgroup_of(char *bundle)
{
    char *path = strstr(bundle, "\"cgroupsPath\":\"/");

    ck_assert_ptr_nonnull(path);
    path = strchr(path, '/') + 1;
    *strchr(path, '"') = '\0';
    return path;
}

/* --- docker --------------------------------------------------------------- */

/* As dockerd writes it, with other names within. */
static void add_docker(const char *data_root, const char *id, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json", data_root, id);
    tree_write(tree, path,
               "{\"StreamConfig\":{},\"State\":{\"Running\":true,\"Pid\":4711},\"ID\":\"%s\","
               "\"Config\":{\"Hostname\":\"748a7a914a7d\",\"Labels\":{\"Name\":\"label\"}},"
               "\"Name\":\"%s\",\"Driver\":\"overlay2\","
               "\"MountPoints\":{\"/data\":{\"Name\":\"volume\"}}}",
               id, name);
}

START_TEST(docker_has_names)
{
    add_docker("var/lib/docker", ID, "/shop-web-1");
    assert_named("system.slice/docker-" ID ".scope", "shop-web-1");
    assert_named("docker/" ID, "shop-web-1");
    assert_named("docker/" ID "/init.scope", "shop-web-1/init.scope");
    assert_unnamed("docker/" OTHER);
    assert_unnamed("system.slice/ssh.service");
    open_names(HR_CONTAINER_KUBERNETES | HR_CONTAINER_PODMAN);
    assert_unnamed("docker/" ID);
}
END_TEST

START_TEST(docker_has_another_folder)
{
    add_docker("var/lib/docker", ID, "/old");
    add_docker("srv/docker", ID, "/new");
    tree_write(tree, "etc/docker/daemon.json", "{\"debug\":false,\"data-root\":\"/srv/docker\"}");
    assert_named("docker/" ID, "new");
    tree_write(tree, "etc/docker/daemon.json", "{\"data-root\":\"\"}");
    assert_named("docker/" ID, "old");
}
END_TEST

/* What docker 20.10 wrote of `docker run -d --network none --name shop-web-1 …`, without what is of
 * networks and other files. */
#define RECORDED_DOCKER "33bc605fd022a4613a3098a71ff9955b4f90061a892b433f6292deef778000da"

START_TEST(docker_has_a_recorded_name)
{
    char text[4096];

    add_recorded("docker-20.10/config.v2.json",
                 "var/lib/docker/containers/" RECORDED_DOCKER "/config.v2.json", text);
    assert_named("docker/" RECORDED_DOCKER, "shop-web-1");
    assert_named("system.slice/docker-" RECORDED_DOCKER ".scope", "shop-web-1");
}
END_TEST

static const char *const no_names[] = {"{}", "[]", "{\"Name\":\"\"}", "{\"Name\":[\"/a\"]}"};

START_TEST(docker_has_no_name)
{
    tree_write(tree, "var/lib/docker/containers/" ID "/config.v2.json", "%s", no_names[_i]);
    assert_unnamed("docker/" ID);
}
END_TEST

static const char *const broken[] = {"", "7", "{\"Name\":\"/a\"", "{\"Name\":\"/a\"} x", "\xff"};

START_TEST(docker_has_a_broken_file)
{
    tree_write(tree, "var/lib/docker/containers/" ID "/config.v2.json", "%s", broken[_i]);
    assert_status("docker/" ID, -EBADMSG, "/var/lib/docker/containers/" ID "/config.v2.json");
    /* another that has it is believed */
    tree_write(tree, STORAGE "containers.json", "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]");
    assert_named("docker/" ID, "web");
}
END_TEST

/* --- podman --------------------------------------------------------------- */

START_TEST(podman_has_names)
{
    tree_write(tree, STORAGE "containers.json",
               "[{\"id\":\"" OTHER "\",\"names\":[\"db\",\"more\"],\"image\":\"i\"},"
               "{\"id\":\"" ID "\",\"layer\":\"l\"}]");
    assert_named("machine.slice/libpod-" OTHER ".scope/container", "db/container");
    assert_unnamed("machine.slice/libpod-" ID ".scope");
    /* podman run --rm */
    tree_write(tree, STORAGE "volatile-containers.json",
               "[{\"id\":\"" ID "\",\"names\":[\"once\"]}]");
    assert_named("machine.slice/libpod-" ID ".scope", "once");
    assert_unnamed("machine.slice/libpod-conmon-" ID ".scope");
}
END_TEST

START_TEST(podman_has_new_names)
{
    tree_write(tree, STORAGE "containers.json", "[]");
    assert_unnamed("machine.slice/libpod-" ID ".scope");
    tree_write(tree, STORAGE "new", "[{\"id\":\"" ID "\",\"names\":[\"one\"]}]");
    tree_rename(tree, STORAGE "new", STORAGE "newer");
    tree_remove(tree, STORAGE "containers.json");
    tree_rename(tree, STORAGE "newer", STORAGE "containers.json");
    assert_named("machine.slice/libpod-" ID ".scope", "one");
    /* what was read isn't the file any more */
    tree_remove(tree, STORAGE "containers.json");
    assert_unnamed("machine.slice/libpod-" ID ".scope");
}
END_TEST

/* What podman 4.3 with runc wrote of `podman run -d --rootfs --name shop-web-1 …` and of the same
 * with --rm, once. Of the bundle's config.json there is what isn't the machine's. */
#define RECORDED      "ad82e54fd138b19497723a016f7eabf2f07b1abf1abf129f0d75c6af7378ae75"
#define RECORDED_ONCE "5359df20f4a2811493ce43b309c9fddda070a97a6d18565ab5fb0b84518c4259"

START_TEST(podman_has_recorded_names)
{
    struct hr_container_place place;
    char list[4096], bundle[4096];
    const char *path;

    add_recorded("podman-4.3-runc/containers.json", STORAGE "containers.json", list);
    add_recorded("podman-4.3-runc/config.json", STORAGE RECORDED "/userdata/config.json", bundle);
    path = cgroup_of(bundle);
    ck_assert(hr_container_find(path, &place));
    ck_assert_str_eq(place.id, RECORDED);
    ck_assert_str_eq(place.below, "");
    assert_named(path, "shop-web-1");
    assert_named("libpod_parent/libpod-" RECORDED_ONCE, "once");
    open_names(HR_CONTAINER_KUBERNETES | HR_CONTAINER_DOCKER);
    assert_unnamed(path);
}
END_TEST

/* --- kubernetes ----------------------------------------------------------- */

/* An annotation's text, as the bundles have it. */
#define CRI "io.kubernetes.cri."

START_TEST(containerd_has_names)
{
    tree_write(tree, CONTAINERD ID "/config.json",
               "{\"ociVersion\":\"1.1.0\",\"process\":{\"args\":[\"nginx\"]},\"annotations\":{"
               "\"" CRI "container-name\":\"nginx\",\"" CRI "container-type\":\"container\","
               "\"" CRI "sandbox-name\":\"web-0\",\"" CRI "sandbox-namespace\":\"shop\"}}");
    tree_write(tree, CONTAINERD OTHER "/config.json",
               "{\"annotations\":{\"" CRI "container-type\":\"sandbox\",\"" CRI
               "sandbox-name\":\"web-0\",\"" CRI "sandbox-namespace\":\"shop\"}}");
    assert_named(POD "/" ID, "shop/web-0/nginx");
    assert_named("system.slice/cri-containerd-" ID ".scope", "shop/web-0/nginx");
    assert_named(POD "/" OTHER, "shop/web-0/POD");
    open_names(HR_CONTAINER_DOCKER | HR_CONTAINER_PODMAN);
    assert_unnamed(POD "/" ID);
}
END_TEST

/* What containerd 1.6 wrote when its CRI was asked for a pod and a container, as a kubelet asks it.
 * Of the bundles' config.json there is what isn't the machine's. */
#define RECORDED_SANDBOX   "37f90d022e2eb08b05cb49542ce733fab6ab07f8523deb444bc9169b3d19ddfa"
#define RECORDED_CONTAINER "15c078c751fff44ec2a50f7f73b13a651dbfab4a2f99caee3502abfa993b203a"

START_TEST(containerd_has_recorded_names)
{
    char container[4096], sandbox[4096];

    add_recorded("containerd-1.6/container.json", CONTAINERD RECORDED_CONTAINER "/config.json",
                 container);
    add_recorded("containerd-1.6/sandbox.json", CONTAINERD RECORDED_SANDBOX "/config.json",
                 sandbox);
    assert_named(cgroup_of(container), "shop/web-0/nginx");
    assert_named(cgroup_of(sandbox), "shop/web-0/POD");
    assert_named("kubepods.slice/kubepods-besteffort.slice/cri-containerd-" RECORDED_CONTAINER
                 ".scope",
                 "shop/web-0/nginx");
}
END_TEST

START_TEST(crio_has_names)
{
    tree_write(tree, CRIO ID "/userdata/config.json",
               "{\"annotations\":{\"io.kubernetes.container.name\":\"nginx\","
               "\"io.kubernetes.cri-o.ContainerType\":\"container\","
               "\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes.pod.namespace\":\"shop\"}}");
    assert_named("kubepods.slice/kubepods-pod6d3e0f51_0b0b_4f0e_9c3e_1d2c3b4a5968.slice/crio-" ID
                 ".scope",
                 "shop/web-0/nginx");
}
END_TEST

/* podman's own containers have such a bundle, too, which doesn't have the name. */
START_TEST(podman_has_bundles)
{
    tree_write(tree, CRIO ID "/userdata/config.json",
               "{\"annotations\":{\"io.container.manager\":\"libpod\"}}");
    tree_write(tree, STORAGE "containers.json", "[{\"id\":\"" ID "\",\"names\":[\"web\"]}]");
    assert_named("machine.slice/libpod-" ID ".scope", "web");
}
END_TEST

START_TEST(kubelet_has_names)
{
    tree_write(tree, "var/log/containers/web-0_shop_nginx-" ID ".log", "%s", "");
    tree_write(tree, "var/log/containers/db-0_shop_sidecar-proxy-" OTHER ".log", "%s", "");
    assert_named(POD "/" ID, "shop/web-0/nginx");
    assert_named(POD "/" OTHER, "shop/db-0/sidecar-proxy");
}
END_TEST

static const char *const no_logs[] = {
    "nginx-" ID ".log",
    "web-0_nginx-" ID ".log",
    "a_b_c_d-" ID ".log",
    "_shop_nginx-" ID ".log",
    "web-0_shop_nginx-" ID ".log.1",
    "web-0_shop_-" ID ".log",
    "web-0_shop_nginx" ID ".log",
    ID ".log",
};

START_TEST(kubelet_has_no_name)
{
    char path[512];

    snprintf(path, sizeof(path), "var/log/containers/%s", no_logs[_i]);
    tree_write(tree, path, "%s", "");
    assert_unnamed(POD "/" ID);
}
END_TEST

START_TEST(kubelet_has_names_of_pods)
{
    tree_add_directory(tree, "var/log/pods/shop_web-0_" UID "/nginx");
    tree_add_directory(tree, "var/log/pods/shop_db-0_1c70d0f6fa58a9d2c7c9bb9ae8d9e2cd");
    assert_named(POD, "shop/web-0");
    assert_named("kubepods.slice/kubepods-burstable.slice/"
                 "kubepods-burstable-pod6d3e0f51_0b0b_4f0e_9c3e_1d2c3b4a5968.slice",
                 "shop/web-0");
    assert_named("kubepods/pod1c70d0f6fa58a9d2c7c9bb9ae8d9e2cd", "shop/db-0");
    assert_unnamed("kubepods/pod1c70d0f6fa58a9d2c7c9bb9ae8d9e2ce");
    /* a container isn't known by its pod alone */
    assert_unnamed(POD "/" ID);
}
END_TEST

/* --- What can't be read --------------------------------------------------- */

START_TEST(names_what_cant_be_read)
{
    /* a loop of links, as permission isn't lacking root */
    char path[512];

    tree_add_directory(tree, "var/log");
    snprintf(path, sizeof(path), "%s/var/log/pods", tree_path(tree));
    ck_assert_int_eq(symlink("pods", path), 0);
    assert_status(POD, -ELOOP, "/var/log/pods");
}
END_TEST

START_TEST(no_runtime_is_asked)
{
    add_docker("var/lib/docker", ID, "/web");
    open_names(0);
    assert_unnamed("docker/" ID);
}
END_TEST

START_TEST(runtimes_have_words)
{
    ck_assert_str_eq(hr_container_runtime_name(0), "kubernetes");
    ck_assert_str_eq(hr_container_runtime_name(1), "docker");
    ck_assert_str_eq(hr_container_runtime_name(2), "podman");
    ck_assert_ptr_null(hr_container_runtime_name(3));
    ck_assert_ptr_null(hr_container_runtime_name(-1));
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
    TCase *tests = tcase_create("container");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, docker_has_names);
    tcase_add_test(tests, docker_has_another_folder);
    tcase_add_test(tests, docker_has_a_recorded_name);
    tcase_add_loop_test(tests, docker_has_no_name, 0, COUNT(no_names));
    tcase_add_loop_test(tests, docker_has_a_broken_file, 0, COUNT(broken));
    tcase_add_test(tests, podman_has_names);
    tcase_add_test(tests, podman_has_new_names);
    tcase_add_test(tests, podman_has_recorded_names);
    tcase_add_test(tests, containerd_has_names);
    tcase_add_test(tests, containerd_has_recorded_names);
    tcase_add_test(tests, crio_has_names);
    tcase_add_test(tests, podman_has_bundles);
    tcase_add_test(tests, kubelet_has_names);
    tcase_add_loop_test(tests, kubelet_has_no_name, 0, COUNT(no_logs));
    tcase_add_test(tests, kubelet_has_names_of_pods);
    tcase_add_test(tests, names_what_cant_be_read);
    tcase_add_test(tests, no_runtime_is_asked);
    tcase_add_test(tests, runtimes_have_words);
    return run_suite("container", tests);
}
