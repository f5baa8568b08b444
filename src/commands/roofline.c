/* roofline: an operation's arithmetic against the bytes it moves. */
#include <math.h>
#include <string.h>

#include <scaleplan/forms.h>
#include <scaleplan/serve.h>

#include "base/list.h"
#include "base/number.h"
#include "cli/command.h"
#include "config/array.h"
#include "config/einsum.h"
#include "pictures/roofline.h"
#include "study/model_matmuls.h"

static const char *const sources_of_bytes[] = {"hbm", "vmem", "pcie",     "link", "axis",
                                               "dcn", "node", "scaleout", NULL};
static const char *const vector_ops[] = {"dot", "add", "axpy", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_MACHINE,
    SP_TAKE(devices, .alias = "chips"),
    SP_TAKE(matmul),
    SP_TAKE(batched),
    SP_TAKE(three_way, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(einsum),
    SP_TAKE(dims),
    SP_TAKE(op, .choices = vector_ops, .needs = SP_THESE(SP_O_n)),
    SP_TAKE(n),
    SP_TAKE(fused_attention, .alias = "attention"),
    SP_OPTION_SEQ,
    SP_TAKE(kv_seq),
    SP_TAKE(query_group, .fallback = "1", .alias = "group"),
    SP_TAKE(flops),
    SP_TAKE(bytes),
    SP_TAKE(t_math),
    SP_TAKE(t_mem),
    SP_TAKE(hidden, .alias = "overlap"),
    SP_TAKE(chain, .alias = "stages"),
    SP_OPTIONS_MODEL,
    SP_OPTION_BATCH,
    SP_TAKE(type, .fallback = "bf16", .alias = "dtype"),
    SP_TAKE(a),
    SP_TAKE(w),
    SP_TAKE(out),
    SP_TAKE(compute),
    SP_TAKE(bytes_from, .fallback = "hbm", .alias = "from", .choices = sources_of_bytes),
    SP_TAKE(bandwidth),
    SP_TAKE(experts, .fallback = "1"),
    SP_TAKE(top_k, .fallback = "1"),
    SP_TAKE(pad, .fallback = "1"),
    SP_TAKE(plot, .needs = SP_THESE(SP_O_hw)),
    SP_OPTION_PLOT_WIDTH,
};

static const struct sp_example examples[] = {
    {"roofline --matmul 512x4096x8192 --hw b200", "one matmul: intensity, times, bound"},
    {"roofline --matmul 512x4096x14336,512x14336x4096 --hw h100",
     "the two matmuls of an MLP and their total"},
    {"roofline --w int8 --hw v5e --get critical_batch_small", "int8 weights, bf16 arithmetic"},
    {"roofline --fused-attention --seq 4096 --query-group 8 --hw v5e",
     "grouped-query attention at prefill"},
    {"roofline --model llama3-8b --batch 4096 --hw h100", "every matmul of a model"},
    {"roofline --model llama3-8b --batch 256 --hw h100 --plot roof.svg", "plotted on the roofline"},
    {NULL, NULL},
};

enum { MOST_STAGES = 16 };

/* A stage of --chain. */
struct flow {
    char name[48];
    double amount, rate;
};

/* Subjects of the question. */
enum what { CHIP, TIMES, CHAIN, MATMUL, OPERATION, ATTENTION, LIST };

/* The question, and the values shown by the rows of roofline.def. */
struct roof {
    const struct sp_args *args;
    struct sp_hardware hw;
    struct sp_operands bytes;
    enum sp_dtype wanted, dtype; /* of the arithmetic; the chip's own format once that is known */
    bool has_hw;
    double chips;      /* that share the work */
    double C, W, r;    /* peak and bandwidth of all of them; experts per expert of a token */
    double C_vector;   /* of the vector unit; FLOP/s */
    bool on_vector;    /* the operation runs on that: C is its peak */
    bool lacks_vector; /* it would run there, but no rate is published */
    const char *from;
    enum what what;
    char operation[160];
    struct sp_work work;      /* of one operation */
    double B, D, F, matrices; /* of a matmul */
    bool batched;
    double critical;       /* rows; INFINITY: no number suffices */
    const char *three_way; /* the limiting resource; NULL: not asked for */
    double W_axis, W_hbm;  /* of it */
    double T, S, G;        /* of attention */
    bool at_ridge;
    struct flow chain[MOST_STAGES];
    double chain_s; /* of all stages, one after the other */
    const struct flow *longest;
    size_t n_chain;
    struct sp_operation_row list[SP_MOST_OPERATIONS];
    size_t n_list;
    char heading[240]; /* over the list of a model; "" without */
};

#define SP_PART roofline_stage
#define SP_PART_OF struct flow
#include "answer/put_rows.h"

/* What limits, in the glossary's words: the sources of bytes and the words of `three_way`. */
static const char *words_of_source(const char *from)
{
    static const char *const words[][2] = {
        {"hbm", "memory"}, {"math", "compute"}, {"ici", "the network"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], from) == 0)
            return words[i][1];
    return from;
}

