/* SPDX-License-Identifier: MIT */
#include "perf_event/terms.h"

#include <errno.h>
#include <inttypes.h>

#define MOST_TERMS 32

struct term {
    struct hr_text name, value;
    bool has_value;
};

/* An encoding under construction. */
struct encoder {
    const struct hr_perf_term_files *files;
    const char *pmu;
    struct hr_text terms; /* as the user wrote them */
    uint64_t words[HR_PERF_WORDS];
    struct hr_text seen[MOST_TERMS]; /* terms that have set bits */
    size_t seen_count;
    char alias_text[4096]; /* of the alias's file; a file of sysfs is at most one page long */
    struct hr_perf_terms *found;
    struct hr_perf_event_error *error;
};

/* --- Numbers --------------------------------------------------------------- */

bool hr_perf_hex_parse(struct hr_text text, uint64_t *value)
{
    return hr_text_hex(&text, value) && text.length == 0;
}

bool hr_perf_number_parse(struct hr_text text, uint64_t *value)
{
    uint64_t sum;

    if (hr_text_skip(&text, "0x") || hr_text_skip(&text, "0X"))
        return hr_perf_hex_parse(text, value);
    if (!hr_text_u64(&text, &sum) || text.length > 0)
        return false;
    *value = sum;
    return true;
}

bool hr_perf_is_raw(struct hr_text text)
{
    if (text.length < 2 || *text.start != 'r')
        return false;
    for (size_t i = 1; i < text.length; i++)
        if (hr_text_hex_digit(text.start[i]) < 0)
            return false;
    return true;
}

/* --- The files of "format" ------------------------------------------------- */

static const char *const words[HR_PERF_WORDS] = {"config", "config1", "config2", "config3"};

/* The config word of this name; HR_PERF_WORDS if there is none. */
static unsigned find_word(struct hr_text name)
{
    unsigned word = 0;

    while (word < HR_PERF_WORDS && !hr_text_is(name, words[word]))
        word++;
    return word;
}

static bool parse_bit_range(struct hr_text *rest, uint64_t *bits)
{
    uint64_t first, last;

    if (!hr_text_u64(rest, &first))
        return false;
    last = first;
    if (hr_text_skip(rest, "-") && !hr_text_u64(rest, &last))
        return false;
    if (last > 63 || first > last)
        return false;
    *bits |= UINT64_MAX << first & UINT64_MAX >> (63 - last);
    return true;
}

/*
 * A word of struct perf_event_attr and its bits; without bits, the whole word:
 *
 *     config:0-7,32-35
 */
int hr_perf_format_parse(const char *text, size_t length, struct hr_perf_format *format)
{
    struct hr_text rest = {text, length};
    struct hr_perf_format parsed = {0};

    if (rest.length > 0 && rest.start[rest.length - 1] == '\n')
        rest.length--;
    size_t colon = hr_text_find(rest, ':');
    parsed.word = find_word(hr_text_head(rest, colon));
    if (parsed.word == HR_PERF_WORDS)
        return -EBADMSG;
    rest = hr_text_tail(rest, colon);
    if (rest.length == 0)
        parsed.bits = UINT64_MAX;
    else
        do {
            rest = hr_text_tail(rest, 1);
            if (!parse_bit_range(&rest, &parsed.bits))
                return -EBADMSG;
        } while (rest.length > 0 && *rest.start == ',');
    if (rest.length > 0)
        return -EBADMSG;
    *format = parsed;
    return 0;
}

/* Distributes a value's bits, from the lowest, over the bits of a format. */
static uint64_t spread_bits(uint64_t value, uint64_t bits)
{
    uint64_t result = 0;

    for (; bits != 0; bits &= bits - 1, value >>= 1)
        if ((value & 1) != 0)
            result |= bits & -bits;
    return result;
}

static uint64_t greatest_value(uint64_t bits)
{
    return UINT64_MAX >> (64 - __builtin_popcountll(bits));
}

/* --- Terms ------------------------------------------------------------------ */

/* Takes "name" or "name=value" off the front, but not the comma after it. */
static struct term split_term(struct hr_text *rest)
{
    struct hr_text all = hr_text_head(*rest, hr_text_find(*rest, ','));
    size_t equals = hr_text_find(all, '=');
    struct term term = {.name = hr_text_head(all, equals), .has_value = equals < all.length};

    if (term.has_value)
        term.value = hr_text_tail(all, equals + 1);
    *rest = hr_text_tail(*rest, all.length);
    return term;
}

/* Calls a function for each term; a status other than 0 ends the loop. */
static int for_each_term(struct encoder *encoder, struct hr_text terms,
                         int (*function)(struct encoder *, const struct term *))
{
    int status = 0;

    while (status == 0) {
        struct term term = split_term(&terms);
        status = function(encoder, &term);
        if (terms.length == 0)
            break;
        terms = hr_text_tail(terms, 1);
    }
    return status;
}

