/* SPDX-License-Identifier: MIT */
#include "support/fake_collectd.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "configfile.h"
#include "support/fake_cache.h"
#include "support/fake_config.h"
#include "support/fake_types.h"
#include "support/safe_text.h"
#include "utils/common/common.h"
#include "utils_cache.h"

#define MAX_READS         8
#define VALUES_MAX        65536
#define VALUES_BYTES      (VALUES_MAX * sizeof(struct fake_value))
#define INTERVAL          TIME_T_TO_CDTIME_T(10)
#define BEGINNING         TIME_T_TO_CDTIME_T(1700000000)
#define THREAD_NAME_BYTES 15

struct read_callback {
    char name[DATA_MAX_NAME_LEN];
    plugin_read_cb callback;
    user_data_t data;
};

/* The last value of a series, as in collectd's cache. */
struct series {
    char identifier[4 *
                    DATA_MAX_NAME_LEN]; /* first, so that it can be looked up by its text alone */
    cdtime_t time;
    double number;
};

struct line {
    int severity;
    char *text;
};

/* A plugin's threads call these functions, too, hence the lock; callbacks and types are used by the
 * test's thread alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *handle;
    char plugin[DATA_MAX_NAME_LEN];
    int (*config)(oconfig_item_t *);
    plugin_init_cb init;
    plugin_shutdown_cb shutdown;
    plugin_missing_cb missing;
    user_data_t missing_data;
    plugin_cache_event_cb cache_event;
    user_data_t cache_event_data;
    int state; /* of the series that is missing, or has a value */
    struct read_callback reads[MAX_READS];
    size_t read_count;
    void *series; /* a tsearch(3) tree */
    cdtime_t now;
    cdtime_t interval;
    const char *base_dir;
    struct fake_value *values;
    size_t value_count;
    size_t rejections, truncations;
    void (*hook)(const struct fake_value *value, void *context);
    void *hook_context;
    struct line *lines;
    size_t line_count;
    const char *ignored[4]; /* the first that is NULL is the end */
} fake;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "fake_collectd: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

