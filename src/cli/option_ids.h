/* The names of options in C, from options.def. */
#ifndef SP_OPTION_IDS_H
#define SP_OPTION_IDS_H

/* The name of an option in C: SP_O_micro_batch. After them, names in a command's list for several
 * options: one for each field of a plan, --max-... for each field that a search counts up. */
#define SP_OPTION(member, ...) SP_O_##member,
enum sp_option_id {
#include "cli/options.def"
    SP_OPTION_IDS,
    SP_EACH_FIELD = SP_OPTION_IDS,
    SP_EACH_MOST,
    SP_NO_OPTION
};

#endif