static int report_file(struct encoder *encoder, int status, const char *directory,
                       struct hr_text name)
{
    return hr_perf_set_error(encoder->error, status, "the file %s/%.*s of the PMU \"%.32s\" %s",
                             directory, HR_PERF_EXCERPT(name), encoder->pmu,
                             status == -EBADMSG ? "isn't understood" : "can't be read");
}

static int mark_seen(struct encoder *encoder, struct hr_text name)
{
    for (size_t i = 0; i < encoder->seen_count; i++)
        if (hr_text_equal(encoder->seen[i], name))
            return hr_perf_set_error(encoder->error, -EINVAL, "the term \"%.*s\" is given twice",
                                     HR_PERF_EXCERPT(name));
    if (encoder->seen_count == MOST_TERMS)
        return hr_perf_set_error(encoder->error, -EINVAL, "there are more than %d terms",
                                 MOST_TERMS);
    encoder->seen[encoder->seen_count++] = name;
    return 0;
}

static int set_bits(struct encoder *encoder, const struct term *term,
                    const struct hr_perf_format *format)
{
    uint64_t value = 1;

    if (term->has_value && !hr_perf_number_parse(term->value, &value))
        return hr_perf_set_error(encoder->error, -EINVAL,
                                 "the term \"%.*s\" takes a number, not \"%.*s\"",
                                 HR_PERF_EXCERPT(term->name), HR_PERF_EXCERPT(term->value));
    if (value > greatest_value(format->bits))
        return hr_perf_set_error(encoder->error, -EINVAL, "the term \"%.*s\" takes 0 to 0x%" PRIx64,
                                 HR_PERF_EXCERPT(term->name), greatest_value(format->bits));
    int status = mark_seen(encoder, term->name);
    if (status == 0)
        encoder->words[format->word] |= spread_bits(value, format->bits);
    return status;
}

/* @return 0, -ENOENT (without an error text) if the PMU has no such term, or another status. */
static int set_term(struct encoder *encoder, const struct term *term)
{
    struct hr_perf_format format = {find_word(term->name), UINT64_MAX};
    char text[256];
    size_t length;

    if (format.word < HR_PERF_WORDS)
        return set_bits(encoder, term, &format);
    int status = encoder->files->read(encoder->files->context, "format", term->name, text,
                                      sizeof(text), &length);
    if (status == -ENOENT)
        return status;
    if (status == 0)
        status = hr_perf_format_parse(text, length, &format);
    if (status < 0)
        return report_file(encoder, status, "format", term->name);
    return set_bits(encoder, term, &format);
}

static bool has_term(struct hr_text terms, struct hr_text name)
{
    while (terms.length > 0) {
        struct term term = split_term(&terms);
        if (term.has_value && hr_text_equal(term.name, name))
            return true;
        if (terms.length > 0)
            terms = hr_text_tail(terms, 1);
    }
    return false;
}

/* --- The files of "events" ------------------------------------------------- */

static int set_alias_term(struct encoder *encoder, const struct term *term)
{
    if (!hr_perf_is_name(term->name))
        return report_file(encoder, -EBADMSG, "events", encoder->found->alias);
    if (term->has_value && hr_text_is(term->value, "?")) {
        if (has_term(encoder->terms, term->name))
            return 0;
        return hr_perf_set_error(
            encoder->error, -EINVAL, "the event \"%.*s\" needs the term \"%.*s\" with a value",
            HR_PERF_EXCERPT(encoder->found->alias), HR_PERF_EXCERPT(term->name));
    }
    int status = set_term(encoder, term);
    if (status == -ENOENT)
        return report_file(encoder, -EBADMSG, "events", encoder->found->alias);
    return status;
}

/*
 * An event is a list of terms; the user must supply a value for "?":
 *
 *     event=0xcd,umask=0x1,ldat=3
 */
static int set_alias(struct encoder *encoder, struct hr_text name, size_t length)
{
    struct hr_text text = {encoder->alias_text, length};

    if (encoder->found->alias.length > 0)
        return hr_perf_set_error(encoder->error, -EINVAL,
                                 "there are two events, \"%.*s\" and \"%.*s\"",
                                 HR_PERF_EXCERPT(encoder->found->alias), HR_PERF_EXCERPT(name));
    encoder->found->alias = name;
    if (text.length > 0 && text.start[text.length - 1] == '\n')
        text.length--;
    return for_each_term(encoder, text, set_alias_term);
}

static bool is_event_attribute(struct hr_text name)
{
    static const char *const ends[] = {".scale", ".unit", ".per-pkg", ".snapshot"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t length = strlen(ends[i]);
        if (name.length > length && hr_text_is(hr_text_tail(name, name.length - length), ends[i]))
            return true;
    }
    return false;
}

