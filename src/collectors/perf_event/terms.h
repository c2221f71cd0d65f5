/* SPDX-License-Identifier: MIT */
/*
 * perf_event/terms.h - encodes the terms between the slashes of "cpu/event=0xc0,umask=0x1/", using
 * the files of the PMU's directory in sysfs, which the caller reads.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_TERMS_H
#define HEADROOM_COLLECTORS_PERF_EVENT_TERMS_H

#include "perf_event/parse.h"

/** The config words of struct perf_event_attr: config, config1, config2, config3. */
#define HR_PERF_WORDS 4

/** The word and the bits that a term sets; at least one bit. */
struct hr_perf_format {
    unsigned word;
    uint64_t bits;
};

/** Access to a PMU's files. */
struct hr_perf_term_files {
    /** Reads a whole file. @return 0, -ENOENT if there is none, or another negative errno. */
    int (*read)(const void *context, const char *directory, struct hr_text name, char *buffer,
                size_t size, size_t *length);
    const void *context;
};

/** Properties of the terms; the texts are parts of the text of the terms, or empty. */
struct hr_perf_terms {
    struct hr_text alias;   /**< the PMU's event that is named */
    bool alias_alone;       /**< no other term changes what is counted */
    struct hr_text name;    /**< value of the term "name=" */
    struct hr_text unknown; /**< on -ENOENT: the name that the PMU doesn't know */
};

/** Parses a number, decimal or hexadecimal after "0x". @return whether it is one below 2^64. */
bool hr_perf_number_parse(struct hr_text text, uint64_t *value);

/** Parses hexadecimal digits. @return whether it is a number below 2^64. */
bool hr_perf_hex_parse(struct hr_text text, uint64_t *value);

/** Whether a text is "r" followed by any number of hexadecimal digits. */
bool hr_perf_is_raw(struct hr_text text);

/** Parses a file of the directory "format". @return 0, -EBADMSG. */
int hr_perf_format_parse(const char *text, size_t length, struct hr_perf_format *format);

/**
 * Encodes terms: sets the config words in attr.
 *
 * A term is a file of the directory "events" (without a value), a file of "format" (the default
 * value is 1), config, config1, config2, config3, rNNN (short for config=0xNNN), or name.
 *
 * @param pmu    its name, for error messages.
 * @param attr   its config words must be 0; they are undefined on failure.
 * @param found  filled on failure, too.
 * @return 0; -ENOENT for a term that the PMU doesn't know; -EINVAL for one that is malformed, out
 *         of range or given twice; -EBADMSG for a file that can't be parsed; or the error of
 *         reading a file. The error is filled on failure.
 */
int hr_perf_terms_encode(const struct hr_perf_term_files *files, const char *pmu,
                         struct hr_text terms, struct perf_event_attr *attr,
                         struct hr_perf_terms *found, struct hr_perf_event_error *error);

#endif
