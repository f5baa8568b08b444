/* One operation on the roofline of a chip. */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/forms.h>

struct sp_work sp_matmul_work(double B, double D, double F, struct sp_operands b, bool batched)
{
    const double weights = b.w_bytes * D * F * (batched ? B : 1);
    return (struct sp_work){sp_matmul_flops(B, D, F),
                            b.a_bytes * B * D + weights + b.out_bytes * B * F};
}

double sp_critical_rows(double D, double F, struct sp_operands b, double C, double W)
{
    const double gain = 2 * D * F / C - (b.a_bytes * D + b.out_bytes * F) / W;
    return gain > 0 ? b.w_bytes * D * F / W / gain : INFINITY;
}

struct sp_work sp_dot_work(double n, double element_bytes)
{
    return (struct sp_work){2 * n - 1, element_bytes * (2 * n + 1)};
}

struct sp_work sp_add_work(double n, double flops_per_element, double element_bytes)
{
    return (struct sp_work){n * flops_per_element, 3 * n * element_bytes};
}

struct sp_work sp_add_up(struct sp_work total, double count, struct sp_work one)
{
    return (struct sp_work){total.flops + count * one.flops, total.bytes + count * one.bytes};
}
