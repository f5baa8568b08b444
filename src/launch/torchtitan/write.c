/* torchtitan: a plan as a Python recipe that sets the fields of its Trainer.Config (its newest
 * version), or as the TOML of 0.2. The newest counts batches in tokens. Fields: torchtitan/config
 * and torchtitan/trainer.py; torchtitan/config/job_config.py of 0.2.2. */
#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>

#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/fields/models.h"
#include "launch/fields/rows.h"
#include "launch/torchtitan/torchtitan.h"

/* Its name for a schedule; "" if it has none. */
static void name_schedule(const struct sp_launched *l, char *name)
{
    sp_row_theirs(sp_row_of_plan(l->words[0], "schedule", NULL),
                  sp_schedule_names[l->plan->schedule], name);
}

/* Activation checkpointing: the class that does it; NULL: none. */
static const char *checkpointing(const struct sp_launched *l)
{
    return sp_is(l->remat, "none") ? NULL : sp_is(l->remat, "full") ? "FullAC" : "SelectiveAC";
}

/* The model's row, where the version has it; else false. */
static bool find_row(const struct sp_launched *l, struct sp_titan_model *row)
{
    for (const char *list = NULL; sp_next_titan_model(l->words[0], &list, row);)
        if ((l->version == 0 ? row->is_newest : row->is_released) &&
            sp_is(row->ours, l->model->name) && sp_ships_model(l))
            return true;
    return false;
}

static void lose(const struct sp_launched *l, const struct sp_titan_model *row)
{
    const bool in_8_bits = row && row->in_8_bits;
    char schedule[SP_ROW_WORD];
    name_schedule(l, schedule);
    struct sp_titan_ends ends;
    const bool split = l->plan->pp > 1 && !sp_titan_ends_of(l, &ends);
    sp_lose_plan(l, (const struct sp_fact[]){{"unknown", !row},
                                             {"split", split},
                                             {"unscheduled", !schedule[0]},
                                             {"in_8_bits", in_8_bits},
                                             {"", 0}});
    if (!in_8_bits || l->version != 0)
        return;
    if (sp_compute_dtype(&l->hw->chip, SP_FP8) != SP_FP8)
        sp_lose(l, "what torchtitan refuses: float8, in which its %s has linear layers, on %s",
                row->config, l->hw->name);
    else if (l->plan->dtype != SP_FP8)
        sp_lose(l, "matmuls in 16 bits: linear layers of its %s run in float8", row->config);
}

static void make_number(struct sp_settings *made, const char *name, bool says, double number)
{
    if (says)
        sp_make_setting(made, name, "%.0f", number);
}

static void make_text(struct sp_settings *made, const char *name, bool says, const char *text)
{
    if (says)
        sp_make_setting(made, name, "%s", text);
}

/* The degrees, lengths and batches: in tokens, or in sequences up to 0.2. */
static void make_degrees(const struct sp_launched *l, struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const bool newest = l->version == 0, staged = p->pp > 1;
    const int64_t group = p->zero == 0 ? 1 : p->shards / p->cp > 0 ? p->shards / p->cp : 1;
    struct sp_titan_ends ends = {0, 0, 0};
    const bool says_stages = staged && sp_titan_ends_of(l, &ends);
    const double unit = newest ? (double)p->seq : 1,
                 pieces = newest || !staged ? 1 : (double)sp_plan_microbatches(p);
    const int64_t copies = p->dp / group;
    const struct {
        const char *name;
        bool says;
        double number;
    } numbers[] = {
        {"data_parallel_replicate_degree", true, (double)copies},
        {"data_parallel_shard_degree", true, (double)group},
        {"expert_tensor_parallel_degree", p->ep > 1 && !newest, (double)p->etp},
        {"pipeline_parallel_first_stage_less_layers", says_stages, (double)ends.first},
        {"pipeline_parallel_last_stage_less_layers", says_stages, (double)ends.last},
        {"pipeline_parallel_layers_per_stage", says_stages && ends.each > 0, (double)ends.each},
        {"num_pp_microbatches", staged, (double)sp_plan_microbatches(p)},
        {"pipeline_parallel_microbatch_size", staged && !newest, (double)p->micro_batch},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char name[sizeof made->at->name];
        snprintf(name, sizeof name, "parallelism.%s", numbers[i].name);
        make_number(made, name, numbers[i].says, numbers[i].number);
    }
    make_number(made, "training.max_context_length", true, (double)p->seq);
    make_number(made, "training.num_tokens_per_microbatch_per_dp_rank", true,
                (double)p->micro_batch * pieces * unit);
    make_number(made, "training.num_tokens_per_train_step", true, (double)p->batch * unit);
}

