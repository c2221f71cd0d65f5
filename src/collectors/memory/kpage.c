/* SPDX-License-Identifier: MIT */
#include "memory/kpage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "headroom/root.h"
#include "memory/words.h"

/* include/uapi/linux/kernel-page-flags.h; RESERVED isn't part of that stable interface, but has
 * been in include/linux/kernel-page-flags.h since 2009. */
#define FLAG(number)  ((uint64_t)1 << (number))
#define LRU           FLAG(5)
#define MAPPED        FLAG(11)
#define COMPOUND_TAIL FLAG(16)
#define HUGETLB       FLAG(17)
#define HWPOISON      FLAG(19)
#define NOPAGE        FLAG(20)
#define ZERO_PAGE     FLAG(24)
#define RESERVED      FLAG(32)
#define EXCLUDED      (HUGETLB | HWPOISON | NOPAGE | ZERO_PAGE | RESERVED)

struct hr_kpage {
    int fd;
    uint64_t absent; /* the value for page frames beyond the end of memory */
    uint64_t first_pfn;
    uint64_t loaded[HR_PAGE_CHUNK_WORDS / 64]; /* a bit for each 64 pages that were read */
    bool is_beyond;
    uint64_t values[HR_PAGE_CHUNK_PAGES];
};

static int open_file(const struct hr_root *root, const char *path, uint64_t absent,
                     struct hr_kpage **kpage)
{
    struct hr_kpage *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->fd = hr_root_openat(root, path, O_RDONLY);
    if (opened->fd < 0) {
        int status = opened->fd;
        free(opened);
        return status;
    }
    opened->absent = absent;
    *kpage = opened;
    return 0;
}

int hr_kpage_open_flags(const struct hr_root *root, struct hr_kpage **kpage)
{
    return open_file(root, HR_KPAGE_FLAGS_PATH, NOPAGE, kpage);
}

int hr_kpage_open_cgroups(const struct hr_root *root, struct hr_kpage **kpage)
{
    return open_file(root, HR_KPAGE_CGROUP_PATH, 0, kpage);
}

void hr_kpage_close(struct hr_kpage *kpage)
{
    if (kpage == NULL)
        return;
    hr_descriptor_close(&kpage->fd);
    free(kpage);
}

/* --- The window ----------------------------------------------------------- */

static int load_words(struct hr_kpage *kpage, unsigned word, unsigned count)
{
    uint64_t *values = &kpage->values[word * HR_PAGE_WORD_PAGES];
    size_t size = (size_t)count * HR_PAGE_WORD_PAGES;

    ssize_t got =
        hr_words_read(kpage->fd, kpage->first_pfn + word * HR_PAGE_WORD_PAGES, values, size);
    if (got < 0)
        return (int)got;
    kpage->is_beyond = got == 0;
    for (size_t i = (size_t)got; i < size; i++)
        values[i] = kpage->absent;
    for (unsigned i = word; i < word + count; i++)
        kpage->loaded[i / 64] |= (uint64_t)1 << i % 64;
    return 0;
}

int hr_kpage_move_window(struct hr_kpage *kpage, uint64_t first_pfn,
                         const struct hr_page_chunk *pages)
{
    unsigned word = 0, count;
    int status = 0;

    kpage->first_pfn = first_pfn;
    memset(kpage->loaded, 0, sizeof(kpage->loaded));
    if (pages == NULL)
        return load_words(kpage, 0, HR_PAGE_CHUNK_WORDS);
    for (; status == 0 && hr_page_chunk_next_words(pages, &word, &count); word += count)
        status = load_words(kpage, word, count);
    return status;
}

bool hr_kpage_is_beyond(const struct hr_kpage *kpage)
{
    return kpage->is_beyond;
}

int hr_kpage_read_value(struct hr_kpage *kpage, unsigned index, uint64_t *value)
{
    unsigned word = index / HR_PAGE_WORD_PAGES;

    if ((kpage->loaded[word / 64] >> word % 64 & 1) == 0) {
        int status = load_words(kpage, word, 1);
        if (status < 0)
            return status;
    }
    *value = kpage->values[index];
    return 0;
}

/* --- Flags ---------------------------------------------------------------- */

/* A folio of 2^n pages begins at a multiple of 2^n, and all its pages but the first are tails. So
 * clear the lowest bits of the index one by one until the page isn't a tail. The head of a folio
 * that is split or merged meanwhile may not be found. */
static int find_head(struct hr_kpage *flags, unsigned index, unsigned *head, uint64_t *value)
{
    *head = index;
    int status = hr_kpage_read_value(flags, index, value);
    for (unsigned bit = 1;
         status == 0 && (*value & COMPOUND_TAIL) != 0 && bit < HR_PAGE_CHUNK_PAGES; bit *= 2) {
        if ((*head & bit) == 0)
            continue;
        *head &= ~bit;
        status = hr_kpage_read_value(flags, *head, value);
    }
    return status;
}

int hr_kpage_classify(struct hr_kpage *flags, unsigned index, unsigned *head,
                      enum hr_page_kind *kind)
{
    uint64_t own, value;

    int status = hr_kpage_read_value(flags, index, &own);
    if (status < 0)
        return status;
    status = find_head(flags, index, head, &value);
    if (status < 0)
        return status;
    if (((own | value) & EXCLUDED) != 0)
        *kind = HR_PAGE_EXCLUDED;
    else if ((value & LRU) != 0 && (value & COMPOUND_TAIL) == 0)
        *kind = HR_PAGE_TRACKED;
    else
        *kind = (own & MAPPED) != 0 ? HR_PAGE_UNTRACKED : HR_PAGE_EXCLUDED;
    return 0;
}

int hr_kpage_is_tail(struct hr_kpage *flags, unsigned index, bool *is_tail)
{
    uint64_t value;

    int status = hr_kpage_read_value(flags, index, &value);
    if (status == 0)
        *is_tail = (value & COMPOUND_TAIL) != 0;
    return status;
}
