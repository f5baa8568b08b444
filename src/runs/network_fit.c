/* A network's curves from the times of collectives, and the text of its file. */
#include "runs/network_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

/* Whether the ranks fill domains of the machine, or lie in one. */
static bool fills_domains(const struct sp_hardware *hw, const struct sp_nccl_time *t,
                          struct sp_error *error)
{
    const double domain = (double)hw->network.domain;
    const double host =
        hw->network.devices_per_host > 0 ? (double)hw->network.devices_per_host : domain;
    if ((t->ranks <= domain || fmod(t->ranks, domain) == 0) &&
        (t->hosts <= 1 || t->ranks / t->hosts >= fmin(host, t->ranks)))
        return true;
    return sp_fail(error, SP_INPUT,
                   "%.0f ranks on %.0f hosts: expected one domain of %s or less, or whole domains "
                   "of %.0f devices",
                   t->ranks, t->hosts, hw->name, domain);
}

/* Fits the times of one operation, inside one domain or across several. */
static void fit_curve(const struct sp_hardware *hw, const struct sp_nccl_times *times,
                      struct sp_fitted_curve *f)
{
    struct sp_transport_point *const points = sp_must(malloc((times->n + 1) * sizeof *points));
    size_t n = 0;
    f->least_nodes = INFINITY;
    for (size_t i = 0; i < times->n; i++) {
        const struct sp_nccl_time *const t = &times->of[i];
        if (t->op != f->op || (t->ranks <= (double)hw->network.domain) != f->inside)
            continue;
        const struct sp_transport_point p =
            sp_transport_point(hw, t->op, t->ranks, t->bytes, t->time_s);
        f->least_nodes = fmin(f->least_nodes, p.nodes);
        f->most_nodes = fmax(f->most_nodes, p.nodes);
        points[n++] = p;
    }
    if (n > 0)
        f->curve = sp_fit_transport(points, n);
    free(points);
}

bool sp_fit_network(const struct sp_hardware *hw, const struct sp_nccl_times *times,
                    struct sp_network_fit *fit, struct sp_error *error)
{
    struct sp_hardware plain = *hw;
    plain.network.transport = (struct sp_transport_curves){0};
    fit->n = 0;
    for (size_t i = 0; i < times->n; i++)
        if (!fills_domains(hw, &times->of[i], error))
            return false;
    for (int i = 0; i < 2 * SP_COLLECTIVES; i++) {
        struct sp_fitted_curve f = {.op = (enum sp_collective)(i / 2), .inside = i % 2 == 0};
        fit_curve(&plain, times, &f);
        struct sp_transport_curves *const all = &fit->network.transport;
        (f.inside ? all->inside : all->across)[f.op] = f.curve;
        if (f.curve.rows > 0)
            fit->of[fit->n++] = f;
    }
    fit->network.bytes_per_s = hw->network.scaleout_bytes_per_s;
    fit->network.latency_s = NAN;
    return true;
}

static void put_number(FILE *out, const char *key, double value)
{
    char number[32];
    sp_format_double(value, number, sizeof number);
    fprintf(out, "\"%s\": %s, ", key, number);
}

static void put_member(FILE *out, const char *key,
                       const struct sp_transport_curve curve[SP_COLLECTIVES])
{
    static const char *const names[SP_COLLECTIVES] = {"all_gather", "reduce_scatter", "all_reduce",
                                                      "all_to_all"};
    int n = 0;
    for (int op = 0; op < SP_COLLECTIVES; op++) {
        const struct sp_transport_curve *const c = &curve[op];
        if (!(c->share > 0))
            continue;
        if (n++ == 0)
            fprintf(out, "  \"%s\": {\n", key);
        fprintf(out, "%s    \"%s\": {", n > 1 ? ",\n" : "", names[op]);
        put_number(out, "share", c->share);
        put_number(out, "start_s", c->start_s);
        put_number(out, "ramp_s", c->ramp_s);
        put_number(out, "growth", c->growth);
        fprintf(out, "\"rows\": %.0f, \"residual\": %.3f}", c->rows, c->residual);
    }
    if (n > 0)
        fprintf(out, "\n  },\n");
}

void sp_put_network_curves(FILE *out, const struct sp_transport_curves *curves)
{
    put_member(out, "node_collectives", curves->inside);
    put_member(out, "collectives", curves->across);
}

char *sp_network_text(const struct sp_scaleout *network, const char *source)
{
    char *text = NULL, number[32];
    size_t length = 0;
    FILE *const out = sp_must(open_memstream(&text, &length));
    fprintf(out, "{\n");
    sp_put_json_text(out, "name", network->name, ",");
    sp_format_double(network->bytes_per_s, number, sizeof number);
    fprintf(out, "  \"bytes_per_s\": %s,\n", number);
    sp_put_json_text(out, "per", network->per_node ? "node" : "device", ",");
    sp_put_network_curves(out, &network->transport);
    sp_put_json_text(out, "source", source, "");
    fprintf(out, "}\n");
    fclose(out);
    return text;
}
