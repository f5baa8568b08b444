/* Files that a launch names, and where they lie. */
#include "launch/fields/named_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/read_file.h"
#include "base/memory.h"
#include "base/text.h"
#include "launch/fields/settings.h"
#include "launch/shell/commands.h"
#include "launch/shell/state.h"

/* The text of a file at `n` bytes of a folder and a name, for free(); NULL: none. */
static char *read_at(const char *folder, int n, const char *name, char *path, size_t size,
                     size_t *length)
{
    struct sp_error none = {0};
    const int used = snprintf(path, size, "%.*s%s", n, folder, name);
    char *const text = used > 0 && (size_t)used < size
                           ? sp_read_file(NULL, path, SP_JSON_MAX_BYTES, length, &none)
                           : NULL;
    if (text && strlen(text) == *length)
        return text;
    free(text);
    return NULL;
}

/* Bytes of the folder above, with its slash; -1: none in the path. */
static int above(const char *path, int n)
{
    n -= n > 0;
    while (n > 0 && path[n - 1] != '/')
        n--;
    return n > 0 ? n : -1;
}

/* A file in a folder of the path or above it; for a relative path above its beginning, up to a few
 * levels. */
static char *read_upwards(const char *from, int folder, const char *name, char *path, size_t size,
                          size_t *length)
{
    static const char levels[] = "../../../../../../";
    char *text = NULL;
    for (int n = folder; n >= 0 && !text; n = above(from, n))
        text = read_at(from, n, name, path, size, length);
    if (!text)
        text = read_at("", 0, name, path, size, length);
    for (int n = 3; from[0] != '/' && name[0] != '/' && n < (int)sizeof levels && !text; n += 3)
        text = read_at(levels, n, name, path, size, length);
    return text;
}

/* An absolute name from another machine: if no such file is here, its last parts (two or more, the
 * longest first) are looked for beside the script and above. */
static char *read_elsewhere(const char *from, int folder, const char *name, char *path, size_t size,
                            size_t *length)
{
    char *text = read_at("", 0, name, path, size, length);
    for (name++; !text && strchr(name, '/'); name = strchr(name, '/') + 1)
        text = read_upwards(from, folder, name, path, size, length);
    return text;
}

char *sp_read_beside(const char *from, const char *name, char *path, size_t size, size_t *length)
{
    const char *const mark = strrchr(name, SP_MARK_END); /* "${ROOT}/configs/zero3.json" */
    if (mark)
        name = mark + 1 + strspn(mark + 1, "/");
    const char *const slash = strrchr(from, '/'), *const last = strrchr(name, '/');
    const int folder = slash ? (int)(slash - from) + 1 : 0;
    if (strncmp(name, from, (size_t)folder) == 0) /* "$(dirname $0)/models/size.sh" */
        name += folder;
    if (name[0] == '/')
        return read_elsewhere(from, folder, name, path, size, length);
    char *const text = read_upwards(from, folder, name, path, size, length);
    return text ? text : read_at(from, folder, last ? last + 1 : name, path, size, length);
}

char *sp_read_named(const struct sp_launch_file *file, const char *name, size_t *length)
{
    char path[1024];
    const struct sp_script *const script = file->script;
    for (int i = script ? script->n_files - 1 : -1; i >= 0; i--)
        if (sp_is(sp_base_name(script->files[i].name), sp_base_name(name))) {
            *length = strlen(script->files[i].text);
            return sp_must(strdup(script->files[i].text));
        }
    return sp_read_beside(file->origin, name, path, sizeof path, length);
}
