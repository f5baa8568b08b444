/* Config files of the kinds without a separate target: what is accepted can be shown, and
 * used by a command that takes such a file. */
#include "../unit/words.h"
#include "fuzz.h"

static const char *const users[SP_CONFIG_KINDS] = {
    [SP_PRECISIONS] = "memory --model llama3-8b --hw h100 --precision",
    [SP_NETWORKS] = "fit --model llama2-13b --hw h100-64 --network",
    [SP_ENGINES] = "serve --model llama3-8b --hw h100-8 --engine",
    [SP_SERVING] = "serve --model llama3-8b --hw h100-8 --profile",
    [SP_TRENDS] = "scaling --year 2030 --compute-trend",
    [SP_DRIVES] = "train --model llama3-8b --tokens 1T --hw h100-64 --storage",
};

/* Runs a command line with the file as its last word. */
static void run(const char *line, const char *file)
{
    char copy[LINE], *words[WORDS];
    int n = cut(line, copy, words);
    words[n++] = (char *)(uintptr_t)file;
    words[n] = NULL;
    fuzz_command(n, words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const file = fuzz_file(data, size);
    struct sp_json json;
    struct sp_error error = {0};
    if (!sp_json_parse(fuzz_text(data, size), size, "input", &json, &error))
        return 0;
    const enum sp_config_kind kind = sp_guess_kind(json.root);
    char show[64];
    sp_json_free(&json);
    snprintf(show, sizeof show, "show --kind %s", sp_config_kinds[kind].name);
    run(show, file);
    if (users[kind])
        run(users[kind], file);
    return 0;
}
