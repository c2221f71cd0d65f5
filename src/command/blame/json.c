/* SPDX-License-Identifier: MIT */
#include "common/json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "blame/report.h"
#include "headroom/clock.h"

static void print_task(FILE *file, const struct blame_report *report, uint32_t tid)
{
    char name[16] = "";

    if (!report->by_task)
        return;
    json_print_count(file, ",\"tid\":", tid != 0, tid);
    if (tid != 0 && hr_blame_task_name(report->blame, tid, name, sizeof(name)) != 0)
        name[0] = '\0';
    json_print_text(file, ",\"task\":", name);
}

static void print_cell(FILE *file, const struct blame_report *report,
                       const struct hr_blame_cell *cell)
{
    const bool group = cell->taker == HR_BLAME_GROUP;

    fprintf(file, "{\"taker\":\"%s\"", hr_blame_taker_name(cell->taker));
    json_print_text(file, ",\"group\":", group ? watched_path(report->watched, cell->group) : NULL);
    print_task(file, report, cell->taker_tid);
    json_print_count(file, ",\"wait_us\":", true, cell->wait_ns / 1000);
    putc('}', file);
}

static void print_waiter(FILE *file, const struct blame_report *report,
                         const struct blame_waiter *waiter)
{
    const struct hr_blame_cell *cells = &report->matrix->cells[waiter->first];

    json_print_text(file, "{\"group\":", watched_path(report->watched, cells->waiter));
    print_task(file, report, cells->waiter_tid);
    json_print_count(file, ",\"wait_us\":", true, waiter->wait_ns / 1000);
    fputs(",\"taken_by\":[", file);
    for (size_t i = 0; i < waiter->count; i++) {
        if (i > 0)
            putc(',', file);
        print_cell(file, report, &cells[i]);
    }
    fputs("]}", file);
}

int blame_json_print(FILE *file, const struct blame_report *report)
{
    struct blame_waiter *waiters;
    size_t count;
    int status = blame_find_waiters(report->matrix, &waiters, &count);

    if (status != 0)
        return status;
    json_print_number(file, "{\"seconds\":", true, "%.6f",
                      (double)report->matrix->time_ns / HR_NS_PER_S);
    fprintf(file, ",\"interrupts_known\":%s,\"limit_exact\":%s",
            report->interrupts_known ? "true" : "false", report->limit_exact ? "true" : "false");
    json_print_count(file, ",\"lost_us\":", true, report->matrix->lost_ns / 1000);
    json_print_count(file, ",\"unsplit_us\":", true, report->matrix->unsplit_ns / 1000);
    fputs(",\"waiting\":[", file);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putc(',', file);
        print_waiter(file, report, &waiters[i]);
    }
    fputs("]}\n", file);
    free(waiters);
    return 0;
}
