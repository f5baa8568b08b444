/* shard: who holds what of a sharded array, and what a sharded matmul communicates. */
#include <math.h>
#include <string.h>

#include "config/array.h"
#include "config/sharded.h"
#include "cli/command.h"

static const struct sp_taken options[] = {
    SP_TAKE(mesh),
    SP_OPTIONS_MACHINE,
    SP_TAKE(array),
    SP_TAKE(dims),
    SP_TAKE(out, .fallback = "bf16"),
    SP_TAKE(draw),
};

static const struct sp_example examples[] = {
    {"scaleplan shard 'bf16[256,2048]' I_XY,J --mesh X=4,Y=8,Z=2", "local shape, bytes, copies"},
    {"scaleplan shard 'A[I_XY,J]' --dims I=128,J=2048 --mesh X=2,Y=8,Z=2",
     "the textbook's notation, sizes by --dims"},
    {"scaleplan shard 'bf16[8,2048]' I_X,J_Y --mesh X=4,Y=2 --draw", "who holds what"},
    {"scaleplan shard 'bf16[1024,4096]' 'B_X,D_Y{U_Z}' --mesh X=4,Y=4,Z=4 --hw v5e",
     "partial sums to be reduced"},
    {"scaleplan shard 'bf16[1024,4096]' I,J_X 'bf16[4096,1024]' J,K --mesh X=16 --hw v5e-256",
     "a matmul: case 2, a gather"},
    {NULL, NULL},
};

struct shard {
    struct sp_mesh mesh;
    struct sp_hardware hw;
    bool has_hw;
    const struct sp_args *args;
    struct sp_report *report;
};

/* The arrays of the command line in either notation: sizes and sharding apart, or together. */
static bool read_arrays(const struct shard *f, struct sp_sharded array[2], int *arrays,
                        struct sp_error *error)
{
    const char *const *const word = f->args->operands, *const dims = f->args->value.dims;
    const char *const one = f->args->value.array;
    const int n = f->args->n_operands;
    const bool together = n == 1 || (n == 2 && strchr(word[1], '['));
    if (one ? n > 0 : n != 1 && n != 2 && n != 4)
        return sp_fail(error, SP_USAGE,
                       "an array and its sharding are needed, or two of each for a matmul, such as "
                       "'bf16[1024_X,4096]'");
    *arrays = n == 4 || (together && n == 2) ? 2 : 1;
    char letter = 'I';
    for (int i = 0; i < *arrays; i++) {
        struct sp_notation apart = {.plain = ""};
        const bool split = one || together;
        if (split && !sp_split_sharded(one ? one : word[i], dims, letter, &apart, error))
            return false;
        letter = (char)(letter + apart.n - 1); /* b begins with the dimension that a ends with */
        if (!sp_read_sharded(&f->mesh, split ? apart.plain : word[2 * i],
                             split ? apart.spec : word[2 * i + 1], &array[i], error))
            return false;
    }
    return true;
}

static const char *axes_text(const struct sp_mesh *mesh, unsigned axes)
{
    static char text[SP_MESH_AXES + 1];
    int n = 0;
    for (int i = 0; i < mesh->n; i++)
        if (axes >> i & 1)
            text[n++] = mesh->name[i];
    text[n] = '\0';
    return text;
}

/* The devices along some axes of the mesh. On a slice, an axis of the same length wraps as the
 * slice has it; a chip named without a size stands for whole rings. */
static struct sp_device_group group_over(const struct shard *f, unsigned axes)
{
    struct sp_device_group group = sp_group_on(&f->hw);
    struct sp_torus_group *const g = &group.torus;
    struct sp_layout layout;
    group.nodes.devices = sp_axes_product(&f->mesh, axes);
    const bool laid = !group.switched && f->hw.chips_per_slice > 1 &&
                      sp_lay_out(&f->hw, f->mesh.length, f->mesh.n, &layout);
    if (laid)
        *g = sp_group_of(&f->hw, &layout, axes);
    for (int i = 0; !laid && i < f->mesh.n && g->n < 3; i++) {
        if (!(axes >> i & 1))
            continue;
        bool wraps = f->hw.chips_per_slice == 1;
        for (int k = 0; k < SP_MAX_AXES; k++)
            wraps = wraps || (f->hw.shape.axis[k] == f->mesh.length[i] && sp_axis_wraps(&f->hw, k));
        g->length[g->n] = f->mesh.length[i];
        g->wraps[g->n++] = wraps;
    }
    return group;
}