/* One piece of work, or times that are given for one. */
struct work {
    const char *name; /* of a row in a list; NULL: the operation itself */
    double count;
    bool has_work, has_hw;
    double flops, bytes, C, W, t_math, t_mem;
    double hidden; /* --hidden; NAN */
    const char *from;
};

#define SP_PART roofline_work
#define SP_PART_OF struct work
#include "answer/put_rows.h"

/* All operations of a list. */
struct total {
    struct sp_operation_total of;
    bool has_hw;
    double C, W;
    double hidden; /* --hidden; NAN */
};

#define SP_PART roofline_total
#define SP_PART_OF struct total
#include "answer/put_rows.h"

static double bandwidth_of(const struct sp_hardware *hw, int from)
{
    const struct sp_network *net = &hw->network;
    const bool torus = net->kind == SP_TORUS;
    const double bandwidths[] = {hw->chip.hbm_bytes_per_s,
                                 hw->chip.vmem_bytes_per_s,
                                 hw->chip.pcie_bytes_per_s,
                                 torus ? net->link_bytes_per_s : NAN,
                                 torus ? sp_ring_rate(net->link_bytes_per_s) : NAN,
                                 torus ? sp_dcn_bytes_per_s_per_chip(net) : NAN,
                                 torus ? NAN : net->domain_bytes_per_s,
                                 torus ? NAN : net->scaleout_bytes_per_s};
    return bandwidths[from];
}

/* The element type of an option, or of `fallback` if it is not given. */
static bool read_type(const struct sp_args *args, enum sp_option_id id,
                      const struct sp_element *fallback, struct sp_element *element,
                      struct sp_error *error)
{
    const char *const text = args->text[id];
    *element = text ? sp_element_of(text) : *fallback;
    if (element->bytes > 0)
        return true;
    return sp_fail(error, SP_INPUT,
                   "--%s: \"%s\": expected an element type such as bf16, fp32, fp8 or int8",
                   sp_option_name(id), sp_safe(text));
}

/* Elementwise operations and dot products run on the vector unit: a dot product multiplies and adds
 * at once where the unit can, an addition cannot. */
static void use_vector_unit(struct roof *s)
{
    const bool fused = s->args->value.op == 0;
    const double C = sp_of_all_chips(s->chips, sp_vector_flops_per_s(&s->hw.chip, fused));
    s->C_vector = C;
    s->on_vector = C > 0;
    s->lacks_vector = !s->on_vector;
    if (s->on_vector)
        s->C = C;
}

