/* SPDX-License-Identifier: MIT */
/*
 * perf_event/terms.h - what stands between the slashes of "cpu/event=0xc0,umask=0x1/": terms, made
 * into an encoding by what the PMU's folder in sysfs says. Nothing here opens a file by itself.
 */
#ifndef HEADROOM_COLLECTORS_PERF_EVENT_TERMS_H
#define HEADROOM_COLLECTORS_PERF_EVENT_TERMS_H

#include "perf_event/parse.h"

/** The config words of struct perf_event_attr: config, config1, config2, config3. */
#define HR_PERF_WORDS 4

/** Which bits of which word a term sets; at least one. */
struct hr_perf_format {
    unsigned word;
    uint64_t bits;
};

/** Where a PMU's files are read. */
struct hr_perf_term_files {
    /** Reads a whole file. @return 0, -ENOENT if there is none, or another negative errno. */
    int (*read)(const void *context, const char *folder, struct hr_text name, char *buffer,
                size_t size, size_t *length);
    const void *context;
};

/** What the terms are about; the texts lie in the text of the terms, or are empty. */
struct hr_perf_terms {
    struct hr_text alias;   /**< the event of the PMU's that they name */
    bool alias_alone;       /**< no other term changes what is counted */
    struct hr_text name;    /**< of the term "name=" */
    struct hr_text unknown; /**< on -ENOENT: the term's name that the PMU doesn't know */
};

/** Parses a number: decimal, or hexadecimal after "0x". @return whether it is one, below 2^64. */
bool hr_perf_number_parse(struct hr_text text, uint64_t *value);

/** Parses hexadecimal digits. @return whether it is such a number, below 2^64. */
bool hr_perf_hex_parse(struct hr_text text, uint64_t *value);

/** Tells whether a text is "r" and hexadecimal digits, however many. */
bool hr_perf_is_raw(struct hr_text text);

/** Parses a file of the folder "format". @return 0, -EBADMSG. */
int hr_perf_format_parse(const char *text, size_t length, struct hr_perf_format *format);

/**
 * Encodes terms: sets the config words in attr.
 *
 * A term is a file of the folder "events" (without a value), one of "format" (without a value it is
 * 1), config, config1, config2, config3, rNNN (which is config=0xNNN), or name.
 *
 * @param pmu    its name, for the error.
 * @param attr   its config words must be 0; they are undefined on failure.
 * @param found  set on failure, too.
 * @return 0; -ENOENT for a term that the PMU doesn't know; -EINVAL for what is malformed, out of
 *         range or given twice; -EBADMSG for a file that is not understood; or what reading a file
 *         returned. The error is filled on failure.
 */
int hr_perf_terms_encode(const struct hr_perf_term_files *files, const char *pmu,
                         struct hr_text terms, struct perf_event_attr *attr,
                         struct hr_perf_terms *found, struct hr_perf_event_error *error);

#endif
