/* JAX: a device mesh, partition specs and a checkpoint policy, as Python. */
#include <string.h>

#include "launch/fields/settings.h"

/* jax.checkpoint_policies of a recompute policy; NULL: none of them. */
static const char *policy_of(const char *remat)
{
    static const char *const names[][2] = {{"full", "nothing_saveable"}, {"dots", "dots_saveable"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], remat) == 0)
            return names[i][1];
    return NULL;
}

/* The mesh: replicas, groups that share the states, experts, stages, parts of sequences, parts of
 * matrices. Experts lie inside of the groups that shard where those are large enough, so that
 * nothing else is replicated over them, and else among the replicas. */
enum { DATA, FSDP, EXPERT, STAGE, SEQ, MODEL, AXES };
static const char *const axis_names[AXES] = {"data", "fsdp", "expert", "stage", "seq", "model"};
struct mesh {
    int64_t size[AXES];
    bool expert_shards; /* weights of all kinds shard over the experts' axis too */
};

static struct mesh mesh_of(const struct sp_plan *p)
{
    const int64_t group = p->zero == 0 || p->shards < p->cp ? 1 : p->shards / p->cp;
    struct mesh mesh = {.size = {p->dp / group, group, 1, p->pp, p->cp, p->tp}};
    mesh.expert_shards = p->ep > 1 && group % p->ep == 0;
    const int from = mesh.expert_shards ? FSDP : DATA;
    if (mesh.size[from] % p->ep == 0) {
        mesh.size[from] /= p->ep;
        mesh.size[EXPERT] = p->ep;
    }
    return mesh;
}

/* "fsdp" stands in every mesh, so that specs have an axis to name. */
static bool is_named(const struct mesh *mesh, int axis)
{
    return mesh->size[axis] > 1 || axis == FSDP;
}

/* One dimension of a PartitionSpec: these axes as far as the mesh has them, a tuple of more than
 * one; None without any. */
static const char *spec(const struct mesh *mesh, const int *over, int n, char *out, size_t size)
{
    int found = 0;
    char list[96] = "";
    for (int i = 0; i < n; i++)
        if (is_named(mesh, over[i]))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"",
                     found++ > 0 ? ", " : "", axis_names[over[i]]);
    snprintf(out, size, found == 0 ? "None%s" : found == 1 ? "%s" : "(%s)", list);
    return out;
}
#define SPEC(mesh, out, ...)                                                                       \
    spec(mesh, (const int[]){__VA_ARGS__},                                                         \
         (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), out, sizeof(out))

static void lose(const struct sp_launched *l)
{
    const struct sp_plan *const p = l->plan;
    if (p->pp > 1)
        sp_lose(l, "pipeline stages and their schedule: code of your own (shard_map)");
    if (p->zero == 1 || p->zero == 2)
        sp_lose(l,
                "ZeRO %d: shard the optimizer's state%s over \"fsdp\" and replicate the "
                "weights",
                p->zero, p->zero == 2 ? " and gradients" : "");
    if (p->zero > 0 && p->shards % p->cp != 0)
        sp_lose(l, "shard groups of %lld inside %lld-way context parallelism", (long long)p->shards,
                (long long)p->cp);
    if (p->ep > 1 && mesh_of(p).size[EXPERT] == 1)
        sp_lose(l, "expert parallelism %lld that divides neither shards nor replicas",
                (long long)p->ep);
    if (p->etp > 1 && p->etp != p->tp)
        sp_lose(l, "experts split %lld ways beside TP %lld", (long long)p->etp, (long long)p->tp);
    if (strcmp(l->remat, "none") != 0 && !policy_of(l->remat))
        sp_lose(l,
                "recompute policy %s: jax.checkpoint_policies.save_only_these_names with "
                "names in the model",
                l->remat);
    if (p->recompute_layers < 1)
        sp_lose(l, "recompute of a share of the layers");
    if (p->recompute.offload)
        sp_lose(l, "offload: jax.checkpoint_policies.save_and_offload_only_these_names");
    if (!sp_recipe_is(l, "jax12") && (!sp_states_are(l, "fp32") || l->plan->dtype == SP_FP8))
        sp_lose(l, "precision recipe %s: dtypes of your own code", l->recipe);
}

/* How weights lie on the mesh. An expert's lie where the experts' axis has it, and shard over what
 * is left. */
static void write_weights(const struct sp_launched *l, const struct mesh *mesh, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    char rows[96], columns[32];
    SPEC(mesh, columns, MODEL);
    if (p->zero < 3)
        snprintf(rows, sizeof rows, "None");
    else if (mesh->expert_shards)
        SPEC(mesh, rows, FSDP, EXPERT, SEQ);
    else
        SPEC(mesh, rows, FSDP, SEQ);
    fprintf(out, "weights = P(%s, %s)  # d_model x (heads, d_ff, vocab)\n", rows,
            p->tp > 1 ? columns : "None");
    if (l->model->moe.experts == 0)
        return;
    if (p->zero == 3 && p->etp < p->tp) /* whole matrices: what TP would split shards as well */
        SPEC(mesh, rows, FSDP, SEQ, MODEL);
    else if (p->zero == 3)
        SPEC(mesh, rows, FSDP, SEQ);
    fprintf(out, "experts = P(%s, %s, %s)  # experts x d_model x d_ff\n",
            mesh->size[EXPERT] > 1 ? "\"expert\"" : "None", rows,
            p->etp > 1 && p->etp == p->tp ? columns : "None");
}

static void write(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const struct mesh mesh = mesh_of(p);
    const long long slices = l->hw->slices;
    const bool hybrid = slices > 1 && mesh.size[DATA] % slices == 0;
    char batch[96], length[96], width[96];
    lose(l);
    if (slices > 1 && !hybrid)
        sp_lose(l, "%lld slices that the \"data\" axis does not divide among", slices);
    sp_write_head(l, "JAX", out);
    fputs("import jax\n", out);
    if (hybrid)
        fputs("from jax.experimental import mesh_utils\n", out);
    fputs("from jax.sharding import Mesh, PartitionSpec as P\n\nnames = (", out);
    for (int i = 0; i < AXES; i++)
        if (is_named(&mesh, i))
            fprintf(out, "\"%s\", ", axis_names[i]);
    fputs(")\nshape = (", out);
    for (int i = 0; i < AXES; i++)
        if (is_named(&mesh, i))
            fprintf(out, "%lld, ", (long long)mesh.size[i] / (i == DATA && hybrid ? slices : 1));
    fputs(")\n", out);
    if (hybrid) {
        fprintf(out, "between = (%lld, ", slices);
        for (int i = 1; i < AXES; i++)
            fputs(is_named(&mesh, i) ? "1, " : "", out);
        fputs(")\nmesh = Mesh(mesh_utils.create_hybrid_device_mesh(shape, between), names)\n", out);
    } else {
        fputs("mesh = jax.make_mesh(shape, names, axis_types=(jax.sharding.AxisType.Auto,) * "
              "len(names))\n",
              out);
    }
    SPEC(&mesh, batch, DATA, FSDP, EXPERT);
    SPEC(&mesh, length, SEQ);
    fprintf(out, "tokens = P(%s, %s)  # %lld sequences of %lld tokens\n", batch, length,
            (long long)p->batch, (long long)p->seq);
    write_weights(l, &mesh, out);
    if (p->sequence_parallel)
        SPEC(&mesh, width, SEQ, MODEL);
    fprintf(out, "activations = P(%s, %s, None)\n", batch, p->sequence_parallel ? width : length);
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

const struct sp_target sp_target_jax = {.write = write};
