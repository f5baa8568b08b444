/* Rooflines and Pareto fronts: named points. */
#include "pictures/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>

#include "pictures/drawing.h"

struct sp_panel *sp_draw_roof(struct sp_figure *figure, const struct sp_roof *r)
{
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("arithmetic intensity", "FLOPs/byte", true),
                     sp_make_axis("attainable rate", "FLOP/s", true), "");
    struct sp_series *const roof = sp_add_series(panel, SP_LINE, SP_BLACK, "%s", "");
    double right = r->ridge;
    for (size_t i = 0; i < r->n_operations; i++)
        right = fmax(right, r->operations[i].intensity);
    right = fmax(right * 4, r->ridge * 16);
    sp_add_point(roof, r->low_intensity, r->low_flops_per_s);
    sp_add_point(roof, r->ridge, r->peak_flops_per_s);
    sp_add_point(roof, right, r->peak_flops_per_s);
    panel->x.min = r->low_intensity;
    panel->x.max = right;
    panel->y.min = r->low_flops_per_s;
    panel->y.max = r->peak_flops_per_s * 3;
    panel->height_px = 400;
    panel->key = r->n_operations > 0 ? SP_KEY_INSIDE : SP_NO_KEY;
    for (size_t i = 0; i < r->n_operations; i++) {
        const struct sp_operation *const op = &r->operations[i];
        struct sp_series *const mark =
            sp_add_series(panel, SP_DROPS, sp_look_of(i), "%s", op->name);
        mark->hollow = i >= SP_YELLOW; /* colours repeat */
        sp_add_point(mark, op->intensity, op->flops_per_s);
    }
    sp_add_label(panel, right * 0.9, r->peak_flops_per_s, SP_RIGHT, "%s", r->peak_text)->beside =
        true;
    sp_add_rule(panel, true, r->ridge, SP_BLACK, "%s", r->slope_text);
    return panel;
}

static int by_x(const void *a, const void *b)
{
    const struct sp_pareto_point *const p = a, *const q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y < q->y) - (p->y > q->y);
}

static bool beats(const struct sp_pareto_point *a, const struct sp_pareto_point *b)
{
    return a->x <= b->x && a->y <= b->y && (a->x < b->x || a->y < b->y);
}

void sp_mark_front(struct sp_pareto_point *candidates, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        candidates[i].front = true;
        for (size_t j = 0; j < n && candidates[i].front; j++)
            candidates[i].front = !beats(&candidates[j], &candidates[i]);
    }
}

/* Names points of the front: the fastest and smallest first, others if they fit. */
static void name_front(struct sp_panel *panel, const struct sp_pareto_point *order, size_t n)
{
    const struct sp_scale sx = sp_scale_of(panel, false);
    for (size_t k = 0; k < n; k++) {
        const struct sp_pareto_point *const p = &order[k == 0 ? n - 1 : k - 1];
        /* below the front is free space; near the axis only the other side has room */
        const bool right = sp_share(p->x, &sx) > 0.4;
        if (!p->name[0])
            continue;
        struct sp_label *const label =
            sp_add_label(panel, p->x, p->y, right ? SP_RIGHT : SP_LEFT, "%s", p->name);
        label->beside = label->yields = true;
        label->below = right;
    }
}

/* Draws candidates, with a thin line along the front. */
static struct sp_series *draw_one_group(struct sp_panel *panel, const struct sp_pareto *p)
{
    struct sp_series *const rest = sp_add_series(panel, SP_MARKS, SP_SKY, "%s", p->rest_name);
    struct sp_series *const steps = sp_add_series(panel, SP_STEPS, SP_BLACK, "%s", "");
    struct sp_series *const front = sp_add_series(panel, SP_MARKS, SP_BLUE, "%s", p->front_name);
    rest->letter = '.';
    rest->thin = true;
    front->letter = 'O';
    for (size_t i = 0; i < p->n_candidates; i++) {
        const struct sp_pareto_point *const c = &p->candidates[i];
        sp_add_point(c->front ? front : rest, c->x, c->y);
    }
    return steps;
}

/* Draws candidates by group; the front's line has its name in the key. */
static struct sp_series *draw_groups(struct sp_panel *panel, const struct sp_pareto *p)
{
    for (size_t g = 0; g < p->n_groups; g++) {
        struct sp_series *const marks =
            sp_add_series(panel, SP_MARKS, sp_look_of(g), "%s", p->groups[g]);
        marks->letter = (char)('A' + g % 26);
        marks->hollow = g >= SP_YELLOW; /* colours repeat */
        for (size_t i = 0; i < p->n_candidates; i++)
            if (p->candidates[i].group == g)
                sp_add_point(marks, p->candidates[i].x, p->candidates[i].y);
    }
    return sp_add_series(panel, SP_STEPS, SP_BLACK, "%s", p->front_name);
}

struct sp_panel *sp_draw_pareto(struct sp_figure *figure, const struct sp_pareto *p)
{
    struct sp_panel *const panel = sp_add_panel(figure, p->x, p->y, p->title);
    struct sp_series *const steps =
        p->n_groups > 1 ? draw_groups(panel, p) : draw_one_group(panel, p);
    struct sp_pareto_point *const order = calloc(p->n_candidates + 1, sizeof *order);
    size_t n = 0;
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 400;
    steps->thin = true;
    for (size_t i = 0; i < p->n_candidates && order; i++)
        if (p->candidates[i].front)
            order[n++] = p->candidates[i];
    if (n > 0)
        qsort(order, n, sizeof *order, by_x);
    for (size_t i = 0; i < n; i++)
        sp_add_point(steps, order[i].x, order[i].y);
    for (size_t i = 0; i < p->n_limits; i++)
        sp_add_rule(panel, true, p->limits[i].at, SP_BLACK, "%s", p->limits[i].text);
    name_front(panel, order, n);
    free(order);
    return panel;
}
