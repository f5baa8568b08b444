/* torchtitan: a plan as a Python recipe that sets the fields of its Trainer.Config (its newest
 * version), or as the TOML of 0.2. The newest counts batches in tokens. Fields: torchtitan/config
 * and torchtitan/trainer.py; torchtitan/config/job_config.py of 0.2.2. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>

#include "launch/fields/assumed.h"
#include "launch/fields/models.h"
#include "launch/torchtitan/torchtitan.h"

/* What an option says. */
enum value {
    COPIES,
    SHARDS,
    TP,
    SPLIT,
    CP,
    PP,
    EP,
    ETP,
    RESHARD,
    SCHEDULE,
    LESS_FIRST,
    LESS_LAST,
    PER_STAGE,
    PIECES,
    MICRO,
    LENGTH,
    LOCAL,
    GLOBAL,
    PARAM,
    REDUCE,
    GRAPHS,
    CHECKPOINTING,
    MODE,
    KIND,
    FOLDER,
    FLAVOR,
    CONVERTERS,
    SCALES
};

/* Its name in each version; NULL: the version has none. A text stands in quotes. */
/* clang-format off */
static const struct {
    enum value value;
    bool text;
    const char *name[2];
} options[] = {
    {FOLDER, true, {NULL, "model.name"}},
    {FLAVOR, true, {NULL, "model.flavor"}},
    {CONVERTERS, false, {NULL, "model.converters"}},
    {COPIES, false, {"parallelism.data_parallel_replicate_degree", "parallelism.data_parallel_replicate_degree"}},
    {SHARDS, false, {"parallelism.data_parallel_shard_degree", "parallelism.data_parallel_shard_degree"}},
    {TP, false, {"parallelism.tensor_parallel_degree", "parallelism.tensor_parallel_degree"}},
    {SPLIT, false, {"parallelism.enable_sequence_parallel", NULL}},
    {CP, false, {"parallelism.context_parallel_degree", "parallelism.context_parallel_degree"}},
    {PP, false, {"parallelism.pipeline_parallel_degree", "parallelism.pipeline_parallel_degree"}},
    {EP, false, {"parallelism.expert_parallel_degree", "parallelism.expert_parallel_degree"}},
    {ETP, false, {NULL, "parallelism.expert_tensor_parallel_degree"}},
    {RESHARD, true, {"parallelism.fsdp_reshard_after_forward", "parallelism.fsdp_reshard_after_forward"}},
    {SCHEDULE, true, {"parallelism.pipeline_parallel_schedule", "parallelism.pipeline_parallel_schedule"}},
    {LESS_FIRST, false, {"parallelism.pipeline_parallel_first_stage_less_layers", "parallelism.pipeline_parallel_first_stage_less_layers"}},
    {LESS_LAST, false, {"parallelism.pipeline_parallel_last_stage_less_layers", "parallelism.pipeline_parallel_last_stage_less_layers"}},
    {PER_STAGE, false, {"parallelism.pipeline_parallel_layers_per_stage", "parallelism.pipeline_parallel_layers_per_stage"}},
    {PIECES, false, {"parallelism.num_pp_microbatches", NULL}},
    {MICRO, false, {NULL, "parallelism.pipeline_parallel_microbatch_size"}},
    {LENGTH, false, {"training.max_context_length", "training.seq_len"}},
    {LOCAL, false, {"training.num_tokens_per_microbatch_per_dp_rank", "training.local_batch_size"}},
    {GLOBAL, false, {"training.num_tokens_per_train_step", "training.global_batch_size"}},
    {PARAM, true, {"training.mixed_precision_param", "training.mixed_precision_param"}},
    {REDUCE, true, {"training.mixed_precision_reduce", "training.mixed_precision_reduce"}},
    {GRAPHS, false, {"training.disable_cuda_graphs", NULL}},
    {CHECKPOINTING, false, {"config.activation_checkpoint", NULL}},
    {MODE, true, {NULL, "activation_checkpoint.mode"}},
    {KIND, true, {NULL, "activation_checkpoint.selective_ac_option"}},
    {SCALES, true, {NULL, "quantize.linear.float8.recipe_name"}},
};
/* clang-format on */

