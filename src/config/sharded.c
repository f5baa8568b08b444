/* Parses sharded arrays in the textbook's notations. */
#include "config/sharded.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "config/array.h"

/* Adds the axes in `text` up to a delimiter to *set; returns its end, NULL with an error. */
static const char *read_axes(const struct sp_mesh *mesh, const char *text, unsigned *set,
                             unsigned *used, struct sp_error *error)
{
    for (; *text >= 'A' && *text <= 'Z'; text++) {
        const int i = sp_mesh_axis(mesh, *text);
        if (i < 0)
            return sp_fail(error, SP_INPUT, "the mesh has no axis %c", *text), NULL;
        if (*used >> i & 1)
            return sp_fail(error, SP_INPUT, "axis %c shards two dimensions of one array", *text),
                   NULL;
        *set |= 1u << i;
        *used |= 1u << i;
    }
    return text;
}

bool sp_parse_sharding(const struct sp_mesh *mesh, const char *spec, struct sp_sharded *array,
                       struct sp_error *error)
{
    const char *at = spec;
    unsigned used = 0;
    int n = 0;
    while (*at && *at != '{') {
        if (n == array->n || *at < 'A' || *at > 'Z')
            return sp_fail(error, SP_INPUT,
                           "\"%s\": expected %d dimensions such as I_X,J, a capital letter each",
                           sp_safe(spec), array->n);
        array->name[n] = *at++;
        if (*at == '_' && !(at = read_axes(mesh, at + 1, &array->axes[n], &used, error)))
            return false;
        n++;
        if (*at == ',')
            at++;
        else if (*at && *at != '{')
            return sp_fail(error, SP_INPUT,
                           "\"%s\": expected a comma, a bracket or the end at \"%s\"",
                           sp_safe(spec), sp_safe(at));
    }
    if (n != array->n)
        return sp_fail(error, SP_INPUT, "\"%s\" names %d dimensions of an array of %d",
                       sp_safe(spec), n, array->n);
    if (*at == '{') {
        if (strncmp(at, "{U_", 3) != 0 ||
            !(at = read_axes(mesh, at + 3, &array->partial, &used, error)) || strcmp(at, "}") != 0)
            return error->lines > 0
                       ? false
                       : sp_fail(error, SP_INPUT, "\"%s\": partial sums are written {U_X}",
                                 sp_safe(spec));
    }
    for (int i = 0; i < n; i++)
        if (fmod(array->size[i], sp_axes_product(mesh, array->axes[i])) != 0)
            return sp_fail(error, SP_INPUT, "dimension %c of %.0f is not divisible by %.0f",
                           array->name[i], array->size[i], sp_axes_product(mesh, array->axes[i]));
    return true;
}

/* Appends to a text of `size` bytes; false if full. */
static bool append(char *text, size_t size, const char *format, const char *word, size_t n)
{
    const size_t used = strlen(text);
    return snprintf(text + used, size - used, format, (int)n, word) < (int)(size - used);
}

/* Copies the size of a letter from "I=1024,J=4096"; false if the letter is missing. */
static bool size_of_letter(const char *dims, char letter, char *size, size_t room)
{
    char word[48];
    while (dims && *dims && sp_next_item(&dims, word, sizeof word)) {
        if (word[0] != letter || word[1] != '=')
            continue;
        snprintf(size, room, "%s", word + 2);
        return true;
    }
    return false;
}

/* Parses a dimension, "1024_X" or "I_XY": its size goes to `plain`, its letter and axes to
 * `spec`. */
static bool split_dim(const char *at, size_t n, const char *dims, char letter,
                      struct sp_notation *out, struct sp_error *error)
{
    const size_t size = strcspn(at, "_,]") < n ? strcspn(at, "_,]") : n;
    char given[48];
    const bool named = size == 1 && isupper((unsigned char)at[0]);
    snprintf(given, sizeof given, "%.*s", (int)size, at);
    const char name[2] = {named ? at[0] : letter, '\0'};
    if (named && !size_of_letter(dims, at[0], given, sizeof given))
        return sp_fail(error, SP_INPUT, "dimension %c has no size: give --dims %c=N", at[0], at[0]);
    if (append(out->plain, sizeof out->plain, "%.*s", given, strlen(given)) &&
        append(out->spec, sizeof out->spec, "%.*s", name, 1) &&
        append(out->spec, sizeof out->spec, "%.*s", at + size, n - size))
        return true;
    return sp_fail(error, SP_INPUT, "an array's text is longer than %zu characters",
                   sizeof out->plain - 1);
}

bool sp_split_sharded(const char *text, const char *dims, char first, struct sp_notation *out,
                      struct sp_error *error)
{
    const char *const open = strchr(text, '['), *at = open ? open + 1 : text;
    char type[16] = "bf16";
    *out = (struct sp_notation){.plain = ""};
    if (open && open > text && !isupper((unsigned char)text[0]))
        snprintf(type, sizeof type, "%.*s", (int)(open - text < 15 ? open - text : 15), text);
    snprintf(out->plain, sizeof out->plain, "%s[", type);
    for (;; out->n++) {
        const size_t n = strcspn(at, ",]");
        if (!split_dim(at, n, dims, (char)(first + out->n), out, error))
            return false;
        at += n;
        if (*at != ',' || out->n == SP_SHARD_DIMS)
            break;
        at++;
        append(out->plain, sizeof out->plain, "%.*s", ",", 1);
        append(out->spec, sizeof out->spec, "%.*s", ",", 1);
    }
    out->n++;
    if (open ? *at != ']' : *at != '\0')
        return sp_fail(error, SP_INPUT, "\"%s\": expected ] at the end", sp_safe(text));
    append(out->plain, sizeof out->plain, "%.*s", "]", 1);
    if (open && !append(out->spec, sizeof out->spec, "%.*s", at + 1, strlen(at + 1)))
        return sp_fail(error, SP_INPUT, "\"%s\" is too long", sp_safe(text));
    return true;
}

bool sp_read_sharded(const struct sp_mesh *mesh, const char *sizes, const char *spec,
                     struct sp_sharded *array, struct sp_error *error)
{
    struct sp_array plain;
    if (!sp_parse_array(sizes, "array", &plain, error))
        return false;
    *array = (struct sp_sharded){
        .n = plain.n, .element_bytes = plain.element_bytes, .dtype = (int)plain.dtype};
    memcpy(array->size, plain.dim, sizeof plain.dim);
    if (sp_array_bytes(&plain) > 1e24)
        return sp_fail(error, SP_INPUT, "more than 10^24 bytes");
    return sp_parse_sharding(mesh, spec, array, error);
}
