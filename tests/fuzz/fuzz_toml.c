/* TOML documents: their values as settings. */
#include "fuzz.h"

#include "launch/formats/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_settings settings;
    struct sp_error error = {0};
    settings.n = 0;
    settings.origin = "fuzz";
    settings.error = &error;
    fuzz_expect(sp_read_toml(fuzz_text(data, size), &settings), &error);
    return 0;
}
