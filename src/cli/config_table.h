/* The fields of a config file with their sources, as a table of a report. */
#ifndef SP_CONFIG_TABLE_H
#define SP_CONFIG_TABLE_H

#include "cli/command.h"

/* A config as loaded and as written. */
struct sp_config_shown {
    enum sp_config_kind kind;
    const struct sp_sources *sources;
    const cJSON *root; /* the file */
    const void *base;  /* the struct of its kind */
};

/* The node at a dotted path, or NULL; its text, or "". */
const cJSON *sp_json_node(const cJSON *root, const char *path);
const char *sp_json_text(const cJSON *root, const char *path);

/* A table of the fields that the file or --set gives; fields of long text are lines below it. */
void sp_put_config_fields(struct sp_report *report, const struct sp_config_shown *shown);

/* A table of the sources that the file names, and a note for each figure that they disagree on. */
void sp_put_config_sources(struct sp_report *report, const struct sp_config_shown *shown);

#endif
