/* The older names of columns remain: published files and users' logs have them. */
#include "runs/columns.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "config/world.h"

/* clang-format off */
static const struct {
    const char *name, *older;
} renamed[] = {
    {"hw", "hardware"},               {"devices", "n_devices"},
    {"devices", "chips"},             {"heads", "n_heads"},
    {"kv_heads", "n_kv_heads"},       {"seq", "seq_len"},
    {"batch_sequences", "global_batch_seqs"}, {"micro_batch", "micro_batch_seqs"},
    {"zero", "fsdp_zero"},            {"remat", "recompute"},
    {"dispatch", "dispatcher"},       {"input", "isl"},
    {"output", "osl"},                {"attention_dp", "dp_attention"},
    {"expert_weights", "experts"},   {"logits", "loss"},
    {"cp_kind", "cp_comm_type"},        {"batch_sequences", "global_batch"},
    {"batch_sequences", "batch"},
    {"measured_step_s", "step_s"},      {"measured_tokens_per_s", "tokens_per_s"},
    {"measured_tokens_per_s_per_device", "tokens_per_s_per_device"},
};
/* clang-format on */

int sp_run_column(const struct sp_csv *csv, const char *name)
{
    int column = sp_csv_column(csv, name);
    for (size_t i = 0; column < 0 && i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].name, name) == 0)
            column = sp_csv_column(csv, renamed[i].older);
    return column;
}

bool sp_is_decimal(const char *cell)
{
    char *end;
    if (!isdigit((unsigned char)cell[0]) && cell[0] != '.')
        return false;
    if (cell[strspn(cell, "0123456789.eE+-")] != '\0')
        return false;
    strtod(cell, &end);
    return end != cell && *end == '\0';
}

const char *sp_run_column_name(const struct sp_csv *csv, const char *name)
{
    const int column = sp_run_column(csv, name);
    return column < 0 ? name : sp_csv_name(csv, (size_t)column);
}

bool sp_read_run_csv(const char *path, const struct sp_sources *sources, struct sp_csv *csv,
                     struct sp_error *error)
{
    size_t length;
    char *const text = sp_read_file(sp_pipes_of(sources->world), path, 64 << 20, &length, error);
    return text && sp_read_csv(text, length, sp_origin_of(path), csv, error);
}

void sp_need_columns(const struct sp_csv *csv, const char *path, const char *const *needed,
                     struct sp_error *error)
{
    for (; *needed; needed++)
        if (sp_run_column(csv, *needed) < 0)
            sp_fail(error, SP_INPUT, "%s: no column %s in the header", sp_safe(sp_origin_of(path)),
                    *needed);
}

/* clang-format off */
/* Columns of trainings that are read and have no older name. */
static const char *const others[] = {
    "attention_kernel", "capacity", "config_group", "cp", "cuda_graph", "d_ff",
    "d_model", "derived_step_s", "devices_per_node", "dp", "dropout", "ep",
    "etp", "fit", "flops_convention", "framework", "gated_mlp", "head_dim",
    "id", "kind", "kv_lora_rank", "layers", "lora_rank", "measured_mfu",
    "measured_peak_mem_gb", "measured_stage", "measured_tflops_per_device", "memory_gib", "memory_level", "method",
    "mfu_peak_used", "model", "moe", "moe_overlap", "mtp_layers", "offload_layers",
    "offloads", "optimizer", "pipeline_layout", "pp", "precision", "q_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "quantization", "recompute_modules", "scaleout_gbps_per_node", "scoring",
    "sequence_parallel", "software", "source_ref", "source_title", "tied_embeddings", "tier",
    "tp", "v_head_dim", "vocab", "vocab_padded", "vpp"};
/* clang-format on */

/* Whether the name's last words are the text: "measured_mfu" of "mfu". */
static bool ends_with(const char *name, const char *text)
{
    const size_t all = strlen(name), last = strlen(text);
    return all > last && name[all - last - 1] == '_' && strcmp(name + all - last, text) == 0;
}

/* Offers a name; one that ends with the wanted text, or else begins with it, also counts as near.
 */
static bool offer(struct sp_nearest *near, const char *name, const char **longer)
{
    const bool ends = *longer && ends_with(*longer, near->wanted);
    if (ends_with(name, near->wanted) ||
        (!ends && strncmp(name, near->wanted, strlen(near->wanted)) == 0))
        *longer = name;
    sp_nearest_offer(near, name);
    return strcmp(name, near->wanted) == 0;
}

/* Whether a column is read; else the nearest that is, in brackets. */
static bool is_read(const char *column, char *hint, size_t size)
{
    struct sp_nearest near = {.wanted = column};
    const char *longer = NULL;
    bool known = false;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        known = offer(&near, renamed[i].name, &longer) || offer(&near, renamed[i].older, &longer) ||
                known;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        known = offer(&near, others[i], &longer) || known;
    if (sp_nearest_hint(&near)[0])
        longer = near.best;
    hint[0] = '\0';
    if (longer)
        snprintf(hint, size, " (nearest: %s)", longer);
    return known;
}

size_t sp_list_unread(const struct sp_csv *csv, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t c = 0; c < csv->columns; c++) {
        char hint[160];
        if (is_read(sp_csv_name(csv, c), hint, sizeof hint))
            continue;
        sp_append(out, size, "%s%s%s", n++ ? ", " : "", sp_safe(sp_csv_name(csv, c)), hint);
    }
    return n;
}
