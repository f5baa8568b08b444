/* Writes a launch or a server's command, and lists the parts of the plan that it cannot express. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/engines/engines.h"
#include "launch/fields/models.h"
#include "launch/fields/rows.h"
#include "launch/launch.h"

#define DECLARE(row, name, framework, form) extern const struct sp_target sp_target_##row;
SP_TARGETS(DECLARE, , )

/* Whether its file contains the model's dimensions, not only the plan. */
static bool describes_model(const struct sp_target *target)
{
    return target != &sp_target_deepspeed && target != &sp_target_accelerate &&
           target != &sp_target_jax;
}

/* Parts of models that no writer here can express: frameworks build these in code. */
static void lose_encoder(const struct sp_target *target, const struct sp_launched *l)
{
    const struct sp_model *const m = l->model;
    if (sp_takes_pictures(m) && describes_model(target))
        sp_lose(l, "model: it takes images, but this file describes a model of tokens; "
                   "deepspeed, accelerate and jax write only the plan");
    else if (m->encoder.layers > 0)
        sp_lose(l, "the model's encoder or tower: the file describes only its decoder");
    if (m->mean_d_ff > 0)
        sp_lose(l, "MLPs that differ from layer to layer");
    if ((m->bidirectional || m->denoised > 0) && !sp_takes_pictures(m))
        sp_lose(l, "attention in both directions: the file describes a decoder");
}

/* Settings of plans that no option of the framework expresses. */
static void lose_unsaid(const struct sp_launched *l)
{
    const struct sp_plan *const p = l->plan;
    const struct sp_execution *const e = &p->execution;
    const bool experts = l->model->moe.experts > 0;
    static const char exchange[] = "how tokens reach their experts (--dispatch, --moe-overlap)";
    static const char ends[] = "unequal stages (--first-layers, --last-layers)";
    const struct {
        const char *field;
        bool has;
        const char *what;
    } unsaid[] = {
        {"recompute-modules", p->recompute.modules != 0,
         "recomputed modules (--recompute-modules)"},
        {"offload-modules", p->recompute.away != 0,
         "activations of some modules in host memory (--offload-modules)"},
        {"optimizer-offload", p->optimizer_away > 0,
         "a share of the optimizer in host memory (--optimizer-offload)"},
        {"offload-layers", p->offload_layers > 0,
         "activations of some layers in host memory (--offload-layers)"},
        {"first-layers", p->first_layers > 0, ends},
        {"last-layers", p->last_layers > 0, ends},
        {"stage-layers", p->own.n > 0, "layers of every stage (--stage-layers)"},
        {"dispatch", experts && e->dispatch != SP_DISPATCH_ALLTOALL, exchange},
        {"moe-overlap", experts && e->moe_overlap, exchange},
        {"cuda-graph", e->cuda_graph != SP_CUDA_GRAPH_NONE, "CUDA graphs (--cuda-graph)"},
        {"fp8-recipe", p->dtype == SP_FP8 && e->fp8_recipe != SP_FP8_TENSORWISE,
         "scaling of 8-bit matmuls (--fp8-recipe)"},
        {"attention-kernel", e->attention_kernel == SP_KERNEL_UNFUSED,
         "unfused attention (--attention-kernel)"},
        {"dp-overlap", p->zero < 2 && e->dp_overlap != l->usual.dp_overlap,
         "what DP hides behind passes (--dp-overlap)"},
        {"logits", e->logits != l->usual.logits, "how the loss holds logits (--logits)"},
        {"capacity", experts && e->capacity != l->usual.capacity, "expert capacity (--capacity)"},
        {"dropout", e->dropout != l->usual.dropout, "dropout (--dropout)"},
        {"remat-layers", p->recompute_layers < 1, "recompute of some layers"},
        {"placement", p->stages_inside, "stages as neighbours (--placement pp-inside)"},
    };
    const char *said = "";
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        if (unsaid[i].has && !sp_says(l, unsaid[i].field) && said != unsaid[i].what) {
            said = unsaid[i].what;
            sp_lose(l, "%s", said);
        }
}

/* Matmuls in a format that the chip has no units for: frameworks refuse to start, or emulate. */
static void lose_format(const struct sp_target *target, const struct sp_launched *l)
{
    const enum sp_dtype wanted = l->plan->dtype;
    if (wanted == SP_FP8 && sp_compute_dtype(&l->hw->chip, wanted) != wanted)
        sp_lose(l, "8-bit matmuls on %s, which has no fp8", l->hw->name);
    if (wanted == SP_TF32 && !target->takes_tf32)
        sp_lose(l, "code: matmuls in tf32: torch.set_float32_matmul_precision(\"high\")");
}

bool sp_write_launch(const struct sp_target *target, const struct sp_launched *launched,
                     struct sp_written *written, struct sp_error *error)
{
    size_t size;
    struct sp_launched l = *launched;
    struct sp_shipped shipped;
    l.written = written;
    *written = (struct sp_written){.suffix = target->suffix};
    const bool opens = !launched->words[0];
    if (opens && !sp_open_launch_words(target, launched->sources, l.words, error))
        return false;
    if (!l.shipped)
        sp_find_shipped(l.model, l.precision, &shipped);
    l.shipped = l.shipped ? l.shipped : &shipped;
    sp_recipe_text(&l, l.recipe, sizeof l.recipe);
    FILE *const out = sp_must(open_memstream(&written->text, &size));
    if (launched->plan->tp_axes[0] > 0) /* every framework leaves it to the mesh it builds */
        sp_lose(&l, "torus axes of TP groups (--tp-axes)");
    lose_encoder(target, &l);
    lose_unsaid(&l);
    lose_format(target, &l);
    target->write(&l, out);
    if (fclose(out) != 0)
        abort();
    if (opens)
        sp_close_launch_words(l.words);
    for (int i = 0; i < written->n_lost; i++)
        if (sp_starts_with(written->lost[i], "model: "))
            return sp_fail(error, SP_INPUT, "%s cannot be written for %s: %s",
                           sp_safe(l.model->name), target->format, written->lost[i] + 7);
    return true;
}

bool sp_write_server(const struct sp_target *target, const struct sp_served_launch *served,
                     struct sp_written *written, struct sp_error *error)
{
    size_t size;
    struct sp_launched l = {.written = written};
    *written = (struct sp_written){0};
    if (!sp_open_launch_words(target, served->sources, l.words, error))
        return false;
    FILE *const out = sp_must(open_memstream(&written->text, &size));
    sp_put_server(target, served, &l, out);
    if (fclose(out) != 0)
        abort();
    sp_close_launch_words(l.words);
    return true;
}
