/* SPDX-License-Identifier: MIT */
/*
 * top/columns.h - which of collectd's series `headroom top` shows, and how.
 *
 * One table of data; what is fetched, the table on the screen, plain lines, JSON, sort keys and
 * --help derive from it.
 *
 * Where the screen has no room for all columns, the least useful are left out first. The most
 * useful show which groups wait, and for what: cpu, memory, io "some"; and for a CPU also "full",
 * as the group that takes it waits, too, but never with all of its tasks. Then how much room is
 * left; which groups use the CPUs, the first question that follows; for how long memory lasts, and
 * "full" of memory and io; then the memory's limit, and the working set. ipc and context switches
 * explain a load rather than find it. Interrupts matter on few machines, and most page faults mean
 * nothing; resident memory is for comparison with the working set.
 */
#ifndef HEADROOM_COMMAND_TOP_COLUMNS_H
#define HEADROOM_COMMAND_TOP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/** How the screen draws a column. */
enum column_drawn {
    COLUMN_BAR,    /**< a bar of 0..100, where there is room, and the number */
    COLUMN_NUMBER, /**< the number alone */
    COLUMN_BESIDE, /**< of the system: in the column before it, where that has no value */
    COLUMN_LABEL   /**< behind the name of the group, see row_label() */
};

/** One column. A group's value comes from series HOST/plugin-GROUP/type-type_instance. */
struct column {
    const char *title;         /**< on the screen; up to VALUE_WIDTH characters */
    const char *plugin;        /**< of the series; "": it has none, see top/memory.h */
    const char *type;          /**< of the series */
    const char *type_instance; /**< of the series; "" for none */
    const char *key;           /**< in JSON, and the heading of plain lines */
    const char *unit;          /**< for --help */
    const char *head_unit;     /**< behind the key in the heading of plain lines; NULL: none */
    const char *meaning;       /**< for the help on the screen */
    double divisor;            /**< a value of the series, divided by this, is in that unit */
    int decimals;              /**< digits after the point, if there is room */
    int rank;                  /**< of usefulness, from 1; the highest is left out first */
    enum column_drawn drawn;
    bool not_of_system;   /**< absent in the system's row, where the series means something else */
    bool in_pressure;     /**< the sort key "pressure" is the highest of these, … */
    bool in_full;         /**< … after the highest of these */
    double warn, alarm;   /**< from here on yellow, red; both INFINITY: no colour at all */
    bool low_is_bad;      /**< its limits are lower ones; the lowest is sorted first */
    const char *sort_key; /**< the name in --sort; NULL when one can't sort by it */
    char sort_letter;     /**< the key on the screen; not q, p, n or ? */
};

/** The most columns there can be. */
#define COLUMN_MAX 32

extern const struct column columns[];
extern const size_t column_count;

/** @return the index of a column by its key, which there must be. */
size_t column_find(const char *key);

/** @return whether the screen has a column of it. */
bool column_is_own(const struct column *column);

/** How a value stands to its column's limits. */
enum severity { SEVERITY_NONE, SEVERITY_CALM, SEVERITY_WARN, SEVERITY_ALARM };

/** @return SEVERITY_NONE for an absent value, that is NaN, and in a column without limits. */
enum severity column_severity(const struct column *column, double value);

/** What rows are sorted by. */
struct sort_key {
    const char *name;
    char letter;
    int column; /**< an index into columns, or SORT_PRESSURE or SORT_NAME */
};

/** Values of sort_key.column that are no index. */
enum { SORT_PRESSURE = -1, SORT_NAME = -2 };

/** The number of keys there can be at most. */
#define SORT_KEY_MAX (COLUMN_MAX + 2)

/** Writes all sort keys, the default first. @return their number. */
size_t sort_keys(struct sort_key keys[SORT_KEY_MAX]);

/**
 * Finds a sort key by its name, or where that is NULL, by its letter.
 *
 * @return 0, or -ENOENT and *found is untouched.
 */
int sort_key_find(const char *name, int letter, struct sort_key *found);

/** The width of numbers and titles at most. */
#define VALUE_WIDTH 5

/**
 * Writes a number in at most VALUE_WIDTH characters, for columns of text: with `decimals` digits
 * after the point below 1,000, above with one and a k, M, G, T, P or E; with fewer where these
 * don't fit. The caller ensures that the locale (LC_NUMERIC) has a decimal point.
 *
 * @param text  receives "-" for a value that is not finite, or too large for E.
 */
void format_value(double value, int decimals, char text[16]);

/** The same for a value of a column; bytes are in powers of 1024, with B, K, M, G, T, P or E, and a
 * time has its unit: now, 59s, 42min, 3.1h, >1d. */
void column_format(const struct column *column, double value, int decimals, char text[16]);

#endif
