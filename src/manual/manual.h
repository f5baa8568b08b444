/* Texts made from the tables of the program: man pages, completions, schemas, the reference. */
#ifndef SP_MANUAL_H
#define SP_MANUAL_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/operands.h"

/* Each returns false when there is no such command, shell or kind. */
bool sp_write_man_page(const char *name, const char *version, FILE *out); /* "scaleplan-fit.1" */
bool sp_write_schema(const char *kind, FILE *out);                        /* "model" */
void sp_write_config_reference(FILE *out);                                /* Markdown */
void sp_write_formulas(FILE *out);                                        /* Markdown */

/* A field's values and unit in words: "a whole number from 1 to 10000", "tokens". */
void sp_field_words(const struct sp_field *field, char *out, size_t size);

#endif
