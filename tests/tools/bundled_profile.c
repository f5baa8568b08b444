/* A profile as a file of configs. */
#include "bundled_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "host/write_file.h"
#include "runs/profile_file.h"

void sp_write_bundled_profile(const char *folder, const struct sp_profile *p, const char *fitted_to,
                              const char *sources)
{
    char *path, *bundled;
    struct sp_error error = {0};
    char *const text = sp_profile_text(p, fitted_to, sources);
    if (asprintf(&path, "%s/%s.json", folder, p->name) < 0 ||
        asprintf(&bundled, "{\n  \"$schema\": \"../schema/%s.json\",%s",
                 p->serves ? "serving" : "profiles", text + 1) < 0)
        abort();
    if (!sp_write_file(path, bundled, strlen(bundled), &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    free(bundled);
    free(text);
    free(path);
}

void sp_add_source(char *sources, size_t size, const char *source)
{
    const size_t used = strlen(sources);
    if (!strstr(sources, source))
        snprintf(sources + used, size - used, "%s%s", used ? "; " : "", source);
}

int sp_print_implausible(const struct sp_profile *fitted, int n)
{
    int worse = 0;
    for (int i = 0; i < n; i++) {
        char names[384], name[64];
        const char *list = sp_implausible_constants(&fitted[i], names, sizeof names);
        while (*names && sp_next_item(&list, name, sizeof name)) {
            printf("the fit fails on %s of %s: a cause is missing\n", name + strspn(name, " "),
                   fitted[i].name);
            worse++;
        }
    }
    return worse;
}
