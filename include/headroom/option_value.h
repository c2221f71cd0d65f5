/* SPDX-License-Identifier: MIT */
/*
 * headroom/option_value.h - which values the options of the plugins accept, so far as that shows
 * without the machine, but for Root, which must be there: the same in the plugins, which refuse
 * others, and in the command, which finds them before collectd does.
 */
#ifndef HEADROOM_OPTION_VALUE_H
#define HEADROOM_OPTION_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hr_option_type { HR_OPTION_TEXT, HR_OPTION_NUMBER, HR_OPTION_BOOLEAN };

struct hr_option_value {
    enum hr_option_type type;
    const char *text; /**< of HR_OPTION_TEXT */
    double number;    /**< of HR_OPTION_NUMBER */
};

/** An option as it is given. */
struct hr_option {
    const char *plugin;
    const char *block; /**< the key of the block that it stands in: "Plugin", "Trigger", ... */
    const char *name;
    const struct hr_option_value *values;
    size_t count;
};

/** Bytes of a trigger's name. */
#define HR_OPTION_NAME_MAX 64

/** More words no option has. */
#define HR_OPTION_WORDS_MAX 8

/** The longest text of hr_option_accepts(), and its NUL. */
#define HR_OPTION_ACCEPTED_SIZE 192

/**
 * Whether an option accepts its values; true also if nothing is known of it.
 *
 * @param accepted  receives, if it doesn't, what completes "it takes ...", with the word that may
 * be meant.
 */
bool hr_option_accepts(const struct hr_option *option, char accepted[HR_OPTION_ACCEPTED_SIZE]);

/** @return the index of a value among the words that the option accepts, in the order in which
 * hr_option_accepts() names them; -1: it is none of them. */
int hr_option_find_word(const struct hr_option *option, size_t value);

/** Parses digits, with or without the unit K, M, G or T. @return whether it is that. */
bool hr_option_parse_bytes(const char *text, uint64_t *bytes);

#endif
