/* The places that a file of configs/ground lists. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "config/ground.h"

/* strtod, which takes ten times as long for the usual: digits between blanks. */
static double read_number(const char *text, char **end)
{
    const char *const first = text + (*text == ' '), *at = first;
    double number = 0; /* exact: 15 digits are below 2^53 */
    for (; *at >= '0' && *at <= '9' && at - first < 15; at++)
        number = 10 * number + (*at - '0');
    if (at == first || (*at != ' ' && *at != '\0'))
        return strtod(text, end);
    *end = (char *)at;
    return number;
}

/* "8 8 2 1 4096 0 8" as a place; the characters read, 0 for anything else. */
static int read_place(const char *line, struct sp_place *place)
{
    double of[SP_GROUND_DIMENSIONS];
    const char *at = line;
    for (int i = 0; i < SP_GROUND_DIMENSIONS; i++) {
        char *end;
        of[i] = read_number(at, &end);
        if (end == at)
            return 0;
        at = end;
    }
    for (int i = 0; i < SP_GROUND_DIMENSIONS; i++)
        if (!(of[i] >= (i == SP_GROUND_EXPERTS  ? 0
                        : i == SP_GROUND_TOKENS ? 1e-3
                                                : 1)) ||
            of[i] > 1e12)
            return 0;
    *place = (struct sp_place){.has_experts = of[SP_GROUND_EXPERTS] > 0};
    for (int i = 0; i < SP_GROUND_OUTSIDE; i++)
        place->octaves[i] = of[i] > 0 ? log2(of[i]) : 0;
    place->octaves[SP_GROUND_OUTSIDE] = fmax(0, log2(of[SP_GROUND_TP] / of[SP_GROUND_OUTSIDE]));
    return (int)(at - line);
}

/* The next line of a list to `line`; false at its end. */
static bool next_line(const char **list, char *line, size_t size)
{
    const size_t n = strcspn(*list, "\n");
    if (!**list)
        return false;
    const size_t kept = n < size ? n : size - 1;
    memcpy(line, *list, kept);
    line[kept] = '\0';
    *list += n + ((*list)[n] != '\0');
    return true;
}

bool sp_finish_ground(struct sp_ground_file *file, struct sp_error *error)
{
    char line[256];
    file->n = 0;
    for (const char *at = file->places; next_line(&at, line, sizeof line);) {
        if (file->n == SP_MOST_PLACES)
            return sp_fail(error, SP_INPUT, "ground %s: more than %d places", sp_safe(file->name),
                           SP_MOST_PLACES);
        const int length = read_place(line, &file->place[file->n++]);
        if (length == 0 || line[length] != '\0')
            return sp_fail(
                error, SP_INPUT,
                "ground %s: \"%s\": expected seven numbers, such as \"8 4 2 1 4096 0 8\"",
                sp_safe(file->name), sp_safe(line));
    }
    return true;
}

bool sp_finish_seen_runs(struct sp_profile *profile, struct sp_error *error)
{
    enum { MOST_WEIGHT = 2 };
    char line[256];
    profile->seen_runs = 0;
    for (const char *at = profile->seen_lines; next_line(&at, line, sizeof line);) {
        if (profile->seen_runs == SP_MOST_SEEN_RUNS)
            return sp_fail(error, SP_INPUT, "profile %s: more than %d runs", sp_safe(profile->name),
                           SP_MOST_SEEN_RUNS);
        struct sp_seen_run *const run = &profile->seen[profile->seen_runs++];
        const int length = read_place(line, &run->place);
        char left;
        if (length == 0 || sscanf(line + length, "%lf %c", &run->weight, &left) != 1 ||
            !(fabs(run->weight) <= MOST_WEIGHT))
            return sp_fail(error, SP_INPUT,
                           "profile %s: \"%s\": expected a place and a weight, such as "
                           "\"8 4 2 1 4096 0 8 -0.02\"",
                           sp_safe(profile->name), sp_safe(line));
    }
    return true;
}
