/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_lru_gen.c - hr_lru_gen_parse_next: whatever the text, an accepted list is the same when
 * printed and parsed again, and the pages of a window are part of all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "memory/lru_gen.h"

const char fuzz_corpus[] = "lru_gen";

static size_t print_generations(const struct hr_lru_gen_list *list, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "memcg %5" PRIu64 " ", list->memcg_id);

    memcpy(buffer + used, list->path.start, list->path.length); /* may have any byte in it */
    used += list->path.length;
    used += (size_t)snprintf(buffer + used, size - used, "\n node %5u\n", list->node);
    for (size_t i = 0; i < list->count; i++)
        used += (size_t)snprintf(
            buffer + used, size - used, " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %10d \n",
            list->generations[i].seq, list->generations[i].age_ms, list->generations[i].pages, 0);
    return used;
}

static void look_at(const struct hr_lru_gen_list *list, size_t size)
{
    struct hr_lru_gen_list again;
    struct hr_lru_gen_window_sum recall = {0};
    char *printed = malloc(size + 1024);

    require(list->count > 0 && list->count <= HR_LRU_GEN_MAX);
    require(hr_lru_gen_is_below(list, "/"));
    struct hr_lru_gen_reader reader = {
        .rest = {printed, print_generations(list, printed, size + 1024)}};
    require(hr_lru_gen_parse_next(&reader, &again) == 1 && reader.rest.length == 0);
    require(again.memcg_id == list->memcg_id && again.node == list->node);
    require(again.path.length == list->path.length && again.count == list->count);
    require(memcmp(again.path.start, list->path.start, list->path.length) == 0);
    require(memcmp(again.generations, list->generations, sizeof(again.generations)) == 0);
    hr_lru_gen_sum_window(list, 5000, &recall);
    require(recall.touched_pages <= recall.known_pages && recall.known_pages <= recall.all_pages);
    require(recall.all_pages == hr_lru_gen_pages_since(list, 0) && recall.window_ms <= 5000);
    require(hr_lru_gen_pages_since(list, hr_lru_gen_youngest(list)) <= recall.all_pages);
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_lru_gen_list list;
    char *text = malloc(size + 1); /* of just this size, so that reading past it is seen */

    memcpy(text, data, size);
    struct hr_lru_gen_reader reader = {.rest = {text, size}};
    while (hr_lru_gen_parse_next(&reader, &list) > 0)
        look_at(&list, size);
    free(text);
    return 0;
}
