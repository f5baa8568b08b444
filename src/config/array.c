/* Reads arrays and meshes from their textbook notation. */
#include "config/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/formats.h>
#include <scaleplan/names.h>

#include "base/number.h"

struct sp_element sp_element_of(const char *name)
{
    static const struct {
        const char *name;
        struct sp_element element;
    } others[] = {{"f16", {SP_FP16, 2}},   {"f32", {SP_FP32, 4}},     {"f64", {SP_FP64, 8}},
                  {"s8", {SP_INT8, 1}},    {"u8", {SP_INT8, 1}},      {"int16", {SP_DTYPES, 2}},
                  {"s32", {SP_DTYPES, 4}}, {"int32", {SP_DTYPES, 4}}, {"bool", {SP_DTYPES, 1}}};
    for (int i = 0; i < SP_DTYPES; i++)
        if (strcmp(sp_dtype_names[i], name) == 0)
            return (struct sp_element){(enum sp_dtype)i, sp_dtypes[i].bytes};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0)
            return others[i].element;
    return (struct sp_element){SP_DTYPES, 0};
}

bool sp_parse_array(const char *text, const char *what, struct sp_array *array,
                    struct sp_error *error)
{
    const char *open = strchr(text, '['), *at = open ? open + 1 : text;
    char dtype[16] = "bf16";
    *array = (struct sp_array){0};
    if (open && open - text > 0)
        snprintf(dtype, sizeof dtype, "%.*s", (int)(open - text < 15 ? open - text : 15), text);
    const struct sp_element element = sp_element_of(dtype);
    array->element_bytes = element.bytes;
    array->dtype = element.dtype;
    if (array->element_bytes <= 0)
        return sp_fail(error, SP_INPUT,
                       "%s: \"%s\": expected an element type such as bf16, fp32, fp8 or int8", what,
                       sp_safe(dtype));
    for (;;) {
        char word[40];
        const size_t n = strcspn(at, ",]");
        double dim;
        snprintf(word, sizeof word, "%.*s", (int)(n < 39 ? n : 39), at);
        if (array->n == SP_MAX_DIMS || !sp_parse_number(word, &dim) || dim < 1 || dim > 1e18 ||
            dim != floor(dim))
            return sp_fail(
                error, SP_INPUT,
                "%s: \"%s\": expected a type and up to %d sizes, such as bf16[1024,4096]", what,
                sp_safe(text), SP_MAX_DIMS);
        array->dim[array->n++] = dim;
        at += n;
        if (*at != ',')
            break;
        at++;
    }
    if (open ? strcmp(at, "]") != 0 : *at != '\0')
        return sp_fail(error, SP_INPUT, "%s: \"%s\": expected ] at the end", what, sp_safe(text));
    return true;
}

double sp_array_bytes(const struct sp_array *array)
{
    double bytes = array->element_bytes;
    for (int i = 0; i < array->n; i++)
        bytes *= array->dim[i];
    return bytes;
}

int sp_mesh_axis(const struct sp_mesh *mesh, char name)
{
    for (int i = 0; i < mesh->n; i++)
        if (mesh->name[i] == name)
            return i;
    return -1;
}

bool sp_parse_mesh(const char *text, struct sp_mesh *mesh, struct sp_error *error)
{
    double devices = 1;
    if (!text)
        return sp_fail(error, SP_USAGE, "--mesh X=4,Y=8 is needed");
    while (*text) {
        char word[32];
        const size_t n = strcspn(text, ",");
        double length;
        snprintf(word, sizeof word, "%.*s", (int)(n < 31 ? n : 31), text);
        if (word[0] < 'A' || word[0] > 'Z' || word[1] != '=' ||
            !sp_parse_number(word + 2, &length) || length < 1 || length > 1e6 ||
            length != floor(length) || mesh->n == SP_MESH_AXES)
            return sp_fail(error, SP_INPUT,
                           "--mesh: \"%s\": expected up to %d AXIS=LENGTH with a capital letter, "
                           "such as X=4,Y=8",
                           sp_safe(word), SP_MESH_AXES);
        if (sp_mesh_axis(mesh, word[0]) >= 0)
            return sp_fail(error, SP_INPUT, "--mesh: axis %c is given twice", word[0]);
        devices *= length;
        mesh->name[mesh->n] = word[0];
        mesh->length[mesh->n++] = (int64_t)length;
        text += n + (text[n] == ',');
    }
    return devices <= 1e12 || sp_fail(error, SP_INPUT, "--mesh: more than 10^12 devices");
}
