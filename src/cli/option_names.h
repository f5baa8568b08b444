/* The names that a command's options have on the line, for getopt. */
#ifndef SP_OPTION_NAMES_H
#define SP_OPTION_NAMES_H

#include <getopt.h>

#include <scaleplan/plan.h>

#include "cli/options.h"
#include "cli/other_words.h"

/* What getopt returns: SP_NAMES_FROM and a place in args->options, or SP_FIXED_FROM and the id of a
 * plan's option, which --fix takes. */
enum { SP_NAMES_FROM = 256, SP_FIXED_FROM = SP_NAMES_FROM + SP_MAX_OPTIONS };
enum { SP_LONG_OPTIONS = 2 * SP_MAX_OPTIONS + SP_PLAN_FIELDS + SP_OTHER_WORDS + 1 };

/* All names of the command's options: a place in `longs` is a name. */
void sp_build_long_options(const struct sp_args *args, struct option longs[SP_LONG_OPTIONS]);

/* Whether a word is the whole name: getopt accepts unique prefixes, and scripts that rely on one
 * would break when an option is added. */
bool sp_is_spelled_out(const char *word, const char *name);

#endif