static bool load_types(const struct sp_args *args, struct roof *s, struct sp_error *error)
{
    const struct sp_element usual = {SP_BF16, sp_dtypes[SP_BF16].bytes};
    struct sp_element all, a, w, out;
    s->r = sp_expert_share(args->value.experts, args->value.top_k);
    if (s->r < 1)
        return sp_fail(error, SP_INPUT, "--top-k is larger than --experts");
    if (!read_type(args, SP_O_type, &usual, &all, error) ||
        !read_type(args, SP_O_a, &all, &a, error) || !read_type(args, SP_O_w, &all, &w, error) ||
        !read_type(args, SP_O_out, &all, &out, error))
        return false;
    s->bytes = (struct sp_operands){a.bytes, w.bytes, out.bytes};
    s->dtype = args->value.compute >= 0 ? (enum sp_dtype)args->value.compute : a.dtype;
    s->wanted = s->dtype;
    return true;
}

/* The peak in the format of the arithmetic: --compute, or that of the first operand. The vector
 * unit's published rate is one of fp32. */
static bool load_peak(struct roof *s, struct sp_error *error)
{
    const struct sp_chip *const chip = &s->hw.chip;
    if (!sp_check_peak(&s->hw, s->dtype, error))
        return false;
    if (s->args->given.op && s->dtype == SP_FP64)
        return sp_fail(error, SP_INPUT, "%s publishes no rate of its vector unit in fp64",
                       s->hw.name);
    s->dtype = sp_compute_dtype(chip, s->dtype);
    s->C = sp_of_all_chips(s->chips, chip->peak_flops_per_s[s->dtype]);
    s->C_vector = sp_of_all_chips(s->chips, sp_vector_flops_per_s(chip, true));
    if (s->args->given.op)
        use_vector_unit(s);
    return true;
}

static bool load_chip(const struct sp_args *args, struct roof *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const double given = args->value.bandwidth, chips = args->value.devices;
    s->from = sources_of_bytes[args->value.bytes_from];
    s->has_hw = args->value.hw != NULL;
    s->C = NAN;
    s->W = given;
    if (!load_types(args, s, error))
        return false;
    if (!s->has_hw)
        return true;
    if (!sp_hardware_of(args, &sources, &s->hw, error))
        return false;
    s->chips = isnan(chips) ? (double)sp_chips(&s->hw) : chips;
    if (!load_peak(s, error))
        return false;
    s->W = sp_of_all_chips(s->chips,
                           isnan(given) ? bandwidth_of(&s->hw, args->value.bytes_from) : given);
    if (isnan(s->W))
        return sp_fail(error, SP_INPUT,
                       "--bytes-from %s: %s publishes no such bandwidth; give --bandwidth", s->from,
                       s->hw.name);
    return true;
}

/* The matmul of a decode step, its weights spread over the chips. */
static bool load_three_way(struct roof *s, struct sp_error *error)
{
    double all;
    s->W_axis = sp_tp_link_bytes_per_s(&s->hw, &all);
    s->W_hbm = sp_of_all_chips(s->chips, s->hw.chip.hbm_bytes_per_s);
    if (isnan(s->W_axis))
        return sp_fail(error, SP_INPUT, "--three-way: one chip has no network; --hw NAME-CHIPS");
    const double ici_s = sp_input_gather_s(s->bytes.a_bytes, s->B, s->D, s->W_axis),
                 hbm_s = sp_weights_s(s->bytes.w_bytes, 1, s->D, s->F, s->W_hbm),
                 most = fmax(ici_s, fmax(hbm_s, sp_matmul_s(s->B, s->D, s->F, s->C)));
    s->three_way = most == ici_s ? "ici" : most == hbm_s ? "hbm" : "math";
    return true;
}

/* Reads "BxDxF", D and F padded to multiples of `side`. */
static bool read_matmul(const char *text, double side, double dims[3], struct sp_error *error)
{
    if (sp_parse_dims(text, dims, 3) != 3 || dims[0] < 1 || dims[1] < 1 || dims[2] < 1 ||
        dims[0] > 1e15 || dims[1] > 1e15 || dims[2] > 1e15)
        return sp_fail(error, SP_INPUT, "--matmul: \"%s\" is not BxDxF, such as 512x4096x8192",
                       sp_safe(text));
    dims[1] = sp_padded(dims[1], side);
    dims[2] = sp_padded(dims[2], side);
    return true;
}

