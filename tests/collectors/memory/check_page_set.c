/* SPDX-License-Identifier: MIT */
/*
 * collectors/memory/check_page_set.c - sets of page frames.
 */
#include <check.h>
#include <errno.h>

#include "collectors/memory/count_pages.h"
#include "memory/page_set.h"
#include "support/suite.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TIB          ((uint64_t)1 << 28) /* the page frame at 1 TiB */

START_TEST(keeps_sets)
{
    static const uint64_t pfns[] = {0, 63, 64, 32767, 32768, TIB - 1, TIB, HR_PAGE_MAX - 1};
    struct hr_page_set set = {0};
    uint64_t first = 0;
    size_t chunks = 0;

    ck_assert_ptr_null(hr_page_set_next(&set, &first));
    for (size_t i = 0; i < COUNT(pfns); i++) {
        ck_assert(!hr_page_set_has(&set, pfns[i]));
        ck_assert_int_eq(hr_page_set_add(&set, pfns[i]), 0);
        ck_assert_int_eq(hr_page_set_add(&set, pfns[i]), 0);
        ck_assert(hr_page_set_has(&set, pfns[i]));
        ck_assert_uint_eq(count_pages(&set), i + 1);
    }
    ck_assert_int_eq(hr_page_set_add(&set, HR_PAGE_MAX), -EOVERFLOW);
    ck_assert(!hr_page_set_has(&set, UINT64_MAX));
    for (first = 0; hr_page_set_next(&set, &first) != NULL; first += HR_PAGE_CHUNK_PAGES)
        chunks++;
    ck_assert_uint_eq(chunks, 5);
    hr_page_set_free(&set);
}
END_TEST

START_TEST(walks_chunks)
{
    struct hr_page_chunk chunk = {{[0] = 1, [3] = (uint64_t)1 << 63, [8] = 2, [511] = 3}};
    static const unsigned pages[] = {0, 255, 513, 32704, 32705};
    static const unsigned words[][2] = {{0, 4}, {8, 1}, {511, 1}};
    unsigned index = 0, word = 0, count;

    for (size_t i = 0; i < COUNT(pages); i++, index++) {
        ck_assert(hr_page_chunk_next(&chunk, &index));
        ck_assert_uint_eq(index, pages[i]);
    }
    ck_assert(!hr_page_chunk_next(&chunk, &index));
    for (size_t i = 0; i < COUNT(words); i++, word += count) {
        ck_assert(hr_page_chunk_next_words(&chunk, &word, &count));
        ck_assert_uint_eq(word, words[i][0]);
        ck_assert_uint_eq(count, words[i][1]);
    }
    ck_assert(!hr_page_chunk_next_words(&chunk, &word, &count));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("page_set");

    tcase_add_test(tests, keeps_sets);
    tcase_add_test(tests, walks_chunks);
    return run_suite("page_set", tests);
}
