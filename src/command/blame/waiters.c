/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "blame/report.h"
#include "headroom/array.h"

static double suffered_ns(const struct blame_waiter *waiter)
{
    const double others_ns = (double)waiter->others_ns;

    return waiter->wait_ns > 0 ? others_ns * others_ns / (double)waiter->wait_ns : 0;
}

static int compare_waits(const void *first, const void *second)
{
    const struct blame_waiter *a = first, *b = second;
    const double a_ns = suffered_ns(a), b_ns = suffered_ns(b);

    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns > b->wait_ns ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static bool is_of_same(const struct hr_blame_cell *a, const struct hr_blame_cell *b)
{
    return a->waiter == b->waiter && a->waiter_tid == b->waiter_tid;
}

int blame_find_waiters(const struct hr_blame_matrix *matrix, struct blame_waiter **waiters,
                       size_t *count)
{
    struct blame_waiter *found = NULL;
    size_t used = 0, capacity = 0;

    for (size_t i = 0; i < matrix->count; i++) {
        if (i == 0 || !is_of_same(&matrix->cells[i], &matrix->cells[i - 1])) {
            if (HR_ARRAY_RESERVE(found, capacity, used + 1) != 0) {
                free(found);
                return -ENOMEM;
            }
            found[used++] = (struct blame_waiter){.first = i};
        }
        found[used - 1].count++;
        found[used - 1].wait_ns += matrix->cells[i].wait_ns;
        if (matrix->cells[i].taker != HR_BLAME_ITSELF)
            found[used - 1].others_ns += matrix->cells[i].wait_ns;
    }
    if (used > 0)
        qsort(found, used, sizeof(*found), compare_waits);
    *waiters = found;
    *count = used;
    return 0;
}
