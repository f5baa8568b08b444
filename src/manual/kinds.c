/* Descriptions of fields for the manual. */

#include "manual/manual.h"

void sp_field_words(const struct sp_field *field, char *out, size_t size)
{
    static const char *const types[] = {
        [SP_FIELD_TEXT] = "text",
        [SP_FIELD_INT] = "whole number",
        [SP_FIELD_REAL] = "number",
        [SP_FIELD_FIGURE] = "number, or {value, textbook, source, note}",
        [SP_FIELD_BOOL] = "true or false",
        [SP_FIELD_ENUM] = "one of ",
        [SP_FIELD_SHAPE] = "shape such as 16x16x16",
        [SP_FIELD_SHAPES] = "list of shapes",
        [SP_FIELD_WORDS] = "list of texts",
        [SP_FIELD_ROWS] = "an object for each name",
        [SP_FIELD_PROSE] = "text, list or object; not computed with",
    };
    snprintf(out, size, "%s", types[field->type]);
    if (field->type == SP_FIELD_ENUM)
        for (int i = 0; field->names[i]; i++) {
            sp_append(out, size, "%s", i ? ", " : "");
            sp_append(out, size, "%s", field->names[i]);
        }
    if (field->type == SP_FIELD_INT || field->type == SP_FIELD_REAL ||
        field->type == SP_FIELD_FIGURE) {
        char range[96], min[32], max[32];
        sp_format_double(field->min, min, sizeof min);
        sp_format_double(field->max, max, sizeof max);
        snprintf(range, sizeof range, ", %s to %s%s%s", min, max, field->unit[0] ? " " : "",
                 field->unit);
        sp_append(out, size, "%s", range);
    }
    if (field->required)
        sp_append(out, size, "; required");
}
