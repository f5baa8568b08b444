/* `step --matmuls`: what a device multiplies in a layer under the plan. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/step_report.h"

static const struct sp_column columns[] = {{"name", "a layer's matmul", true},
                                           {"layers", "layers", false},
                                           {"count", "count", false},
                                           {"rows!", "rows", false},
                                           {"in!", "in", false},
                                           {"out!", "out", false},
                                           {"flops", "FLOPs", false},
                                           {"bytes", "bytes", false},
                                           {"intensity", "FLOPs/byte", false},
                                           {"bound", "bound by", true},
                                           {"lower_s", "at least", false}};

static void put_matmul(struct sp_report *r, const struct sp_local_matmul *m)
{
    sp_symbol(r, "C_mm", m->flops_per_s, "FLOP/s", "peak of a chip in the matmul's format");
    sp_put_text(r, SP_Q_STEP_MM_NAME, "%s", m->name);
    sp_put(r, SP_Q_STEP_MM_LAYERS, m->layers);
    sp_put(r, SP_Q_STEP_MM_COUNT, m->count);
    sp_put(r, SP_Q_STEP_MM_ROWS, m->rows);
    sp_put(r, SP_Q_STEP_MM_IN, m->in);
    sp_put(r, SP_Q_STEP_MM_OUT, m->out);
    sp_put(r, SP_Q_STEP_MM_FLOPS, m->work.flops);
    sp_put(r, SP_Q_STEP_MM_BYTES, m->work.bytes);
    sp_put(r, SP_Q_STEP_MM_INTENSITY, m->intensity);
    sp_put(r, SP_Q_STEP_MM_RIDGE, m->ridge);
    sp_put_text(r, SP_Q_STEP_MM_BOUND, "%s", m->math_s >= m->memory_s ? "math" : "hbm");
    sp_put(r, SP_Q_STEP_MM_LOWER, fmax(m->math_s, m->memory_s));
}

void sp_put_local_matmuls(struct sp_report *r, const struct sp_planned *planned)
{
    const struct sp_step_inputs in = sp_inputs_of(planned);
    struct sp_local_matmul *const list = calloc(SP_MOST_LOCAL_MATMULS, sizeof *list);
    struct sp_row *const rows = calloc(SP_MOST_LOCAL_MATMULS, sizeof *rows);
    if (!list || !rows)
        abort();
    const int n = sp_matmuls_of_plan(&in, list);
    sp_symbol(r, "W", planned->hw.chip.hbm_bytes_per_s, "bytes/s", "bandwidth of its memory");
    for (int i = 0; i < n; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "matmuls.%d", i);
        sp_scope(r, rows[i].prefix);
        put_matmul(r, &list[i]);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)n);
    free(rows);
    free(list);
}
