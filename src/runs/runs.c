/* Reads rows of a runs CSV as models, machines and plans. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/read_file.h"
#include "runs/runs.h"
#include "runs/runs_internal.h"

/* Loads the chip with the longest name or alias that begins the column's text. */
static bool load_chip(const struct sp_row_reader *r, struct sp_hardware *hw)
{
    struct sp_run_loaded *const known = r->loaded;
    const char *const hardware = r->run->hardware;
    char name[64];
    for (size_t i = 0; i < known->n_chips; i++)
        if (strcmp(known->chip[i].hardware, hardware) == 0) {
            *hw = known->chip[i].hw;
            return true;
        }
    sp_run_slug(hardware, name, sizeof name);
    while (name[0] != '\0') {
        if (sp_config_exists(SP_HARDWARE, name, r->sources))
            break;
        char *const dash = strrchr(name, '-');
        if (!dash)
            name[0] = '\0';
        else
            *dash = '\0';
    }
    struct sp_error error = {0};
    if (name[0] == '\0' || !sp_load_chip(name, r->sources, hw, &error))
        return false;
    if (known->n_chips == SP_MAX_KNOWN_CHIPS)
        return true; /* the chips of such a file are loaded row by row */
    memcpy(known->chip[known->n_chips].hardware, hardware, sizeof known->chip->hardware);
    known->chip[known->n_chips++].hw = *hw;
    return true;
}

static void read_chip(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    if (!load_chip(r, &run->hw)) {
        sp_row_problem(run, "hw \"%s\" is not known", sp_safe(run->hardware));
        return;
    }
    snprintf(run->chip, sizeof run->chip, "%s", run->hw.name);
    snprintf(run->family, sizeof run->family, "%s",
             run->hw.family[0] ? run->hw.family : run->hw.name);
}

/* The most cubic box of `chips` chips, for a slice that is not offered. */
static struct sp_shape box_of(int64_t chips, int64_t axes)
{
    struct sp_shape shape = {{1, 1, 1}};
    for (int64_t axis = 0; axis < axes; axis++) {
        const double side = pow((double)chips, 1 / (double)(axes - axis));
        int64_t length = (int64_t)(side + 0.5);
        while (length > 1 && chips % length != 0)
            length--;
        shape.axis[axis] = (int32_t)(axis == axes - 1 ? chips : length);
        chips /= length;
    }
    return shape;
}

/* Reads the network of the row's nodes, if stated. */
static void read_network(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    const double gbps = sp_row_number(r, "scaleout_gbps_per_node", 0.1, 1e6);
    run->devices_per_node = sp_row_whole(r, "devices_per_node", 0);
    if (run->devices_per_node < 1)
        run->devices_per_node = sp_chips_per_host(&run->hw.network);
    run->own_network = gbps > 0 && run->hw.network.kind != SP_TORUS;
    run->hw.network.scaleout_given = run->own_network;
    if (run->own_network)
        run->hw.network.scaleout_bytes_per_s = gbps * 1e9 / 8 / (double)run->devices_per_node;
}

/* Slices of a torus: one per replica if its chips can hold the weights, else as few as pods
 * allow. */
static int64_t read_slices(struct sp_row_reader *r, int64_t devices)
{
    const struct sp_network *const network = &r->run->hw.network;
    const int64_t dp = sp_row_whole(r, "dp", 1), pod = sp_shape_chips(&network->pod_shape);
    const double others = (double)sp_row_whole(r, "tp", 1) * (double)sp_row_whole(r, "pp", 1);
    const int64_t fewest = pod > 0 ? (devices + pod - 1) / pod : 1;
    if (dp > 1 && devices % dp == 0 && (double)devices > others * (double)dp)
        return dp;
    return devices % fewest == 0 ? fewest : 1;
}

/* The devices in a machine's name as --hw takes it, "h100-64"; 0: none. */
static int64_t devices_of_name(const struct sp_row_reader *r)
{
    const char *const hardware = sp_row_text(r, "hw"), *const dash = strrchr(hardware, '-');
    char chip[64];
    double devices;
    sp_run_slug(hardware, chip, sizeof chip);
    if (!dash || !isdigit((unsigned char)dash[1]) ||
        sp_config_exists(SP_HARDWARE, chip, r->sources) || !sp_parse_count(dash + 1, &devices))
        return 0;
    return (int64_t)devices;
}

static void read_machine(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    const int64_t devices = sp_row_whole(r, "devices", devices_of_name(r));
    read_chip(r);
    if (devices < 1)
        sp_row_problem(run, "devices are not stated");
    if (run->problem[0] != '\0')
        return;
    const int64_t slices = run->hw.network.kind == SP_TORUS ? read_slices(r, devices) : 1;
    run->hw.chips_per_slice = devices / slices;
    run->hw.slices = slices;
    const int64_t domain = run->hw.network.domain;
    sp_use_domains(&run->hw.network, run->hw.chips_per_slice);
    run->own_domain = run->hw.network.domain != domain;
    if (run->hw.network.kind == SP_TORUS &&
        !sp_find_shape(&run->hw.network, run->hw.chips_per_slice, &run->hw.shape))
        run->hw.shape = box_of(run->hw.chips_per_slice, run->hw.network.axes);
    read_network(r);
}

struct framework_list {
    const struct sp_sources *sources;
    struct sp_framework_file *files;
    size_t n;
    struct sp_error *error;
};

static void add_framework(const char *name, void *context)
{
    struct framework_list *list = context;
    if (list->error->lines > 0)
        return;
    if (list->n == SP_MAX_FRAMEWORKS)
        sp_fail(list->error, SP_INPUT, "more than %d frameworks: no room for %s", SP_MAX_FRAMEWORKS,
                sp_safe(name));
    else if (sp_load_framework(name, list->sources, &list->files[list->n], list->error))
        list->n++;
}

