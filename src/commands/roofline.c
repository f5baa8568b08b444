/* roofline: an operation's arithmetic against the bytes it moves. */
#include <math.h>
#include <string.h>

#include <scaleplan/serve.h>

#include "config/array.h"
#include "base/list.h"
#include "base/number.h"
#include "commands/roofline.h"
#include "commands/plot_data.h"

static const char *const sources_of_bytes[] = {"hbm", "vmem", "pcie",     "link", "axis",
                                               "dcn", "node", "scaleout", NULL};
static const char *const vector_ops[] = {"dot", "add", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_MACHINE,
    SP_TAKE(chips),
    SP_TAKE(matmul),
    SP_TAKE(batched),
    SP_TAKE(three_way),
    SP_TAKE(einsum),
    SP_TAKE(dims),
    SP_TAKE(op, .choices = vector_ops),
    SP_TAKE(n),
    SP_TAKE(fused_attention, .alias = "attention"),
    SP_OPTION_SEQ,
    SP_TAKE(kv_seq),
    SP_TAKE(query_group, .fallback = "1", .alias = "group"),
    SP_TAKE(flops),
    SP_TAKE(bytes),
    SP_TAKE(t_math),
    SP_TAKE(t_mem),
    SP_TAKE(chain, .alias = "stages"),
    SP_OPTIONS_MODEL,
    SP_OPTION_BATCH,
    SP_TAKE(type, .fallback = "bf16", .alias = "dtype"),
    SP_TAKE(a),
    SP_TAKE(w),
    SP_TAKE(out),
    SP_TAKE(compute, .choices = sp_dtype_names),
    SP_TAKE(bytes_from, .fallback = "hbm", .alias = "from", .choices = sources_of_bytes),
    SP_TAKE(bandwidth),
    SP_TAKE(experts, .fallback = "1"),
    SP_TAKE(top_k, .fallback = "1"),
    SP_TAKE(pad, .fallback = "1"),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"scaleplan roofline --matmul 512x4096x8192 --hw b200", "one matmul: intensity, times, bound"},
    {"scaleplan roofline --matmul 512x4096x14336,512x14336x4096 --hw h100",
     "the two matmuls of an MLP and their total"},
    {"scaleplan roofline --w int8 --hw v5e --get critical_batch_small",
     "int8 weights, bf16 arithmetic"},
    {"scaleplan roofline --fused-attention --seq 4096 --query-group 8 --hw v5e",
     "grouped-query attention at prefill"},
    {"scaleplan roofline --model llama3-8b --batch 4096 --hw h100", "every matmul of a model"},
    {"scaleplan roofline --model llama3-8b --batch 256 --hw h100 --plot roof.svg",
     "the same on a picture of the roofline"},
    {NULL, NULL},
};

static double bandwidth_of(const struct sp_hardware *hw, int from)
{
    const struct sp_network *net = &hw->network;
    const bool torus = net->kind == SP_TORUS;
    const double bandwidths[] = {hw->chip.hbm_bytes_per_s,
                                 hw->chip.vmem_bytes_per_s,
                                 hw->chip.pcie_bytes_per_s,
                                 torus ? net->link_bytes_per_s : NAN,
                                 torus ? 2 * net->link_bytes_per_s : NAN,
                                 torus ? sp_dcn_bytes_per_s_per_chip(net) : NAN,
                                 torus ? NAN : net->domain_bytes_per_s,
                                 torus ? NAN : net->scaleout_bytes_per_s};
    return bandwidths[from];
}

static bool read_type(const struct sp_args *args, enum sp_option_id id, double fallback,
                      double *bytes, struct sp_error *error)
{
    const char *const text = args->text[id];
    *bytes = text ? sp_element_bytes(text) : fallback;
    if (*bytes > 0)
        return true;
    return sp_fail(error, SP_INPUT,
                   "--%s: \"%s\" is no element type; bf16, fp32, fp8, int8 and their kind are",
                   sp_option_name(id), sp_safe(text));
}

/* Elementwise operations and dot products run on the vector unit: a dot product multiplies and adds
 * at once where the unit can, an addition cannot. */
static void use_vector_unit(struct roof *f)
{
    const bool fused = f->args->value.op == 0;
    const double C = f->chips * sp_vector_flops_per_s(&f->hw.chip, fused);
    f->C_vector = C;
    f->on_vector = C > 0;
    if (f->on_vector)
        f->C = C;
    else
        sp_note(f->report, "%s publishes no rate of its vector unit: the peak is the matrix unit's",
                f->hw.name);
}

