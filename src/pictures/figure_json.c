/* A figure as JSON, for pages and other drawing programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "pictures/drawing.h"

static const char *const looks[SP_LOOKS] = {
    [SP_BLUE] = "blue",        [SP_ORANGE] = "orange",    [SP_GREEN] = "green",
    [SP_SKY] = "sky",          [SP_PURPLE] = "purple",    [SP_VERMILION] = "vermilion",
    [SP_YELLOW] = "yellow",    [SP_BLACK] = "black",      [SP_GREY] = "grey",
    [SP_SHADE] = "shade1",     [SP_SHADE + 1] = "shade2", [SP_SHADE + 2] = "shade3",
    [SP_SHADE + 3] = "shade4", [SP_SHADE + 4] = "shade5"};
static const char *const kinds[SP_SERIES_KINDS] = {
    [SP_LINE] = "line",   [SP_STEPS] = "steps",   [SP_MARKS] = "marks",      [SP_DROPS] = "drops",
    [SP_BOXES] = "boxes", [SP_HOLLOW] = "hollow", [SP_WHISKERS] = "whiskers"};
static const char *const aligns[] = {
    [SP_LEFT] = "left", [SP_CENTRE] = "centre", [SP_RIGHT] = "right"};

static void add_number(cJSON *object, const char *key, double value)
{
    char text[40];
    sp_format_double(value, text, sizeof text);
    cJSON_AddItemToObject(object, key, cJSON_CreateRaw(text));
}

/* Writes true members only. */
static void add_flag(cJSON *object, const char *key, bool flag)
{
    if (flag)
        cJSON_AddTrueToObject(object, key);
}

/* The range is in base units; `prefix` and `factor` apply to the axis labels. */
static void add_axis(cJSON *object, const char *name, const struct sp_panel *panel, bool vertical)
{
    const struct sp_plot_axis *const axis = vertical ? &panel->y : &panel->x;
    const struct sp_scale scale = sp_scale_of(panel, vertical);
    cJSON *const out = cJSON_AddObjectToObject(object, name);
    cJSON_AddStringToObject(out, "label", axis->label);
    cJSON_AddStringToObject(out, "unit", axis->unit ? axis->unit : "");
    cJSON_AddStringToObject(out, "prefix", scale.prefix);
    add_number(out, "factor", scale.factor);
    add_number(out, "min", scale.min);
    add_number(out, "max", scale.max);
    add_flag(out, "log", axis->log);
    add_flag(out, "whole", axis->whole);
    cJSON *const ticks = axis->n_ticks > 0 ? cJSON_AddArrayToObject(out, "ticks") : NULL;
    for (size_t i = 0; i < axis->n_ticks; i++) {
        cJSON *const tick = cJSON_CreateObject();
        add_number(tick, "at", axis->ticks[i].at);
        cJSON_AddStringToObject(tick, "text", axis->ticks[i].text);
        cJSON_AddItemToArray(ticks, tick);
    }
}

static cJSON *series_json(const struct sp_series *series)
{
    cJSON *const out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "kind", kinds[series->kind]);
    cJSON_AddStringToObject(out, "look", looks[series->look]);
    cJSON_AddStringToObject(out, "name", series->name);
    add_flag(out, "hatched", series->hatched);
    add_flag(out, "dashed", series->dashed);
    add_flag(out, "thin", series->thin);
    add_flag(out, "hollow", series->hollow);
    add_flag(out, "bare", series->bare);
    cJSON *const values = cJSON_AddArrayToObject(out, "values");
    for (size_t i = 0; i < series->n; i++) {
        char text[40];
        sp_format_double(series->values[i], text, sizeof text);
        cJSON_AddItemToArray(values, cJSON_CreateRaw(text));
    }
    return out;
}

static cJSON *label_json(const struct sp_label *label)
{
    cJSON *const out = cJSON_CreateObject();
    add_number(out, "x", label->x);
    add_number(out, "y", label->y);
    cJSON_AddStringToObject(out, "align", aligns[label->align]);
    cJSON_AddStringToObject(out, "look", looks[label->look]);
    cJSON_AddStringToObject(out, "text", label->text);
    add_flag(out, "light", label->light);
    add_flag(out, "below", label->below);
    add_flag(out, "beside", label->beside);
    add_flag(out, "yields", label->yields);
    return out;
}

static cJSON *rule_json(const struct sp_rule *rule)
{
    cJSON *const out = cJSON_CreateObject();
    add_number(out, "at", rule->at);
    cJSON_AddStringToObject(out, "look", looks[rule->look]);
    cJSON_AddStringToObject(out, "text", rule->text);
    add_flag(out, "vertical", rule->vertical);
    return out;
}

static cJSON *card_json(const struct sp_card *card)
{
    cJSON *const out = cJSON_CreateObject();
    cJSON_AddBoolToObject(out, "yes", card->yes);
    cJSON_AddStringToObject(out, "asks", card->asks);
    cJSON_AddStringToObject(out, "why", card->why);
    cJSON_AddStringToObject(out, "then", card->then);
    return out;
}

static cJSON *panel_json(const struct sp_panel *panel)
{
    cJSON *const out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "title", panel->title);
    add_number(out, "height_px", panel->height_px);
    add_axis(out, "x", panel, false);
    add_axis(out, "y", panel, true);
    cJSON *const series = cJSON_AddArrayToObject(out, "series");
    for (size_t i = 0; i < panel->n_series; i++)
        cJSON_AddItemToArray(series, series_json(&panel->series[i]));
    cJSON *const labels = cJSON_AddArrayToObject(out, "labels");
    for (size_t i = 0; i < panel->n_labels; i++)
        cJSON_AddItemToArray(labels, label_json(&panel->labels[i]));
    cJSON *const rules = cJSON_AddArrayToObject(out, "rules");
    for (size_t i = 0; i < panel->n_rules; i++)
        cJSON_AddItemToArray(rules, rule_json(&panel->rules[i]));
    cJSON *const cards = panel->n_cards > 0 ? cJSON_AddArrayToObject(out, "cards") : NULL;
    for (size_t i = 0; i < panel->n_cards; i++)
        cJSON_AddItemToArray(cards, card_json(&panel->cards[i]));
    return out;
}

char *sp_figure_json(const struct sp_figure *figure, size_t *length)
{
    cJSON *const root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "title", figure->title);
    cJSON *const panels = cJSON_AddArrayToObject(root, "panels");
    for (size_t i = 0; i < figure->n_panels; i++)
        cJSON_AddItemToArray(panels, panel_json(&figure->panels[i]));
    char *const text = cJSON_Print(root);
    cJSON_Delete(root);
    *length = text ? strlen(text) : 0;
    return text;
}
