/* Consequences of a framework's rules. */
#include <scaleplan/profile.h>

int sp_usual_zero(const struct sp_framework *framework)
{
    if (framework->usual_zero >= 0)
        return (int)framework->usual_zero;
    return framework->gathered_layers > 0 ? 3 : 1;
}

double sp_dispatch_bytes(const struct sp_plan *plan, const struct sp_framework *framework)
{
    return framework->fp8_dispatch && sp_dtypes[plan->dtype].bytes < 2 ? 1 : sp_combine_bytes();
}

double sp_combine_bytes(void)
{
    return 2;
}
