/* Parses the lists and ranges of a sweep, and gives the values of each row. */
#include "study/axes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"

/* Adds a value, prefixed by the path for a --set list; NULL for a flag. */
static bool push(struct sp_axis *axis, const char *value, struct sp_error *error)
{
    const char *const path = axis->path, *const mark = path[0] ? "=" : "";
    const size_t size = value ? strlen(path) + strlen(mark) + strlen(value) + 1 : 0;
    if (axis->n == SP_MAX_AXIS_VALUES)
        return sp_fail(error, SP_INPUT, "--%s: more than %d values", axis->name,
                       SP_MAX_AXIS_VALUES);
    if ((axis->n & (axis->n - 1)) == 0) /* grows at powers of two */
        axis->start =
            sp_must(realloc(axis->start, (axis->n ? 2 * axis->n : 1) * sizeof *axis->start));
    axis->start[axis->n++] = axis->length;
    if (!value)
        return true;
    if (axis->length + size > axis->room) {
        axis->room = 2 * (axis->length + size);
        axis->text = sp_must(realloc(axis->text, axis->room));
    }
    snprintf(axis->text + axis->length, size, "%s%s%s", path, mark, value);
    axis->length += size;
    return true;
}

/* Start of the first number of a range: "1..8" itself, "8..64" in "h100-8..64"; NULL if there is no
 * range. */
static const char *range_in(const char *piece)
{
    const char *const dots = strstr(piece, "..");
    if (!dots || dots == piece || !isdigit((unsigned char)dots[2]))
        return NULL;
    if (isdigit((unsigned char)piece[0]) && !memchr(piece, '-', (size_t)(dots - piece)))
        return piece;
    const char *from = dots;
    while (from > piece && isdigit((unsigned char)from[-1]))
        from--;
    return from > piece && from < dots && from[-1] == '-' ? from : NULL;
}

/* Cuts off what follows a number: the "x8192" of "64x8192". */
static void cut_tail(char *number, char *tail, size_t size)
{
    char *const end = number + strspn(number, "0123456789.kMGTi");
    if (*end != 'x')
        return;
    snprintf(tail, size, "%s", end);
    *end = '\0';
}

/* Adds "1..64:x2", "64..512:x2x8192" with a length behind each value, or "h100-8..64:x2" with
 * `range` at the 8; false with an error if it has no end. */
static bool push_range(struct sp_axis *axis, const char *piece, const char *range,
                       struct sp_error *error)
{
    char from[64], to[64], step[64] = "+1", tail[64] = "";
    double low, high, by;
    const char *const dots = strstr(range, ".."), *const colon = strchr(dots, ':');
    snprintf(from, sizeof from, "%.*s", (int)(dots - range), range);
    snprintf(to, sizeof to, "%.*s", (int)(colon ? colon - dots - 2 : 60), dots + 2);
    if (colon)
        snprintf(step, sizeof step, "%s", colon + 1);
    const bool times = step[0] == 'x';
    cut_tail(to, tail, sizeof tail);
    cut_tail(step + 1, tail, sizeof tail);
    if (!sp_parse_count(from, &low) || !sp_parse_count(to, &high) ||
        (step[0] != 'x' && step[0] != '+') || !sp_parse_count(step + 1, &by) || low > high ||
        (times ? !(by > 1 && low > 0) : !(by > 0)))
        return sp_fail(error, SP_INPUT,
                       "--%s: \"%s\": expected a rising FROM..TO, FROM..TO:+STEP or "
                       "FROM..TO:xFACTOR, such as 10..40:+10 or 8..64:x2",
                       axis->name, sp_safe(piece));
    double value = low;
    for (size_t i = 0; value <= high * (1 + 1e-12); i++) {
        char text[200];
        snprintf(text, sizeof text, "%.*s%.15g%s", (int)(range - piece), piece, value, tail);
        if (!push(axis, text, error))
            return false;
        value = times ? value * by : low + (double)(i + 1) * by;
    }
    return true;
}

static bool push_list(struct sp_axis *axis, const char *text, char separator,
                      struct sp_error *error)
{
    const size_t size = strlen(text) + 1;
    char *const piece = sp_must(malloc(size));
    bool ok = true;
    for (const char *rest = text; ok && sp_next_piece(&rest, separator, piece, size);) {
        const char *const range = separator == ',' ? range_in(piece) : NULL;
        if (piece[0] == '\0')
            ok = sp_fail(error, SP_INPUT, "--%s: an empty value in \"%s\"", axis->name,
                         sp_safe(text));
        else
            ok = range ? push_range(axis, piece, range, error) : push(axis, piece, error);
    }
    free(piece);
    return ok;
}

