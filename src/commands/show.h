/* Parts of `show`: the config's own fields, and what follows from them. */
#ifndef SP_CMD_SHOW_H
#define SP_CMD_SHOW_H

#include "cli/command.h"

/* A config as loaded and as written. */
struct sp_shown {
    enum sp_config_kind kind;
    const struct sp_sources *sources;
    const cJSON *root; /* the file */
    const void *base;  /* the struct of its kind */
};

/* The node at a dotted path, or NULL; its text, or "". */
const cJSON *sp_node_at(const cJSON *root, const char *path);
const char *sp_text_at(const cJSON *root, const char *path);

/* The table of fields with their sources, remarks of the file, and where sources disagree. */
void sp_show_fields(struct sp_report *report, const struct sp_shown *shown);
void sp_show_sources(struct sp_report *report, const struct sp_shown *shown);

/* Tables of what follows. */
void sp_show_model(struct sp_report *report, const struct sp_model *model);
void sp_show_precision(struct sp_report *report, const struct sp_precision *precision);
void sp_show_scaleout(struct sp_report *report, const struct sp_scaleout *scaleout);
void sp_show_chip(struct sp_report *report, const struct sp_hardware *hw);

/* The machine that a name with a size stands for: sums, bisection, switches. */
void sp_show_machine(struct sp_report *report, const struct sp_hardware *hw);

/* The whole pod, or one full node. */
void sp_show_pod(struct sp_report *report, const struct sp_hardware *hw);

/* One table of all quantities put since entry `first` that have a value. */
void sp_show_section(struct sp_report *report, const char *heading, size_t first);

#endif