static bool load(const struct sp_args *args, struct roof *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const double given = args->value.bandwidth, wanted_chips = args->value.chips;
    const int from = args->value.bytes_from, compute = args->value.compute;
    double bytes;
    f->from = sources_of_bytes[from];
    f->has_hw = args->value.hw != NULL;
    f->C = NAN;
    f->W = given;
    f->r = args->value.experts / args->value.top_k;
    if (f->r < 1)
        return sp_fail(error, SP_INPUT, "--top-k is larger than --experts");
    if (!read_type(args, SP_O_type, 2, &bytes, error) ||
        !read_type(args, SP_O_a, bytes, &f->bytes.a_bytes, error) ||
        !read_type(args, SP_O_w, bytes, &f->bytes.w_bytes, error) ||
        !read_type(args, SP_O_out, bytes, &f->bytes.out_bytes, error))
        return false;
    if (!f->has_hw)
        return true;
    if (!sp_hardware_of(args, &sources, &f->hw, error))
        return false;
    f->chips = isnan(wanted_chips) ? (double)sp_chips(&f->hw) : wanted_chips;
    int wanted = compute;
    const char *const type = args->value.a ? args->value.a : args->value.type;
    for (int i = 0; wanted < 0 && i < SP_DTYPES; i++)
        if (strcmp(sp_dtype_names[i], type) == 0)
            wanted = i;
    f->C = f->chips * f->hw.chip.peak_flops_per_s[sp_compute_dtype(
                          &f->hw.chip, (enum sp_dtype)(wanted < 0 ? SP_BF16 : wanted))];
    f->W = f->chips * (isnan(given) ? bandwidth_of(&f->hw, from) : given);
    f->C_vector = f->chips * sp_vector_flops_per_s(&f->hw.chip, true);
    if (args->given.op)
        use_vector_unit(f);
    if (isnan(f->W))
        return sp_fail(error, SP_INPUT,
                       "--bytes-from %s: %s publishes no such bandwidth; give --bandwidth", f->from,
                       f->hw.name);
    return true;
}

static void line_of_work(const struct roof *f)
{
    sp_line(f->report, "work         {flops}, {bytes}: {intensity} FLOPs/byte");
    sp_line(f->report, "time         {lower_s} to {upper_s}, bound by {bound}: arithmetic "
                       "{t_math_s}, bytes {t_mem_s}");
}

/* The matmul of a decode step, its weights spread over the chips. */
static bool put_three_way(const struct roof *f, const double dims[3], struct sp_error *error)
{
    struct sp_report *const r = f->report;
    double axes;
    if (!f->has_hw)
        return sp_fail(error, SP_USAGE, "--three-way needs the machine, --hw");
    const double W_axis = sp_tp_link_bytes_per_s(&f->hw, &axes);
    const double W_hbm = f->chips * f->hw.chip.hbm_bytes_per_s;
    if (isnan(W_axis))
        return sp_fail(error, SP_INPUT, "--three-way: one chip has no network; --hw NAME-CHIPS");
    const struct sp_three_way t =
        sp_three_way(dims[0], dims[1], dims[2], f->bytes, f->C, W_hbm, W_axis);
    const double most = fmax(t.ici_s, fmax(t.hbm_s, t.math_s));
    sp_symbol(r, "b_a", f->bytes.a_bytes, "bytes", "of the left operand's elements");
    sp_symbol(r, "W_axis", W_axis, "bytes/s", "of one axis, or a device in its domain");
    sp_symbol(r, "W_hbm", W_hbm, "bytes/s", "memory of all chips");
    sp_put(r, SP_Q_ROOFLINE_WAY_ICI, t.ici_s);
    sp_put(r, SP_Q_ROOFLINE_WAY_HBM, t.hbm_s);
    sp_put(r, SP_Q_ROOFLINE_WAY_MATH, t.math_s);
    sp_put_text(r, SP_Q_ROOFLINE_WAY_BOUND, "%s",
                most == t.ici_s   ? "ici"
                : most == t.hbm_s ? "hbm"
                                  : "math");
    sp_line(r, "three-way    network {three_way.ici_s}, memory {three_way.hbm_s}, arithmetic "
               "{three_way.math_s}: bound by {three_way.bound}");
    return true;
}

