/* Defaults of verl that changed between its versions: those of the checkout that the launch lies
 * in. */
#include "launch/verl/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/fields/named_files.h"
#include "launch/formats/syntax.h"

/* The text of one of verl's configurations; NULL: the launch lies in no checkout. */
static char *read_configuration(const struct sp_launch_file *file, const char *configuration)
{
    char name[96], path[1024];
    size_t length;
    snprintf(name, sizeof name, "verl/trainer/config/%s", configuration);
    return sp_read_beside(file->origin, name, path, sizeof path, &length);
}

bool sp_in_verl_checkout(const struct sp_launch_file *file, const char *configuration)
{
    char *const text = read_configuration(file, configuration);
    free(text);
    return text != NULL;
}

bool sp_take_verl_default(const struct sp_launch_file *file, const char *configuration,
                          const char *key, struct sp_settings *s)
{
    const struct sp_typed_names none = {0};
    if (sp_has_setting(s, key))
        return true;
    char *const text = read_configuration(file, configuration);
    struct sp_settings *const base = sp_new_settings(s);
    struct sp_error unread = {0};
    base->error = &unread;
    const char *const value =
        text && sp_read_yaml(text, &none, base, NULL) ? sp_peek_setting(base, key) : NULL;
    const bool known = value && !strchr(value, '$'), ok = !known || sp_add_setting(s, key, value);
    free(base);
    free(text);
    return ok;
}