/* Settings written in code; rows of a single version are written for that version only. */
static void make_texts(const struct sp_launched *l, const struct sp_titan_model *known,
                       struct sp_settings *made)
{
    const struct sp_plan *const p = l->plan;
    const bool newest = l->version == 0, fp8 = !newest && p->dtype == SP_FP8;
    const char *const class = checkpointing(l), *const mode = !class ? "none"
                                                              : sp_is(class, "FullAC")
                                                                  ? "full"
                                                                  : "selective";
    const struct sp_titan_model *const row = newest ? NULL : known;
    char schedule[SP_ROW_WORD];
    name_schedule(l, schedule);
    make_text(made, "parallelism.enable_sequence_parallel", true,
              p->sequence_parallel || p->tp == 1 ? "True" : "False");
    make_text(made, "parallelism.fsdp_reshard_after_forward", p->zero >= 2,
              p->zero == 2 ? "never" : "default");
    make_text(made, "parallelism.pipeline_parallel_schedule", p->pp > 1,
              schedule[0] ? schedule : "1F1B");
    make_text(made, "training.mixed_precision_param", true,
              sp_multiplies_in_fp32(p) ? "float32" : "bfloat16");
    make_text(made, "training.mixed_precision_reduce", true, "float32");
    make_text(made, "training.disable_cuda_graphs",
              p->pp > 1 || p->ep > 1, /* it has them for neither */
              "True");
    sp_make_setting(made, "config.activation_checkpoint", "%s%s", class ? class : "None",
                    class ? ".Config()" : "");
    make_text(made, "activation_checkpoint.mode", !newest, mode);
    make_text(made, "activation_checkpoint.selective_ac_option",
              !newest && sp_is(mode, "selective"), "op");
    if (!newest)
        sp_make_cp_kind(l, made);
    make_text(made, "model.name", row, row ? row->folder : "");
    make_text(made, "model.flavor", row, row ? row->flavor : "");
    make_text(made, "model.converters", fp8, "[\"quantize.linear.float8\"]");
    make_text(made, "quantize.linear.float8.recipe_name", fp8,
              sp_fp8_recipe_names[p->execution.fp8_recipe]);
}

/* Options as the version has them. */
static void put_settings(const struct sp_launched *l, const struct sp_titan_model *row,
                         struct sp_settings *s)
{
    struct sp_settings *const made = sp_settings_of(l), *const all = sp_settings_of(l);
    make_degrees(l, made);
    make_texts(l, row, made);
    sp_put_rows(l, made, all);
    sp_spell_older(l, all);
    for (int i = 0; i < all->n; i++)
        if (all->at[i].name[0])
            sp_add_setting(s, all->at[i].name, all->at[i].value);
    free(made);
    free(all);
}

static void write_python(const struct sp_launched *l, const struct sp_titan_model *row,
                         const struct sp_settings *s, FILE *out)
{
    if (row)
        fprintf(out, "%s%s%sfrom torchtitan.models.%s.config_registry import %s\n",
                row->borrows ? "from torchtitan.models." : "", row->borrows ? row->folder : "",
                row->borrows ? " import model_registry\n" : "", row->folder, row->config);
    if (checkpointing(l))
        fprintf(out, "from torchtitan.distributed.activation_checkpoint import %s\n",
                checkpointing(l));
    fputs("\n\ndef apply(config):\n"
          "    parallelism, training = config.parallelism, config.training\n",
          out);
    for (int i = 0; i < s->n; i++) {
        const char *const quote = sp_quote_of(s, s->at[i].name);
        fprintf(out, "    %s = %s%s%s\n", s->at[i].name, quote, s->at[i].value, quote);
    }
    if (row && row->borrows)
        fprintf(out, "    config.model_spec = model_registry(\"%s\")\n", row->flavor);
    fputs("    return config\n", out);
    if (row)
        fprintf(out, "\n\ndef plan():\n    return apply(%s())\n", row->config);
}

/* Tables in the order of the options, a section once. */
static void write_toml(const struct sp_settings *s, FILE *out)
{
    char section[32] = "";
    for (int i = 0; i < s->n; i++) {
        const char *const name = s->at[i].name, *const dot = strrchr(name, '.');
        const char *const quote = sp_quote_of(s, name);
        if (strlen(section) != (size_t)(dot - name) ||
            strncmp(section, name, (size_t)(dot - name)) != 0) {
            snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
            fprintf(out, "[%s]\n", section);
        }
        fprintf(out, "%s = %s%s%s\n", dot + 1, quote, s->at[i].value, quote);
    }
}

void sp_write_torchtitan(const struct sp_launched *l, FILE *out)
{
    struct sp_settings *const s = sp_settings_of(l);
    struct sp_titan_model found;
    const struct sp_titan_model *const row = find_row(l, &found) ? &found : NULL;
    const bool newest = l->version == 0;
    lose(l, row);
    put_settings(l, row, s);
    const struct sp_rules rules =
        sp_titan_rules(s, newest, sp_plan_devices(l->plan), row, l->model);
    sp_lose_rules(l, &rules);
    sp_write_head(l, l->words[0], newest ? ", fields of Trainer.Config" : " options", out);
    sp_write_assumed(l, "torchtitan", false, "# ", "\n", out);
    if (newest)
        write_python(l, row, s, out);
    else
        write_toml(s, out);
    if (!newest)
        l->written->suffix = ".toml";
    free(s);
}