static double collective_s(const struct shard *f, enum sp_collective op, double V, unsigned axes)
{
    if (!f->has_hw)
        return NAN;
    const struct sp_device_group group = group_over(f, axes);
    return sp_collective_s(op, V, &group);
}

static void put_layout(const struct shard *f, const struct sp_sharded *a, const char *prefix)
{
    struct sp_report *r = f->report;
    const double devices = sp_axes_product(&f->mesh, ~0u),
                 shards = sp_axes_product(&f->mesh, sp_sharding_axes(a));
    char shape[200] = "[";
    sp_scope(r, prefix);
    sp_symbol(r, "whole", sp_whole_bytes(a), "bytes", "the array, once");
    sp_symbol(r, "shards", shards, "", "product of the axes that shard it");
    for (int i = 0; i < a->n; i++) {
        const size_t used = strlen(shape);
        snprintf(shape + used, sizeof shape - used, "%s%.0f", i ? "," : "",
                 a->size[i] / sp_axes_product(&f->mesh, a->axes[i]));
    }
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "]");
    sp_put_text(r, SP_Q_SHARD_LOCAL_SHAPE, "%s", shape);
    sp_put(r, SP_Q_SHARD_WHOLE, sp_whole_bytes(a));
    sp_put(r, SP_Q_SHARD_LOCAL, sp_local_bytes(&f->mesh, a));
    sp_put(r, SP_Q_SHARD_TOTAL, sp_local_bytes(&f->mesh, a) * devices);
    sp_put(r, SP_Q_SHARD_REPLICAS, sp_replicas(&f->mesh, a));
    for (int i = 0; i < a->n; i++) {
        char key[24];
        sp_scope(r, prefix);
        sp_symbol(r, "size", a->size[i], "", "of dimension %c", a->name[i]);
        sp_symbol(r, "shards", sp_axes_product(&f->mesh, a->axes[i]), "", "that it is cut into");
        snprintf(key, sizeof key, "local_dim.%d", i);
        sp_put_keyed(r, SP_Q_SHARD_LOCAL_DIM, key,
                     a->size[i] / sp_axes_product(&f->mesh, a->axes[i]));
    }
    const char *const dot = *prefix ? "." : "";
    sp_line(r,
            "array        {%s%slocal_shape} on a device: {%s%slocal_bytes} (%.0f B); "
            "{%s%stotal_bytes} on {devices} devices, "
            "{%s%sreplicas} copies of {%s%sarray_bytes}",
            prefix, dot, prefix, dot, sp_local_bytes(&f->mesh, a), prefix, dot, prefix, dot, prefix,
            dot);
    sp_scope(r, "");
}

/* Blocks of a two-dimensional array: the axes that number them, and how many devices hold each. */
static bool draw(const struct shard *f, const struct sp_sharded *a, struct sp_error *error)
{
    if (a->n != 2)
        return sp_fail(error, SP_INPUT, "--draw: only arrays of two dimensions are drawn");
    const int64_t rows = (int64_t)sp_axes_product(&f->mesh, a->axes[0]),
                  columns = (int64_t)sp_axes_product(&f->mesh, a->axes[1]);
    if (rows > 64 || columns > 16)
        return sp_fail(error, SP_INPUT,
                       "--draw: at most 64 x 16 blocks are drawn, this array has %lld x %lld",
                       (long long)rows, (long long)columns);
    char names[2][SP_MESH_AXES + 1];
    for (int i = 0; i < 2; i++)
        snprintf(names[i], sizeof names[i], "%s", axes_text(&f->mesh, a->axes[i]));
    sp_line(f->report, " ");
    for (int64_t y = 0; y < rows; y++) {
        char line[512] = "";
        for (int64_t x = 0; x < columns; x++) {
            const size_t used = strlen(line);
            char cell[64] = "";
            if (names[0][0])
                snprintf(cell, sizeof cell, "%s%lld", names[0], (long long)y);
            if (names[1][0])
                snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%lld", names[1],
                         (long long)x);
            snprintf(line + used, sizeof line - used, "| %-10s", *cell ? cell : "all");
        }
        sp_line(f->report, "%s|", line);
    }
    sp_line(f->report,
            "a block lies on each of the {replicas} devices that differ in the other axes only");
    return true;
}

