/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_psi_open_alarms.c - open_alarms_parse, by the format of psi: what it accepts has names
 * that fit, and is the same text when printed.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "psi/open_alarms.h"

const char fuzz_corpus[] = "psi_open_alarms";

static void print_alarm(FILE *stream, const struct open_alarm *alarm)
{
    struct psi_rule parsed;
    const struct psi_rule *rule = &parsed;

    psi_open_alarm_rule(alarm, &parsed);
    require(strlen(rule->name) > 0 && strlen(alarm->instance) > 0 && alarm->id == 0);
    require(memchr(alarm->instance, '\0', sizeof(alarm->instance)) != NULL);
    require(strncmp(rule->type_instance, "trigger_", 8) == 0);
    require(strcmp(rule->type_instance + 8, rule->name) == 0);
    fprintf(stream, "%s\t%s\t%s\t%s\t%s%s%s\n", rule->name,
            hr_psi_resource_name(rule->trigger.resource), hr_psi_level_name(rule->trigger.level),
            alarm->sent == ALARM_SENT ? "open" : "begins", alarm->instance,
            alarm->path != NULL ? "\t" : "", alarm->path != NULL ? alarm->path : "");
}

static char *print(const struct open_alarms_text *parsed, size_t *length)
{
    const struct open_alarm *alarm;
    char *text;
    FILE *stream = open_memstream(&text, length);

    fprintf(stream, "headroom's open pressure alarms 1\nboot %s\n", parsed->boot_id);
    TAILQ_FOREACH(alarm, &parsed->list, entry)
    print_alarm(stream, alarm);
    fputs("end\n", stream);
    fclose(stream);
    return text;
}

/* Printing what was printed changes nothing. */
static void require_same(const struct open_alarms_text *parsed, size_t size)
{
    struct open_alarms_text again;
    size_t length, length_again;
    char *text = print(parsed, &length);

    require(length == size);
    require(open_alarms_parse(&psi_open_alarms_format, text, length, &again) == 0);
    char *text_again = print(&again, &length_again);
    require(length == length_again && memcmp(text, text_again, length) == 0);
    open_alarms_free_list(&again.list);
    free(text);
    free(text_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct open_alarms_text parsed;
    char *text = malloc(size); /* of just this size, so that reading past it is seen */

    memcpy(text, data, size);
    memset(&parsed, 0x55, sizeof(parsed));
    if (open_alarms_parse(&psi_open_alarms_format, text, size, &parsed) == 0)
        require_same(&parsed, size);
    else
        require(TAILQ_EMPTY(&parsed.list));
    open_alarms_free_list(&parsed.list);
    free(text);
    return 0;
}
