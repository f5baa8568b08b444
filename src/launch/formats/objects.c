/* The configuration that a Python text makes. */
#include "launch/formats/objects.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct sp_object sp_new_object(struct sp_objects *objects)
{
    return (struct sp_object){.number = ++objects->last};
}

struct sp_object sp_part_of(const struct sp_object *object, const char *name)
{
    struct sp_object part = {.number = object->number};
    sp_append(part.path, sizeof part.path, "%s", object->path);
    sp_append(part.path, sizeof part.path, "%s%s", object->path[0] && name[0] ? "." : "", name);
    return part;
}

/* A field's name after that of its part; NULL: not a field of that part. */
static const char *inside(const struct sp_object_field *field, const struct sp_object *part)
{
    const size_t n = strlen(part->path);
    if (field->object != part->number || strncmp(field->name, part->path, n) != 0)
        return NULL;
    return n == 0 ? field->name : field->name[n] == '.' ? field->name + n + 1 : NULL;
}

const struct sp_object_field *sp_field_at(const struct sp_objects *objects,
                                          const struct sp_object *object, const char *name)
{
    const struct sp_object whole = sp_part_of(object, name);
    for (int i = 0; i < objects->n; i++)
        if (objects->at[i].object == whole.number && sp_is(objects->at[i].name, whole.path))
            return &objects->at[i];
    return NULL;
}

bool sp_is_made(const struct sp_objects *objects, const struct sp_object *object)
{
    bool made = false;
    for (int i = 0; i < objects->n && !made; i++) {
        const char *const name = inside(&objects->at[i], object);
        made = name && !sp_is(name, "_target_");
    }
    return made;
}

static void clear(struct sp_objects *objects, const struct sp_object *whole)
{
    int kept = 0;
    for (int i = 0; i < objects->n; i++)
        if (!inside(&objects->at[i], whole) &&
            !(objects->at[i].object == whole->number && sp_is(objects->at[i].name, whole->path)))
            objects->at[kept++] = objects->at[i];
    objects->n = kept;
}

void sp_put_field(struct sp_objects *objects, const struct sp_object *object, const char *name,
                  const struct sp_object_field *field)
{
    const struct sp_object whole = sp_part_of(object, name);
    const struct sp_object_field copy = *field;
    clear(objects, &whole);
    objects->full = objects->full || objects->n == SP_OBJECT_FIELDS;
    if (objects->n == SP_OBJECT_FIELDS || !whole.path[0])
        return;
    struct sp_object_field *const put = &objects->at[objects->n++];
    *put = copy;
    put->object = whole.number;
    snprintf(put->name, sizeof put->name, "%s", whole.path);
}

void sp_put_part(struct sp_objects *objects, const struct sp_object *object, const char *name,
                 const struct sp_object *from)
{
    const struct sp_object whole = sp_part_of(object, name);
    if (whole.number == from->number && sp_is(whole.path, from->path))
        return;
    const struct sp_object held =
        sp_new_object(objects); /* it may be a part of the cleared object */
    for (int i = 0, n = objects->n; i < n; i++) {
        const char *const rest = inside(&objects->at[i], from);
        if (rest)
            sp_put_field(objects, name[0] ? &held : object, rest, &objects->at[i]);
    }
    if (!name[0])
        return;
    clear(objects, &whole);
    for (int i = 0; i < objects->n; i++)
        if (objects->at[i].object == held.number) {
            const struct sp_object moved = sp_part_of(&whole, objects->at[i].name);
            objects->at[i].object = moved.number;
            snprintf(objects->at[i].name, sizeof objects->at[i].name, "%s", moved.path);
        }
}
