/* The older names of columns stay: published files have them, and so do the logs of users. */
#include "runs/columns.h"

#include <stdlib.h>
#include <string.h>

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

const char *sp_run_column_name(const struct sp_csv *csv, const char *name)
{
    const int column = sp_run_column(csv, name);
    return column < 0 ? name : csv->cells[column];
}

bool sp_read_run_csv(const char *path, const struct sp_sources *sources, struct sp_csv *csv,
                     struct sp_error *error)
{
    size_t length;
    char *const text = sp_read_file(sp_pipes_of(sources->world), path, 64 << 20, &length, error);
    const bool ok = text && sp_read_csv(text, length, sp_origin_of(path), csv, error);
    free(text);
    return ok;
}

void sp_need_columns(const struct sp_csv *csv, const char *path, const char *const *needed,
                     struct sp_error *error)
{
    for (; *needed; needed++)
        if (sp_run_column(csv, *needed) < 0)
            sp_fail(error, SP_INPUT, "%s: no column %s in the header", sp_safe(sp_origin_of(path)),
                    *needed);
}
