/* The configuration that a Python text makes: objects, whose fields are names joined by dots. */
#ifndef SP_LAUNCH_OBJECTS_H
#define SP_LAUNCH_OBJECTS_H

#include <stdbool.h>

enum { SP_OBJECT_FIELDS = 1024 };

/* A field's value as text; `gap`: its unknown part; `by`: the name on which that depends. */
struct sp_object_field {
    int object;
    char name[96], value[256], gap[96], by[96];
    int line;
};
struct sp_objects {
    struct sp_object_field at[SP_OBJECT_FIELDS];
    int n, last; /* objects that were made */
    bool full;   /* a field found no room */
};

/* A part of an object: its fields below a name; "" is all of it, number 0 none. */
struct sp_object {
    int number;
    char path[96];
};

struct sp_object sp_new_object(struct sp_objects *objects);

/* The part of an object below a name. */
struct sp_object sp_part_of(const struct sp_object *object, const char *name);

/* The field of that name; NULL: none. */
const struct sp_object_field *sp_field_at(const struct sp_objects *objects,
                                          const struct sp_object *object, const char *name);
/* Whether it has more than the name of its class. */
bool sp_is_made(const struct sp_objects *objects, const struct sp_object *object);

/* Gives an object's field a value (object, name and line count as given here), or the fields of
 * another one. Its earlier contents are lost; a part without a name is added to the existing
 * ones. */
void sp_put_field(struct sp_objects *objects, const struct sp_object *object, const char *name,
                  const struct sp_object_field *field);
void sp_put_part(struct sp_objects *objects, const struct sp_object *object, const char *name,
                 const struct sp_object *from);

#endif
