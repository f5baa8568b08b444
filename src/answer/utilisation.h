/* The words of reports about MFU and HFU. */
#ifndef SP_UTILISATION_H
#define SP_UTILISATION_H

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>
#include <scaleplan/machine.h>

#include "answer/report.h"

/* The FLOPs that a convention counts, in words: "6 FLOPs per parameter and token". */
extern const char *const sp_counted_flops[SP_FLOP_CONVENTIONS];

/* The same for a model: "what is computed" if parts of it are frozen or other models run beside it;
 * for models of images, whose weights work at many positions, passes over an image. */
const char *sp_counted_of(const struct sp_model *model, enum sp_flop_convention convention);

/* The peak that an MFU is a share of, behind it: " of the fp8 peak"; nothing for 16 bits. */
#define sp_peak_of_mfu(chip, dtype) sp_peak_of_mfu_in(SP_ROOM, chip, dtype)
const char *sp_peak_of_mfu_in(struct sp_text *room, const struct sp_chip *chip,
                              enum sp_dtype dtype);

/* Whether causal attention raises the MFU by more than a quarter: at such lengths an MFU that
 * counts none misleads. */
bool sp_attention_counts(const struct sp_rates *rates);

/* Why a utilisation is above 100 %, "is above 100 % because ..."; NULL when it is not. */
const char *sp_above_peak(double utilisation, enum sp_flop_convention convention);

/* Adds a note on why a utilisation, called `what`, is above 100 %; nothing if it is not. */
void sp_note_utilisation(struct sp_report *report, const char *what, double utilisation,
                         enum sp_flop_convention convention);

#endif