static void *checked(void *memory)
{
    if (memory == NULL)
        fail("out of memory");
    return memory;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* --- Life ----------------------------------------------------------------- */

void fake_start_parts(void)
{
    fake_types_read();
    fake.now = BEGINNING;
    fake.interval = INTERVAL;
}

/* libpfm4 keeps tables as long as it is loaded, and never frees them: unloaded with the plugin,
 * they would be leaks to LeakSanitizer. The plugin itself is unloaded, so that its own are found.
 */
static void keep_libraries(void)
{
    dlopen("libpfm.so.4", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void fake_start(const char *plugin)
{
    const char *directory = getenv("HEADROOM_PLUGIN_DIR");
    char path[4096];

    if (fake.handle != NULL)
        fail("a plugin is open already");
    fake_start_parts();
    snprintf(fake.plugin, sizeof(fake.plugin), "%s", plugin);
    snprintf(path, sizeof(path), "%s/%s.so", directory != NULL ? directory : ".", plugin);
    fake.handle = dlopen(path, RTLD_NOW);
    if (fake.handle == NULL)
        fail("%s", dlerror());
    keep_libraries();
    void (*entry)(void) = (void (*)(void))(intptr_t)fake_symbol("module_register");
    if (entry == NULL)
        fail("%s has no module_register", path);
    entry();
}

void *fake_symbol(const char *name)
{
    struct link_map *wanted, *found;
    Dl_info info;
    void *symbol = dlsym(fake.handle, name);

    /* dlsym() also finds the symbols of the libraries that the plugin needs. */
    if (symbol == NULL || dlinfo(fake.handle, RTLD_DI_LINKMAP, &wanted) != 0 ||
        dladdr1(symbol, &info, (void **)&found, RTLD_DL_LINKMAP) == 0)
        return NULL;
    return wanted == found ? symbol : NULL;
}

int fake_configure(const char *text)
{
    oconfig_item_t *top = fake_config_parse(text);
    int status = 0;

    if (fake.config == NULL)
        fail("%s takes no configuration", fake.plugin);
    for (int i = 0; i < top->children_num && status == 0; i++) {
        oconfig_item_t *block = &top->children[i];
        if (strcasecmp(block->key, "Plugin") != 0 || block->values_num != 1 ||
            block->values[0].type != OCONFIG_TYPE_STRING ||
            strcasecmp(block->values[0].value.string, fake.plugin) != 0)
            fail("not <Plugin %s> but %s", fake.plugin, block->key);
        status = fake.config(block);
    }
    fake_config_free(top);
    return status;
}

int fake_init(void)
{
    return fake.init != NULL ? fake.init() : 0;
}

size_t fake_read_callbacks(void)
{
    return fake.read_count;
}

int fake_read(void)
{
    int status = 0;

    pthread_mutex_lock(&lock);
    fake.now += INTERVAL;
    fake.value_count = 0;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < fake.read_count; i++) {
        int returned = fake.reads[i].callback(&fake.reads[i].data);
        if (returned != 0)
            status = returned;
    }
    return status;
}

int fake_shutdown(void)
{
    for (size_t i = 0; i < fake.read_count; i++)
        if (fake.reads[i].data.free_func != NULL)
            fake.reads[i].data.free_func(fake.reads[i].data.data);
    fake.read_count = 0;
    return fake.shutdown != NULL ? fake.shutdown() : 0;
}

void fake_stop(void)
{
    if (fake.handle != NULL)
        dlclose(fake.handle);
    fake_types_free();
    tdestroy(fake.series, free);
    fake_forget_logs();
    fake_forget_notifications();
    fake_cache_forget();
    fake_on_notification(NULL, NULL);
    fake_forget_notification_callback();
    memset(&fake, 0, sizeof(fake));
}

void fake_set_base_dir(const char *path)
{
    fake.base_dir = path;
}

const char *global_option_get(const char *option)
{
    return strcmp(option, "BaseDir") == 0 ? fake.base_dir : NULL;
}

/* --- Registration --------------------------------------------------------- */

int plugin_register_complex_config(const char *type, int (*callback)(oconfig_item_t *))
{
    if (strcmp(type, fake.plugin) != 0)
        fail("%s registers the configuration of %s", fake.plugin, type);
    fake.config = callback;
    return 0;
}

int plugin_register_init(__attribute__((unused)) const char *name, plugin_init_cb callback)
{
    fake.init = callback;
    return 0;
}

int plugin_register_shutdown(__attribute__((unused)) const char *name, plugin_shutdown_cb callback)
{
    fake.shutdown = callback;
    return 0;
}

int plugin_register_complex_read(__attribute__((unused)) const char *group, const char *name,
                                 plugin_read_cb callback, __attribute__((unused)) cdtime_t interval,
                                 const user_data_t *data)
{
    for (size_t i = 0; i < fake.read_count; i++)
        if (strcmp(fake.reads[i].name, name) == 0) {
            plugin_log(LOG_WARNING, "The read function \"%s\" is already registered.", name);
            return EINVAL;
        }
    if (fake.read_count == MAX_READS)
        fail("too many read callbacks");
    struct read_callback *added = &fake.reads[fake.read_count++];
    *added = (struct read_callback){.callback = callback};
    snprintf(added->name, sizeof(added->name), "%s", name);
    if (data != NULL)
        added->data = *data;
    return 0;
}

int plugin_register_missing(__attribute__((unused)) const char *name, plugin_missing_cb callback,
                            const user_data_t *data)
{
    fake.missing = callback;
    fake.missing_data = *data;
    return 0;
}

int plugin_register_cache_event(__attribute__((unused)) const char *name,
                                plugin_cache_event_cb callback, const user_data_t *data)
{
    fake.cache_event = callback;
    fake.cache_event_data = *data;
    return 0;
}

/* --- Missing and first values --------------------------------------------- */

const data_set_t *plugin_get_ds(const char *name)
{
    static data_set_t set;
    const struct fake_type *type = fake_types_find(name);

    if (type == NULL)
        return NULL;
    snprintf(set.type, sizeof(set.type), "%s", name);
    set.ds_num = type->count;
    set.ds = (data_source_t *)type->sources;
    return &set;
}

int uc_get_state(__attribute__((unused)) const data_set_t *set,
                 __attribute__((unused)) const value_list_t *list)
{
    return fake.state;
}

int uc_set_state(__attribute__((unused)) const data_set_t *set,
                 __attribute__((unused)) const value_list_t *list, int state)
{
    const int before = fake.state;

    fake.state = state;
    return before;
}

int fake_miss(const value_list_t *series, int state)
{
    fake.state = state;
    return fake.missing(series, &fake.missing_data);
}

int fake_cache_event(enum cache_event_type_e type, const value_list_t *series, int *state)
{
    cache_event_t event = {.type = type, .value_list = series, .value_list_name = ""};

    fake.state = *state;
    if (fake.cache_event(&event, &fake.cache_event_data) != 0)
        fail("the callback of cache events has failed");
    *state = fake.state;
    return event.ret;
}

/* --- Clock and texts ------------------------------------------------------ */

void fake_set_time(cdtime_t time)
{
    pthread_mutex_lock(&lock);
    fake.now = time;
    pthread_mutex_unlock(&lock);
}

void fake_set_interval(cdtime_t interval)
{
    fake.interval = interval;
}

char *hostname_g = "host.example";

cdtime_t cdtime(void)
{
    pthread_mutex_lock(&lock);
    cdtime_t now = fake.now++;
    pthread_mutex_unlock(&lock);
    return now;
}

cdtime_t plugin_get_interval(void)
{
    return fake.interval;
}

int format_name(char *ret, int ret_len, const char *hostname, const char *plugin,
                const char *plugin_instance, const char *type, const char *type_instance)
{
    const int length = snprintf(ret, (size_t)ret_len, "%s/%s%s%s/%s%s%s", hostname, plugin,
                                plugin_instance[0] != '\0' ? "-" : "", plugin_instance, type,
                                type_instance[0] != '\0' ? "-" : "", type_instance);

    return length < ret_len ? 0 : ENOBUFS;
}

static void note_length(size_t length, size_t size)
{
    if (length < size)
        return;
    pthread_mutex_lock(&lock);
    fake.truncations++;
    pthread_mutex_unlock(&lock);
}

char *sstrncpy(char *to, const char *from, size_t size)
{
    note_length(strlen(from), size);
    snprintf(to, size, "%s", from);
    return to;
}

int ssnprintf(char *to, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    note_length((size_t)length, size);
    return length;
}

char *sstrerror(int number, char *buffer, size_t size)
{
    char text[128];

    snprintf(buffer, size, "%s", strerror_r(number, text, sizeof(text)));
    return buffer;
}

int plugin_thread_create(pthread_t *thread, void *(*start)(void *), void *argument,
                         const char *name)
{
    if (strlen(name) > THREAD_NAME_BYTES)
        fail("thread name %s is too long", name);
    int status = pthread_create(thread, NULL, start, argument);
    if (status == 0)
        pthread_setname_np(*thread, name);
    return status;
}

/* --- Values --------------------------------------------------------------- */

static bool is_clean(const char part[DATA_MAX_NAME_LEN])
{
    const char *end = memchr(part, '\0', DATA_MAX_NAME_LEN);

    if (end == NULL)
        return false;
    return strchr(part, '/') == NULL && is_safe_text(part);
}

static const char *find_fault_of_name(const value_list_t *list)
{
    if (!is_clean(list->host) || !is_clean(list->plugin) || !is_clean(list->plugin_instance) ||
        !is_clean(list->type) || !is_clean(list->type_instance))
        return "a part isn't terminated, or has a slash, or isn't safe to show";
    if (list->plugin[0] == '\0' || list->type[0] == '\0')
        return "plugin or type is empty";
    if (strchr(list->plugin, '-') != NULL || strchr(list->type, '-') != NULL)
        return "plugin or type has a -";
    return NULL;
}

static double to_number(value_t value, int type)
{
    switch (type) {
    case DS_TYPE_COUNTER:
        return (double)value.counter;
    case DS_TYPE_GAUGE:
        return value.gauge;
    case DS_TYPE_DERIVE:
        return (double)value.derive;
    default:
        return (double)value.absolute;
    }
}

static const char *find_fault_of_number(const data_source_t *source, double number)
{
    if (source->type != DS_TYPE_GAUGE)
        return NULL; /* the limits are those of its rate */
    if (isnan(number))
        return "not a number";
    /* Both are false if there is no limit. */
    if (number < source->min || number > source->max)
        return "out of the type's range";
    return NULL;
}

/* Compares a value with the series' last one, and replaces that. */
static const char *update_series(struct fake_value *value)
{
    struct series *former, **found = tfind(value->identifier, &fake.series, compare_texts);

    if (found == NULL) {
        former = checked(calloc(1, sizeof(*former)));
        snprintf(former->identifier, sizeof(former->identifier), "%s", value->identifier);
        checked(tsearch(former, &fake.series, compare_texts));
    } else {
        former = *found;
        if (value->time <= former->time)
            return "value too old";
        value->decreased = value->type == DS_TYPE_DERIVE && value->number < former->number;
    }
    former->time = value->time;
    former->number = value->number;
    return NULL;
}

static const char *check_value(const value_list_t *list, struct fake_value *value)
{
    const char *fault = find_fault_of_name(list);

    if (fault != NULL)
        return fault;
    const struct fake_type *type = fake_types_find(list->type);
    if (type == NULL)
        return "types.db has no such type";
    if (list->values == NULL || list->values_len != type->count)
        return "the type has another number of values";
    for (size_t i = 0; i < list->values_len && fault == NULL; i++)
        fault = find_fault_of_number(&type->sources[i],
                                     to_number(list->values[i], type->sources[i].type));
    value->type = type->sources[0].type;
    value->value = list->values[0];
    value->number = to_number(value->value, value->type);
    return fault != NULL ? fault : update_series(value);
}

static void print_identifier(const value_list_t *list, char *buffer, size_t size)
{
    const int most = DATA_MAX_NAME_LEN;

    snprintf(buffer, size, "%.*s%s%.*s/%.*s%s%.*s", most, list->plugin,
             list->plugin_instance[0] != '\0' ? "-" : "", most, list->plugin_instance, most,
             list->type, list->type_instance[0] != '\0' ? "-" : "", most, list->type_instance);
}

/* Never moved, as a thread of the plugin's may dispatch while the test looks at others; kept for
 * the next test, and not by calloc(): sanitizers mark each byte of what they see given, or taken
 * back. */
static struct fake_value *memory_for_values(void)
{
    static struct fake_value *memory;

    if (memory == NULL)
        memory =
            mmap(NULL, VALUES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no memory for values");
    return memory;
}

static struct fake_value *append_value(void)
{
    if (fake.values == NULL)
        fake.values = memory_for_values();
    if (fake.value_count == VALUES_MAX)
        fail("more than %d values", VALUES_MAX);
    struct fake_value *value = &fake.values[fake.value_count++];
    memset(value, 0, sizeof(*value));
    return value;
}

int plugin_dispatch_values(const value_list_t *list)
{
    pthread_mutex_lock(&lock);
    struct fake_value *value = append_value();
    print_identifier(list, value->identifier, sizeof(value->identifier));
    snprintf(value->instance, sizeof(value->instance), "%.*s", DATA_MAX_NAME_LEN - 1,
             list->plugin_instance);
    value->time = list->time != 0 ? list->time : fake.now++;
    value->interval = list->interval;
    value->rejected = check_value(list, value);
    if (value->rejected != NULL && fake.rejections++ == 0)
        fprintf(stderr, "fake_collectd: rejected %s: %s\n", value->identifier, value->rejected);
    const struct fake_value copy = *value;
    pthread_mutex_unlock(&lock);
    if (fake.hook != NULL)
        fake.hook(&copy, fake.hook_context);
    return copy.rejected != NULL ? -1 : 0;
}

static size_t count_values(void)
{
    pthread_mutex_lock(&lock);
    size_t count = fake.value_count;
    pthread_mutex_unlock(&lock);
    return count;
}

const struct fake_value *fake_values(size_t *count)
{
    *count = count_values();
    return fake.values;
}

const struct fake_value *fake_find(const char *identifier)
{
    for (size_t i = count_values(); i-- > 0;)
        if (strcmp(fake.values[i].identifier, identifier) == 0)
            return &fake.values[i];
    return NULL;
}

size_t fake_count(const char *pattern)
{
    size_t count = 0, all = count_values();

    for (size_t i = 0; i < all; i++)
        count += fnmatch(pattern, fake.values[i].identifier, 0) == 0;
    return count;
}

size_t fake_rejections(void)
{
    return fake.rejections;
}

size_t fake_truncations(void)
{
    return fake.truncations;
}

void fake_on_dispatch(void (*hook)(const struct fake_value *value, void *context), void *context)
{
    fake.hook = hook;
    fake.hook_context = context;
}

/* --- Log ------------------------------------------------------------------ */

static const char *name_severity(int severity)
{
    static const char *const names[] = {
        [LOG_ERR] = "error", [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
        [LOG_INFO] = "info", [LOG_DEBUG] = "debug",
    };

    if (severity < LOG_ERR || severity > LOG_DEBUG)
        fail("no severity: %d", severity);
    return names[severity];
}

static bool is_ignored(const char *text)
{
    for (size_t i = 0; fake.ignored[i] != NULL; i++)
        if (strstr(text, fake.ignored[i]) != NULL)
            return true;
    return false;
}

void plugin_log(int severity, const char *format, ...)
{
    va_list arguments;
    char *message, *text;

    va_start(arguments, format);
    int length = vasprintf(&message, format, arguments);
    va_end(arguments);
    if (length < 0 || asprintf(&text, "%s: %s", name_severity(severity), message) < 0)
        fail("out of memory");
    free(message);
    if (getenv("HEADROOM_TEST_LOG") != NULL)
        fprintf(stderr, "%s\n", text);
    if (is_ignored(text)) {
        free(text);
        return;
    }
    pthread_mutex_lock(&lock);
    fake.lines = checked(reallocarray(fake.lines, fake.line_count + 1, sizeof(*fake.lines)));
    fake.lines[fake.line_count++] = (struct line){severity, text};
    pthread_mutex_unlock(&lock);
}

size_t fake_logs(int severity, const char *containing)
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < fake.line_count; i++)
        count += (severity == 0 || fake.lines[i].severity == severity) &&
                 (containing == NULL || strstr(fake.lines[i].text, containing) != NULL);
    pthread_mutex_unlock(&lock);
    return count;
}

const char *fake_log(size_t index)
{
    pthread_mutex_lock(&lock);
    const char *text = index < fake.line_count ? fake.lines[index].text : NULL;
    pthread_mutex_unlock(&lock);
    return text;
}

void fake_ignore_logs(const char *containing)
{
    size_t i = 0;

    while (fake.ignored[i] != NULL && fake.ignored[i] != containing)
        i++;
    if (i + 1 >= sizeof(fake.ignored) / sizeof(fake.ignored[0]))
        fail("too many lines to ignore");
    fake.ignored[i] = containing;
}

void fake_forget_logs(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < fake.line_count; i++)
        free(fake.lines[i].text);
    free(fake.lines);
    fake.lines = NULL;
    fake.line_count = 0;
    pthread_mutex_unlock(&lock);
}
