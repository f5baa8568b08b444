/* Optimizers by the names of frameworks, as the state that they keep for a parameter. */
#include <string.h>
#include <strings.h>

#include "launch/fields/settings.h"

/* Bytes in fp32 besides the master copy; every recipe of a launch has the two moments of Adam;
 * AdEMAMix keeps a third. Names: Megatron-LM --optimizer, DeepSpeed optimizer.type, MaxText
 * opt_type. */
static const struct {
    const char *name;
    double bytes;
    bool momentum; /* the bytes are of a momentum, which may be off */
    const char *note;
} optimizers[] = {
    {"adam", 8, false, NULL},
    {"adamw", 8, false, NULL},
    {"adam_pax", 8, false, NULL},
    {"fusedadam", 8, false, NULL},
    {"lamb", 8, false, NULL},
    {"ademamix", 12, false, NULL},
    {"onebitadam", 8, false, "1-bit communication is not modelled"},
    {"zerooneadam", 8, false, "1-bit communication is not modelled"},
    {"onebitlamb", 8, false, "1-bit communication is not modelled"},
    {"sgd", 4, true, NULL},
    {"lion", 4, false, NULL},
    {"adagrad", 4, false, NULL},
    {"muon", 4, false, "embeddings and norms, which use Adam, are counted as matrices"},
};

/* An unknown optimizer is refused: counting SGD as Adam made a plan that fits not fit. */
void sp_read_optimizer(const struct sp_settings *s, const char *key, const char *name,
                       double momentum)
{
    const size_t n = sizeof optimizers / sizeof *optimizers;
    size_t i = 0;
    while (i < n && strcasecmp(optimizers[i].name, name) != 0)
        i++;
    if (i == n) {
        sp_fail_in(
            s,
            "%s: unknown optimizer \"%s\"; expected adam, adamw, lamb, sgd, lion, adagrad or muon",
            key, sp_safe(name));
        return;
    }
    const double bytes = optimizers[i].momentum && !(momentum > 0) ? 0 : optimizers[i].bytes;
    if (bytes != 8)
        sp_launch_option(s, "set", "precision.optimizer_bytes=%.0f", bytes);
    if (optimizers[i].note)
        sp_launch_note(s, "%s %s: %s", key, optimizers[i].name, optimizers[i].note);
}
