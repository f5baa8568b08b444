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

/* Tables of what follows from a config of each kind. */
void sp_show_model(struct sp_report *report, const struct sp_shown *shown);
void sp_show_precision(struct sp_report *report, const struct sp_shown *shown);
void sp_show_number_format(struct sp_report *report, const struct sp_shown *shown);
void sp_show_trend(struct sp_report *report, const struct sp_shown *shown);
void sp_show_scaleout(struct sp_report *report, const struct sp_shown *shown);
void sp_show_hardware(struct sp_report *report, const struct sp_shown *shown);

/* The machine that a name with a size stands for: sums, bisection, switches. */
void sp_show_machine(struct sp_report *report, const struct sp_hardware *hw);

/* The figures of its chip. */
void sp_show_chip(struct sp_report *report, const struct sp_hardware *hw);

/* What `list` and `show` say of a kind beyond the fields of its table: a line of `list` with its
 * columns behind the name, and what follows. A kind without a row here has its names and fields
 * alone. */
enum { SP_VIEW_COLUMNS = 6 };
struct sp_kind_view {
    void (*list)(struct sp_report *report, const void *config);
    struct sp_column columns[SP_VIEW_COLUMNS];
    void (*show)(struct sp_report *report, const struct sp_shown *shown);
};
extern const struct sp_kind_view sp_kind_views[SP_CONFIG_KINDS];

/* One table of all quantities put since entry `first` that have a value. */
void sp_show_section(struct sp_report *report, const char *heading, size_t first);

#endif