/* Its name of a schedule; NULL: none. */
static const char *schedule_name(const struct sp_plan *p)
{
    static const char *const names[SP_SCHEDULES] = {
        [SP_GPIPE] = "GPipe", [SP_1F1B] = "1F1B", [SP_INTERLEAVED] = "Interleaved1F1B"};
    return names[p->schedule];
}

/* What it takes the table of tokens and the head for, in layers of the first and last stage: none
 * where L divides among the chunks, one each where L + 2 does. -1: neither. */
static int64_t ends_in_layers(const struct sp_launched *l)
{
    const int64_t L = l->model->layers, chunks = l->plan->pp * l->plan->vpp;
    return L % chunks == 0 ? 0 : (L + 2) % chunks == 0 ? 1 : -1;
}

/* Activation checkpointing: the class that does it; NULL: none. */
static const char *checkpointing(const struct sp_launched *l)
{
    return strcmp(l->remat, "none") == 0   ? NULL
           : strcmp(l->remat, "full") == 0 ? "FullAC"
                                           : "SelectiveAC";
}

/* The model's row, where the version has it. */
static const struct sp_titan_model *row_of(const struct sp_launched *l)
{
    for (int i = 0; i < SP_TITAN_MODELS; i++) {
        const struct sp_titan_model *const row = &sp_titan_models[i];
        const bool there = l->version == SP_TITAN_MAIN ? row->config != NULL : row->released;
        if (there && strcmp(row->ours, l->model->name) == 0 && sp_is_builtin_model(l->model))
            return row;
    }
    return NULL;
}

static bool multiplies_plainly(const struct sp_plan *p)
{
    return p->dtype == SP_BF16 || sp_multiplies_in_fp32(p);
}

/* Linear layers in float8, as far as a version says it in options. */
static void lose_8_bits(const struct sp_launched *l, struct sp_written *lost)
{
    const enum sp_fp8_recipe recipe = l->plan->execution.fp8_recipe;
    const bool newest = l->version == SP_TITAN_MAIN,
               rows = recipe == SP_FP8_ROWWISE && row_of(l) && row_of(l)->in_8_bits;
    if (newest && !rows)
        sp_lose(lost, "matmuls in 8 bits so: converters of the model's registry in the code");
    if (!newest && recipe != SP_FP8_ROWWISE && recipe != SP_FP8_TENSORWISE)
        sp_lose(lost, "8-bit matmuls with scales of %s", sp_fp8_recipe_names[recipe]);
    if (l->model->moe.experts > 0)
        sp_lose(lost, "experts' matmuls in 8 bits");
}

static void lose(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const bool newest = l->version == SP_TITAN_MAIN;
    if (!row_of(l))
        sp_lose(lost, "the model: torchtitan %s has none of these dimensions by name",
                newest ? "main" : "0.2.2");
    if (p->zero < 2 && p->dp * p->cp > 1 && p->zero != 0)
        sp_lose(lost, "ZeRO %d; it shards gradients and weights too", p->zero);
    if (p->zero == 0 && p->cp > 1)
        sp_lose(lost, "weights on every device with CP; its shards run over CP too");
    if (p->zero > 0 && p->shards == 1 && p->dp * p->cp > 1)
        sp_lose(lost, "ZeRO %d in groups of 1, which is none", p->zero);
    if (p->tp > 1 && !p->sequence_parallel && !newest)
        sp_lose(lost, "TP without sequence parallelism");
    if (p->zero > 0 && p->dp * p->cp == 1 && l->model->moe.experts > 0)
        sp_lose(lost, "shards of experts over TP alone");
    if (p->vpp > 1 && p->pp == 1)
        sp_lose(lost, "chunks of layers without pipeline stages");
    if (p->pp > 1 && !schedule_name(p))
        sp_lose(lost, "this pipeline schedule");
    if (p->pp > 1 && ends_in_layers(l) < 0)
        sp_lose(lost, "which stages hold a layer more; see module_fqns_per_model_part");
    if (p->zero > 0 && p->shards < p->dp * p->cp && p->shards % p->cp != 0)
        sp_lose(lost, "shard groups of %lld inside %lld-way context parallelism",
                (long long)p->shards, (long long)p->cp);
    if (p->etp > 1 && (newest || p->ep == 1))
        sp_lose(lost, "tensor parallelism inside experts");
    if (p->stages_inside)
        sp_lose(lost, "stages as neighbours (--placement pp-inside)");
    if (strcmp(l->remat, "none") != 0 && strcmp(l->remat, "full") != 0 &&
        strcmp(l->remat, "alternate") != 0)
        sp_lose(lost, "recompute policy %s; SelectiveAC stands for it", l->remat);
    if (p->recompute_layers < 1)
        sp_lose(lost, "recompute of a share of the layers");
    if (p->recompute.offload)
        sp_lose(lost, "activations that wait in the host's memory");
    if (!sp_recipe_is(l, "fp8-fp32") && (!sp_states_are(l, "fp32") || !multiplies_plainly(p)))
        sp_lose(lost, "precision recipe %s; states in fp32, matmuls in bf16 stand for it",
                sp_recipe_text(l));
    if (p->dtype == SP_FP8)
        lose_8_bits(l, lost);
    else if (newest && row_of(l) && row_of(l)->in_8_bits)
        sp_lose(lost, "matmuls in 16 bits: linear layers of its %s run in float8",
                row_of(l)->config);
}

