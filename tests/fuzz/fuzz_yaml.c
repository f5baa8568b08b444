/* YAML documents: their scalars as settings, with names that were typed. */
#include "fuzz.h"

#include <stdlib.h>

#include "launch/formats/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_settings settings;
    const struct sp_typed_names names = {.at = {"TP=4", "A="}, .n = 2};
    struct sp_error error = {0};
    char *scripts = NULL;
    settings.n = 0;
    settings.origin = "fuzz";
    settings.error = &error;
    fuzz_expect(sp_read_yaml(fuzz_text(data, size), &names, &settings, &scripts), &error);
    free(scripts);
    return 0;
}
