/* JAX: a device mesh, partition specs and a checkpoint policy, as Python. */

#include "launch/fields/rules.h"

/* The mesh: replicas, groups that share the states, experts, stages, parts of sequences, parts of
 * matrices. Experts lie inside the sharding groups if those are large enough, so that nothing else
 * is replicated over them, and otherwise among the replicas. */
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

/* "fsdp" is an axis of every mesh, so that specs can name it. */
static bool is_named(const struct mesh *mesh, int axis)
{
    return mesh->size[axis] > 1 || axis == FSDP;
}

/* One dimension of a PartitionSpec: those of the axes that the mesh has, as a tuple if there are
 * several; None without any. */
static const char *spec(const struct mesh *mesh, const int *over, int n, char *out, size_t size)
{
    int found = 0;
    char list[96] = "";
    for (int i = 0; i < n; i++)
        if (is_named(mesh, over[i]))
            sp_append(list, sizeof list, "%s\"%s\"", found++ > 0 ? ", " : "", axis_names[over[i]]);
    snprintf(out, size, found == 0 ? "None%s" : found == 1 ? "%s" : "(%s)", list);
    return out;
}
#define SPEC(mesh, out, ...)                                                                       \
    spec(mesh, (const int[]){__VA_ARGS__},                                                         \
         (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), out, sizeof(out))

/* How weights are laid out on the mesh. An expert's weights lie along the experts' axis, and shard
 * over the remaining axes. */
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
    if (p->zero == 3 &&
        p->etp < p->tp) /* whole matrices: shard also the dimension that TP would split */
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
    char batch[96], length[96], width[96], policy[SP_ROW_WORD];
    sp_lose_plan(l, (const struct sp_fact[]){{"unplaced", mesh.size[EXPERT] == 1}, {"", 0}});
    if (slices > 1 && !hybrid)
        sp_lose(l, "%lld slices, which do not divide the \"data\" axis", slices);
    sp_write_head(l, l->words[0], "", out);
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
    if (sp_takes_pictures(l->model))
        fprintf(out, "images = P(%s, None, None, None)  # %lld images\n", batch,
                (long long)p->batch);
    else
        fprintf(out, "tokens = P(%s, %s)  # %lld sequences of %lld tokens\n", batch, length,
                (long long)p->batch, (long long)p->seq);
    write_weights(l, &mesh, out);
    if (p->sequence_parallel)
        SPEC(&mesh, width, SEQ, MODEL);
    fprintf(out, "activations = P(%s, %s, None)\n", batch, p->sequence_parallel ? width : length);
    fprintf(out, "microbatches = %lld  # of %lld %s a replica\n",
            (long long)sp_plan_microbatches(p), (long long)p->micro_batch,
            sp_takes_pictures(l->model) ? "images" : "sequences");
    sp_row_theirs(sp_row_of_plan(l->words[0], "remat", NULL), l->remat, policy);
    if (policy[0])
        fprintf(out,
                "remat = lambda block: jax.checkpoint(block, "
                "policy=jax.checkpoint_policies.%s)\n",
                policy);
    else
        fputs("remat = lambda block: block\n", out);
}

const struct sp_target sp_target_jax = {.words = {"jax"},
                                        .takes_tf32 = true,
                                        .format = "a mesh of JAX",
                                        .write = write,
                                        .suffix = ".py"};