/* Adds the values of --set PATH=A,B, each with its path; commas in brackets belong to a value. */
static bool push_sets(struct sp_axis *axis, const char *text, struct sp_error *error)
{
    const char *const equals = strchr(text, '=');
    const size_t n = equals ? (size_t)(equals - text) : 0;
    if (!equals || n >= sizeof axis->path || strpbrk(equals, "[{\""))
        return push(axis, text, error);
    snprintf(axis->path, sizeof axis->path, "%.*s", (int)n, text);
    return push_list(axis, equals + 1, ',', error);
}

bool sp_add_axis(struct sp_axes *axes, const char *name, enum sp_axis_text kind, const char *text,
                 struct sp_error *error)
{
    if (axes->n == SP_MAX_AXES_SWEPT)
        return sp_fail(error, SP_USAGE, "more than %d options", SP_MAX_AXES_SWEPT);
    for (int i = 0; i < axes->n; i++)
        if (kind != SP_AXIS_OF_MANY && kind != SP_AXIS_OF_SETS &&
            strcmp(axes->axis[i].name, name) == 0)
            return sp_fail(error, SP_USAGE, "--%s: given twice; a list has commas", name);
    struct sp_axis *const axis = &axes->axis[axes->n++];
    *axis = (struct sp_axis){.name = name};
    const bool listed = text && (kind == SP_AXIS_OF_LIST || kind == SP_AXIS_OF_TEXTS);
    const bool ok = text && kind == SP_AXIS_OF_SETS ? push_sets(axis, text, error)
                    : listed ? push_list(axis, text, kind == SP_AXIS_OF_LIST ? ',' : ';', error)
                             : push(axis, text, error);
    if (!ok)
        return false;
    if (axes->n == 1)
        axes->rows = 1;
    if (axis->n > 1000000000000 / axes->rows)
        return sp_fail(error, SP_INPUT, "the lists make more than 10^12 rows");
    axes->rows *= axis->n;
    return true;
}

void sp_free_axes(struct sp_axes *axes)
{
    for (int i = 0; i < axes->n; i++) {
        free(axes->axis[i].text);
        free(axes->axis[i].start);
    }
    *axes = (struct sp_axes){0};
}

size_t sp_axis_place(const struct sp_axes *axes, int axis, uint64_t row)
{
    for (int i = axes->n - 1; i > axis; i--)
        row /= axes->axis[i].n;
    return (size_t)(row % axes->axis[axis].n);
}

const char *sp_axis_value(const struct sp_axes *axes, int axis, uint64_t row)
{
    const struct sp_axis *const a = &axes->axis[axis];
    return a->text ? a->text + a->start[sp_axis_place(axes, axis, row)] : NULL;
}

const char *sp_axis_name(const struct sp_axis *axis)
{
    return axis->path[0] ? axis->path : axis->name;
}

const char *sp_value_name(const struct sp_axis *axis, size_t i)
{
    return axis->text + axis->start[i] + (axis->path[0] ? strlen(axis->path) + 1 : 0);
}

const char *sp_swept_as(const struct sp_axes *axes, const char *key)
{
    for (int a = 0; a < axes->n; a++) {
        const char *name = sp_axis_name(&axes->axis[a]), *at = key;
        for (; *at && (*at == *name || (*at == '_' && *name == '-')); at++)
            name++;
        if (axes->axis[a].n > 1 && !*at && !*name)
            return sp_axis_name(&axes->axis[a]);
    }
    return NULL;
}

/* Whether the price of a machine, "b200=4", is of another machine of the axis than this one. */
static bool is_of_another(const struct sp_axis *machines, const char *item, const char *here)
{
    const size_t n = strcspn(item, "=");
    bool another = false;
    for (size_t i = 0; machines && here && item[n] && i < machines->n; i++) {
        const char *const hw = sp_value_name(machines, i);
        const bool same = strncmp(hw, item, n) == 0 && strchr("-:", hw[n]);
        if (same && strcmp(hw, here) == 0)
            return false;
        another = another || same;
    }
    return another;
}

bool sp_prices_in_row(const struct sp_axes *axes, const char *machines, uint64_t row,
                      const char *list, char *kept, size_t size)
{
    int a = 0;
    while (a < axes->n && strcmp(axes->axis[a].name, machines) != 0)
        a++;
    const char *const here = a < axes->n ? sp_axis_value(axes, a, row) : NULL;
    char item[192];
    kept[0] = '\0';
    while (sp_next_item(&list, item, sizeof item))
        if (!is_of_another(a < axes->n ? &axes->axis[a] : NULL, item, here))
            sp_append(kept, size, "%s%s", kept[0] ? "," : "", item);
    return kept[0] != '\0';
}