/* Every matmul of "512x4096x8192,512x8192x4096". */
static bool load_matmuls(struct roof *s, const char *list, struct sp_error *error)
{
    char word[96];
    s->what = LIST;
    while (sp_next_item(&list, word, sizeof word)) {
        double dims[3];
        if (s->n_list == SP_MOST_OPERATIONS)
            return sp_fail(error, SP_INPUT, "--matmul: more than %d matmuls", SP_MOST_OPERATIONS);
        if (!read_matmul(word, s->args->value.pad, dims, error))
            return false;
        struct sp_operation_row *const row = &s->list[s->n_list++];
        snprintf(row->name, sizeof row->name, "%s", word);
        row->count = 1;
        row->work = sp_matmul_work(dims[0], dims[1], dims[2], s->bytes, s->batched);
    }
    return true;
}

static bool load_matmul(struct roof *s, struct sp_error *error)
{
    const char *const text = s->args->value.matmul;
    double dims[3];
    s->batched = s->args->given.batched;
    if (strchr(text, ','))
        return load_matmuls(s, text, error);
    if (!read_matmul(text, s->args->value.pad, dims, error))
        return false;
    s->what = MATMUL;
    s->B = dims[0];
    s->D = dims[1];
    s->F = dims[2];
    s->matrices = s->batched ? s->B : 1;
    s->work = sp_matmul_work(s->B, s->D, s->F, s->bytes, s->batched);
    s->critical = sp_critical_rows(s->D, s->F, s->bytes, s->C, s->W);
    snprintf(s->operation, sizeof s->operation, "[%.0f,%.0f] x [%.0f,%.0f]", s->B, s->D, s->D,
             s->F);
    return !s->args->given.three_way || load_three_way(s, error);
}

static bool load_einsum(struct roof *s, struct sp_error *error)
{
    const char *const spec = s->args->value.einsum;
    s->what = OPERATION;
    snprintf(s->operation, sizeof s->operation, "%s", spec);
    return sp_read_einsum(spec, s->args->value.dims, s->bytes, &s->work, error);
}

static bool load_vector(struct roof *s, struct sp_error *error)
{
    const int op = s->args->value.op;
    const double n = s->args->value.n;
    (void)error;
    s->what = OPERATION;
    snprintf(s->operation, sizeof s->operation, "%s of two vectors of %.0f", vector_ops[op], n);
    s->work = op == 0 ? sp_dot_work(n, s->bytes.a_bytes)
                      : sp_add_work(n, op == 1 ? 1 : 2, s->bytes.a_bytes);
    return true;
}

static bool load_work(struct roof *s, struct sp_error *error)
{
    const double flops = s->args->value.flops, bytes = s->args->value.bytes;
    (void)error;
    s->what = OPERATION;
    s->work = (struct sp_work){isnan(flops) ? 0 : flops, isnan(bytes) ? 0 : bytes};
    return true;
}

static bool load_attention(struct roof *s, struct sp_error *error)
{
    const double T = s->args->value.seq, S = s->args->value.kv_seq;
    (void)error;
    s->what = ATTENTION;
    s->T = isnan(T) ? 4096 : T;
    s->S = isnan(S) ? s->T : S;
    s->G = s->args->value.query_group;
    s->at_ridge = sp_attention_intensity(s->T, s->S, s->G) >= sp_ridge_point(s->C, s->W);
    snprintf(s->operation, sizeof s->operation, "attention of %.0f queries on %.0f keys", s->T,
             s->S);
    return true;
}

static bool load_times(struct roof *s, struct sp_error *error)
{
    (void)error;
    s->what = TIMES;
    return true;
}

