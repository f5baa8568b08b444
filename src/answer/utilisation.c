/* The words of reports about MFU and HFU. */
#include "answer/utilisation.h"

#include <stdio.h>

#include <scaleplan/names.h>

const char *const sp_counted_flops[SP_FLOP_CONVENTIONS] = {
    [SP_FLOPS_FULL] = "all attention scores",
    [SP_FLOPS_CAUSAL] = "the causal half of the attention scores",
    [SP_FLOPS_6P] = "6 FLOPs per parameter and token",
};

const char *sp_counted_of(const struct sp_model *model, enum sp_flop_convention convention)
{
    const bool plain = model->tuning.trainable == SP_TRAIN_ALL && !model->tuning.companions;
    return !plain                     ? "what is computed"
           : sp_takes_pictures(model) ? "three times an image's forward FLOPs"
                                      : sp_counted_flops[convention];
}

const char *sp_peak_of_mfu_in(struct sp_text *room, const struct sp_chip *chip, enum sp_dtype dtype)
{
    const enum sp_dtype computed = sp_compute_dtype(chip, dtype);
    if (computed == SP_BF16 || computed == SP_FP16)
        return "";
    snprintf(room->s, sizeof room->s, " of the %s peak", sp_dtype_names[computed]);
    return room->s;
}

bool sp_attention_counts(const struct sp_rates *rates)
{
    return rates->mfu_by[SP_FLOPS_CAUSAL] > 1.25 * rates->mfu;
}

const char *sp_above_peak(double utilisation, enum sp_flop_convention convention)
{
    if (!(utilisation > 1))
        return NULL;
    return convention == SP_FLOPS_FULL
               ? "is above 100 % because all attention scores are counted: causal attention "
                 "computes half of them"
               : "is above 100 %, more than the devices can do: check the speed, the devices and "
                 "their peak";
}

void sp_note_utilisation(struct sp_report *report, const char *what, double utilisation,
                         enum sp_flop_convention convention)
{
    const char *const why = sp_above_peak(utilisation, convention);
    if (why)
        sp_note(report, "%s %s", what, why);
}
