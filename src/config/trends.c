/* Trends: rates, and values by year. */
#include <stdio.h>

#include "base/list.h"
#include "config/load.h"
#include "config/read.h"

/* "GPT-3 2020.41 3.14e23, PaLM 2022.26 2.53e24" */
static bool read_points(struct sp_trend_file *file, struct sp_error *error)
{
    struct sp_trend *const t = &file->trend;
    const char *list = file->points[0] ? file->points : NULL;
    char item[128], left;
    while (sp_next_item(&list, item, sizeof item)) {
        struct sp_trend_point *const p = &t->point[t->points];
        if (t->points == SP_MOST_TREND_POINTS)
            return sp_fail(error, SP_INPUT, "trend %s: more than %d points", sp_safe(t->name),
                           SP_MOST_TREND_POINTS);
        if (sscanf(item, "%31s %lf %lf %c", p->name, &p->year, &p->value, &left) != 3 ||
            !(p->year >= 1800 && p->year <= 2200) || !(p->value > 0 && p->value < 1e300))
            return sp_fail(error, SP_INPUT,
                           "trend %s: the point \"%s\" is not NAME YEAR VALUE, such as GPT-3 "
                           "2020.41 3.14e23",
                           sp_safe(t->name), sp_safe(item));
        t->points++;
    }
    return true;
}

bool sp_finish_trend(struct sp_trend_file *file, struct sp_error *error)
{
    if (file->trend.factor == 1)
        return sp_fail(error, SP_INPUT, "trend %s: a factor of 1 is no trend",
                       sp_safe(file->trend.name));
    return read_points(file, error);
}
