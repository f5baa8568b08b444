/* JAX: a device mesh, partition specs and a checkpoint policy, as Python. */
#include <string.h>

#include "launch_internal.h"

/* jax.checkpoint_policies of a recompute policy; NULL: none of them. */
static const char *policy_of(const char *remat)
{
    static const char *const names[][2] = {{"full", "nothing_saveable"}, {"dots", "dots_saveable"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], remat) == 0)
            return names[i][1];
    return NULL;
}

static void lose(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    if (p->pp > 1)
        sp_lose(lost, "pipeline stages and their schedule: code of your own (shard_map)");
    if (p->zero == 1 || p->zero == 2)
        sp_lose(lost,
                "ZeRO %d: shard the optimizer's state%s over \"fsdp\" and replicate the "
                "weights",
                p->zero, p->zero == 2 ? " and gradients" : "");
    if (p->ep > 1 && p->dp % p->ep != 0)
        sp_lose(lost, "expert parallelism %lld that does not divide dp %lld", (long long)p->ep,
                (long long)p->dp);
    if (strcmp(l->remat, "none") != 0 && !policy_of(l->remat))
        sp_lose(lost,
                "recompute policy %s: jax.checkpoint_policies.save_only_these_names with "
                "names in the model",
                l->remat);
    if (p->recompute_layers < 1)
        sp_lose(lost, "recompute of a share of the layers");
    if (p->recompute.offload)
        sp_lose(lost, "offload: jax.checkpoint_policies.save_and_offload_only_these_names");
    if (strcmp(l->precision, "jax12") != 0 && strcmp(l->precision, "fp32") != 0)
        sp_lose(lost, "precision recipe %s: dtypes of your own code", l->precision);
}

void sp_write_jax(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const int64_t group = p->zero == 0 ? 1 : p->shards / p->cp > 0 ? p->shards / p->cp : 1;
    const int64_t expert = p->ep > 1 && group % p->ep == 0 ? p->ep : 1;
    const struct {
        const char *name;
        long long size;
    } axes[] = {{"data", p->dp / group}, {"fsdp", group / expert}, {"expert", expert},
                {"stage", p->pp},        {"seq", p->cp},           {"model", p->tp}};
    const size_t n = sizeof axes / sizeof *axes;
    const long long slices = l->hw->slices;
    lose(l, lost);
    if (slices > 1 && axes[0].size % slices != 0)
        sp_lose(lost, "%lld slices that the \"data\" axis does not divide among", slices);
    fputs("# JAX: ", out);
    sp_write_title(l, out);
    fputs("\n", out);
    sp_write_lost(lost, "#", out);
    const bool hybrid = slices > 1 && axes[0].size % slices == 0;
    fputs("import jax\n", out);
    if (hybrid)
        fputs("from jax.experimental import mesh_utils\n", out);
    fputs("from jax.sharding import Mesh, PartitionSpec as P\n\nnames = (", out);
    for (size_t i = 0; i < n; i++)
        if (axes[i].size > 1 || i == 1)
            fprintf(out, "\"%s\", ", axes[i].name);
    fputs(")\nshape = (", out);
    for (size_t i = 0; i < n; i++)
        if (axes[i].size > 1 || i == 1)
            fprintf(out, "%lld, ", i == 0 && hybrid ? axes[i].size / slices : axes[i].size);
    fputs(")\n", out);
    if (hybrid) {
        fprintf(out, "between = (%lld, ", slices);
        for (size_t i = 1; i < n; i++)
            fputs(axes[i].size > 1 || i == 1 ? "1, " : "", out);
        fputs(")\nmesh = Mesh(mesh_utils.create_hybrid_device_mesh(shape, between), names)\n", out);
    } else {
        fputs("mesh = jax.make_mesh(shape, names)\n", out);
    }
    fprintf(out, "tokens = P((%s\"fsdp\"%s), %s)  # %lld sequences of %lld tokens\n",
            axes[0].size > 1 ? "\"data\", " : "", expert > 1 ? ", \"expert\"" : ",",
            p->cp > 1 ? "\"seq\"" : "None", (long long)p->batch, (long long)p->seq);
    fprintf(out, "weights = P(%s, %s)  # d_model x (heads, d_ff, vocab)\n",
            p->zero == 3 ? "\"fsdp\"" : "None", p->tp > 1 ? "\"model\"" : "None");
    fprintf(out, "activations = P((%s\"fsdp\"%s), %s, %s)\n", axes[0].size > 1 ? "\"data\", " : "",
            expert > 1 ? ", \"expert\"" : ",",
            p->sequence_parallel ? (p->cp > 1 ? "(\"seq\", \"model\")" : "\"model\"")
            : p->cp > 1          ? "\"seq\""
                                 : "None",
            "None");
    fprintf(out, "microbatches = %lld  # of %lld sequences a replica\n",
            (long long)sp_plan_microbatches(p), (long long)p->micro_batch);
    if (policy_of(l->remat))
        fprintf(out,
                "remat = lambda block: jax.checkpoint(block, "
                "policy=jax.checkpoint_policies.%s)\n",
                policy_of(l->remat));
    else
        fputs("remat = lambda block: block\n", out);
}
