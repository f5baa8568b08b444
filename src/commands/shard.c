/* shard: which device holds which block of a sharded array, and the communication of a sharded
 * matmul. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "config/array.h"
#include "config/sharded.h"
#include "cli/command.h"
#include "pictures/blocks.h"
#include "study/sharded_matmul.h"

#include <scaleplan/forms.h>

static const struct sp_taken options[] = {
    SP_TAKE(mesh),
    SP_OPTIONS_MACHINE,
    SP_TAKE(array),
    SP_TAKE(dims),
    SP_TAKE(out, .fallback = "bf16"),
    SP_TAKE(draw),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"shard 'bf16[256,2048]' I_XY,J --mesh X=4,Y=8,Z=2", "local shape, bytes, copies"},
    {"shard 'A[I_XY,J]' --dims I=128,J=2048 --mesh X=2,Y=8,Z=2",
     "textbook notation, sizes in --dims"},
    {"shard 'bf16[8,2048]' I_X,J_Y --mesh X=4,Y=2 --draw", "who holds what"},
    {"shard 'bf16[8,2048]' I_X,J --mesh X=2,Y=2 --plot grid.svg", "a picture, with copies"},
    {"shard 'bf16[1024,4096]' 'B_X,D_Y{U_Z}' --mesh X=4,Y=4,Z=4 --hw v5e",
     "partial sums to reduce"},
    {"shard 'bf16[1024,4096]' I,J_X 'bf16[4096,1024]' J,K --mesh X=16 --hw v5e-256",
     "a matmul: case 2, a gather"},
    {NULL, NULL},
};

/* One array on the mesh, and what the rows of shard_array.def show of it. */
struct layout {
    const char *name, *dot; /* "a" and ".", or "" */
    double whole, local, shards, devices;
    char shape[200];
};

#define SP_PART shard_array
#define SP_PART_OF struct layout
#include "answer/put_rows.h"

/* The question, and the values shown by the rows of shard.def. */
struct shard {
    struct sp_mesh mesh;
    struct sp_hardware hw;
    bool has_hw, is_matmul;
    bool is_summed; /* a matmul of case 3 */
    bool has_other; /* another collective would do */
    double devices;
    struct sp_sharded array[2];
    int arrays;
    struct sp_sharded_matmul m;
    struct sp_sharded_times times;
    int moves;
    struct {
        const char *what, *words; /* as a value, and in a sentence */
        char axes[SP_MESH_AXES + 1];
        double bytes, time_s;
    } move[2];
};

#define SP_PART shard_dim
#define SP_PART_OF double
#include "answer/put_rows.h"

static void put_layout(struct sp_report *r, const struct sp_mesh *mesh, const struct sp_sharded *a,
                       const char *name)
{
    struct layout s = {.name = name,
                       .dot = *name ? "." : "",
                       .whole = sp_whole_bytes(a),
                       .local = sp_local_bytes(mesh, a),
                       .shards = sp_axes_product(mesh, sp_sharding_axes(a)),
                       .devices = sp_axes_product(mesh, ~0u)};
    for (int i = 0; i < a->n; i++)
        sp_append(s.shape, sizeof s.shape, "%s%.0f", i ? "," : "[", sp_local_dim(mesh, a, i));
    sp_append(s.shape, sizeof s.shape, "]");
    sp_scope(r, name);
    put_shard_array_rows(r, &s);
    for (int i = 0; i < a->n; i++) {
        const double size = sp_local_dim(mesh, a, i);
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        sp_key_word(r, "N", number);
        put_shard_dim_rows(r, &size);
    }
    sp_key_word(r, NULL, NULL);
    sp_scope(r, "");
}

static void put_layouts(struct sp_report *r, const struct shard *s)
{
    for (int i = 0; i < s->arrays; i++)
        put_layout(r, &s->mesh, &s->array[i], s->arrays == 1 ? "" : i == 0 ? "a" : "b");
}

#define SP_PART shard
#define SP_PART_OF struct shard
#include "answer/put_rows.h"

/* The words of the command line; one may hold both an array and its sharding: 'bf16[256,2048]
 * I_X,J'. Returns their number. */
static int words_of(const struct sp_args *args, char text[4][256], const char *word[4])
{
    int n = 0;
    for (int i = 0; i < args->n_operands && n < 4; i++) {
        const char *const whole = args->operands[i], *const end = strchr(whole, ']');
        const size_t first = end && end[1] == ' ' ? (size_t)(end + 1 - whole) : 0;
        word[n] = whole + first + strspn(whole + first, " ");
        if (first > 0 && first < sizeof text[n] && n < 3) {
            sp_cut_text(whole, first, text[n], sizeof text[n]);
            word[n + 1] = word[n];
            word[n] = text[n];
            n++;
        }
        n++;
    }
    return args->n_operands > 4 ? args->n_operands : n;
}

