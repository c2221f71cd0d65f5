/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_config.c - config_parse(): what is read of a configuration, written down again, is read
 * as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config.h"
#include "fuzz.h"

const char fuzz_corpus[] = "config";

static void write_value(FILE *out, const char *value)
{
    fputs(" \"", out);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            putc('\\', out);
        putc(*value, out);
    }
    putc('"', out);
}

static void write_items(FILE *out, const struct config_item *parent)
{
    for (size_t i = 0; i < parent->child_count; i++) {
        const struct config_item *item = &parent->children[i];
        fprintf(out, item->child_count > 0 ? "<%s" : "%s", item->key);
        for (size_t v = 0; v < item->value_count; v++)
            write_value(out, item->values[v]);
        fputs(item->child_count > 0 ? ">\n" : "\n", out);
        write_items(out, item);
        if (item->child_count > 0)
            fprintf(out, "</%s>\n", item->key);
    }
}

static char *write_all(const struct config_item *top)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    write_items(out, top);
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_item top = {0}, again = {0};
    unsigned line;
    char *text = strndup((const char *)data, size);

    if (config_parse(text, &top, &line) == 0) {
        char *written = write_all(&top);
        require(config_parse(written, &again, &line) == 0);
        char *written_again = write_all(&again);
        require(strcmp(written, written_again) == 0);
        free(written);
        free(written_again);
    }
    config_free(&top);
    config_free(&again);
    free(text);
    return 0;
}
