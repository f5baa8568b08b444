/* Python that trains, as settings: the keywords of its calls. No code runs. */
#ifndef SP_LAUNCH_PYTHON_H
#define SP_LAUNCH_PYTHON_H

#include "launch/formats/python_values.h"
#include "launch/formats/syntax.h"

/* A call in a text: the last name of the called object and its whole path, the name that receives
 * its value and the function around it ("": none), its arguments, its line, and the line of the
 * branch that contains it (0: none). */
struct sp_call {
    char name[64], path[96], target[64], function[64];
    const char *from, *to;
    int line, branch;
    int def; /* the line of the function around it; 0: none */
};

/* An argument of a call: its keyword ("" if it has none), and its value as written. */
struct sp_argument {
    char keyword[64];
    const char *from, *to;
    int place; /* among those without a keyword */
};

/* Reads the next argument of a call from `at`, which moves on; false after the last. */
bool sp_next_argument(const struct sp_call *call, const char **at, struct sp_argument *argument);

/* Adds an argument as a setting of that name: the value of a literal, a name, a product of them or
 * is_bf16_supported(); anything else is a gap. */
bool sp_take_argument(const struct sp_python *python, const struct sp_call *call,
                      const struct sp_argument *argument, const char *name,
                      struct sp_settings *settings);

/* Visits the arguments of a call, and those of dicts after "**": literals, names of literals, and
 * values assigned to their keys later. If they are unknown, the keyword is "**". Stops with
 * false if a visit does. */
typedef bool sp_visit_argument(void *to, const struct sp_python *python, const struct sp_call *call,
                               const struct sp_argument *argument);
bool sp_visit_arguments(const struct sp_python *python, const struct sp_call *call,
                        sp_visit_argument *visit, void *to);

/* Visits the calls of a text in order, and assignments to attributes as calls of the name "=" with
 * the value as their argument; stops with false if a visit does. `path`: the place of the text,
 * beside which imported files lie. */
typedef bool sp_visit(void *to, const struct sp_python *python, const struct sp_call *call);
bool sp_read_calls(const char *text, const char *path, const struct sp_typed_names *names,
                   sp_visit *visit, void *to);

/* Adds the names that a text assigns outside of functions and classes, if their values are literals
 * or sums of literals; anything else is a gap. */
bool sp_read_names(const char *text, const struct sp_typed_names *names,
                   struct sp_settings *settings);

/* The code of a notebook as one text, for free(); NULL if the JSON is not a notebook. */
char *sp_notebook_code(const cJSON *root);

#endif
