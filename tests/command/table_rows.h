/* SPDX-License-Identifier: MIT */
/*
 * command/table_rows.h - rows for tests of the table of `headroom top`.
 */
#ifndef HEADROOM_TESTS_COMMAND_TABLE_ROWS_H
#define HEADROOM_TESTS_COMMAND_TABLE_ROWS_H

#include "top/table.h"

enum { FILLED_ROWS = 6 /**< of fill_table() */ };

/** The index of a column; a key that there isn't fails the test. */
int column_of_key(const char *key);

/** Makes a table of groups on two hosts, to be freed by table_free(). */
void fill_table(struct table *table);

#endif
