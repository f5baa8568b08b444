/* Files that a launch names: where they lie. */
#include "launch/fields/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/read_file.h"

char *sp_read_beside(const char *from, const char *name, char *path, size_t size, size_t *length)
{
    const char *const slash = strrchr(from, '/'), *const last = strrchr(name, '/');
    const int folder = slash && name[0] != '/' ? (int)(slash - from) + 1 : 0;
    const struct {
        int folder;
        const char *name;
    } places[] = {{folder, name}, {0, name}, {folder, last ? last + 1 : name}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct sp_error none = {0};
        const int n = snprintf(path, size, "%.*s%s", places[i].folder, from, places[i].name);
        char *const text = n > 0 && (size_t)n < size
                               ? sp_read_file(NULL, path, SP_JSON_MAX_BYTES, length, &none)
                               : NULL;
        if (text && strlen(text) == *length)
            return text;
        free(text);
    }
    return NULL;
}