__attribute__((format(printf, 2, 3))) static void print(char out[64], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out, 64, format, arguments);
    va_end(arguments);
}

/* The degrees; left empty where an option says nothing. */
static void put_degree(const struct sp_launched *l, enum value value, char out[64])
{
    const struct sp_plan *const p = l->plan;
    const int64_t group = p->zero == 0            ? 1
                          : p->shards / p->cp > 0 ? p->shards / p->cp
                                                  : 1,
                  ends = ends_in_layers(l);
    const struct {
        enum value value;
        bool says;
        int64_t number;
    } degrees[] = {
        {COPIES, true, p->dp / group},
        {SHARDS, true, group},
        {TP, true, p->tp},
        {CP, true, p->cp},
        {PP, true, p->pp},
        {EP, p->ep > 1, p->ep},
        {ETP, p->ep > 1, p->etp},
        {LESS_FIRST, p->pp > 1 && ends >= 0, ends},
        {LESS_LAST, p->pp > 1 && ends >= 0, ends},
        {PER_STAGE, p->pp > 1 && ends >= 0, (l->model->layers + 2 * ends) / (p->pp * p->vpp)},
        {PIECES, p->pp > 1, sp_plan_microbatches(p)},
        {MICRO, p->pp > 1, p->micro_batch},
    };
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].value == value && degrees[i].says)
            print(out, "%lld", (long long)degrees[i].number);
}

/* Lengths and batches: in tokens, or in sequences up to 0.2. */
static void put_batch(const struct sp_launched *l, enum value value, char out[64])
{
    const struct sp_plan *const p = l->plan;
    const bool newest = l->version == SP_TITAN_MAIN;
    const double unit = newest ? (double)p->seq : 1,
                 pieces = newest || p->pp == 1 ? 1 : (double)sp_plan_microbatches(p);
    if (value == LENGTH)
        print(out, "%lld", (long long)p->seq);
    else if (value == LOCAL)
        print(out, "%.0f", (double)p->micro_batch * pieces * unit);
    else if (value == GLOBAL)
        print(out, "%.0f", (double)p->batch * unit);
}

