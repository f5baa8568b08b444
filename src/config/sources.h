/* Where configs are looked for, and how they are read. */
#ifndef SP_SOURCES_H
#define SP_SOURCES_H

#include <stdbool.h>

struct sp_world;

/* Command-line options for finding and reading configs. */
struct sp_sources {
    const char *config_dir;  /* --config-dir, or NULL */
    bool textbook;           /* --constants textbook */
    const char *assume;      /* --assume: family for a Hugging Face config, or NULL */
    const char *const *sets; /* --set PATH=VALUE, n_sets of them */
    int n_sets;
    struct sp_world *world; /* inputs that this run has read; or NULL */
};

#endif
