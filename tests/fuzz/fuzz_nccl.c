/* Output of nccl-tests: read, and fitted to a network; in every second input, tests that do not
 * name their operation are all-reduces. */
#include "fuzz.h"

#include "runs/nccl_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    if (!sp_is_nccl_output(fuzz_text(data, size)))
        return 0;
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    const bool told = data[size - 1] % 2;
    char *words[] = {
        (char[]){"calibrate"},  path, (char[]){"--hw"}, (char[]){"h100-64"}, (char[]){"--op"},
        (char[]){"all-reduce"}, NULL};
    fuzz_command(told ? 6 : 4, words);
    return 0;
}
