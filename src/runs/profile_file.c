/* Writes a fitted profile as a file of configs/profiles. */
#include "runs/profile_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

bool sp_at_bound(const struct sp_profile *p, int constant)
{
    const struct sp_constant_list constants = sp_constants_of(p);
    const struct sp_constant_info *const c = &constants.of[constant];
    const double value = p->value[constant];
    return (value <= c->low * 1.001 || value >= c->high * 0.999) && p->determined[constant] > 0.05;
}

static const char *names_of(const struct sp_profile *p,
                            bool (*is_meant)(const struct sp_profile *, int), char *out,
                            size_t size)
{
    const struct sp_constant_list constants = sp_constants_of(p);
    out[0] = '\0';
    for (int i = 0; i < constants.n; i++)
        if (is_meant(p, i))
            sp_append(out, size, "%s%s", out[0] ? ", " : "", constants.of[i].key);
    return out;
}

static bool is_undetermined(const struct sp_profile *p, int constant)
{
    return p->determined[constant] < 0.2;
}

const char *sp_undetermined_constants(const struct sp_profile *p, char *out, size_t size)
{
    return names_of(p, is_undetermined, out, size);
}

int sp_n_undetermined(const struct sp_profile *p)
{
    int n = 0;
    for (int i = 0; i < sp_constants_of(p).n; i++)
        n += is_undetermined(p, i);
    return n;
}

const char *sp_constants_at_bounds(const struct sp_profile *p, char *out, size_t size)
{
    return names_of(p, sp_at_bound, out, size);
}

static bool is_implausible(const struct sp_profile *p, int constant)
{
    const struct sp_constant_info *const c = sp_constants_of(p).of + constant;
    const double spreads = log(p->value[constant] / p->expected[constant]) / c->spread;
    const bool whole = c->high == 1 && p->value[constant] > c->low * 1.001;
    return p->expected[constant] > 0 && p->determined[constant] > 0.05 &&
           (fabs(spreads) >= 4 || (sp_at_bound(p, constant) && !whole));
}

const char *sp_implausible_constants(const struct sp_profile *p, char *out, size_t size)
{
    return names_of(p, is_implausible, out, size);
}

static void put_bounds(FILE *out, const struct sp_profile *p)
{
    char names[384], text[512];
    if (!*sp_constants_at_bounds(p, names, sizeof names))
        return;
    snprintf(text, sizeof text,
             "%s: the runs pull it past a physical bound: the model attributes time differently "
             "from the machine",
             names);
    sp_put_json_text(out, "at_bound", text, ",");
}

/* The runs of the machine itself: places as files of configs/ground have them, and weights. */
static void put_seen_runs(FILE *out, const struct sp_profile *p)
{
    if (p->seen_runs == 0)
        return;
    fprintf(out, "  \"runs\": [\n");
    for (int i = 0; i < p->seen_runs; i++) {
        const double *const octaves = p->seen[i].place.octaves;
        fprintf(out, "    \"");
        for (int k = 0; k < SP_GROUND_OUTSIDE; k++)
            fprintf(out, "%.10g ",
                    k != SP_GROUND_EXPERTS || p->seen[i].place.has_experts ? exp2(octaves[k]) : 0);
        fprintf(out, "%.10g %.4f\"%s\n", exp2(octaves[SP_GROUND_TP] - octaves[SP_GROUND_OUTSIDE]),
                p->seen[i].weight, i + 1 < p->seen_runs ? "," : "");
    }
    fprintf(out, "  ],\n");
}

/* Today, UTC; SOURCE_DATE_EPOCH (reproducible-builds.org) is another day, in seconds since 1970. */
static void put_date(FILE *out)
{
    const char *const given = getenv("SOURCE_DATE_EPOCH");
    const time_t now = given ? (time_t)strtoll(given, NULL, 10) : time(NULL);
    struct tm day;
    char date[48] = "";
    if (gmtime_r(&now, &day))
        snprintf(date, sizeof date, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1,
                 day.tm_mday);
    sp_put_json_text(out, "date", date, ",");
}

char *sp_profile_text(const struct sp_profile *p, const char *fitted_to, const char *source)
{
    char *text = NULL;
    size_t length = 0;
    const struct sp_constant_list constants = sp_constants_of(p);
    FILE *const out = sp_must(open_memstream(&text, &length));
    fprintf(out, "{\n");
    sp_put_json_text(out, "name", p->name, ",");
    sp_put_json_text(out, "chip", p->chip, ",");
    sp_put_json_text(out, p->serves ? "engine" : "framework", p->framework, ",");
    sp_put_json_text(out, "network", p->kind == SP_TORUS ? "torus" : "switched", ",");
    sp_put_json_text(out, "chip_family", p->chip_family, ",");
    sp_put_json_text(out, "software_family", p->software_family, ",");
    if (!p->serves)
        sp_put_json_text(out, "overlap_family", p->overlap_family, ",");
    fprintf(out, "  \"constants\": {\n");
    for (int i = 0; i < constants.n; i++)
        fprintf(out, "    \"%s\": {\"value\": %.4g, \"expected\": %.4g, \"determined\": %.2f}%s\n",
                constants.of[i].key, p->value[i], p->expected[i], p->determined[i],
                i + 1 < constants.n ? "," : "");
    fprintf(out, "  },\n");
    if (p->memory_factor != 1)
        fprintf(out, "  \"memory_factor\": %.4f,\n", p->memory_factor);
    if (!p->serves && p->machine_factor != 1)
        fprintf(out, "  \"machine_factor\": %.4f,\n", p->machine_factor);
    put_seen_runs(out, p);
    if (p->residual > 0)
        fprintf(out, "  \"residual\": %.3f,\n", p->residual);
    put_date(out);
    sp_put_json_text(out, "fitted_to", fitted_to, ",");
    put_bounds(out, p);
    sp_put_json_text(out, "source", source, "");
    fprintf(out, "}\n");
    fclose(out);
    return text;
}
