/* SPDX-License-Identifier: MIT */
/*
 * memory/lru_gen_file.h - the files of the multi-gen LRU: reading generations, and aging.
 *
 * Sources: Documentation/admin-guide/mm/multigen_lru.rst, mm/vmscan.c (lru_gen_seq_write,
 * enabled_show).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_LRU_GEN_FILE_H
#define HEADROOM_COLLECTORS_MEMORY_LRU_GEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_text.h"

struct hr_root;
struct hr_reason;

#define HR_LRU_GEN_FILE    "/sys/kernel/debug/lru_gen"
#define HR_LRU_GEN_ENABLED "/sys/kernel/mm/lru_gen/enabled"

/**
 * Checks whether generations can be read and, with aging, whether the kernel walks page tables, and
 * all of them.
 *
 * @return 0; -ENOENT: the kernel lacks them, or debugfs isn't mounted; -EOPNOTSUPP: switched off;
 *         -EACCES or -EPERM; -EBADMSG; each with a reason.
 */
int hr_lru_gen_file_probe(const struct hr_root *root, bool aging, struct hr_reason *reason);

/** Reads whether the kernel keeps its pages in generations now. @return 0; -EBADMSG; or the
 * negative errno of open(2) or pread(2). */
int hr_lru_gen_is_enabled(const struct hr_root *root, bool *is_enabled);

/**
 * Reads the file. The kernel prints 4 KiB at a time: groups created or removed meanwhile, and some
 * others then, may be missing or appear twice.
 *
 * @param text  replaced, with its memory reused. The caller frees its start with free(3).
 * @return 0; -ENOMEM; or the negative errno of open(2) and read(2).
 */
int hr_lru_gen_file_read(const struct hr_root *root, struct hr_file_text *text);

/**
 * Makes the kernel create a generation after `seq`, which must be the youngest of the group on the
 * node; up to 6.14 nothing happens if it isn't.
 *
 * @param fd  the file, open for writing.
 * @return 0, whether one was created or not; -EINVAL: there is no such group or node (any more); as
 *         generations only become younger, no other cause is left; -EEXIST: another program is
 * aging it; -ENOMEM; …
 */
int hr_lru_gen_file_age(int fd, uint64_t memcg_id, unsigned node, uint64_t seq);

#endif
