/* CSV files of measured runs. */
#include "fuzz.h"

#include "config/runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sp_sources sources = {0};
    struct sp_runs runs;
    struct sp_error error = {0};
    const bool ok = sp_read_runs(fuzz_file(data, size), &sources, &runs, &error);
    fuzz_expect(ok, &error);
    if (ok)
        sp_runs_free(&runs);
    return 0;
}
