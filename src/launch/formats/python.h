/* Python that trains, as settings: the keywords of its calls. No code runs. */
#ifndef SP_LAUNCH_PYTHON_H
#define SP_LAUNCH_PYTHON_H

#include "launch/formats/python_values.h"
#include "launch/formats/syntax.h"

/* A call in a text: the last name of what is called and its whole path, the name that its value is
 * given to and the function around it ("": none), its arguments, its line, and the line of a branch
 * that it stands in (0: none). */
struct sp_call {
    char name[64], path[96], target[64], function[64];
    const char *from, *to;
    int line, branch;
};

/* An argument of a call: its keyword ("" where it has none), and its value as it stands there. */
struct sp_argument {
    char keyword[64];
    const char *from, *to;
    int place; /* among those without a keyword */
};

/* Takes the next argument of a call from `at` on, which moves; false after the last. */
bool sp_next_argument(const struct sp_call *call, const char **at, struct sp_argument *argument);

/* Adds an argument as a setting of that name: what a literal, a name, a product of them or
 * is_bf16_supported() stands for; all else is a gap. */
bool sp_take_argument(const struct sp_python *python, const struct sp_call *call,
                      const struct sp_argument *argument, const char *name,
                      struct sp_settings *settings);

/* Visits the arguments of a call, and those of dicts behind "**", which are literals, names of
 * such, and what their keys were given since; where nothing tells, the keyword is "**". Stops with
 * false where a visit does. */
typedef bool sp_visit_argument(void *to, const struct sp_python *python, const struct sp_call *call,
                               const struct sp_argument *argument);
bool sp_visit_arguments(const struct sp_python *python, const struct sp_call *call,
                        sp_visit_argument *visit, void *to);

/* Visits the calls of a text in its order, and assignments to attributes as calls of the name "="
 * with the value as their argument; stops with false where a visit does. `path`: where the text
 * lies, whose files beside it imports names from. */
typedef bool sp_visit(void *to, const struct sp_python *python, const struct sp_call *call);
bool sp_read_calls(const char *text, const char *path, const struct sp_typed_names *names,
                   sp_visit *visit, void *to);

/* Adds what a text gives names outside of functions and classes, as far as it is a literal or a sum
 * of such; all else is a gap. */
bool sp_read_names(const char *text, const struct sp_typed_names *names,
                   struct sp_settings *settings);

/* The code of a notebook as one text, for free(); NULL where the JSON is none. */
char *sp_notebook_code(const cJSON *root);

#endif