static void put_array(const struct shard *f, const struct sp_sharded *a)
{
    struct sp_report *r = f->report;
    put_layout(f, a, "");
    if (!a->partial) {
        sp_put_text(r, SP_Q_SHARD_COLLECTIVE, "none");
        return;
    }
    const double V = sp_local_bytes(&f->mesh, a);
    sp_symbol(r, "V", V, "bytes", "array of the collective");
    sp_put_text(r, SP_Q_SHARD_COLLECTIVE, "all-reduce");
    sp_put_text(r, SP_Q_SHARD_AXES, "%s", axes_text(&f->mesh, a->partial));
    sp_put(r, SP_Q_SHARD_BYTES, V);
    sp_put(r, SP_Q_SHARD_TIME, collective_s(f, SP_ALL_REDUCE, V, a->partial));
    sp_line(r, "sums         {collective} of {bytes} over {collective_axes}: {time_s}");
}

/* How long a device computes its part, whether that hides the collectives, and where the
 * contracting dimension is cut, how far it could be: the arithmetic shrinks with the cut, the sum
 * does not. */
static void put_verdict(const struct shard *f, const struct sp_sharded *a,
                        const struct sp_sharded_matmul *m, double collectives_s)
{
    struct sp_report *r = f->report;
    if (!f->has_hw)
        return;
    const enum sp_dtype format = a->element_bytes == 1 ? SP_INT8 : SP_BF16;
    const double C = f->hw.chip.peak_flops_per_s[sp_compute_dtype(&f->hw.chip, format)];
    const double math = m->flops * m->replication / sp_axes_product(&f->mesh, ~0u) / C;
    static const char *const collectives[] = {
        "", ", collective {time_s}: compute-bound {compute_bound}",
        ", collectives {time_s} and {then.time_s}: compute-bound {compute_bound}"};
    sp_symbol(r, "C", C, "FLOP/s", "dense peak in the format of the first array");
    sp_put(r, SP_Q_SHARD_MATH, math);
    sp_put_bool(r, SP_Q_SHARD_COMPUTE_BOUND, math >= collectives_s);
    sp_line(r, "time         arithmetic {t_math_s} on a device%s", collectives[m->moves]);
    if (m->kind != SP_CASE_REDUCE)
        return;
    const unsigned over = m->move[0].over;
    const double cuts = sp_axes_product(&f->mesh, over);
    const struct sp_device_group group = group_over(f, over);
    sp_put(r, SP_Q_SHARD_CUTS_MAX, sp_most_cuts(math * cuts, m->output_bytes, &group));
    sp_line(r, "             cut into %s parts; its all-reduce binds beyond {cuts_max}",
            sp_human_text(cuts, SP_COUNT));
}

/* Where the numbers of the first and of the second collective stand. */
static const struct {
    enum sp_quantity_id words, kase, axes, bytes, time_s;
    const char *symbol, *line;
} places[2] = {
    {SP_Q_SHARD_COLLECTIVE, SP_Q_SHARD_CASE, SP_Q_SHARD_AXES, SP_Q_SHARD_BYTES, SP_Q_SHARD_TIME,
     "V", "communicates {collective} (case {case}) of {bytes} over {collective_axes}: {time_s}"},
    {SP_Q_SHARD_THEN, SP_Q_SHARD_THEN_CASE, SP_Q_SHARD_THEN_AXES, SP_Q_SHARD_THEN_BYTES,
     SP_Q_SHARD_THEN_TIME, "V_then",
     "then         {then.collective} (case {then.case}) of {then.bytes} over "
     "{then.collective_axes}: {then.time_s}"},
};

/* One collective of a matmul; its seconds. */
static double put_move(const struct shard *f, const struct sp_sharded_move *move, int at)
{
    struct sp_report *r = f->report;
    const bool reduces = move->gathered < 0;
    const double time_s =
        collective_s(f, reduces ? SP_ALL_REDUCE : SP_ALL_GATHER, move->bytes, move->over);
    sp_symbol(r, places[at].symbol, move->bytes, "bytes", "array of the collective");
    sp_put(r, places[at].kase, move->kind);
    sp_put_text(r, places[at].words, "%s",
                reduces               ? "all-reduce"
                : move->gathered == 0 ? "all-gather of a"
                                      : "all-gather of b");
    sp_put_text(r, places[at].axes, "%s", axes_text(&f->mesh, move->over));
    sp_put(r, places[at].bytes, move->bytes);
    sp_put(r, places[at].time_s, time_s);
    sp_line(r, "%s", places[at].line);
    return time_s;
}

