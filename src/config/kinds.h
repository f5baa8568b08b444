/* Properties of a kind of config files, from its row in kinds.def. */
#ifndef SP_KINDS_H
#define SP_KINDS_H

#include <stdbool.h>

#include "config/fields.h"
#include "config/kinds.def"

/* Lists of kinds for messages: SP_KINDS(SP_KIND_FOLDER, ", "). */
#define SP_KIND_FOLDER(kind, folder, ...) folder
#define SP_KIND_NAME(kind, folder, name, ...) name
#define SP_KIND_NOUN(kind, folder, name, noun, ...) noun
#define SP_KIND_NOUNS(kind, folder, name, noun, nouns, ...) nouns

#define SP_KIND(kind, ...) kind,
enum sp_config_kind { SP_KINDS(SP_KIND, ) SP_CONFIG_KINDS };
#undef SP_KIND

/* A kind of config files. */
struct sp_config_kind_info {
    const char *folder; /* "models" */
    const char *name;   /* "model", of --kind */
    const char *noun;   /* in sentences */
    const struct sp_field_table *table;
    bool sets;         /* --set applies, prefixed by the table's name */
    const char *marks; /* keys, comma-separated, that distinguish its files from earlier kinds */
    const char *about;
};
extern const struct sp_config_kind_info sp_config_kinds[SP_CONFIG_KINDS];

/* The kind of a file by its keys; a model if no key decides. */
enum sp_config_kind sp_guess_kind(const cJSON *root);

#endif
