/* The readers behind step --from, without a plan: a shell's script, YAML, TOML, and what a launch
 * says of them. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "launch/shell/script.h"
#include "launch/formats/syntax.h"

static void read_settings(const char *text, const struct sp_typed_names *names)
{
    static struct sp_settings settings;
    struct sp_error error = {0};
    char *scripts = NULL;
    settings.n = 0;
    settings.origin = "fuzz";
    settings.error = &error;
    if (sp_syntax_of(text, settings.origin) == SP_TOML)
        fuzz_expect(sp_read_toml(text, &settings), &error);
    else
        fuzz_expect(sp_read_yaml(text, names, &settings, &scripts), &error);
    free(scripts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_launch launch;
    const struct sp_typed_names names = {.at = {"TP=4", "1=two words", "A="}, .n = 3};
    struct sp_error error = {0}, other = {0};
    struct sp_script script;
    char *const text = fuzz_text(data, size);
    launch = (struct sp_launch){0};
    fuzz_expect(sp_read_script(text, names.at, names.n, "fuzz", &script, &launch, &error), &error);
    sp_free_script(&script);
    read_settings(text, &names);
    const struct sp_sources sources = {0};
    fuzz_expect(sp_read_launch(fuzz_file(data, size), NULL, &sources, &names, &launch, &other),
                &other);
    return 0;
}
