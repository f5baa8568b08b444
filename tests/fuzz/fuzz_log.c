/* Training logs, against a run of 128 sequences of 8192 tokens on 64 devices. */
#include "fuzz.h"

#include "runs/training_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sp_logged_run run = {.batch = 128, .tokens = 128 * 8192, .devices = 64};
    const struct sp_sources sources = {0};
    struct sp_training_log log;
    struct sp_error error = {0};
    const bool ok = sp_read_training_log(fuzz_file(data, size), &sources, &run, &log, &error);
    fuzz_expect(ok, &error);
    if (!ok)
        return 0;
    fuzz_finite(log.step_s);
    fuzz_finite(log.low_s);
    fuzz_finite(log.high_s);
    if (log.level != SP_NO_LEVEL)
        fuzz_finite(log.memory_bytes);
    return 0;
}
