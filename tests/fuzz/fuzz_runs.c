/* CSV files of measured runs: read, and predicted. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {(char[]){"validate"}, path, NULL};
    fuzz_command(2, words);
    return 0;
}
