/* Values that decide an answer. */
#include "launch/fields/deciding.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "base/truth.h"

bool sp_fits(const char *list, const char *end, const char *text)
{
    while (list < end) {
        char pattern[96];
        list += strspn(list, " ");
        const size_t n = strcspn(list, " \n");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, list);
        if (n > 0 && list < end && fnmatch(pattern, text, 0) == 0)
            return true;
        list += n > 0 ? n : (size_t)(end - list);
    }
    return false;
}

void sp_core_option(const char *lines, const char *name, const char *value, char *out, size_t size)
{
    const char *row = lines;
    out[0] = '\0';
    name += strspn(name, "-");
    while (row && *row && !out[0]) {
        const char *const end = row + strcspn(row, "\n"), *const colon = strchr(row, ':');
        if (colon && colon < end && sp_fits(colon + 1, end, name))
            snprintf(out, size, "%.*s", (int)(colon - row), row);
        row = end + (*end == '\n');
    }
    if ((value[0] && sp_yaml_truth(value) == 0) || strcasecmp(value, "none") == 0 ||
        (sp_is(value, "1") && sp_is_listed("tp,pp,cp,ep", out, '\0')) ||
        (sp_is(value, "0") && sp_is(out, "lora-rank")) ||
        (sp_is(value, "full") && sp_is(out, "trainable"))) /* all weights, as without it */
        out[0] = '\0';
}

void sp_add_unread(struct sp_launch *launch, const char *option, const char *name,
                   const char *value, int line)
{
    if (launch->n_unread == SP_LAUNCH_UNREAD)
        return;
    struct sp_unread *const u = &launch->unread[launch->n_unread++];
    snprintf(u->option, sizeof u->option, "%s", option);
    snprintf(u->name, sizeof u->name, "%s", name);
    snprintf(u->value, sizeof u->value, "%.60s", value);
    u->line = line;
}
