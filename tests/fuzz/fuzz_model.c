/* Model files: what is accepted has finite counts. */
#include "fuzz.h"

#include <scaleplan/scaleplan.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_model model;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    const bool ok = sp_load_model(fuzz_file(data, size), &sources, &model, &error);
    fuzz_expect(ok, &error);
    if (!ok)
        return 0;
    const struct sp_params params = sp_count_params(&model);
    fuzz_finite(params.total);
    fuzz_finite(params.active);
    const bool repeats = model.shared.sets > 0; /* blocks that a token passes several times */
    if (params.total < 0 || (params.active > params.total && !repeats))
        __builtin_trap();
    return 0;
}
