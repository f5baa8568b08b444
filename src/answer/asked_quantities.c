/* Which quantities --get may ask for; the others are not put. */
#include "answer/asked_quantities.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"

/* Whether a text begins with the first `n` bytes of another as whole parts of a path. */
static bool begins(const char *text, const char *with, size_t n)
{
    return strncmp(text, with, n) == 0 && (text[n] == '\0' || text[n] == '.');
}

/* Whether a row's key, after some scope, can be a typed key or a part of it. */
static bool may_lie_in(const char *row, const char *typed)
{
    for (const char *tail = typed; tail; tail = strchr(tail, '.')) {
        tail += *tail == '.';
        if (begins(row, tail, strlen(tail)))
            return true;
    }
    return false;
}

struct sp_asked *sp_asked_of(const char *keys)
{
    struct sp_asked *const asked = sp_must(calloc(1, sizeof *asked));
    char key[160];
    asked->keys = sp_must(strdup(keys));
    while (sp_next_item(&keys, key, sizeof key))
        for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
            const struct sp_quantity_info row = sp_quantity(id);
            const char *const typed = key + strspn(key, " ");
            asked->may_be[id] = asked->may_be[id] || may_lie_in(row.key, typed) ||
                                (row.old_key && may_lie_in(row.old_key, typed));
        }
    return asked;
}

void sp_free_asked(struct sp_asked *asked)
{
    if (asked)
        free(asked->keys);
    free(asked);
}

enum sp_asked_part sp_asked_part_of(const struct sp_asked *asked, const char *prefix)
{
    enum sp_asked_part part = SP_ASKED_NONE;
    const size_t length = strlen(prefix);
    if (length == 0)
        return SP_ASKED_SOME;
    for (const char *at = asked->keys; *at; at += *at == ',') {
        const char *const name = at + strspn(at, " ");
        at = name + strcspn(name, ",");
        if (begins(prefix, name, (size_t)(at - name)))
            return SP_ASKED_ALL;
        if (begins(name, prefix, length) || (name + length == at && !strncmp(name, prefix, length)))
            part = SP_ASKED_SOME;
    }
    return part;
}
