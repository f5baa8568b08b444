/* Rows of a runs CSV to models, machines and plans. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/read_file.h"
#include "runs/runs.h"
#include "runs/runs_internal.h"

/* "H100-SXM 80GB" -> "h100-sxm-80gb". */
static void slug(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++) {
        if (isalnum((unsigned char)*text) || *text == '.')
            out[n++] = (char)tolower((unsigned char)*text);
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    out[n] = '\0';
}

/* The chip whose name or alias is the longest beginning of the words of the column. */
static bool read_chip(struct sp_row_reader *r, struct sp_run *run)
{
    char name[64];
    for (size_t i = r->row; i-- > 0;)
        if (r->runs[i].chip[0] && strcmp(r->runs[i].hardware, run->hardware) == 0) {
            const struct sp_run *const known = &r->runs[i];
            run->hw = known->hw;
            memcpy(run->chip, known->chip, sizeof run->chip);
            memcpy(run->family, known->family, sizeof run->family);
            return true;
        }
    slug(run->hardware, name, sizeof name);
    while (name[0] != '\0') {
        if (sp_config_exists(SP_HARDWARE, name, r->sources))
            break;
        char *const dash = strrchr(name, '-');
        if (!dash)
            return sp_row_problem(run, "hardware \"%s\" is not known", sp_safe(run->hardware));
        *dash = '\0';
    }
    struct sp_error error = {0};
    if (name[0] == '\0' || !sp_load_chip(name, r->sources, &run->hw, &error))
        return sp_row_problem(run, "hardware \"%s\" is not known", sp_safe(run->hardware));
    snprintf(run->chip, sizeof run->chip, "%s", run->hw.name);
    snprintf(run->family, sizeof run->family, "%s",
             run->hw.family[0] ? run->hw.family : run->hw.name);
    return true;
}

/* The most cubic box of that many chips, where the slice is none on offer. */
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

static bool read_machine(struct sp_row_reader *r, struct sp_run *run)
{
    int64_t devices = 0, slices = 1;
    if (!sp_row_whole(r, "n_devices", 0, &devices))
        return false;
    if (!read_chip(r, run))
        return true;
    if (devices < 1)
        return sp_row_problem(run, "n_devices is not stated"), true;
    if (run->hw.network.kind == SP_TORUS) {
        if (!sp_row_whole(r, "dp", 1, &slices))
            return false;
        if (slices < 1 || devices % slices != 0)
            slices = 1;
    }
    run->hw.chips_per_slice = devices / slices;
    run->hw.slices = slices;
    if (run->hw.network.kind == SP_TORUS &&
        !sp_find_shape(&run->hw.network, run->hw.chips_per_slice, &run->hw.shape))
        run->hw.shape = box_of(run->hw.chips_per_slice, run->hw.network.axes);
    return true;
}

static bool has_mark(const struct sp_row_reader *r, const char *mark)
{
    static const char *const columns[] = {"framework", "source_title", "source_ref", "fsdp_zero"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strstr(sp_row_text(r, columns[i]), mark))
            return true;
    return false;
}

/* The framework whose name or alias the `framework` column is; NULL: none. */
static const struct sp_framework_file *named_framework(const struct sp_row_reader *r)
{
    struct sp_framework_file named;
    struct sp_error error = {0};
    char name[64];
    slug(sp_row_text(r, "framework"), name, sizeof name);
    if (!name[0] || !sp_config_exists(SP_FRAMEWORKS, name, r->sources) ||
        !sp_load_framework(name, r->sources, &named, &error))
        return NULL;
    for (size_t i = 0; i < r->n_frameworks; i++)
        if (strcmp(r->frameworks[i].framework.name, named.framework.name) == 0)
            return &r->frameworks[i];
    return NULL;
}

/* The framework with the longest mark among the words of the row; without a mark, the one that
 * serves such runs. */
static const struct sp_framework_file *find_framework(const struct sp_row_reader *r,
                                                      const char *serves)
{
    const struct sp_framework_file *best = NULL;
    size_t longest = 0;
    char item[sizeof best->marks];
    for (size_t i = 0; i < r->n_frameworks; i++) {
        const struct sp_framework_file *const file = &r->frameworks[i];
        if (longest == 0 && strcmp(file->serves, serves) == 0)
            best = file;
        const char *marks = file->marks;
        while (sp_next_item(&marks, item, sizeof item)) {
            const char *const mark = item + strspn(item, " ");
            if (strlen(mark) > longest && has_mark(r, mark)) {
                longest = strlen(mark);
                best = file;
            }
        }
    }
    return best;
}

static bool read_framework(struct sp_row_reader *r, struct sp_run *run)
{
    const bool torus = run->hw.network.kind == SP_TORUS;
    int zero;
    if (!sp_row_zero(r, &zero))
        return false;
    const struct sp_framework_file *const named = named_framework(r);
    const struct sp_framework_file *const found = named ? named
                                                        : find_framework(r, torus       ? "tpu"
                                                                            : zero == 3 ? "zero3"
                                                                                        : "gpu");
    if (!found)
        return sp_row_problem(run, "no framework serves it"), true;
    run->framework = *found;
    for (size_t i = r->row; i-- > 0;)
        if (strcmp(r->runs[i].framework.framework.name, found->framework.name) == 0) {
            run->precision = r->runs[i].precision;
            return true;
        }
    return sp_load_precision(found->framework.precision, r->sources, &run->precision, r->error);
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
    if (list->n < SP_MAX_FRAMEWORKS && list->error->lines == 0 &&
        sp_load_framework(name, list->sources, &list->files[list->n], list->error))
        list->n++;
}

