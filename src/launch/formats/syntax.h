/* Files of settings: YAML and TOML, and recognising a text's syntax. */
#ifndef SP_LAUNCH_SYNTAX_H
#define SP_LAUNCH_SYNTAX_H

#include "launch/fields/settings.h"

enum sp_syntax { SP_SHELL, SP_JSON, SP_YAML, SP_TOML, SP_PYTHON };

/* The syntax of a text, by its first line that is not a comment: "{" opens JSON, or YAML after a
 * comment; "[name]" TOML; "from NAME import" and "def NAME(" Python; "key:" YAML; anything else is
 * a shell script, unless the file's name ends like Python's. */
enum sp_syntax sp_syntax_of(const char *text, const char *name);

/* Takes the scalars of a YAML document as settings. Names of nested ones are joined by dots, items
 * of a list of scalars by blanks; null is not given. "${NAME}", "${NAME:default}" and
 * "${NAME:-default}" get the value that was typed, or the default, or are a gap. `scripts` gets the
 * texts of several words, one or more lines each, for free(); it may be NULL. */
bool sp_read_yaml(const char *text, const struct sp_typed_names *names,
                  struct sp_settings *settings, char **scripts);

/* Writes settings as YAML; those of a section, "SECTION.NAME", follow one another. */
void sp_put_yaml(const struct sp_settings *settings, FILE *out);

/* Takes the values of a TOML document as settings, names joined by dots. */
bool sp_read_toml(const char *text, struct sp_settings *settings);

/* Takes the fields of the configuration that a Python recipe's function makes as settings, their
 * names joined by dots, and "from FILE import NAME" as the setting FILE with that value. Functions
 * are followed, also into files beside this one. No code runs: values that do not come from
 * literals, names or sums are unknown, and so are those set in a branch with an unknown condition.
 * If several functions make a configuration, the requested one is read. The setting
 * `sp_recipe_base` names the function from which a configuration starts, if that is not in the
 * file. */
extern const char sp_recipe_base[];
bool sp_read_recipe(const char *text, const struct sp_typed_names *names,
                    struct sp_settings *settings);

/* The bytes of a blank that is to be filled in, "<YOUR PATH>", where one starts here; else 0. */
size_t sp_length_of_blank(const char *at);

/* The value that was typed for a name, or NULL. */
const char *sp_typed_value(const struct sp_typed_names *names, const char *name, size_t n);

/* The same for JSON, which is YAML except for its tabs and has already been checked for errors. */
void sp_read_json(const char *text, const struct sp_typed_names *names,
                  struct sp_settings *settings);

#endif
