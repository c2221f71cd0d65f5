/* SPDX-License-Identifier: MIT */
/*
 * common/numbers.h - numbers in the values of options.
 */
#ifndef HEADROOM_COMMAND_COMMON_NUMBERS_H
#define HEADROOM_COMMAND_COMMON_NUMBERS_H

/**
 * Parses digits with at most one point, such as "0.1"; no sign, exponent, hexadecimal or blank. The
 * caller ensures that the locale (LC_NUMERIC) has a decimal point.
 *
 * @param value  untouched on failure.
 * @return 0; -EINVAL: not such a number, or below `least` or above `most`.
 */
int number_parse_decimal(const char *text, double least, double most, double *value);

/** The same, for digits without a point. */
int number_parse_whole(const char *text, int least, int most, int *value);

#endif
