/* step -: plans as JSON lines from standard input. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "config/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_error error = {0};
    struct sp_world world = {0};
    char *words[] = {(char[]){"step"},    (char[]){"-"},      (char[]){"--model"},
                     (char[]){"gpt2"},    (char[]){"--hw"},   (char[]){"h100-8"},
                     (char[]){"--batch"}, (char[]){"16x512"}, NULL};
    char *text = NULL;
    size_t written;
    if (size == 0)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (data[i] == '/')
            return 0; /* no line names a file */
    FILE *const out = open_memstream(&text, &written);
    if (!out || !(world.pipes.input = fmemopen((void *)(uintptr_t)data, size, "r")))
        abort();
    const struct sp_command *const command = sp_find_command("step", &error);
    const enum sp_exit code =
        command->stream(8, words, &world, &(struct sp_output){.out = out, .notes = stderr}, &error);
    fclose(out);
    fclose(world.pipes.input);
    if (code == SP_OK && error.lines > 0)
        abort();
    for (char *at = text, *end; at < text + written; at = end + 1) {
        struct sp_json json;
        end = memchr(at, '\n', (size_t)(text + written - at));
        if (!end)
            abort();
        *end = '\0';
        if (!sp_json_parse(at, (size_t)(end - at), "answer", &json, &error))
            abort();
        sp_json_free(&json);
    }
    free(text);
    sp_free_world(&world);
    return 0;
}