static void copy_cell(const struct sp_row_reader *r, const char *column, char *out, size_t size)
{
    snprintf(out, size, "%s", sp_row_text(r, column));
}

static void read_id(const struct sp_row_reader *r, char *id, size_t size)
{
    copy_cell(r, "id", id, size);
    if (id[0] == '\0')
        snprintf(id, size, "row %zu", r->row + 1);
}

/* A row without a configuration counts as a separate one. */
static void read_group(const struct sp_row_reader *r, const char *id, char group[SP_RUN_GROUP])
{
    copy_cell(r, "config_group", group, SP_RUN_GROUP);
    if (group[0] == '\0')
        snprintf(group, SP_RUN_GROUP, "%s", id);
}

/* Later parts depend on earlier ones, so the first problem ends the row. */
static void read_row(struct sp_row_reader *r)
{
    static void (*const parts[])(struct sp_row_reader *) = {
        read_machine,       sp_read_row_framework, sp_read_row_habits,     sp_read_row_model,
        sp_read_row_tuning, sp_read_row_plan,      sp_read_row_measurement};
    struct sp_run *const run = r->run;
    *run = (struct sp_run){.step_s = NAN, .memory_bytes = NAN, .stage = -1};
    read_id(r, run->id, sizeof run->id);
    copy_cell(r, "source_title", run->source, sizeof run->source);
    copy_cell(r, "hw", run->hardware, sizeof run->hardware);
    copy_cell(r, "model", run->model_name, sizeof run->model_name);
    copy_cell(r, "tier", run->tier, sizeof run->tier);
    copy_cell(r, "scoring", run->scoring, sizeof run->scoring);
    read_group(r, run->id, run->group);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && run->problem[0] == '\0'; i++)
        parts[i](r);
}

/* Refuses two columns of the same name. */
static void check_header(const struct sp_csv *csv, const char *path, struct sp_error *error)
{
    for (size_t c = 0; c < csv->columns && !sp_is_full(error); c++) {
        const int first = sp_csv_column(csv, sp_csv_name(csv, c));
        if (sp_csv_name(csv, c)[0] != '\0' && (size_t)first != c)
            sp_fail(error, SP_INPUT, "%s: column %s is in the header twice",
                    sp_safe(sp_origin_of(path)), sp_safe(sp_csv_name(csv, c)));
    }
}

static struct sp_row_reader reader_of(const struct sp_runs *runs, size_t row)
{
    return (struct sp_row_reader){.csv = &runs->csv,
                                  .row = row,
                                  .sources = runs->loaded->sources,
                                  .loaded = runs->loaded,
                                  .frameworks = runs->loaded->frameworks,
                                  .n_frameworks = runs->loaded->n_frameworks};
}

bool sp_open_runs(const char *path, const struct sp_sources *sources, struct sp_runs *runs,
                  struct sp_error *error)
{
    *runs = (struct sp_runs){0};
    if (!sp_read_run_csv(path, sources, &runs->csv, error))
        return false;
    static const char *const hw[] = {"hw", NULL}, *const devices[] = {"devices", NULL},
                             *const seq[] = {"seq", NULL},
                             *const shape[] = {"layers", "d_model", NULL};
    const struct sp_row_reader first = {.csv = &runs->csv, .sources = sources};
    const bool has_rows = runs->csv.rows > 1;
    sp_need_columns(&runs->csv, path, hw, error);
    if (!has_rows || devices_of_name(&first) == 0)
        sp_need_columns(&runs->csv, path, devices, error);
    if (!has_rows || !strchr(sp_row_text(&first, "batch_sequences"), 'x'))
        sp_need_columns(&runs->csv, path, seq, error);
    if (sp_run_column(&runs->csv, "model") < 0) /* its name may suffice */
        sp_need_columns(&runs->csv, path, shape, error);
    if (error->lines == 0)
        check_header(&runs->csv, path, error);
    runs->n = runs->csv.rows - 1;
    runs->loaded = sp_must(calloc(1, sizeof *runs->loaded));
    runs->loaded->sources = sources;
    struct framework_list list = {sources, runs->loaded->frameworks, 0, error};
    sp_each_config(SP_FRAMEWORKS, sources, add_framework, &list);
    runs->loaded->n_frameworks = list.n;
    if (error->lines == 0)
        return true;
    sp_runs_free(runs);
    return false;
}

bool sp_read_run(const struct sp_runs *runs, size_t row, struct sp_run *run, struct sp_error *error)
{
    struct sp_row_reader reader = reader_of(runs, row);
    reader.run = run;
    reader.error = error;
    read_row(&reader);
    return error->lines == 0;
}

void sp_group_of_row(const struct sp_runs *runs, size_t row, char group[SP_RUN_GROUP])
{
    const struct sp_row_reader reader = reader_of(runs, row);
    char id[sizeof((struct sp_run *)0)->id];
    read_id(&reader, id, sizeof id);
    read_group(&reader, id, group);
}

bool sp_read_runs(const char *path, const struct sp_sources *sources, struct sp_runs *runs,
                  struct sp_error *error)
{
    if (!sp_open_runs(path, sources, runs, error))
        return false;
    runs->run = sp_must(calloc(runs->n + 1, sizeof *runs->run));
    bool ok = true;
    for (size_t i = 0; ok && i < runs->n; i++)
        ok = sp_read_run(runs, i, &runs->run[i], error);
    if (!ok)
        sp_runs_free(runs);
    return ok;
}

void sp_runs_free(struct sp_runs *runs)
{
    free(runs->run);
    free(runs->loaded);
    sp_csv_free(&runs->csv);
    *runs = (struct sp_runs){0};
}
