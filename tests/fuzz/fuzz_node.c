/* Output of nvidia-smi and scontrol about nodes: read, and turned into a machine. */
#include "fuzz.h"

#include "config/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const text = fuzz_text(data, size);
    char path[64];
    if (!sp_is_topology(text) && !sp_is_node_list(text))
        return 0;
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {(char[]){"import"}, path, (char[]){"--hw"}, (char[]){"h100"}, NULL};
    fuzz_command(size > 0 && data[size - 1] % 2 ? 2 : 4, words);
    return 0;
}
