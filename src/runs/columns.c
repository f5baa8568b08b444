/* The older names of columns stay: published files have them, and so do the logs of users. */
#include "runs/columns.h"

#include <string.h>

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
    {"cp_kind", "cp_comm_type"},
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