static bool read_measurement(struct sp_row_reader *r, struct sp_run *run)
{
    /* No step is shorter than a launch, and errors relative to less would be infinite. */
    const double least = 1e-6;
    double step, derived, rate, memory;
    if (!sp_row_number(r, "measured_step_s", least, 1e9, &step) ||
        !sp_row_number(r, "derived_step_s", least, 1e9, &derived) ||
        !sp_row_number(r, "measured_tokens_per_s_per_device", least, 1e12, &rate) ||
        !sp_row_number(r, "measured_peak_mem_gb", least, 1e9, &memory) ||
        !sp_row_level(r, &run->level))
        return false;
    if (isnan(step) && rate > 0)
        step =
            (double)run->plan.batch * (double)run->plan.seq / (rate * (double)sp_chips(&run->hw));
    run->step_s = step > 0 ? step : derived > 0 ? derived : NAN;
    run->memory_bytes = memory > 0 ? memory * 1e9 : NAN;
    if (strncmp(run->scoring, "memory only", 11) == 0)
        run->step_s = NAN;
    run->scored = run->scoring[0] == '\0' || strncmp(run->scoring, "yes", 3) == 0 ||
                  strncmp(run->scoring, "memory only", 11) == 0;
    return true;
}

static void copy_cell(const struct sp_row_reader *r, const char *column, char *out, size_t size)
{
    snprintf(out, size, "%s", sp_row_text(r, column));
}

static bool read_row(struct sp_row_reader *r, struct sp_run *run)
{
    *run = (struct sp_run){.step_s = NAN, .memory_bytes = NAN};
    copy_cell(r, "id", run->id, sizeof run->id);
    copy_cell(r, "source_title", run->source, sizeof run->source);
    copy_cell(r, "hardware", run->hardware, sizeof run->hardware);
    copy_cell(r, "model", run->model_name, sizeof run->model_name);
    copy_cell(r, "tier", run->tier, sizeof run->tier);
    copy_cell(r, "scoring", run->scoring, sizeof run->scoring);
    copy_cell(r, "config_group", run->group, sizeof run->group);
    if (run->id[0] == '\0')
        snprintf(run->id, sizeof run->id, "row %zu", r->row + 1);
    if (run->group[0] == '\0')
        snprintf(run->group, sizeof run->group, "%s", run->id);
    if (!read_machine(r, run) || !read_framework(r, run) || !sp_read_row_model(r, run) ||
        !sp_read_row_plan(r, run) || !read_measurement(r, run))
        return false;
    if (run->problem[0] == '\0' && !run->recompute_stated)
        sp_infer_recompute(run);
    return true;
}

/* Two columns of one name: which of them counts is anybody's guess. */
static void check_header(const struct sp_csv *csv, const char *origin, struct sp_error *error)
{
    for (size_t c = 0; c < csv->columns && !sp_is_full(error); c++) {
        const int first = sp_csv_column(csv, csv->cells[c]);
        if (csv->cells[c][0] != '\0' && (size_t)first != c)
            sp_fail(error, SP_INPUT, "%s: column %s stands in the header twice", sp_safe(origin),
                    sp_safe(csv->cells[c]));
    }
}

bool sp_read_runs(const char *path, const struct sp_sources *sources, struct sp_runs *runs,
                  struct sp_error *error)
{
    size_t length;
    *runs = (struct sp_runs){0};
    char *const text = sp_read_file(sources->pipes, path, 64 << 20, &length, error);
    if (!text)
        return false;
    const char *const origin = strcmp(path, "-") == 0 ? "standard input" : path;
    const bool parsed = sp_read_csv(text, length, origin, &runs->csv, error);
    free(text);
    if (!parsed)
        return false;
    static const char *const needed[] = {"hardware", "n_devices", "seq_len", "layers", "d_model"};
    const size_t shape = sp_csv_column(&runs->csv, "model") >= 0 ? 2 : 0; /* its name may do */
    for (size_t i = 0; i + shape < sizeof needed / sizeof *needed; i++)
        if (sp_csv_column(&runs->csv, needed[i]) < 0)
            sp_fail(error, SP_INPUT, "%s: no column %s in the header", sp_safe(origin), needed[i]);
    if (error->lines == 0)
        check_header(&runs->csv, origin, error);
    runs->n = runs->csv.rows - 1;
    runs->run = calloc(runs->n + 1, sizeof *runs->run);
    if (!runs->run)
        abort();
    static struct sp_framework_file frameworks[SP_MAX_FRAMEWORKS];
    struct framework_list list = {sources, frameworks, 0, error};
    sp_each_config(SP_FRAMEWORKS, sources, add_framework, &list);
    for (size_t i = 0; i < runs->n && error->lines == 0; i++) {
        struct sp_row_reader reader = {&runs->csv, i,         origin,     sources,
                                       error,      runs->run, frameworks, list.n};
        read_row(&reader, &runs->run[i]);
    }
    if (error->lines == 0)
        return true;
    sp_runs_free(runs);
    return false;
}

void sp_runs_free(struct sp_runs *runs)
{
    free(runs->run);
    sp_csv_free(&runs->csv);
    *runs = (struct sp_runs){0};
}
