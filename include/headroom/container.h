/* SPDX-License-Identifier: MIT */
/*
 * headroom/container.h - the names that container runtimes gave the containers and pods whose
 * cgroups have only their ids, from the runtimes' own files: no API, no daemon.
 *
 * Sources: the annotations of the OCI bundles that containerd and CRI-O make for the kubelet, its
 * /var/log/containers and /var/log/pods; docker's config.v2.json; podman's containers.json.
 */
#ifndef HEADROOM_CONTAINER_H
#define HEADROOM_CONTAINER_H

struct hr_root;
struct hr_container_names;

/** Whose files are read; bits of a set. */
enum hr_container_runtime {
    HR_CONTAINER_KUBERNETES = 1 << 0,
    HR_CONTAINER_DOCKER = 1 << 1,
    HR_CONTAINER_PODMAN = 1 << 2, /**< root's containers */
};

#define HR_CONTAINER_RUNTIME_COUNT 3

/** @return "kubernetes", "docker" or "podman", by the number of the bit; NULL: there is no such. */
const char *hr_container_runtime_name(int bit);

/**
 * Opens what looks names up.
 *
 * @param root      must outlive it.
 * @param runtimes  bits of enum hr_container_runtime; 0: no container has a name.
 * @param names     receives it; the caller closes it with hr_container_names_close().
 * @return 0; -ENOMEM; -EOPNOTSUPP: built without libjansson, and runtimes isn't 0.
 */
int hr_container_names_open(const struct hr_root *root, unsigned runtimes,
                            struct hr_container_names **names);

/** NULL is allowed. */
void hr_container_names_close(struct hr_container_names *names);

/**
 * Finds the name of the container or pod that a cgroup is of: "web" by docker and podman,
 * "shop/web-0/nginx" (namespace, pod, container) or "shop/web-0" by kubernetes. If the cgroup is
 * below the container's own, what is below follows: "web/init.scope".
 *
 * It reads files, so it is for groups that are new: 0.1 ms, with podman 1 ms where 300 containers
 * have changed. One thread at a time.
 *
 * @param path    of the cgroup, as hr_cgroup.path.
 * @param name    receives the name, as the runtime has it, not made safe; the caller frees it.
 * @param failed  receives, unless it returns 0, -ENOENT or -ENOMEM, the path of the file that can't
 *                be read; valid until the next call.
 * @return 0; -ENOENT: it is no container's, or none of the runtimes has it; -ENOMEM; -EBADMSG: the
 *         file isn't in its format; or the negative errno of opening or reading a file, if no
 *         runtime has it.
 */
int hr_container_name(struct hr_container_names *names, const char *path, char **name,
                      const char **failed);

#endif
