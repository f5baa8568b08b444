/* Tables of kernels measured alone: read, and curves fitted to them. */
#include "fuzz.h"

#include "runs/kernel_times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    if (!sp_is_kernel_times(fuzz_text(data, size)))
        return 0;
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {(char[]){"calibrate"}, path, (char[]){"--hw"}, (char[]){"h100"}, NULL};
    fuzz_command(4, words);
    return 0;
}
