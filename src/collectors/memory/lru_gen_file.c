/* SPDX-License-Identifier: MIT */
#include "memory/lru_gen_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/release.h"
#include "base/text.h"
#include "headroom/capability.h"
#include "headroom/root.h"

/* --- Requirements --------------------------------------------------------- */

/* Bits of "enabled": mm/vmscan.c, enabled_show(). */
enum capability { HAS_GENERATIONS = 1, WALKS_PAGE_TABLES = 2, SKIPS_PAGE_TABLES = 4 };

/* "0x0007\n" */
static int parse_enabled(const char *text, size_t length, unsigned *enabled)
{
    struct hr_text rest = {text, length};
    uint64_t bits;

    if (!hr_text_skip(&rest, "0x"))
        return -EBADMSG;
    const char *digits = rest.start;
    if (!hr_text_hex(&rest, &bits) || rest.start - digits > 8)
        return -EBADMSG;
    hr_text_skip(&rest, "\n");
    if (rest.length > 0)
        return -EBADMSG;
    *enabled = (unsigned)bits;
    return 0;
}

static int read_enabled(const struct hr_root *root, unsigned *enabled)
{
    char text[32];
    size_t length;

    int fd = hr_root_openat(root, HR_LRU_GEN_ENABLED, O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status < 0 ? status : parse_enabled(text, length, enabled);
}

int hr_lru_gen_is_enabled(const struct hr_root *root, bool *is_enabled)
{
    unsigned enabled = 0;

    int status = read_enabled(root, &enabled);
    if (status < 0 && status != -ENOENT) /* a kernel without generations lacks the file */
        return status;
    *is_enabled = (enabled & HAS_GENERATIONS) != 0;
    return 0;
}

/* "0-1\n" */
static bool has_several_nodes(const struct hr_root *root)
{
    char text[256];
    size_t length;

    int fd = hr_root_openat(root, "sys/devices/system/node/has_memory", O_RDONLY);
    int status = hr_text_read_and_close(fd, text, sizeof(text), &length);
    return status == 0 && (memchr(text, '-', length) != NULL || memchr(text, ',', length) != NULL);
}

/* A walk skips page tables that weren't used since the walk before, by a bit that this one cleared,
 * even if it was for another node's pages: those of the node that is walked next are missed. From
 * 6.12 on commands disregard that bit; an unknown release counts as a later one. */
static bool misses_other_nodes(const struct hr_root *root, unsigned enabled)
{
    struct hr_release release;

    return (enabled & SKIPS_PAGE_TABLES) != 0 && hr_release_read(root, &release) == 0 &&
           (release.major < 6 || (release.major == 6 && release.minor < 12)) &&
           has_several_nodes(root);
}

static int probe_enabled(const struct hr_root *root, bool aging, struct hr_reason *reason)
{
    unsigned enabled = 0;

    int status = read_enabled(root, &enabled);
    if (status == -ENOENT)
        return hr_reason_set(reason, status,
                             HR_LRU_GEN_ENABLED " is missing: the kernel needs CONFIG_LRU_GEN=y "
                                                "(Linux 6.1)");
    if (status < 0)
        return hr_reason_set(reason, status, HR_LRU_GEN_ENABLED " can't be read (%s)",
                             strerror(-status));
    if (!(enabled & HAS_GENERATIONS))
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "the multi-gen LRU is switched off: write y to " HR_LRU_GEN_ENABLED);
    if (aging && !(enabled & WALKS_PAGE_TABLES))
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "aging doesn't walk page tables (" HR_LRU_GEN_ENABLED
                             " is 0x%04x): write y to it, or do without aging",
                             enabled);
    if (aging && misses_other_nodes(root, enabled))
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "before Linux 6.12, where memory is of several nodes, aging misses "
                             "what is touched (" HR_LRU_GEN_ENABLED " is 0x%04x): write 3 to it, "
                             "or do without aging",
                             enabled);
    return 0;
}

int hr_lru_gen_file_probe(const struct hr_root *root, bool aging, struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];
    int status = probe_enabled(root, aging, reason);

    if (status < 0)
        return status;
    int fd = hr_root_openat(root, HR_LRU_GEN_FILE, aging ? O_RDWR : O_RDONLY);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (fd == -ENOENT)
        return hr_reason_set(reason, fd,
                             HR_LRU_GEN_FILE " is missing: mount -t debugfs none "
                                             "/sys/kernel/debug (CONFIG_DEBUG_FS=y)");
    if (fd == -EACCES)
        return hr_reason_set(
            reason, fd, "no permission to open " HR_LRU_GEN_FILE " for %s: %s",
            aging ? "aging" : "reading",
            hr_capability_remedy(aging ? HR_CAP_DAC_OVERRIDE : HR_CAP_DAC_READ_SEARCH, remedy));
    if (fd == -EPERM)
        return hr_reason_set(reason, fd,
                             HR_LRU_GEN_FILE " is locked: start the kernel without lockdown "
                                             "(/sys/kernel/security/lockdown)");
    return hr_reason_set(reason, fd, HR_LRU_GEN_FILE " can't be opened (%s)", strerror(-fd));
}

int hr_lru_gen_file_read(const struct hr_root *root, struct hr_file_text *text)
{
    return hr_file_text_read(root, HR_LRU_GEN_FILE, text);
}

/* --- Aging ---------------------------------------------------------------- */

/* "+ memcg_id node seq swappiness force": the last two must be given. By default swappiness is 0
 * without swap space, and the walk would skip anonymous memory; without force it skips ranges that
 * had few accessed pages the last time, and refuses to merge the two oldest generations. */
int hr_lru_gen_file_age(int fd, uint64_t memcg_id, unsigned node, uint64_t seq)
{
    char line[96];

    int length =
        snprintf(line, sizeof(line), "+ %" PRIu64 " %u %" PRIu64 " 1 1\n", memcg_id, node, seq);
    return write(fd, line, (size_t)length) < 0 ? -errno : 0;
}
