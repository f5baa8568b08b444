/* Files of cases: only read, the commands in them are not run. */
#include "fuzz.h"

#include "config/exercises.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_case one;
    struct sp_cases cases;
    struct sp_error error = {0};
    const bool ok = sp_open_cases(NULL, fuzz_file(data, size), &cases, &error);
    fuzz_expect(ok, &error);
    for (int i = 0; ok && i < cases.n; i++)
        sp_case_at(&cases, i, &one);
    if (ok)
        sp_close_cases(&cases);
    return 0;
}
