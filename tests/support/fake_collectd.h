/* SPDX-License-Identifier: MIT */
/*
 * support/fake_collectd.h - a stand-in for the collectd daemon: it opens a plugin's shared object,
 * calls what it registers, and records what it dispatches and logs.
 *
 * It is linked into a test program together with fake_notification.c and fake_config.c. The program
 * must export its symbols (-rdynamic), as they are the plugin's collectd functions. One plugin runs
 * at a time.
 *
 * It is stricter than the daemon, which dispatches values that no receiver can use: here they are
 * rejected, see fake_value.rejected. A mistake of the test itself ends the program with a message.
 *
 * Environment:
 *   HEADROOM_PLUGIN_DIR  where the plugins are; "." if it isn't set
 *   TYPESDB              types.db; FAKE_TYPESDB if it isn't set
 *   HEADROOM_TEST_LOG    if set, what the plugin logs is shown on stderr
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_COLLECTD_H
#define HEADROOM_TESTS_SUPPORT_FAKE_COLLECTD_H

#include "collectd.h"

#include "plugin.h"

#ifndef FAKE_TYPESDB
#define FAKE_TYPESDB "/usr/share/collectd/types.db"
#endif

/** What was dispatched, with one data source, the first. */
struct fake_value {
    char identifier[4 * DATA_MAX_NAME_LEN]; /**< without the host: "psi-system/percent-cpu-some" */
    char instance[DATA_MAX_NAME_LEN];       /**< the plugin instance */
    cdtime_t time;
    cdtime_t interval; /**< as dispatched; 0: the plugin's */
    int type;          /**< DS_TYPE_GAUGE, … */
    value_t value;
    double number;  /**< the value, whatever its type */
    bool decreased; /**< a DERIVE below the one before it */
    /**
     * NULL, or why it was rejected: a type that types.db doesn't have, or with another number of
     * values; no plugin or type, or one with "-"; a part of the identifier that isn't terminated,
     * or has a slash or what isn't safe to show; a gauge out of the type's range, or NaN; a time
     * that isn't later than that of the series' value before.
     */
    const char *rejected;
};

/* --- Life ----------------------------------------------------------------- */

/** Opens PLUGIN.so and calls its module_register(). */
void fake_start(const char *plugin);

/** Starts without a plugin, for tests of a plugin's parts that are linked into the program. */
void fake_start_parts(void);

/** The plugin's symbol, as dlsym() finds it; NULL if there is none. */
void *fake_symbol(const char *name);

/**
 * Passes configuration to the plugin, as written in collectd.conf: one <Plugin …> block or more.
 *
 * @return what the callback returned; where that isn't 0 the daemon would not have started.
 */
int fake_configure(const char *text);

/** Calls the init callback. @return what it returned. */
int fake_init(void);

/** How many read callbacks are registered. */
size_t fake_read_callbacks(void);

/** Advances the clock of cdtime() by an interval of 10 seconds, forgets the values of the read
 * before, and calls the read callbacks. @return 0, or what one of them returned. */
int fake_read(void);

/** Shuts down the plugin as the daemon does: frees the data of read callbacks, then calls the
 * shutdown callback. @return what that returned. */
int fake_shutdown(void);

/** Closes the plugin, after fake_shutdown(), and forgets all that is recorded. */
void fake_stop(void);

/** Sets what the daemon's option BaseDir is; kept by the caller. NULL, as at first: unset. */
void fake_set_base_dir(const char *path);

/* --- Clock ---------------------------------------------------------------- */

/** Sets what plugin_get_interval() returns, 10 seconds by default. A plugin takes it as real time.
 */
void fake_set_interval(cdtime_t interval);

/** Sets what cdtime() returns next. Each call of cdtime() advances the clock a little. */
void fake_set_time(cdtime_t time);

/* --- Values --------------------------------------------------------------- */

/** The values dispatched since the last fake_read() began, in their order. Valid until the next
 * value comes. */
const struct fake_value *fake_values(size_t *count);

/** The latest of these with an identifier; NULL if there is none. */
const struct fake_value *fake_find(const char *identifier);

/** How many of these have an identifier that matches a pattern of fnmatch(3), without flags. */
size_t fake_count(const char *pattern);

/** Calls the plugin's "missing" callback, as the daemon does before it forgets a series that has
 * had no value for a while, in a state that the plugin threshold has set: STATE_OKAY and so on.
 * @return what it returned. */
int fake_miss(const value_list_t *series, int state);

/**
 * Calls the plugin's callback of cache events, as the daemon does for a series that has a value,
 * before its writers get that.
 *
 * @param state  the series' state, in and out.
 * @return whether it is to be called for the series' next values.
 */
int fake_cache_event(enum cache_event_type_e type, const value_list_t *series, int *state);

/** How many values were rejected since fake_start(); the first of them is shown on stderr. */
size_t fake_rejections(void);

/** How often sstrncpy() or ssnprintf() cut a text off since fake_start(). */
size_t fake_truncations(void);

/** Sets what is called after each value is recorded; NULL: nothing. The value is valid only within
 * the call. */
void fake_on_dispatch(void (*hook)(const struct fake_value *value, void *context), void *context);

/* --- Log ------------------------------------------------------------------ */

/** How many lines were logged with a severity (0: any) and a text in them (NULL: any). */
size_t fake_logs(int severity, const char *containing);

/** One line, as "warning: psi: …"; NULL after the last. */
const char *fake_log(size_t index);

/** Doesn't keep lines with a text in them: such as depend on the machine. It stays valid. */
void fake_ignore_logs(const char *containing);

/** Forgets all lines. */
void fake_forget_logs(void);

/* --- Notifications -------------------------------------------------------- */

/** How many were dispatched. */
size_t fake_notifications(void);

/** One of these, with its metadata; NULL after the last. Valid until they are forgotten, though
 * others may come meanwhile. */
const notification_t *fake_notification(size_t index);

/** Forgets them. */
void fake_forget_notifications(void);

/** Forgets what the plugin has registered to be told of notifications. */
void fake_forget_notification_callback(void);

/** Sets what is called with each notification before it is recorded, in the thread that dispatches
 * it; NULL: nothing. */
void fake_on_notification(void (*hook)(const notification_t *notification, void *context),
                          void *context);

#endif
