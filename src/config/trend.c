/* The points of a trend. */
#include <stdio.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/error.h"
#include "base/list.h"
#include "base/number.h"
#include "config/load.h"

/* "3.14e23", or parameters and tokens of a training run, "540Bx780B": its FLOPs, 6 N D. */
static bool read_point_value(char *text, double *value)
{
    char *const times = strchr(text, 'x');
    double tokens;
    if (!times)
        return sp_parse_number(text, value);
    *times = '\0';
    if (!sp_parse_count(text, value) || !sp_parse_count(times + 1, &tokens))
        return false;
    *value = sp_training_flops(*value, tokens);
    return true;
}

bool sp_read_trend_points(struct sp_trend_file *file, struct sp_error *error)
{
    struct sp_trend *const t = &file->trend;
    const char *list = file->points[0] ? file->points : NULL;
    char item[128], value[64], left;
    while (sp_next_item(&list, item, sizeof item)) {
        struct sp_trend_point *const p = &t->point[t->points];
        if (t->points == SP_MOST_TREND_POINTS)
            return sp_fail(error, SP_INPUT, "trend %s: more than %d points", sp_safe(t->name),
                           SP_MOST_TREND_POINTS);
        const bool is_whole =
            sscanf(item, "%31s %lf %63s %c", p->name, &p->year, value, &left) == 3;
        if (!is_whole || !read_point_value(value, &p->value) ||
            !(p->year >= 1800 && p->year <= 2200) || !(p->value > 0 && p->value < 1e300))
            return sp_fail(error, SP_INPUT,
                           "trend %s: point \"%s\": expected NAME YEAR VALUE, such as GPT-3 "
                           "2020.41 3.14e23 or "
                           "PaLM 2022.26 540Bx780B",
                           sp_safe(t->name), sp_safe(item));
        t->points++;
    }
    return true;
}
