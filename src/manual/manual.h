/* What is written from the tables of the program: man pages, completions, schemas, the reference.
 */
#ifndef SP_MANUAL_H
#define SP_MANUAL_H

#include <stdio.h>

#include "cli/command.h"

/* Each returns false when there is no such command, shell or kind. */
bool sp_write_man_page(const char *name, const char *version, FILE *out); /* "scaleplan-fit.1" */
bool sp_write_completion(const char *shell, FILE *out);                   /* "bash" */
bool sp_write_schema(const char *kind, FILE *out);                        /* "model" */
void sp_write_config_reference(FILE *out);                                /* Markdown */

/* "a whole number from 1 to 10000", "tokens"; ... of a field, as people read it. */
void sp_field_words(const struct sp_field *field, char *out, size_t size);

/* What may follow an option, or stand alone after a command: names of configs (of the kind in
 * `list`, of all where it is ""), files, folders, words, another command, or anything. */
enum sp_operand { SP_ANY, SP_NAMES, SP_FILES, SP_FOLDERS, SP_WORDS_OF, SP_COMMANDS };
enum sp_operand sp_operand_of(const struct sp_option *option, const char **list);
enum sp_operand sp_operand_of_command(const struct sp_command *command, const char **list);

#endif
