/* SPDX-License-Identifier: MIT */
/*
 * room/cpuset.h - which CPUs a group may use.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("cpuset.cpus.effective"),
 * Documentation/admin-guide/cgroup-v1/cpusets.rst.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_CPUSET_H
#define HEADROOM_COLLECTORS_ROOM_CPUSET_H

struct hr_cgroup;
struct hr_cpu_set;
struct hr_group_mounts;
struct hr_root;

/** Reads them: what the nearest group says that has the controller. @param mounts  see
 * hr_group_directory_open(). @return 0; -ENOENT: none says
 * it; -EBADMSG; or another negative errno of open(2). */
int hr_cpuset_read(const struct hr_root *root, struct hr_group_mounts *mounts,
                   const struct hr_cgroup *group, struct hr_cpu_set *cpus);

#endif