/* "pcie=1GB@15e9,ici=16GB@9e10" */
static bool load_chain(struct roof *s, struct sp_error *error)
{
    const char *text = s->args->value.chain;
    char name[128], word[128];
    s->what = CHAIN;
    while (text && *text && s->n_chain < MOST_STAGES) {
        struct flow *const stage = &s->chain[s->n_chain];
        sp_next_item(&text, word, sizeof word);
        snprintf(name, sizeof name, "%s", word);
        char *const flow = sp_cut_pair(name), *const at = flow ? strchr(flow, '@') : NULL;
        if (!at || strlen(name) > 40)
            return sp_fail(error, SP_INPUT, "--chain: \"%s\": expected NAME=AMOUNT@RATE",
                           sp_safe(word));
        *at = '\0';
        if (strpbrk(name, ".") || !sp_parse_number(flow, &stage->amount) ||
            !sp_parse_number(at + 1, &stage->rate) || stage->rate <= 0 || stage->amount > 1e30 ||
            sp_stage_s(stage->amount, stage->rate) > 1e30)
            return sp_fail(error, SP_INPUT,
                           "--chain: \"%s\": amount and rate must be numbers, rate above 0",
                           sp_safe(name));
        snprintf(stage->name, sizeof stage->name, "%.40s", name);
        s->chain_s += sp_stage_s(stage->amount, stage->rate);
        if (!s->longest || sp_stage_s(stage->amount, stage->rate) >
                               sp_stage_s(s->longest->amount, s->longest->rate))
            s->longest = stage;
        s->n_chain++;
    }
    return !(text && *text) ||
           sp_fail(error, SP_INPUT, "--chain: more than %d stages", MOST_STAGES);
}

static bool load_model(struct roof *s, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(s->args);
    struct sp_model model;
    double tokens, seq;
    const char *origin;
    s->what = LIST;
    if (!sp_model_of(s->args, &sources, &model, error))
        return false;
    if (!sp_model_has_shape(&model))
        return sp_fail(error, SP_INPUT, "--model %s: only its size is known, not its operators",
                       model.name);
    if (!sp_batch_of(s->args, &model, &tokens, &seq, &origin, error))
        return false;
    s->n_list = sp_model_matmuls(&model, tokens, seq, s->bytes, s->list);
    snprintf(s->heading, sizeof s->heading, "%s, %s %s on the %s (%s), forward pass:", model.name,
             sp_human_text(tokens, SP_TOKENS), sp_takes_pictures(&model) ? "images" : "tokens",
             s->chips > 1 ? "chips" : "chip", origin);
    return true;
}

static bool load_nothing(struct roof *s, struct sp_error *error)
{
    s->what = CHIP;
    return s->has_hw || sp_fail(error, SP_USAGE, "--hw NAME is needed, and usually --matmul BxDxF");
}

/* The subject of the question: the first that is given. */
static bool load(const struct sp_args *args, struct roof *s, struct sp_error *error)
{
    const struct {
        bool given;
        bool (*load)(struct roof *s, struct sp_error *error);
    } asked[] = {
        {args->given.t_math && args->given.t_mem, load_times},
        {args->given.chain, load_chain},
        {args->given.matmul, load_matmul},
        {args->given.einsum, load_einsum},
        {args->given.op, load_vector},
        {args->given.fused_attention, load_attention},
        {args->given.flops || args->given.bytes, load_work},
        {args->given.model || args->given.shape, load_model},
        {true, load_nothing},
    };
    size_t i = 0;
    while (!asked[i].given)
        i++;
    *s = (struct roof){.args = args};
    return load_chip(args, s, error) && asked[i].load(s, error);
}

/* A piece of work on the chip; without one, the times that are given. */
static struct work work_of(const struct roof *s, const struct sp_work *work)
{
    struct work w = {
        .has_work = work != NULL, .has_hw = s->has_hw, .C = s->C, .W = s->W, .from = s->from};
    w.hidden = s->args->value.hidden;
    w.flops = work ? work->flops : 0;
    w.bytes = work ? work->bytes : 0;
    w.t_math = work ? sp_math_s(w.flops, s->C) : s->args->value.t_math;
    w.t_mem = work ? sp_memory_s(w.bytes, s->W) : s->args->value.t_mem;
    return w;
}

