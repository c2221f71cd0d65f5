/* SPDX-License-Identifier: MIT */
#include "support/fake_kernel_log.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int fake_kernel_log_make(struct tree *tree)
{
    char path[PATH_MAX];

    tree_add_directory(tree, "dev");
    snprintf(path, sizeof(path), "%s/dev/kmsg", tree_path(tree));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

void fake_kernel_log_write(int fd, const char *message)
{
    char record[1024];
    const int length = snprintf(record, sizeof(record), "3,1,2,-;%s\n", message);

    ck_assert_int_eq(write(fd, record, (size_t)length), length);
}

void fake_kernel_log_write_context(int fd, const char *limit, const char *path, int pid)
{
    char message[512];

    snprintf(message, sizeof(message),
             "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
             "oom_memcg=/%s,task_memcg=/%s,task=eater,pid=%d,uid=0",
             limit, path, pid);
    fake_kernel_log_write(fd, message);
}

void fake_kernel_log_write_victim(int fd, const char *cause, int pid, unsigned anon_kib)
{
    char message[512];

    snprintf(message, sizeof(message),
             "%s: Killed process %d (eater) total-vm:9kB, anon-rss:%ukB, file-rss:0kB, "
             "shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0",
             cause, pid, anon_kib);
    fake_kernel_log_write(fd, message);
}
