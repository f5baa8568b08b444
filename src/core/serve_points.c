/* A machine cut into instances of every size. */
#include <math.h>
#include <stddef.h>

#include <scaleplan/serve.h>

double sp_sequences_of_load(const struct sp_served *v, const struct sp_serve_load *load,
                            double replicas)
{
    if (!isnan(load->concurrency))
        return load->concurrency / replicas;
    return sp_sequences_within(v, load->apart ? v : NULL, sp_most_sequences(v), load->tpot_s,
                               load->step_s);
}

/* False where the instance does not hold its load, or is late. */
static bool try_size(const struct sp_service *service, const struct sp_serve_load *load,
                     struct sp_serve_point *point)
{
    struct sp_service one = *service;
    struct sp_served v;
    one.chips = point->chips;
    sp_prepare_service(&one, &v);
    point->sequences = sp_sequences_of_load(&v, load, point->replicas);
    if (!(point->sequences > 0 && point->sequences <= sp_most_sequences(&v)))
        return false;
    point->steady = sp_steady(&v, load->apart ? &v : NULL, point->sequences, load->step_s);
    point->tokens_per_s_per_chip = point->steady.tokens_per_s / point->chips;
    return point->steady.tpot_s <= load->tpot_s;
}

/* Less is better. */
static double score(const struct sp_serve_point *p, enum sp_serve_objective objective)
{
    const double scores[SP_SERVE_OBJECTIVES] = {[SP_SERVE_THROUGHPUT] =
                                                    1 / p->tokens_per_s_per_chip,
                                                [SP_SERVE_LATENCY] = p->steady.tpot_s,
                                                [SP_SERVE_TTFT] = p->steady.ttft_s};
    return scores[objective];
}

/* Sizes come in ascending order: one is better only where it is so by more than rounding. */
static void insert(struct sp_serve_point *points, int n, const struct sp_serve_point *point,
                   enum sp_serve_objective objective)
{
    while (n > 0 && score(point, objective) < score(&points[n - 1], objective) * (1 - 1e-9)) {
        points[n] = points[n - 1];
        n--;
    }
    points[n] = *point;
}

static int64_t largest(const struct sp_network *net, double machine_chips)
{
    if (machine_chips > 1)
        return (int64_t)machine_chips;
    return net->kind == SP_TORUS ? sp_shape_chips(&net->pod_shape) : 4 * net->domain;
}

int sp_serve_points(const struct sp_service *service, const struct sp_serve_load *load,
                    double machine_chips, enum sp_serve_objective objective,
                    struct sp_serve_point points[SP_SERVE_POINTS])
{
    const struct sp_network *const net = &service->hw->network;
    const int64_t most = largest(net, machine_chips);
    int n = 0;
    for (int64_t size = 1; size > 0 && size <= most && n < SP_SERVE_POINTS;
         size = sp_nearest_chips(net, size + 1, true)) {
        const int64_t rest = machine_chips > 1 ? most % size : 0;
        struct sp_serve_point point = {
            .chips = (double)size,
            .replicas = machine_chips > 1 ? (double)(most / size) : 1,
        };
        if (rest == 0 && try_size(service, load, &point))
            insert(points, n++, &point, objective);
    }
    return n;
}
