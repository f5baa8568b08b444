/* MaxText: formats of weights and states, the optimizer, and the recomputed or offloaded
 * tensors. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/fields/deciding.h"
#include "launch/maxtext/maxtext.h"

static bool is_bf16(const char *format)
{
    return format && (sp_is(format, "bfloat16") || sp_is(format, "bf16"));
}

/* Weights are states: of weight_dtype, which moments inherit; mu_dtype is the first one's. */
static void read_weights(struct sp_settings *s)
{
    const char *const weights = sp_setting(s, "weight_dtype"),
                      *const mu = sp_setting(s, "mu_dtype"),
                      *const grads = sp_setting(s, "grad_dtype"),
                      *const optimizer = sp_setting(s, "opt_type");
    const bool half = is_bf16(weights), moments = !optimizer || strncmp(optimizer, "adam", 4) == 0;
    const int first = is_bf16(mu) || (half && !(mu && mu[0])) ? 2 : 4, second = half ? 2 : 4;
    if (half)
        sp_launch_option(s, "set", "precision.weight_bytes=2");
    if (moments && first + second != 8)
        sp_launch_option(s, "set", "precision.optimizer_bytes=%d", first + second);
    if (weights && !half && !sp_is(weights, "float32"))
        sp_launch_note(s, "not modelled: weight_dtype %s; read as float32", sp_safe(weights));
    if (grads && !sp_is(grads, "float32"))
        sp_launch_note(s, "not modelled: grad_dtype %s", sp_safe(grads));
}

static void read_precision(struct sp_settings *s)
{
    const char *const quantization = sp_setting(s, "quantization"), *const dtype =
                                                                        sp_setting(s, "dtype");
    const bool fp8 = quantization && strncmp(quantization, "fp8", 3) == 0,
               full = sp_is(dtype, "float32");
    sp_launch_option(s, "precision", "%s", fp8 ? "fp8-jax12" : full ? "fp32" : "jax12");
    if (quantization && quantization[0] && !fp8)
        sp_launch_note(s, "not modelled: quantization %s", sp_safe(quantization));
    if (dtype && !full && !sp_is(dtype, "bfloat16"))
        sp_launch_note(s, "not modelled: dtype %s; read as bfloat16", sp_safe(dtype));
    read_weights(s);
}

static void read_policy(struct sp_settings *s)
{
    char policy[SP_ROW_WORD];
    const char *const given = sp_setting(s, "remat_policy");
    const char *const name = given ? given : "full"; /* base.yml */
    if (sp_is(name, "custom")) {
        sp_read_custom(s);
        return;
    }
    sp_row_ours(sp_row_of(s->words, "remat_policy"), name, policy);
    if (!policy[0]) {
        sp_add_unread(s->launch, "remat", "remat_policy", name, 0);
        return;
    }
    const char mark = policy[strcspn(policy, "+~")]; /* with offload; near it */
    policy[strcspn(policy, "+~")] = '\0';
    sp_launch_option(s, "remat", "%s", policy);
    if (mark == '+')
        sp_launch_option(s, "offload", "on");
    if (mark == '~')
        sp_launch_note(s, "remat_policy %s: read as %s", name, policy);
}

void sp_read_maxtext_states(struct sp_settings *s)
{
    static const char *const offloads[] = {"optimizer_memory_host_offload",
                                           "parameter_memory_host_offload"};
    const char *const attention = sp_setting(s, "attention"),
                      *const capacity = sp_setting(s, "capacity_factor"),
                      *const optimizer = sp_setting(s, "opt_type");
    read_precision(s);
    if (optimizer)
        sp_read_optimizer(s, "opt_type", optimizer, 0);
    read_policy(s);
    for (int i = 0; i < 2; i++)
        if (sp_setting_on(s, offloads[i]))
            sp_launch_note(s, "not modelled: %s", offloads[i]);
    if (sp_is(attention, "dot_product"))
        sp_launch_note(s, "not modelled: attention dot_product, which keeps all scores");
    if (capacity && strtod(capacity, NULL) > 0)
        sp_launch_note(s, "not modelled: capacity_factor %s (token dropping)", sp_safe(capacity));
}
