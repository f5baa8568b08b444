/* Values that figures of a machine need for a goal, and elasticities. */
#include <math.h>
#include <string.h>

#include <scaleplan/need.h>

#include <scaleplan/forms.h>

/* Where a figure is stored, and its key in a hardware file. */
struct figure {
    const char *key;
    size_t offset;
    int kind; /* enum sp_network_kind of machines that have it, or ANY */
};
#define ANY (-1)
#define AT(member) offsetof(struct sp_hardware, member)
static const struct figure figures[SP_FIGURES] = {
    [SP_FIGURE_PEAK] = {"chip.peak_flops_per_s", AT(chip.peak_flops_per_s), ANY},
    [SP_FIGURE_HBM_RATE] = {"chip.hbm_bytes_per_s", AT(chip.hbm_bytes_per_s), ANY},
    [SP_FIGURE_HBM] = {"chip.hbm_bytes", AT(chip.hbm_bytes), ANY},
    [SP_FIGURE_LINK] = {"network.link_bytes_per_s", AT(network.link_bytes_per_s), SP_TORUS},
    [SP_FIGURE_DCN] = {"network.dcn_bytes_per_s_per_host", AT(network.dcn_bytes_per_s_per_host),
                       SP_TORUS},
    [SP_FIGURE_DOMAIN_RATE] = {"network.domain_bytes_per_s", AT(network.domain_bytes_per_s),
                               SP_SWITCHED},
    [SP_FIGURE_SCALEOUT] = {"network.scaleout_bytes_per_s", AT(network.scaleout_bytes_per_s),
                            SP_SWITCHED},
    [SP_FIGURE_HOST_LINK] = {"chip.pcie_bytes_per_s", AT(chip.pcie_bytes_per_s), ANY},
    [SP_FIGURE_PRICE] = {"chip.price_usd_per_h", AT(chip.price_usd_per_h), ANY},
    [SP_FIGURE_DOMAIN] = {"network.domain", AT(network.domain), SP_SWITCHED},
    [SP_FIGURE_CHIPS] = {"chips", AT(chips_per_slice), ANY},
};

static bool is_peak(enum sp_machine_figure figure)
{
    return figure < SP_FIGURE_HBM_RATE;
}

/* Whether the capacity is usable memory, which verdicts use if it is known. */
static bool is_granted(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    return figure == SP_FIGURE_HBM && !isnan(hw->chip.hbm_usable_bytes);
}

/* The row of a figure; on a machine that has another field instead, the row of that field. */
static const struct figure *row_of(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    static const struct figure granted = {"chip.hbm_usable_bytes", AT(chip.hbm_usable_bytes), ANY},
                               coherent = {"chip.c2c_bytes_per_s", AT(chip.c2c_bytes_per_s), ANY};
    if (is_granted(figure, hw))
        return &granted;
    if (figure == SP_FIGURE_HOST_LINK && hw->chip.c2c_bytes_per_s > 0)
        return &coherent;
    return &figures[is_peak(figure) ? SP_FIGURE_PEAK : figure];
}

const char *sp_figure_key(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    return row_of(figure, hw)->key;
}

static bool is_whole(enum sp_machine_figure figure)
{
    return figure == SP_FIGURE_DOMAIN || figure == SP_FIGURE_CHIPS;
}

/* Offset in the struct of a figure stored as double. */
static size_t place_of(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    return row_of(figure, hw)->offset + (is_peak(figure) ? (size_t)figure * sizeof(double) : 0);
}

/* Whether this kind of machine has the figure. */
static bool has_figure(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    const int kind = is_peak(figure) ? ANY : figures[figure].kind;
    return (kind == ANY || kind == (int)hw->network.kind) &&
           (figure != SP_FIGURE_DCN || hw->slices > 1);
}

double sp_figure_value(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    double value;
    if (!has_figure(figure, hw))
        return NAN;
    if (figure == SP_FIGURE_CHIPS)
        return (double)hw->chips_per_slice;
    if (figure == SP_FIGURE_DOMAIN)
        return (double)hw->network.domain;
    memcpy(&value, (const char *)hw + place_of(figure, hw), sizeof value);
    return value > 0 ? value : NAN;
}

/* Sets domains of `devices` devices: whole ones, or one that holds all. */
static bool with_domain(struct sp_hardware *hw, int64_t devices)
{
    if (hw->chips_per_slice % devices != 0 && devices % hw->chips_per_slice != 0)
        return false;
    hw->network.domain = devices;
    hw->network.domain_part = 0;
    return true;
}

