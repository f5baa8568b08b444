/* What reports say of MFU and HFU. */
#include "commands/utilisation.h"

const char *const sp_counted_flops[SP_FLOP_CONVENTIONS] = {
    [SP_FLOPS_FULL] = "all attention scores",
    [SP_FLOPS_CAUSAL] = "the causal half of the attention scores",
    [SP_FLOPS_6P] = "6 FLOPs a parameter and token",
};

/* A utilisation above 100 % is printed, with a note that says why it cannot be: scores that nobody
 * computes, or a wrong speed, peak or number of devices. */
void sp_note_utilisation(struct sp_report *report, const char *what, double utilisation,
                         enum sp_flop_convention convention)
{
    if (!(utilisation > 1))
        return;
    if (convention == SP_FLOPS_FULL)
        sp_note(report,
                "%s is above 100 %% because all attention scores are counted: causal attention "
                "computes half of them",
                what);
    else
        sp_note(report,
                "%s is above 100 %%, more than the devices can do: check the speed, the devices "
                "and their peak",
                what);
}
