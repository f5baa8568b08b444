/* The functions of a Python text, followed statement by statement. */
#ifndef SP_LAUNCH_RECIPE_RUN_H
#define SP_LAUNCH_RECIPE_RUN_H

#include "launch/formats/objects.h"
#include "launch/formats/python.h"
#include "launch/formats/python_lines.h"

enum { SP_RECIPE_FILES = 8 };

/* The file that is read, those that it imports from, and the objects that they make. */
struct sp_recipe_run {
    const struct sp_typed_names *names;
    struct sp_settings *s;
    struct sp_objects objects;
    struct sp_python_file files[SP_RECIPE_FILES];
    int n_files, steps;
    char **kept; /* texts of values */
    int n_kept;
};

/* What an expression gives: a text that is known, a part of an object, or nothing that is known. */
struct sp_python_result {
    enum { SP_UNTOLD, SP_TOLD, SP_OBJECT } kind;
    struct sp_object_field text;
    struct sp_object object;
};

/* Follows a function as it is called without arguments, or (-1) the file's own statements: what it
 * returns, else the object whose fields it set. */
struct sp_python_result sp_follow_recipe(struct sp_recipe_run *run, int def);

void sp_free_recipe_run(struct sp_recipe_run *run);

#endif
