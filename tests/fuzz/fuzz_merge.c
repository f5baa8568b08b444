/* merge: results of parts, of a search or of a sweep. */
#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_error error = {0};
    char path[64];
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {(char[]){"merge"}, path, NULL};
    const struct sp_command *const command = sp_find_command("merge", &error);
    if (!command->streams(2, words, NULL)) {
        fuzz_command(2, words);
        return 0;
    }
    char *text = NULL;
    size_t written;
    FILE *const out = open_memstream(&text, &written);
    if (!out)
        abort();
    const enum sp_exit code =
        command->stream(2, words, NULL, &(struct sp_output){.out = out, .notes = stderr}, &error);
    if ((code == SP_OK) != (error.lines == 0) && error.lines == 0)
        abort();
    fclose(out);
    free(text);
    return 0;
}