/* @return 0, -ENOENT (without an error text) if the PMU has no such event, or another status. */
static int set_alias_if_known(struct encoder *encoder, const struct term *term)
{
    size_t length;

    if (is_event_attribute(term->name))
        return -ENOENT;
    int status = encoder->files->read(encoder->files->context, "events", term->name,
                                      encoder->alias_text, sizeof(encoder->alias_text), &length);
    if (status == -ENOENT)
        return status;
    if (status < 0)
        return report_file(encoder, status, "events", term->name);
    if (term->has_value)
        return hr_perf_set_error(encoder->error, -EINVAL, "the event \"%.*s\" takes no value",
                                 HR_PERF_EXCERPT(term->name));
    return set_alias(encoder, term->name, length);
}

/* --- The user's terms ------------------------------------------------------- */

static int set_name(struct encoder *encoder, const struct term *term)
{
    if (term->value.length == 0)
        return hr_perf_set_error(encoder->error, -EINVAL, "the term \"name\" needs a text");
    if (encoder->found->name.length > 0)
        return hr_perf_set_error(encoder->error, -EINVAL, "the term \"name\" is given twice");
    encoder->found->name = term->value;
    return 0;
}

static int set_raw(struct encoder *encoder, const struct term *term)
{
    uint64_t value;

    if (!hr_perf_hex_parse(hr_text_tail(term->name, 1), &value))
        return hr_perf_set_error(encoder->error, -EINVAL,
                                 "\"%.*s\" has more than the 64 bits of a raw code",
                                 HR_PERF_EXCERPT(term->name));
    encoder->words[0] |= value;
    return mark_seen(encoder, hr_text_of("config"));
}

static int report_unknown_term(struct encoder *encoder, const struct term *term)
{
    encoder->found->unknown = term->name;
    return hr_perf_set_error(encoder->error, -ENOENT, "the PMU \"%.32s\" has no %s \"%.*s\"",
                             encoder->pmu, term->has_value ? "term" : "event or term",
                             HR_PERF_EXCERPT(term->name));
}

/* An event takes precedence over a term of the same name, unless there is a value. */
static int set_user_term(struct encoder *encoder, const struct term *term)
{
    int (*const ways[2])(struct encoder *,
                         const struct term *) = {term->has_value ? set_term : set_alias_if_known,
                                                 term->has_value ? set_alias_if_known : set_term};

    if (term->name.length == 0)
        return hr_perf_set_error(encoder->error, -EINVAL, "there is an empty term");
    if (!hr_perf_is_name(term->name))
        return hr_perf_set_error(encoder->error, -EINVAL, "\"%.*s\" can't be the name of a term",
                                 HR_PERF_EXCERPT(term->name));
    if (hr_text_is(term->name, "name"))
        return set_name(encoder, term);
    for (size_t i = 0; i < 2; i++) {
        int status = ways[i](encoder, term);
        if (status != -ENOENT)
            return status;
    }
    if (!term->has_value && hr_perf_is_raw(term->name))
        return set_raw(encoder, term);
    return report_unknown_term(encoder, term);
}

/* Counts the terms that change the encoding. */
static size_t count_terms(struct hr_text terms)
{
    size_t count = 0;

    while (terms.length > 0) {
        struct term term = split_term(&terms);
        count += !hr_text_is(term.name, "name");
        if (terms.length > 0)
            terms = hr_text_tail(terms, 1);
    }
    return count;
}

static int copy_config_words(const struct encoder *encoder, struct perf_event_attr *attr)
{
    attr->config = encoder->words[0];
    attr->config1 = encoder->words[1];
    attr->config2 = encoder->words[2];
#ifdef PERF_ATTR_SIZE_VER8
    attr->config3 = encoder->words[3];
#else
    if (encoder->words[3] != 0)
        return hr_perf_set_error(encoder->error, -EINVAL,
                                 "config3 is newer than the kernel's headers of this build");
#endif
    return 0;
}

int hr_perf_terms_encode(const struct hr_perf_term_files *files, const char *pmu,
                         struct hr_text terms, struct perf_event_attr *attr,
                         struct hr_perf_terms *found, struct hr_perf_event_error *error)
{
    struct encoder encoder;

    *found = (struct hr_perf_terms){0};
    encoder.files = files;
    encoder.pmu = pmu;
    encoder.terms = terms;
    memset(encoder.words, 0, sizeof(encoder.words));
    encoder.seen_count = 0;
    encoder.found = found;
    encoder.error = error;
    if (count_terms(terms) == 0)
        return hr_perf_set_error(error, -EINVAL, "there is no event between the slashes");
    int status = for_each_term(&encoder, terms, set_user_term);
    if (status < 0)
        return status;
    found->alias_alone = found->alias.length > 0 && count_terms(terms) == 1;
    return copy_config_words(&encoder, attr);
}
