/* roofline: one piece of work against the roofs, and the sizes of a matmul. */
#include <math.h>

#include "base/number.h"
#include "commands/roofline.h"

void sp_put_work(const struct roof *f, struct sp_work work)
{
    struct sp_report *r = f->report;
    sp_put(r, SP_Q_ROOFLINE_FLOPS, work.flops);
    if (isnan(work.bytes))
        work.bytes = 0;
    sp_put(r, SP_Q_ROOFLINE_BYTES, work.bytes);
    if (work.bytes > 0)
        sp_put(r, SP_Q_ROOFLINE_INTENSITY, work.flops / work.bytes);
    if (!f->has_hw)
        return;
    const double t_math = work.flops / f->C, t_mem = work.bytes / f->W;
    sp_put(r, SP_Q_ROOFLINE_T_MATH, t_math);
    sp_put(r, SP_Q_ROOFLINE_T_MEM, t_mem);
    sp_put_text(r, SP_Q_ROOFLINE_BOUND, "%s", t_math >= t_mem ? "math" : f->from);
    sp_put_bool(r, SP_Q_ROOFLINE_COMPUTE_BOUND, t_math >= t_mem);
    sp_put(r, SP_Q_ROOFLINE_LOWER, fmax(t_math, t_mem));
    sp_put(r, SP_Q_ROOFLINE_UPPER, t_math + t_mem);
    sp_put_bool(r, SP_Q_ROOFLINE_TWICE, t_math + t_mem <= 2 * fmax(t_math, t_mem));
}

bool sp_read_matmul(const char *text, double side, double dims[3], struct sp_error *error)
{
    if (sp_parse_dims(text, dims, 3) != 3 || dims[0] < 1 || dims[1] < 1 || dims[2] < 1 ||
        dims[0] > 1e15 || dims[1] > 1e15 || dims[2] > 1e15)
        return sp_fail(error, SP_INPUT, "--matmul: \"%s\" is not BxDxF, such as 512x4096x8192",
                       sp_safe(text));
    dims[1] = sp_padded(dims[1], side);
    dims[2] = sp_padded(dims[2], side);
    return true;
}
