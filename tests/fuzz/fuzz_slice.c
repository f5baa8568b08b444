/* Names of machines: "v5p-4096", "v5p:16x16x16", "gcp:v5p-8192x2". */
#include "fuzz.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_hardware hw;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    char *const spec = fuzz_text(data, size);
    if (strchr(spec, '/') || strcmp(spec, "-") == 0)
        return 0; /* files are another target's */
    const bool ok = sp_load_hardware(spec, &sources, &hw, &error);
    fuzz_expect(ok, &error);
    if (ok && (sp_chips(&hw) < 1 || hw.slices < 1))
        __builtin_trap();
    return 0;
}