/* What else one collective alone could do: in case 2 reduce the product, in case 3 leave it cut. */
static void put_alternative(const struct shard *f, const struct sp_sharded_matmul *m)
{
    struct sp_report *r = f->report;
    const bool scatters = m->kind == SP_CASE_REDUCE;
    if (!scatters && !m->can_reduce)
        return;
    const struct sp_sharded_move *const move = &m->move[0];
    sp_symbol(r, "V_other", m->output_bytes, "bytes",
              "the product, divided by the axes that shard it");
    sp_put_text(r, SP_Q_SHARD_OTHER, "%s of the product",
                scatters ? "reduce-scatter" : "all-reduce");
    sp_put(r, SP_Q_SHARD_OTHER_BYTES, m->output_bytes);
    sp_put(
        r, SP_Q_SHARD_OTHER_TIME,
        collective_s(f, scatters ? SP_REDUCE_SCATTER : SP_ALL_REDUCE, m->output_bytes, move->over));
    sp_put(r, SP_Q_SHARD_RATIO, move->bytes / m->output_bytes);
    sp_line(r, "instead      {alternative.collective}, {alternative.bytes}: {alternative.time_s}; "
               "gathering the input moves "
               "{gather_over_scatter} times the bytes of scattering the product");
}

static bool put_matmul(const struct shard *f, const struct sp_sharded array[2],
                       struct sp_error *error)
{
    struct sp_report *r = f->report;
    const struct sp_sharded *const a = &array[0], *const b = &array[1];
    const double out = sp_element_bytes(f->args->value.out),
                 devices = sp_axes_product(&f->mesh, ~0u);
    if (out <= 0)
        return sp_fail(error, SP_INPUT, "--out: \"%s\" is no element type",
                       sp_safe(f->args->value.out));
    const struct sp_sharded_matmul m = sp_sharded_matmul(&f->mesh, a, b, out);
    if (m.kind == SP_CASE_MISMATCH)
        return sp_fail(error, SP_INPUT,
                       "the inputs need exactly one dimension name in common, sharded alike or in "
                       "one of them only");
    put_layout(f, a, "a");
    put_layout(f, b, "b");
    sp_symbol(r, "flops_once", m.flops, "FLOPs", "the product");
    sp_symbol(r, "replication", m.replication, "", "axes that shard nothing of it");
    sp_put(r, SP_Q_SHARD_FLOPS, m.flops);
    sp_put(r, SP_Q_SHARD_FLOPS_ALL, m.flops * m.replication);
    sp_put(r, SP_Q_SHARD_REPLICATION, m.replication);
    sp_put(r, SP_Q_SHARD_PER_DEVICE, m.replication / devices);
    sp_line(r, "matmul       {flops}, {total_flops} on all devices: {total_over_ideal} times as "
               "many; a device does "
               "{per_device_over_total} of them");
    double collectives_s = 0;
    for (int i = 0; i < m.moves; i++)
        collectives_s += put_move(f, &m.move[i], i);
    if (m.moves == 0) {
        sp_put(r, SP_Q_SHARD_CASE, m.kind);
        sp_put_text(r, SP_Q_SHARD_COLLECTIVE, "none");
        sp_line(r, "communicates nothing (case 1)");
    }
    put_verdict(f, a, &m, collectives_s);
    put_alternative(f, &m);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    static struct shard f;
    f = (struct shard){.args = args, .report = report, .has_hw = args->value.hw != NULL};
    struct sp_sharded array[2] = {{.n = 0}};
    int arrays = 0;
    if (!sp_parse_mesh(args->value.mesh, &f.mesh, error) ||
        (f.has_hw && !sp_hardware_of(args, &sources, &f.hw, error)) ||
        !read_arrays(&f, array, &arrays, error))
        return false;
    sp_symbol(report, "devices", sp_axes_product(&f.mesh, ~0u), "devices",
              "product of the mesh's axes");
    sp_put(report, SP_Q_SHARD_DEVICES, sp_axes_product(&f.mesh, ~0u));
    if (arrays == 2)
        return put_matmul(&f, array, error);
    put_array(&f, &array[0]);
    return !args->given.draw || draw(&f, &array[0], error);
}

const struct sp_command sp_cmd_shard = {
    .name = "shard",
    .summary = "a sharded array, or what a sharded matmul communicates",
    .operands = "[ARRAY [SHARDING] [ARRAY [SHARDING]]]",
    .about =
        "Local shape, bytes and copies of an array that is sharded over a mesh, with a "
        "drawing; or, for two "
        "arrays with one dimension in common, which collective their product takes, over how "
        "many bytes, how "
        "long on a machine, whether its arithmetic hides that, and what the alternative costs. "
        "Sizes and sharding stand apart (bf16[256,2048] I_XY,J) or together "
        "(bf16[256_XY,2048], or A[I_XY,J] with --dims). I_XY means that dimension I is "
        "cut over axes X and "
        "Y; {U_Z} at the end, partial sums over Z.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
