/* Profile files. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_profile loaded;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    fuzz_expect(sp_load_profile(fuzz_file(data, size), &sources, &loaded, &error), &error);
    return 0;
}
