/* The questions that lead to a strategy, as rows. */
#include "cli/fit_path_rows.h"

/* The questions, and the meaning of a yes and of a no. */
static const struct {
    const char *asks, *yes, *no;
} texts[SP_DECISIONS] = {
    [SP_ASK_ONE_CHIP] = {"does a replica fit on one chip?", "data parallelism may suffice",
                         "shard the state"},
    [SP_ASK_REPLICAS] = {"does the gradient all-reduce hide behind the backward pass?", "use DP",
                         "fewer bytes per chip: combine with TP"},
    [SP_ASK_SHARDS_FIT] = {"does the state fit, sharded over all chips?", "FSDP may suffice",
                           "also split the layers"},
    [SP_ASK_SHARDS] = {"do FSDP's all-gathers hide behind each pass?", "use FSDP",
                       "fewer bytes per chip: combine with TP"},
    [SP_ASK_TP] = {"do FSDP and TP together fit and keep up?", "use FSDP x TP",
                   "keep the shards together"},
    [SP_ASK_GROUPS] = {"does HSDP fit and keep up?", "use HSDP", "split the layers into stages"},
    [SP_ASK_STAGES] = {"do stages of whole nodes or slices fit and keep up?",
                       "use a pipeline x FSDP", "a larger batch or a faster network"},
};

struct question {
    const struct sp_decision *d;
    const char *asks, *then;
    double capacity_bytes;
};

#define SP_PART fit_path
#define SP_PART_OF struct question
#include "answer/put_rows.h"

void sp_put_fit_path(struct sp_report *r, const struct sp_decision *path, int n,
                     double capacity_bytes)
{
    for (int i = 0; i < n; i++) {
        const struct sp_decision *const d = &path[i];
        sp_begin_row(r, NULL, "path.%d", i);
        put_fit_path_rows(r, &(struct question){d, texts[d->kind].asks,
                                                d->yes ? texts[d->kind].yes : texts[d->kind].no,
                                                capacity_bytes});
    }
    sp_list_table(r, "path", "question: path, >yes, why, then");
}
