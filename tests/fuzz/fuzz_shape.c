/* Models typed on the command line, in a plan. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const shape = fuzz_text(data, size);
    char *words[] = {(char[]){"step"},
                     (char[]){"--hw"},
                     (char[]){"h100-8"},
                     (char[]){"--batch"},
                     (char[]){"64x2048"},
                     (char[]){"--shape"},
                     shape,
                     NULL};
    fuzz_command(7, words);
    return 0;
}
