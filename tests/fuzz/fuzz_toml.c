/* TOML documents, and recipes in Python: their values as settings. */
#include "fuzz.h"

#include "launch/formats/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_settings settings;
    struct sp_error error = {0}, other = {0};
    const char *const text = fuzz_text(data, size);
    settings.n = 0;
    settings.origin = "fuzz";
    settings.error = &error;
    fuzz_expect(sp_read_toml(text, &settings), &error);
    settings.n = 0;
    settings.error = &other;
    fuzz_expect(sp_read_recipe(text, &(struct sp_typed_names){0}, &settings), &other);
    return 0;
}