bool sp_with_figure(const struct sp_hardware *hw, enum sp_machine_figure figure, double value,
                    struct sp_hardware *changed)
{
    *changed = *hw;
    if (is_whole(figure) && (value < 1 || value > 1e9 || value != floor(value)))
        return false;
    if (figure == SP_FIGURE_CHIPS)
        return sp_take_slice(changed, (int64_t)value);
    if (figure == SP_FIGURE_DOMAIN)
        return with_domain(changed, (int64_t)value);
    const double now = sp_figure_value(figure, hw);
    if (isnan(now) || !(value > 0))
        return false;
    if (is_granted(figure, hw))
        changed->chip.hbm_bytes *= value / now;
    memcpy((char *)changed + place_of(figure, hw), &value, sizeof value);
    return true;
}

bool sp_is_met(const struct sp_demand *demand, double value)
{
    return demand->at_least ? value >= demand->target : value <= demand->target;
}

/* The goal's value with a changed figure; NAN if no such machine exists. */
static double value_at(const struct sp_demand *demand, const struct sp_hardware *hw,
                       enum sp_machine_figure figure, double value)
{
    struct sp_hardware changed;
    return sp_with_figure(hw, figure, value, &changed) ? demand->value(&changed, demand->context)
                                                       : NAN;
}

/* Next point on the way from a to b, 0 to 1: the secant's share, at least `apart` from either end,
 * moved towards the middle by `trust` and within `radius` of it. */
static double share_of_way(double fa, double fb, double apart, double trust, double radius)
{
    const double secant = fa / (fa - fb);
    if (!isfinite(secant)) /* one value is not finite */
        return 0.5;
    const double share = fmin(fmax(secant, apart), 1 - apart);
    const double moved = share < 0.5 ? fmin(share + trust, 0.5) : fmax(share - trust, 0.5);
    return fmin(fmax(moved, 0.5 - radius), 0.5 + radius);
}

/* A figure and the goal's value there. */
struct trial {
    double figure, value;
};

/* Finds where the goal crosses the target between a figure that misses it and one that meets it, on
 * a logarithmic scale, by ITP (Oliveira and Takahashi 2020): superlinear on smooth goals, at most
 * one step more than bisection. Returns a figure that meets it. */
static double find_edge(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, struct trial misses, struct trial meets)
{
    const double target = log(demand->target), close = 1e-10, steepness = 0.1;
    double a = log(misses.figure), fa = log(misses.value) - target;
    double b = log(meets.figure), fb = log(meets.value) - target, figure_met = meets.figure;
    const double whole = fabs(b - a);
    double most = close * exp2(ceil(log2(whole / close)) +
                               1); /* largest interval allowed after this step, doubled */
    while (fabs(b - a) > close) {
        const double width = fabs(b - a), trust = steepness * width / whole;
        const double radius = fmax(0, most / 2 / width - 0.5);
        const double x = a + (b - a) * share_of_way(fa, fb, close / 2 / width, trust, radius);
        const double tried = exp(x), v = value_at(demand, hw, figure, tried);
        if (sp_is_met(demand, v)) {
            figure_met = tried; /* exp(log()) of an end may lie a rounding before a jump */
            b = x;
            fb = log(v) - target;
        } else {
            a = x;
            fa = log(v) - target;
        }
        most /= 2;
    }
    return figure_met;
}

/* Moves from `from` towards `to` with growing steps until `met` changes. *before gets the last
 * point before that. */
static struct trial find_change(const struct sp_demand *demand, const struct sp_hardware *hw,
                                enum sp_machine_figure figure, struct trial from, struct trial to,
                                bool met, struct trial *before)
{
    double step = to.figure > from.figure ? 2 : 0.5;
    struct trial at = from;
    do {
        *before = at;
        at.figure *= step;
        step *= step;
        if ((to.figure > from.figure) != (at.figure < to.figure))
            return to;
        at.value = value_at(demand, hw, figure, at.figure);
    } while (sp_is_met(demand, at.value) != met);
    return at;
}

/* Whether value a is better than b; NAN is worst. */
static bool is_better(const struct sp_demand *demand, double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(b) && !isnan(a);
    return demand->at_least ? a > b : a < b;
}

enum { EXTREME = 15 }; /* 10^15 and 10^-15 stand for infinity and zero */

/* Evaluates the goal at both extremes of a figure: 10^15 times it rather than infinity, since
 * infinity x 0 is NAN, and no more than a file may say. If more helps but even that misses the
 * target, the lower extreme is skipped and stays NAN, the worst. */