static void put_list(struct sp_report *r, const struct roof *s)
{
    for (size_t i = 0; i < s->n_list; i++) {
        struct work work = work_of(s, &s->list[i].work);
        work.name = s->list[i].name;
        work.count = s->list[i].count;
        sp_begin_row(r, work.name, "operators.%zu", i);
        put_roofline_work_rows(r, &work);
    }
    sp_scope(r, "total");
    put_roofline_total_rows(r, &(struct total){sp_total_of(s->list, s->n_list, s->C, s->W),
                                               s->has_hw, s->C, s->W, s->args->value.hidden});
    sp_scope(r, "");
}

static void put_chain(struct sp_report *r, const struct roof *s)
{
    for (size_t i = 0; i < s->n_chain; i++) {
        sp_begin_row(r, s->chain[i].name, "stages.%s", s->chain[i].name);
        put_roofline_stage_rows(r, &s->chain[i]);
    }
    sp_scope(r, "");
}

static void put_work(struct sp_report *r, const struct roof *s)
{
    const struct work work = work_of(s, s->what == TIMES ? NULL : &s->work);
    put_roofline_work_rows(r, &work);
}

#define SP_PART roofline
#define SP_PART_OF struct roof
#include "answer/put_rows.h"

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct roof s;
    if (!load(args, &s, error))
        return false;
    put_roofline_rows(report, &s);
    return true;
}

/* The operations that are drawn, by name; returns their number. */
static size_t name_operations(const struct roof *s, const char *names[], double intensities[])
{
    for (size_t i = 0; i < s->n_list; i++) {
        names[i] = s->list[i].name;
        intensities[i] = sp_intensity(s->list[i].work.flops, s->list[i].work.bytes);
    }
    names[s->n_list] = *s->operation ? s->operation : "operation";
    intensities[s->n_list] = s->what == ATTENTION ? sp_attention_intensity(s->T, s->S, s->G)
                                                  : sp_intensity(s->work.flops, s->work.bytes);
    return s->n_list > 0 ? s->n_list : intensities[0] > 0 ? 1 : 0;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    struct roof s;
    const char *names[SP_MOST_OPERATIONS + 1], *const model = args->value.model;
    double intensities[SP_MOST_OPERATIONS + 1];
    char title[SP_PLOT_TEXT];
    (void)report;
    if (!load(args, &s, error))
        return NULL;
    if (!(sp_ridge_point(s.C, s.W) > 0)) {
        sp_fail(error, SP_INPUT, "--plot: %s publishes no peak in this format", s.hw.name);
        return NULL;
    }
    const bool batched = model && args->value.batch;
    snprintf(title, sizeof title, "Roofline of %.40s, bytes from %s at %s%s%.50s%s%.20s",
             args->value.hw, s.from, sp_human_text(s.W, SP_BYTES_PER_S),
             model ? ": matmuls of " : "", model ? model : "", batched ? ", batch " : "",
             batched ? args->value.batch : "");
    const size_t n = name_operations(&s, names, intensities);
    return sp_plot_roofline(&(struct sp_roofline_picture){.title = title,
                                                          .C = s.C,
                                                          .W = s.W,
                                                          .names = names,
                                                          .intensities = intensities,
                                                          .n = n,
                                                          .one = s.n_list == 0});
}

const struct sp_command sp_cmd_roofline = {
    .name = "roofline",
    .summary = "an operation, or all of a model, on a chip's roofline",
    .about = "Computes intensity, times and bound of a matmul with any operand types, an einsum, a "
             "vector operation, attention, or all matmuls of a model, against HBM, on-chip memory, "
             "PCIe or a network, and the critical batch.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