/* The arrays of the command line in either notation: sizes and sharding apart, or together. */
static bool read_arrays(const struct sp_args *args, const struct sp_mesh *mesh,
                        struct sp_sharded array[2], int *arrays, struct sp_error *error)
{
    const char *const dims = args->value.dims, *const one = args->value.array;
    char text[4][256];
    const char *word[4] = {"", "", "", ""};
    const int n = words_of(args, text, word);
    const bool together = n == 1 || (n == 2 && strchr(word[1], '['));
    if (one ? n > 0 : n != 1 && n != 2 && n != 4)
        return sp_fail(error, SP_USAGE,
                       "give an array and its sharding, or two of each for a matmul, such as "
                       "'bf16[1024_X,4096]'");
    *arrays = n == 4 || (together && n == 2) ? 2 : 1;
    char letter = 'I';
    for (int i = 0; i < *arrays; i++) {
        struct sp_notation apart = {.plain = ""};
        const bool split = one || together;
        if (split && !sp_split_sharded(one ? one : word[i], dims, letter, &apart, error))
            return false;
        letter = (char)(letter + apart.n - 1); /* b begins with the dimension that a ends with */
        if (!sp_read_sharded(mesh, split ? apart.plain : word[2 * i],
                             split ? apart.spec : word[2 * i + 1], &array[i], error))
            return false;
    }
    return true;
}

/* An array: the sum over the axes where it is partial. */
static void sum_array(struct shard *s, const struct sp_sharded *a)
{
    s->move[0].what = a->partial ? "all-reduce" : "none";
    if (!a->partial)
        return;
    s->moves = 1;
    sp_name_axes(&s->mesh, a->partial, s->move[0].axes);
    s->move[0].bytes = sp_local_bytes(&s->mesh, a);
    s->move[0].time_s = sp_collective_along_s(s->has_hw ? &s->hw : NULL, &s->mesh, SP_ALL_REDUCE,
                                              s->move[0].bytes, a->partial);
}

static bool multiply(struct shard *s, const struct sp_sharded array[2], const char *out,
                     struct sp_error *error)
{
    const double out_bytes = sp_element_of(out).bytes;
    enum sp_collective other;
    if (out_bytes <= 0)
        return sp_fail(error, SP_INPUT, "--out: \"%s\" is not an element type", sp_safe(out));
    if (s->has_hw && !sp_check_peak(&s->hw, (enum sp_dtype)array[0].dtype, error))
        return false;
    s->m = sp_sharded_matmul(&s->mesh, &array[0], &array[1], out_bytes);
    if (s->m.kind == SP_CASE_MISMATCH)
        return sp_fail(error, SP_INPUT,
                       "the inputs must share exactly one dimension name, sharded alike or in only "
                       "one of them");
    s->is_matmul = true;
    s->is_summed = s->m.kind == SP_CASE_REDUCE;
    s->has_other = sp_other_op(&s->m, &other);
    s->times = sp_time_sharded_matmul(s->has_hw ? &s->hw : NULL, &s->mesh, &array[0], &s->m);
    s->moves = s->m.moves;
    s->move[0].what = "none";
    for (int i = 0; i < s->moves; i++) {
        static const char *const collectives[] = {"all-reduce", "all-gather of a",
                                                  "all-gather of b"},
                                 *const words[] = {"all-reduce", "all-gather of the first array",
                                                   "all-gather of the second array"};
        s->move[i].what = collectives[s->m.move[i].gathered + 1];
        s->move[i].words = words[s->m.move[i].gathered + 1];
        s->move[i].bytes = s->m.move[i].bytes;
        s->move[i].time_s = s->times.move_s[i];
        sp_name_axes(&s->mesh, s->m.move[i].over, s->move[i].axes);
    }
    return true;
}

static bool load(const struct sp_args *args, struct shard *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    s->has_hw = args->value.hw != NULL;
    return sp_parse_mesh(args->value.mesh, &s->mesh, error) &&
           (!s->has_hw || sp_hardware_of(args, &sources, &s->hw, error)) &&
           read_arrays(args, &s->mesh, s->array, &s->arrays, error);
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    struct shard s = {.arrays = 0};
    (void)report;
    return load(args, &s, error) ? sp_draw_grid(&s.mesh, s.array, s.arrays, error) : NULL;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct shard s = {.arrays = 0};
    if (!load(args, &s, error) || (s.arrays == 2 && !multiply(&s, s.array, args->value.out, error)))
        return false;
    s.devices = sp_axes_product(&s.mesh, ~0u);
    if (s.arrays == 1)
        sum_array(&s, &s.array[0]);
    put_shard_rows(report, &s);
    return s.arrays == 2 || !args->given.draw ||
           sp_draw_blocks(report, &s.mesh, &s.array[0], error);
}

const struct sp_command sp_cmd_shard = {
    .name = "shard",
    .summary = "a sharded array, or the communication of a sharded matmul",
    .operands = "[ARRAY [SHARDING] [ARRAY [SHARDING]]]",
    .about = "Prints local shape, bytes and copies of a sharded array; for two arrays with a "
             "common dimension, the collective of their product, its time, whether the arithmetic "
             "hides it, and the alternative. Sizes and sharding are apart (bf16[256,2048] I_XY,J) "
             "or together (bf16[256_XY,2048]; A[I_XY,J] with --dims). I_XY: dimension I is sharded "
             "over axes X and Y; {U_Z} at the end: partial sums over Z.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