static void put_text(const struct sp_launched *l, enum value value, char out[64])
{
    const struct sp_plan *const p = l->plan;
    const bool newest = l->version == SP_TITAN_MAIN;
    const char *const yes = newest ? "True" : "true", *const no = newest ? "False" : "false",
                      *const class = checkpointing(l);
    const struct sp_titan_model *const row = row_of(l);
    const char *const mode = !class ? "none" : strcmp(class, "FullAC") == 0 ? "full" : "selective";
    const struct {
        enum value value;
        const char *text; /* NULL: it says nothing */
    } texts[] = {
        {SPLIT, p->sequence_parallel || p->tp == 1 ? yes : no},
        {RESHARD, p->zero < 2    ? NULL
                  : p->zero == 2 ? "never"
                                 : "default"},
        {SCHEDULE, p->pp == 1         ? NULL
                   : schedule_name(p) ? schedule_name(p)
                                      : "1F1B"},
        {PARAM, sp_multiplies_in_fp32(p) ? "float32" : "bfloat16"},
        {REDUCE, "float32"},
        {GRAPHS, p->pp > 1 || p->ep > 1 ? yes : NULL}, /* it has them for neither */
        {CHECKPOINTING, class ? class : "None"},
        {MODE, mode},
        {KIND, strcmp(mode, "selective") == 0 ? "op" : NULL},
        {FOLDER, row ? row->folder : NULL},
        {FLAVOR, row ? row->flavor : NULL},
        {CONVERTERS, p->dtype == SP_FP8 ? "[\"quantize.linear.float8\"]" : NULL},
        {SCALES, p->dtype == SP_FP8 ? sp_fp8_recipe_names[p->execution.fp8_recipe] : NULL},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value == value && texts[i].text)
            print(out, "%s%s", texts[i].text, value == CHECKPOINTING && class ? ".Config()" : "");
}

static void put_settings(const struct sp_launched *l, struct sp_settings *s)
{
    struct sp_error none = {0};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char value[64] = "";
        put_degree(l, options[i].value, value);
        put_batch(l, options[i].value, value);
        put_text(l, options[i].value, value);
        if (options[i].name[l->version] && value[0])
            sp_add_setting(s, options[i].name[l->version], value, &none);
    }
}

static bool is_text(const char *name, int version)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].name[version] && strcmp(options[i].name[version], name) == 0)
            return options[i].text;
    return false;
}

static void write_python(const struct sp_launched *l, const struct sp_settings *s, FILE *out)
{
    const struct sp_titan_model *const row = row_of(l);
    if (row)
        fprintf(out, "from torchtitan.models.%s.config_registry import %s\n", row->folder,
                row->config);
    if (checkpointing(l))
        fprintf(out, "from torchtitan.distributed.activation_checkpoint import %s\n",
                checkpointing(l));
    fputs("\n\ndef apply(config):\n"
          "    parallelism, training = config.parallelism, config.training\n",
          out);
    for (int i = 0; i < s->n; i++) {
        const char *const quote = is_text(s->at[i].name, l->version) ? "\"" : "";
        fprintf(out, "    %s = %s%s%s\n", s->at[i].name, quote, s->at[i].value, quote);
    }
    fputs("    return config\n", out);
    if (row)
        fprintf(out, "\n\ndef plan():\n    return apply(%s())\n", row->config);
}

/* Tables in the order of the options, a section once. */
static void write_toml(const struct sp_launched *l, const struct sp_settings *s, FILE *out)
{
    char section[32] = "";
    for (int i = 0; i < s->n; i++) {
        const char *const name = s->at[i].name, *const dot = strrchr(name, '.');
        const char *const quote = is_text(name, l->version) ? "\"" : "";
        if (strlen(section) != (size_t)(dot - name) ||
            strncmp(section, name, (size_t)(dot - name)) != 0) {
            snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
            fprintf(out, "[%s]\n", section);
        }
        fprintf(out, "%s = %s%s%s\n", dot + 1, quote, s->at[i].value, quote);
    }
}

static void write(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    struct sp_settings *const s = calloc(1, sizeof *s); /* too large for the stack */
    struct sp_refusals refused;
    const bool newest = l->version == SP_TITAN_MAIN;
    if (!s)
        abort();
    lose(l, lost);
    put_settings(l, s);
    sp_check_titan(s, (enum sp_titan)l->version, sp_plan_devices(l->plan), row_of(l), l->model,
                   &refused);
    sp_lose_refusals("torchtitan", &refused, lost);
    sp_write_head(l,
                  newest ? "torchtitan main, fields of Trainer.Config" : "torchtitan 0.2.2 options",
                  lost, out);
    sp_write_assumed(l, "torchtitan", false, "# ", "\n", out);
    if (newest)
        write_python(l, s, out);
    else
        write_toml(l, s, out);
    free(s);
}

const struct sp_target sp_target_torchtitan = {
    .words = {"torchtitan"},
    .write = write,
    .format = "torchtitan options",
    .detect = sp_detect_torchtitan,
    .read = sp_read_torchtitan,
};