static bool put_matmul(const struct roof *f, const char *text, struct sp_error *error)
{
    double dims[3];
    if (strchr(text, ','))
        return sp_put_matmuls(f, text, error);
    if (!sp_read_matmul(text, f->args->value.pad, dims, error))
        return false;
    const double D = dims[1], F = dims[2];
    sp_put_text(f->report, SP_Q_ROOFLINE_OPERATION, "[%.0f,%.0f] x [%.0f,%.0f]", dims[0], D, D, F);
    sp_put_work(f, sp_matmul_work(dims[0], D, F, f->bytes, f->args->given.batched));
    const bool batched = f->args->given.batched;
    sp_symbol(f->report, "rows", dims[0], "", "B of the matmul");
    sp_symbol(f->report, "matrices", batched ? dims[0] : 1, "", "weight matrices");
    sp_symbol(f->report, "D", D, "", "contracting dimension");
    sp_symbol(f->report, "F", F, "", "columns of the weights");
    const struct sp_work small = sp_matmul_weights_work(dims[0], D, F, f->bytes.w_bytes, batched);
    if (!batched)
        sp_put(f->report, SP_Q_ROOFLINE_INTENSITY_SMALL, small.flops / small.bytes);
    if (f->has_hw) {
        const double exact = sp_critical_rows(D, F, f->bytes, f->C, f->W) * f->r;
        sp_put(f->report, SP_Q_ROOFLINE_T_MEM_SMALL, small.bytes / f->W);
        if (!batched) {
            sp_put(f->report, SP_Q_ROOFLINE_CRITICAL, exact);
            sp_put(f->report, SP_Q_ROOFLINE_CRITICAL_OVER,
                   exact / sp_critical_rows_small(f->bytes.w_bytes, f->C, f->W, f->r));
        }
    }
    line_of_work(f);
    sp_line(f->report,
            "             with few rows the weights are all that moves: {t_mem_small_s}, "
            "{intensity_small} FLOPs/byte");
    sp_line(f->report, "critical     {critical_batch} rows, exactly");
    return !f->args->given.three_way || put_three_way(f, dims, error);
}

/* Sizes of an einsum's letters from "i=2,j=3". */
static bool read_letters(const char *text, double sizes[128], struct sp_error *error)
{
    char word[40];
    while (text && *text && sp_next_item(&text, word, sizeof word)) {
        double size;
        if ((unsigned char)word[0] >= 128 || word[0] == '\0' || word[1] != '=' ||
            !sp_parse_number(word + 2, &size) || size < 1 || size > 1e15)
            return sp_fail(error, SP_INPUT, "--dims: \"%s\": expected LETTER=SIZE,LETTER=SIZE",
                           sp_safe(word));
        sizes[(unsigned char)word[0]] = size;
    }
    return true;
}

static bool put_einsum(const struct roof *f, const char *spec, struct sp_error *error)
{
    double sizes[128] = {0}, product = 1, bytes = 0, operand = 1;
    bool seen[128] = {false}, output = false;
    const double types[2] = {f->bytes.a_bytes, f->bytes.w_bytes};
    int operands = 0;
    if (!read_letters(f->args->value.dims, sizes, error))
        return false;
    for (const char *at = spec;; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == ',' || c == '\0' || (c == '-' && at[1] == '>')) {
            bytes += operand * (output ? f->bytes.out_bytes : types[operands > 0]);
            operands++;
            operand = 1;
            output = output || c == '-';
            at += c == '-';
            if (c == '\0')
                break;
        } else if (c != ' ') {
            if (c >= 128 || sizes[c] <= 0)
                return sp_fail(error, SP_INPUT, "--einsum: no size of \"%c\"; give --dims %c=N",
                               c < 128 ? c : '?', c < 128 ? c : '?');
            operand *= sizes[c];
            product *= seen[c] ? 1 : sizes[c];
            seen[c] = true;
        }
    }
    if (!output || operands < 3)
        return sp_fail(error, SP_INPUT,
                       "--einsum: \"%s\": expected two operands and an output, such as ij,jk->ik",
                       sp_safe(spec));
    if (product > 1e30 || bytes > 1e30)
        return sp_fail(error, SP_INPUT, "--einsum: more than 10^30 FLOPs or bytes");
    sp_put_text(f->report, SP_Q_ROOFLINE_OPERATION, "%s", spec);
    sp_put_work(f, (struct sp_work){2 * product, bytes});
    line_of_work(f);
    return true;
}

static bool put_vector(const struct roof *f, struct sp_error *error)
{
    const int op = f->args->value.op;
    const double n = f->args->value.n;
    if (isnan(n))
        return sp_fail(error, SP_USAGE, "--op %s needs --n", vector_ops[op]);
    sp_put_text(f->report, SP_Q_ROOFLINE_OPERATION, "%s of two vectors of %.0f", vector_ops[op], n);
    sp_put_work(f, op == 0 ? sp_dot_work(n, f->bytes.a_bytes) : sp_add_work(n, f->bytes.a_bytes));
    line_of_work(f);
    return true;
}

