/* A function of a recipe while it is followed, what it has made, and functions as values. */
#ifndef SP_LAUNCH_RECIPE_FRAME_H
#define SP_LAUNCH_RECIPE_FRAME_H

#include "launch/formats/objects.h"
#include "launch/formats/python.h"
#include "launch/formats/python_lines.h"

struct sp_python_function;
struct sp_kept_function;
struct sp_recipe_frame;

enum { SP_RECIPE_FILES = 8, SP_RECIPE_STEPS = 20000 };

/* The file that is read, those that it imports from, and the objects that they make. */
struct sp_recipe_run {
    const struct sp_typed_names *names;
    struct sp_settings *s;
    struct sp_objects objects;
    struct sp_python_file files[SP_RECIPE_FILES];
    int n_files, steps;
    char **kept; /* texts of values */
    int n_kept;
    struct sp_kept_function *functions; /* and functions, with what they were defined in */
    struct sp_recipe_frame *frames;
    int n_frames;
};

/* The value of an expression: a known text, a part of an object, or unknown. */
struct sp_python_result {
    enum { SP_UNTOLD, SP_TOLD, SP_OBJECT } kind;
    struct sp_object_field text;
    struct sp_object object;
    const struct sp_python_function *function; /* unknown as text; NULL: it is not a function */
};

enum { SP_RECIPE_DEEPEST = 8, SP_RECIPE_VARIABLES = 48 };

/* A function: its file, its line there (-1: the file's own statements), and the frame of the
 * function around it (NULL: there is none). */
struct sp_python_function {
    const struct sp_python_file *module;
    int def;
    struct sp_recipe_frame *outer;
};

/* A function that is followed. */
struct sp_recipe_frame {
    struct sp_recipe_run *run;
    const struct sp_python_file *module;
    struct sp_python *names;
    struct {
        char name[64];
        struct sp_object object;
        const struct sp_python_function *function;
    } at[SP_RECIPE_VARIABLES];
    int n, depth;
    /* the branch that it is in, the one that it was called in, one that may have returned */
    char branch[80], caller_branch[80], doubt[80];
    bool done;
    bool positional; /* it was called with arguments without a name */
    bool outer;      /* a function was defined in it, which needs its names */
    struct sp_python_result returned;
    struct sp_object last;        /* whose fields were set */
    struct sp_recipe_frame *next; /* of those that stay */
};

/* A frame for a function and its end; it stays until the run ends if a function was defined in
 * it. */
struct sp_recipe_frame *sp_new_frame(struct sp_recipe_run *run,
                                     const struct sp_python_function *function,
                                     const struct sp_recipe_frame *caller);
void sp_leave_frame(struct sp_recipe_frame *frame);

/* Gives a name of a function a value: an object, a function, or a text that expressions have. */
void sp_bind_recipe(struct sp_recipe_frame *frame, const char *name,
                    const struct sp_python_result *value);

/* The function to which a name was bound, or which an expression names; NULL: neither is a
 * function. */
const struct sp_python_function *sp_function_named(const struct sp_recipe_frame *frame,
                                                   const char *name);
const struct sp_python_function *sp_function_of(struct sp_recipe_frame *frame, const char *from,
                                                const char *to);

/* Binds the name of the function that a line defines. With `inner` it is defined in the
 * function of the frame, whose names it has. */
void sp_bind_function(struct sp_recipe_frame *frame, int line, bool inner);

/* Sets a field of an object to a value. */
void sp_set_recipe_field(struct sp_recipe_frame *frame, const struct sp_object *object,
                         const char *name, const struct sp_python_result *value);

void sp_free_recipe_run(struct sp_recipe_run *run);

#endif
