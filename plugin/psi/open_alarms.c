/* SPDX-License-Identifier: MIT */
#include "psi/open_alarms.h"

#include "utils/common/common.h"

/* --- Keys ------------------------------------------------------------------- */

static bool parse_resource(const char *word, enum hr_psi_resource *resource)
{
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        if (strcmp(word, hr_psi_resource_name(i)) == 0) {
            *resource = i;
            return true;
        }
    return false;
}

static bool parse_level(const char *word, enum hr_psi_level *level)
{
    for (int i = 0; i < HR_PSI_LEVEL_COUNT; i++)
        if (strcmp(word, hr_psi_level_name(i)) == 0) {
            *level = i;
            return true;
        }
    return false;
}

/* The name is part of series: psi_rule_read() has limited it. */
static bool parse_key(const char *key, struct psi_rule *rule)
{
    char copy[OPEN_ALARM_KEY_SIZE], *rest = copy;

    sstrncpy(copy, key, sizeof(copy));
    const char *name = strsep(&rest, "\t"), *resource = strsep(&rest, "\t");
    if (resource == NULL || rest == NULL || name[0] == '\0' || strlen(name) >= sizeof(rule->name))
        return false;
    sstrncpy(rule->name, name, sizeof(rule->name));
    snprintf(rule->type_instance, sizeof(rule->type_instance), "trigger_%s", name);
    return parse_resource(resource, &rule->trigger.resource) &&
           parse_level(rest, &rule->trigger.level);
}

static bool is_key(const char *key)
{
    struct psi_rule rule;

    return parse_key(key, &rule);
}

const struct open_alarms_format psi_open_alarms_format = {
    .plugin = "psi",
    .first_line = "headroom's open pressure alarms 1\n",
    .key_fields = 3,
    .is_key = is_key,
};

static void print_key(const struct psi_rule *rule, char key[OPEN_ALARM_KEY_SIZE])
{
    snprintf(key, OPEN_ALARM_KEY_SIZE, "%s\t%s\t%s", rule->name,
             hr_psi_resource_name(rule->trigger.resource), hr_psi_level_name(rule->trigger.level));
}

/* --- The alarms ------------------------------------------------------------- */

void psi_open_alarm_rule(const struct open_alarm *alarm, struct psi_rule *rule)
{
    *rule = (struct psi_rule){.of_system = alarm->path == NULL};
    parse_key(alarm->key, rule);
}

bool psi_open_alarm_is_by(const struct open_alarm *alarm, const struct psi_rule *rule)
{
    char key[OPEN_ALARM_KEY_SIZE];

    print_key(rule, key);
    return strcmp(alarm->key, key) == 0 && (alarm->path == NULL) == rule->of_system;
}

bool psi_open_alarms_claim(struct open_alarms *alarms, const struct psi_subject *subject,
                           enum alarm_sent *sent)
{
    char key[OPEN_ALARM_KEY_SIZE];

    print_key(subject->rule, key);
    return open_alarms_claim(
        alarms, &(struct open_alarm_subject){key, subject->instance, subject->path}, sent);
}

void psi_open_alarms_add_ending(struct open_alarms *alarms, uint64_t id,
                                const struct psi_subject *subject, enum alarm_sent sent)
{
    char key[OPEN_ALARM_KEY_SIZE];

    print_key(subject->rule, key);
    open_alarms_add_ending(
        alarms, id, &(struct open_alarm_subject){key, subject->instance, subject->path}, sent);
}

void psi_open_alarms_add(struct open_alarms *alarms, const struct psi_subject *subject,
                         enum alarm_sent sent)
{
    char key[OPEN_ALARM_KEY_SIZE];

    print_key(subject->rule, key);
    open_alarms_add(alarms, &(struct open_alarm_subject){key, subject->instance, subject->path},
                    sent);
}
