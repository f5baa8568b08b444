/* The places that a file of configs/ground lists. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "config/ground.h"

/* "8 8 2 1 4096 0 8" as a place; false for anything else. */
static bool read_place(const char *line, struct sp_place *place)
{
    double of[SP_GROUND_DIMENSIONS];
    int length = 0;
    if (sscanf(line, "%lf %lf %lf %lf %lf %lf %lf%n", &of[0], &of[1], &of[2], &of[3], &of[4],
               &of[5], &of[6], &length) != SP_GROUND_DIMENSIONS ||
        line[length] != '\0')
        return false;
    for (int i = 0; i < SP_GROUND_DIMENSIONS; i++)
        if (!(of[i] >= (i == SP_GROUND_EXPERTS  ? 0
                        : i == SP_GROUND_TOKENS ? 1e-3
                                                : 1)) ||
            of[i] > 1e12)
            return false;
    *place = (struct sp_place){.has_experts = of[SP_GROUND_EXPERTS] > 0};
    for (int i = 0; i < SP_GROUND_OUTSIDE; i++)
        place->octaves[i] = of[i] > 0 ? log2(of[i]) : 0;
    place->octaves[SP_GROUND_OUTSIDE] = fmax(0, log2(of[SP_GROUND_TP] / of[SP_GROUND_OUTSIDE]));
    return true;
}

bool sp_finish_ground(struct sp_ground_file *file, struct sp_error *error)
{
    char line[256];
    file->n = 0;
    for (const char *at = file->places; *at;) {
        const size_t n = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), at);
        if (file->n == SP_MOST_PLACES)
            return sp_fail(error, SP_INPUT, "ground %s: more than %d places", sp_safe(file->name),
                           SP_MOST_PLACES);
        if (!read_place(line, &file->place[file->n++]))
            return sp_fail(
                error, SP_INPUT,
                "ground %s: \"%s\": expected seven numbers, such as \"8 4 2 1 4096 0 8\"",
                sp_safe(file->name), sp_safe(line));
        at += n + (at[n] != '\0');
    }
    return true;
}
