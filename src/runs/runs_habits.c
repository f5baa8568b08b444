/* Reads a row's settings of its framework: attention's kernel, the loss, the optimizer; and whose
 * memory was measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runs/runs_internal.h"

/* Kernels of attention: "auto" and an empty cell are the framework's, and so is a fused one whose
 * rate was not measured. */
static void read_attention(struct sp_row_reader *r)
{
    static const struct {
        const char *word;
        enum sp_attention_kernel kernel;
    } words[] = {
        {"unfused", SP_KERNEL_UNFUSED}, {"eager", SP_KERNEL_UNFUSED}, {"fa2", SP_KERNEL_FA2},
        {"fa3", SP_KERNEL_FA3},         {"cudnn", SP_KERNEL_CUDNN},   {"flex", SP_KERNEL_FLEX},
        {"flash", SP_KERNEL_FLASH},     {"fused", SP_KERNEL_FLASH},   {"fa4", SP_KERNEL_FLASH},
        {"sdpa", SP_KERNEL_FLASH},      {"splash", SP_KERNEL_FLASH}};
    enum sp_attention_kernel *const kernel =
        &r->run->framework.framework.execution.attention_kernel;
    const char *const text = sp_row_text(r, "attention_kernel");
    if (text[0] == '\0' || sp_begins_with_word(text, "auto"))
        return;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_begins_with_word(text, words[i].word)) {
            *kernel = words[i].kernel;
            return;
        }
    sp_row_unknown(r, "attention_kernel", "auto, unfused, fused, flash, fa2, fa3, cudnn or flex");
}

/* The words of `step --logits`, and two more: "eager" keeps the logits in 16 bits and, in
 * 32 bits, their log-softmax, its gradient and the loss's; "chunked 8" says how many groups of
 * tokens there are. "logits" means the same as an empty cell: the framework's way. */
static void read_logits(struct sp_row_reader *r)
{
    struct sp_framework *const f = &r->run->framework.framework;
    enum sp_logits *const logits = &r->run->framework.framework.execution.logits;
    const char *const text = sp_row_text(r, "logits");
    const size_t chunked = strlen("chunked ");
    const bool parts = strncasecmp(text, "chunked ", chunked) == 0;
    const double n = parts ? strtod(text + chunked, NULL) : 1;
    if (text[0] == '\0' || sp_begins_with_word(text, "logits"))
        return;
    *logits = sp_begins_with_word(text, "fused")    ? SP_LOGITS_FUSED
              : sp_begins_with_word(text, "native") ? SP_LOGITS_NATIVE
              : sp_begins_with_word(text, "linear") ? SP_LOGITS_LINEAR
                                                    : SP_LOGITS_UNFUSED;
    if (sp_begins_with_word(text, "eager"))
        f->logit_bytes = 2 + 3 * 4, f->split_logit_bytes = 0;
    else if (parts && n >= 1 && n < 1e9) {
        f->logit_bytes /= n;
        f->split_logit_bytes /= n;
    } else if (*logits == SP_LOGITS_UNFUSED && !sp_begins_with_word(text, "unfused"))
        sp_row_unknown(r, "logits", "unfused, eager, fused, native, chunked N or linear");
}

/* A recipe of `scaleplan list precision`; "adam" and an empty cell are the framework's. A remark
 * may follow in brackets. */
static void read_optimizer(struct sp_row_reader *r)
{
    char name[64];
    struct sp_error error = {0};
    const char *const text = sp_row_text(r, "optimizer");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "("), text);
    sp_run_slug(name, name, sizeof name);
    if (name[0] == '\0' || strcmp(name, "adam") == 0 || strcmp(name, "adamw") == 0)
        return;
    if (!sp_config_exists(SP_PRECISIONS, name, r->sources) ||
        !sp_load_precision(name, r->sources, &r->run->precision, &error))
        sp_row_unknown(r, "optimizer", "adam or a name of `scaleplan list precision`");
}

void sp_read_row_habits(struct sp_row_reader *r)
{
    const double dropout = sp_row_number(r, "dropout", 0, 0.99);
    if (!isnan(dropout))
        r->run->framework.framework.execution.dropout = dropout;
    read_attention(r);
    read_logits(r);
    read_optimizer(r);
}

int64_t sp_row_stage(struct sp_row_reader *r, int64_t stages)
{
    const char *const text = sp_row_text(r, "measured_stage");
    if (sp_begins_with_word(text, "last") ||
        sp_has_words(sp_row_text(r, "memory_level"), "last stage"))
        return stages - 1;
    if (text[0] == '\0' || sp_begins_with_word(text, "fullest"))
        return -1;
    if (sp_begins_with_word(text, "first"))
        return 0;
    const int64_t stage = sp_row_whole(r, "measured_stage", 0);
    if (stage < stages)
        return stage;
    sp_row_problem(r->run, "measured_stage %lld is not below pp", (long long)stage);
    return -1;
}