static void put_attention(const struct roof *f)
{
    struct sp_report *r = f->report;
    const double T = f->args->value.seq, S = f->args->value.kv_seq;
    const double G = f->args->value.query_group, t = isnan(T) ? 4096 : T, s = isnan(S) ? t : S;
    const double intensity = sp_attention_intensity(t, s, G);
    sp_symbol(r, "T", t, "tokens", "queries");
    sp_symbol(r, "S", s, "tokens", "keys");
    sp_symbol(r, "G", G, "", "query heads of a key-value head");
    sp_put_text(r, SP_Q_ROOFLINE_OPERATION, "attention of %.0f queries on %.0f keys", t, s);
    sp_put(r, SP_Q_ROOFLINE_ATT_INTENSITY, intensity);
    if (f->has_hw) {
        sp_put_text(r, SP_Q_ROOFLINE_BOUND, "%s", intensity >= f->C / f->W ? "math" : f->from);
        sp_put_bool(r, SP_Q_ROOFLINE_COMPUTE_BOUND, intensity >= f->C / f->W);
        sp_put(r, SP_Q_ROOFLINE_ATT_TOKENS, sp_attention_ridge_tokens(f->C / f->W, G));
    }
    sp_line(r, "attention    {intensity} FLOPs/byte, bound by {bound}; a prefill reaches the ridge "
               "at {ridge_tokens} tokens");
}

static void put_given_times(const struct roof *f, double t_math, double t_mem)
{
    struct sp_report *r = f->report;
    const double lower = fmax(t_math, t_mem);
    sp_symbol(r, "T_math", t_math, "s", "option --t-math");
    sp_symbol(r, "T_mem", t_mem, "s", "option --t-mem");
    sp_put(r, SP_Q_ROOFLINE_T_MATH_GIVEN, t_math);
    sp_put(r, SP_Q_ROOFLINE_T_MEM_GIVEN, t_mem);
    sp_put(r, SP_Q_ROOFLINE_LOWER, lower);
    sp_put(r, SP_Q_ROOFLINE_UPPER, t_math + t_mem);
    sp_put_bool(r, SP_Q_ROOFLINE_TWICE, t_math + t_mem <= 2 * lower);
    sp_line(r, "time         {lower_s} overlapped, {upper_s} in turn; at most twice the lower "
               "bound: {upper_within_twice_lower}");
}

/* "pcie=1GB@15e9,ici=16GB@9e10" */
static bool put_stages(const struct roof *f, const char *text, struct sp_error *error)
{
    static const struct sp_column columns[] = {{NULL, "stage", true}, {"time_s", "time", false}};
    struct sp_row rows[16] = {0};
    size_t n_rows = 0, longest = 0;
    double worst = -1;
    char name[128], word[128];
    while (text && *text && n_rows < 16) {
        double amount, rate;
        sp_next_item(&text, word, sizeof word);
        snprintf(name, sizeof name, "%s", word);
        char *const flow = sp_cut_pair(name), *const at = flow ? strchr(flow, '@') : NULL;
        if (!at || strlen(name) > 40)
            return sp_fail(error, SP_INPUT, "--chain: \"%s\": expected NAME=AMOUNT@RATE",
                           sp_safe(word));
        *at = '\0';
        if (strpbrk(name, ".") || !sp_parse_number(flow, &amount) ||
            !sp_parse_number(at + 1, &rate) || rate <= 0 || amount > 1e30 || amount / rate > 1e30)
            return sp_fail(error, SP_INPUT,
                           "--chain: \"%s\": amount and rate must be numbers, rate above 0",
                           sp_safe(name));
        snprintf(rows[n_rows].label, sizeof rows[0].label, "%.40s", name);
        snprintf(rows[n_rows].prefix, sizeof rows[0].prefix, "stages.%.40s", name);
        sp_scope(f->report, rows[n_rows].prefix);
        sp_symbol(f->report, "amount", amount, "", "bytes or FLOPs");
        sp_symbol(f->report, "rate", rate, "/s", "of the stage");
        sp_put(f->report, SP_Q_ROOFLINE_STAGE_S, amount / rate);
        if (amount / rate > worst) {
            worst = amount / rate;
            longest = n_rows;
        }
        n_rows++;
    }
    if (text && *text)
        return sp_fail(error, SP_INPUT, "--chain: more than 16 stages");
    sp_scope(f->report, "");
    sp_put_text(f->report, SP_Q_ROOFLINE_BOTTLENECK, "%s", rows[longest].label);
    sp_put(f->report, SP_Q_ROOFLINE_BOTTLENECK_S, worst);
    sp_table(f->report, columns, 2, rows, n_rows);
    sp_line(f->report, "bottleneck   {bottleneck}: {bottleneck_s}");
    return true;
}

