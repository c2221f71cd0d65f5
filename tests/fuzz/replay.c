/* SPDX-License-Identifier: MIT */
/*
 * fuzz/replay.c - hands a fuzzer every file of its corpus, in a build without libFuzzer; prints
 * TAP.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void replay_file(const char *path)
{
    uint8_t data[65536];
    FILE *stream = fopen(path, "r");

    if (stream == NULL) {
        perror(path);
        exit(1);
    }
    size_t size = fread(data, 1, sizeof(data), stream);
    fclose(stream);
    LLVMFuzzerTestOneInput(data, size);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(void)
{
    const char *source = getenv("srcdir");
    struct dirent **entries;
    char directory[512], path[1024];

    snprintf(directory, sizeof(directory), "%s/tests/fuzz/corpus/%s", source ? source : ".",
             fuzz_corpus);
    int count = scandir(directory, &entries, is_file, alphasort);
    if (count <= 0) {
        fprintf(stderr, "no corpus in %s\n", directory);
        return 1;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        fflush(stdout); /* an abort must not take the lines before along */
        replay_file(path);
        printf("ok %d - %s/%s\n", i + 1, fuzz_corpus, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
