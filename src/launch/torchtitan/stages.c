/* How torchtitan shares layers among stages: table and head count as some layers of the first and
 * the last stage, and the first stages take a remainder. Its pipeline_parallel.py,
 * _generate_llm_fqn_per_model_part. */
#include <string.h>

#include "launch/fields/stages.h"
#include "launch/torchtitan/torchtitan.h"

bool sp_titan_stages(int64_t layers, int64_t pp, int64_t vpp, const struct sp_titan_ends *ends,
                     int64_t of[SP_MAX_STAGES])
{
    const int64_t n = pp * vpp, all = layers + ends->first + ends->last;
    const int64_t each = all / n, more = all % n;
    if (each == 0 || ends->first > each || ends->last > each)
        return false;
    memset(of, 0, (size_t)pp * sizeof *of);
    for (int64_t i = 0; i < n; i++)
        of[i % pp] +=
            each + (i < more) - (i == 0 ? ends->first : 0) - (i == n - 1 ? ends->last : 0);
    return true;
}

bool sp_titan_ends_of(const struct sp_launched *l, struct sp_titan_ends *ends)
{
    const struct sp_plan *const p = l->plan;
    const int64_t L = l->model->layers, n = p->pp * p->vpp;
    int64_t wanted[SP_MAX_STAGES], of[SP_MAX_STAGES];
    sp_count_stages(l, wanted);
    const int64_t inner = p->pp > 2 ? wanted[1] : L / p->pp;
    const struct sp_titan_ends tried[] = {
        {0, 0, 0}, {1, 1, 0}, {inner - wanted[0], inner - wanted[p->pp - 1], 0}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        *ends = tried[i];
        const int64_t all = L + ends->first + ends->last, each = (all + n - 1) / n;
        if (ends->first < 0 || ends->last < 0 || !sp_titan_stages(L, p->pp, p->vpp, ends, of) ||
            memcmp(of, wanted, (size_t)p->pp * sizeof *of) != 0)
            continue;
        ends->each = (all + each - 1) / each == n ? each : 0;
        if (ends->each > 0 || p->vpp <= 2) /* the default number of chunks */
            return true;
    }
    return false;
}