static void look_at_ends(const struct sp_demand *demand, const struct sp_hardware *hw,
                         enum sp_machine_figure figure, const struct sp_need *need,
                         struct trial *up, struct trial *down)
{
    *up =
        (struct trial){.figure = fmin(need->now * pow(10, EXTREME), SP_MOST_FIGURE), .value = NAN};
    *down = (struct trial){.figure = need->now * pow(10, -EXTREME), .value = NAN};
    up->value = value_at(demand, hw, figure, up->figure);
    if (sp_is_met(demand, need->value) || !is_better(demand, up->value, need->value))
        down->value = value_at(demand, hw, figure, down->figure);
}

/* Finds a needed rate, size or price. */
static void need_figure(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, struct sp_need *need)
{
    const struct trial now = {need->now, need->value};
    const bool met = sp_is_met(demand, now.value);
    struct trial up, down, before;
    look_at_ends(demand, hw, figure, need, &up, &down);
    need->helps_up = is_better(demand, up.value, down.value);
    const struct trial best = need->helps_up ? up : down, worst = need->helps_up ? down : up;
    const struct trial end = met ? worst : best;
    need->limit = best.value;
    need->reachable = sp_is_met(demand, best.value);
    if (sp_is_met(demand, end.value) == met)
        return;
    const struct trial at = find_change(demand, hw, figure, now, end, !met, &before);
    need->needed = find_edge(demand, hw, figure, met ? at : before, met ? before : at);
    need->factor = sp_needed_factor(need->needed, need->now);
}

/* The next factor to try: each, or doublings from 8 on if values are slow to compute. */
static int next_factor(const struct sp_demand *demand, int k)
{
    return demand->sparse && k >= 8 ? 2 * k : k + 1;
}

/* Whether a larger number makes a different machine; a domain is limited to the slice. */
static bool is_other(enum sp_machine_figure figure, const struct sp_hardware *hw, double number)
{
    return figure != SP_FIGURE_DOMAIN || number <= (double)hw->chips_per_slice;
}

/* Finds a needed whole number among multiples and divisors of the current one, nearest first (an
 * MFU or a cost may need half of the chips). */
static void need_number(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, struct sp_need *need)
{
    enum { MOST = 4096 };
    const bool met = sp_is_met(demand, need->value);
    double kept[] = {need->now, need->now}; /* last values that met the goal, below and above */
    need->limit = need->value;
    need->reachable = met;
    for (int k = 2; k <= MOST; k = next_factor(demand, k))
        for (int up = 1; up >= 0; up--) {
            const double number = up ? need->now * k : need->now / k;
            const double value =
                is_other(figure, hw, number) ? value_at(demand, hw, figure, number) : NAN;
            if (isnan(value))
                continue;
            need->limit = is_better(demand, value, need->limit) ? value : need->limit;
            if (sp_is_met(demand, value) != met) {
                need->reachable = true;
                need->helps_up = up != met;
                need->needed = met ? kept[up] : number;
                need->factor = sp_needed_factor(need->needed, need->now);
                return;
            }
            kept[up] = number;
        }
}

struct sp_need sp_find_need(const struct sp_demand *demand, const struct sp_hardware *hw,
                            double value, enum sp_machine_figure figure)
{
    struct sp_need need = {.now = sp_figure_value(figure, hw),
                           .value = value,
                           .needed = NAN,
                           .factor = NAN,
                           .limit = NAN};
    if (isnan(need.now))
        return need;
    if (is_whole(figure))
        need_number(demand, hw, figure, &need);
    else
        need_figure(demand, hw, figure, &need);
    need.matters = need.limit != value && !(fabs(need.limit / value - 1) < 1e-9);
    return need;
}

enum sp_machine_figure sp_find_binding(const struct sp_demand *demand, const struct sp_hardware *hw)
{
    const double now = log(demand->value(hw, demand->context));
    double most = 1e-6;
    enum sp_machine_figure binding = SP_FIGURES;
    for (int f = 0; f < SP_FIGURE_PRICE; f++) {
        if (is_peak((enum sp_machine_figure)f) && !demand->peaks[f])
            continue;
        const double value = sp_figure_value((enum sp_machine_figure)f, hw);
        const double change = log(value_at(demand, hw, (enum sp_machine_figure)f, 2 * value)) - now;
        const double gain = demand->at_least ? change : -change;
        if (!isnan(value) && gain > most) {
            most = gain;
            binding = (enum sp_machine_figure)f;
        }
    }
    return binding;
}

double sp_elasticity_of(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, double delta, double *low, double *high)
{
    const double now = sp_figure_value(figure, hw), step = 1 + delta;
    *low = value_at(demand, hw, figure, now / step);
    *high = value_at(demand, hw, figure, now * step);
    return sp_elasticity(*low, *high, delta);
}
