/* Hardware files: what is accepted is a machine. */
#include "fuzz.h"

#include <scaleplan/scaleplan.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_hardware hw;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    char name[128];
    const bool ok = sp_load_hardware(fuzz_file(data, size), &sources, &hw, &error);
    fuzz_expect(ok, &error);
    if (!ok)
        return 0;
    if (sp_chips(&hw) < 1)
        __builtin_trap();
    sp_shape_name(&hw, name, sizeof name);
    sp_cloud_name(&hw, name, sizeof name);
    sp_chip_networks(&hw);
    return 0;
}
