/* roofline --einsum: the spec, its sizes and a chip, one per line. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *part[3] = {(char[]){"ij,jk->ik"}, (char[]){"i=8,j=8,k=8"}, (char[]){"v5e"}};
    fuzz_lines(fuzz_text(data, size), part, 2);
    char *words[] = {(char[]){"roofline"},
                     (char[]){"--einsum"},
                     part[0],
                     (char[]){"--dims"},
                     part[1],
                     (char[]){"--hw"},
                     part[2],
                     NULL};
    fuzz_command(7, words);
    return 0;
}
