/* Bytes of one device under a parallel plan: states by ZeRO stage, activations, and the inverses.
 */
#ifndef SCALEPLAN_ACTIVATIONS_H
#define SCALEPLAN_ACTIVATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <scaleplan/forms.h>
#include <scaleplan/model.h>
#include <scaleplan/precision.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a model is spread. Every degree is >= 1. */
struct sp_spread {
    double dp; /* N_d: replicas that the optimizer state may be sharded over */
    double tp, pp, cp;
    double ep;           /* among the dp cp ranks */
    int zero;            /* 0: replicated; 1: optimizer; 2: and gradients; 3: and weights */
    double microbatches; /* of a step, whose gradients add up; 0: one */
    double microbatches_in_flight; /* of the fullest stage; 1 without a pipeline */
};

/* Bytes on one device. */
struct sp_footprint {
    double params, grads, optimizer; /* optimizer: master copy and moments */
    double activations;
    double total;
};

/* States of one device: what ZeRO leaves whole, what it divides by N_d, after TP, PP and (for
 * routed experts) EP. `params` are all parameters, `experts` the routed ones among them. The ranks
 * of EP are some of dp cp, which `ep` must divide: an expert's states are shared by dp cp / ep of
 * them, and ZeRO divides both kinds of parameters by dp cp in the end. bytes.
 * ZeRO, Rajbhandari et al. 2020, section 5: DP (w+g+K)P; stage 1 (w+g)P + KP/N_d; stage 2 wP +
 * (g+K)P/N_d; stage 3 (w+g+K)P/N_d. */
struct sp_footprint sp_state_footprint(double params, double experts,
                                       const struct sp_precision *precision,
                                       const struct sp_spread *spread);

/* The same for a model of which some is frozen: what is trained by the recipe, what is frozen as
 * the weights are, without gradients and optimizer. bytes. */
struct sp_footprint sp_tuned_footprint(const struct sp_params *params,
                                       const struct sp_precision *precision,
                                       const struct sp_spread *spread);

/* Bytes of the whole state of a model: the recipe's for each parameter that is trained, and what is
 * frozen as it is stored. */
double sp_state_bytes(const struct sp_params *params, const struct sp_precision *precision);

/* Activation bytes kept per token and layer, 2-byte activations, fused (flash) attention, one chip
 * holding the whole width. NAN for a size-only model and for policies from SP_REMATS on. Scaling
 * book, "Training" (mlp, dots, full); Korthikanti et al. 2022, section 4, with grouped queries and
 * gated MLPs (none, selective). */
double sp_activation_bytes_per_token_layer(const struct sp_model *model, enum sp_remat remat);

/* Korthikanti et al. 2022, table 2: activation bytes of one GPT layer for a micro-batch, 16-bit,
 * materialised scores, dropout. s tokens, b sequences, h width, a heads, t TP degree. */
enum sp_gpt_rule {
    SP_GPT_NONE,
    SP_GPT_TP,
    SP_GPT_TP_SP,
    SP_GPT_TP_SELECTIVE,
    SP_GPT_SELECTIVE, /* with sequence parallelism */
    SP_GPT_FULL
};
enum sp_gpt_rule sp_gpt_rule(enum sp_remat remat, double tp, bool sequence_parallel);
double sp_gpt_activation_bytes(enum sp_gpt_rule rule, double s, double b, double h, double a,
                               double t);

/* Activations of a device with its share of `layers`, of which each keeps `layer_bytes` of a
 * micro-batch: layers layer_bytes / pp, for every micro-batch in flight. bytes. */
double sp_stage_activation_bytes(double layers, double layer_bytes, const struct sp_spread *spread);

/* The same for a micro-batch of `tokens` of a model, whose layer TP and CP divide:
 * sp_activation_bytes_per_token_layer / (tp cp) a token. */
double sp_activation_footprint(const struct sp_model *model, enum sp_remat remat, double tokens,
                               const struct sp_spread *spread);

/* Bytes of `count` checkpoints a layer, each d_model wide and 16-bit, for a batch. Scaling book,
 * "Training": 2 n B D L. */
double sp_checkpoint_bytes(double count, double batch_tokens, double d_model, double layers);

/* Largest model in parameters whose states fit: capacity times the devices that share them over the
 * bytes of a parameter. */
double sp_max_params(double capacity_bytes, double devices, double bytes_per_param);

/* Fewest devices whose memory holds `bytes` strictly. */
double sp_min_devices(double bytes, double capacity_bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
