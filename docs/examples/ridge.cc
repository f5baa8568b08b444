/* From C++: the arithmetic intensity at which a chip's matrix units and its memory take equally long. */
#include <cstdio>

#include <scaleplan/scaleplan.h>

int main()
{
    sp_chip h100 = {};
    h100.peak_flops_per_s[SP_BF16] = 989e12;
    h100.hbm_bytes_per_s = 3.35e12;
    std::printf("h100: %.1f FLOPs a byte\n", sp_ridge(&h100, SP_BF16, h100.hbm_bytes_per_s));
    return 0;
}