static void put_chip(const struct roof *f)
{
    struct sp_report *r = f->report;
    sp_symbol(r, "C", f->C, "FLOP/s", "peak");
    sp_symbol(r, "W", f->W, "bytes/s", "bandwidth of %s", f->from);
    sp_symbol(r, "b_w", f->bytes.w_bytes, "bytes", "an element of the weights");
    sp_symbol(r, "r", f->r, "", "E/k of a mixture of experts");
    if (!f->has_hw)
        return;
    sp_put(r, SP_Q_ROOFLINE_CHIPS, f->chips);
    sp_put(r, f->on_vector ? SP_Q_ROOFLINE_PEAK_VECTOR : SP_Q_ROOFLINE_PEAK, f->C);
    sp_put(r, SP_Q_ROOFLINE_BANDWIDTH, f->W);
    sp_put(r, SP_Q_ROOFLINE_RIDGE, f->C / f->W);
    sp_symbol(r, "C_vector", f->C_vector, "FLOP/s", "peak of the vector unit");
    sp_put(r, SP_Q_ROOFLINE_VECTOR, f->C_vector);
    sp_put(r, SP_Q_ROOFLINE_VECTOR_RIDGE, f->C_vector / f->W);
    sp_put(r, SP_Q_ROOFLINE_CRITICAL_SMALL,
           sp_critical_rows_small(f->bytes.w_bytes, f->C, f->W, f->r));
    if (!f->args->value.matmul)
        sp_put(r, SP_Q_ROOFLINE_CRITICAL_RULE,
               sp_critical_rows_small(f->bytes.w_bytes, f->C, f->W, f->r));
    sp_put(r, SP_Q_ROOFLINE_D_MIN, sp_min_contracting_dim(f->C, f->W));
    sp_line(
        r,
        "chip         %s%s: {peak_flops_per_s}%s, {bandwidth_bytes_per_s} from %s (--bytes-from): "
        "ridge {ridge} FLOPs/byte",
        f->hw.name, f->chips > 1 ? ", {chips} together" : "",
        f->on_vector ? " of its vector unit" : "", f->from);
    if (f->on_vector)
        return;
    sp_line(r,
            "critical     {critical_batch_small} rows of a matmul with few rows (weights of %s "
            "bytes, --w)",
            sp_human_text(f->bytes.w_bytes, SP_NUMBER));
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct roof f = {.args = args, .report = report};
    const struct sp_sources sources = sp_sources_of(args);
    const double t_math = args->value.t_math, t_mem = args->value.t_mem;
    const bool has_model = args->value.model || args->value.shape;
    if (!load(args, &f, error))
        return false;
    put_chip(&f);
    if (!isnan(t_math) && !isnan(t_mem)) {
        put_given_times(&f, t_math, t_mem);
        return true;
    }
    if (args->value.chain)
        return put_stages(&f, args->value.chain, error);
    if (args->value.matmul)
        return put_matmul(&f, args->value.matmul, error);
    if (args->value.einsum)
        return put_einsum(&f, args->value.einsum, error);
    if (args->given.op)
        return put_vector(&f, error);
    if (args->given.fused_attention) {
        put_attention(&f);
        return true;
    }
    if (args->given.flops || args->given.bytes) {
        const double flops = args->value.flops, bytes = args->value.bytes;
        sp_put_work(&f, (struct sp_work){isnan(flops) ? 0 : flops, isnan(bytes) ? 0 : bytes});
        line_of_work(&f);
        return true;
    }
    if (has_model)
        return sp_model_of(args, &sources, &f.model, error) && sp_put_operators(&f, error);
    if (!f.has_hw)
        return sp_fail(error, SP_USAGE, "--hw NAME is needed, and usually --matmul BxDxF");
    sp_line(report, "vector unit  {vector.peak_flops_per_s}: ridge {vector.ridge} FLOPs/byte for "
                    "what is no matmul (--op)");
    return true;
}

const struct sp_command sp_cmd_roofline = {
    .name = "roofline",
    .summary = "one operation, or a model's, against a chip's roofline",
    .about = "Arithmetic intensity, times and bound of a matmul with any operand types, an einsum, "
             "a vector "
             "operation, attention, or all matmuls of a model, against HBM, on-chip memory, PCIe "
             "or a network; exact "
             "and small-batch critical batch.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = sp_plot_roofline,
};
