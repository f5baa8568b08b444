/* Runs a fuzz target on files and folders of files, without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replayed;

static void replay_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    static uint8_t data[1 << 20];
    if (!file)
        exit(1);
    const size_t n = fread(data, 1, sizeof data, file);
    fclose(file);
    uint8_t *const exact = malloc(n + 1); /* so that a sanitizer sees the end */
    memcpy(exact, data, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    replayed++;
}

static void replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    if (!S_ISDIR(status.st_mode)) {
        replay_file(path);
        return;
    }
    DIR *const folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char inner[1024];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        replay_file(inner);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
