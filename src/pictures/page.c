/* The answer of a command as a page of HTML for readers without a shell (--report). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/html.h"
#include "pictures/page.h"
#include "answer/time_parts.h"
#include "host/filter.h"
#include "pictures/drawing.h"
#include "pictures/pictures.h"

/* The width at which a printed page reads well. */
enum { PICTURE_PX = 720 };

const struct sp_page_fact sp_plan_facts[] = {
    {"step", "step_s"},
    {"80 % range: from", "time.low_s"},
    {"to", "time.high_s"},
    {"MFU", "mfu"},
    {"tokens per second", "tokens_per_s"},
    {"memory per device", "memory.device_bytes"},
    {"of", "memory.capacity_bytes"},
    {"chance of running out", "memory.oom_probability"},
    {"machine", "machine"},
    {"devices", "devices"},
    {"replicas (DP)", "dp"},
    {"tensor parallel (TP)", "tp"},
    {"pipeline stages (PP)", "pp"},
    {"chunks per stage", "vpp"},
    {"context parallel (CP)", "cp"},
    {"expert parallel (EP)", "ep"},
    {"ZeRO stage", "zero"},
    {"micro-batch, sequences", "micro_batch"},
    {"micro-batches per step", "microbatches"},
    {"recomputed", "remat"},
    {"batch, sequences", "batch_sequences"},
    {"days, without failures", "days"},
    {"cost", "cost_usd"},
};
const size_t sp_n_plan_facts = sizeof sp_plan_facts / sizeof *sp_plan_facts;

const struct sp_page_fact sp_plan_assumptions[] = {
    {"framework", "framework"},
    {"profile", "profile"},
    {"precision", "precision"},
    {"number format of matmuls", "dtype"},
    {"recomputation", "remat"},
    {"exchange of experts", "dispatch"},
    {"overlapped exchange", "moe_overlap"},
    {"schedule", "schedule"},
    {"FLOPs that the MFU counts", "flops_convention"},
};
const size_t sp_n_plan_assumptions = sizeof sp_plan_assumptions / sizeof *sp_plan_assumptions;

/* State of a page. */
struct writer {
    const struct sp_report *report;
    const struct sp_page *page;
    FILE *out;
};

static const struct sp_entry *find_at(const struct writer *w, const char *scope, const char *key)
{
    char path[160];
    if (key[0] == '/')
        snprintf(path, sizeof path, "%s", key + 1);
    else
        snprintf(path, sizeof path, "%s%s%s", scope, *scope ? "." : "", key);
    const struct sp_entry *const entry = sp_find(w->report, path);
    return entry && entry->kind != SP_VALUE_NONE ? entry : NULL;
}

static const struct sp_entry *find(const struct writer *w, const char *key)
{
    return find_at(w, w->page->scope, key);
}

static double number_of(const struct writer *w, const char *key)
{
    const struct sp_entry *const entry = find(w, key);
    return sp_entry_number(entry);
}

static void tagged(const struct writer *w, const char *tag, const char *text)
{
    fprintf(w->out, "<%s>", tag);
    sp_html_text(w->out, text);
    fprintf(w->out, "</%s>", tag);
}

static void heading(const struct writer *w, const char *text)
{
    tagged(w, "h2", text);
    fputc('\n', w->out);
}

static void put_question(const struct writer *w)
{
    tagged(w, "h1", w->page->title);
    fprintf(w->out, "\n<p class=\"verdict%s\">", w->page->yes ? " yes" : "");
    sp_html_text(w->out, w->page->verdict);
    fputs("</p>\n", w->out);
}

static void put_plan(const struct writer *w)
{
    heading(w, w->page->plan_title);
    fputs("<dl>\n", w->out);
    for (size_t i = 0; i < w->page->n_facts; i++) {
        const struct sp_entry *const entry = find(w, w->page->facts[i].key);
        if (!entry)
            continue;
        fputs("<div>", w->out);
        tagged(w, "dt", w->page->facts[i].label);
        tagged(w, "dd", sp_human_value(entry, SP_ROOM));
        fputs("</div>\n", w->out);
    }
    fputs("</dl>\n", w->out);
    if (w->page->price && find(w, "cost_usd")) {
        fputs("<p class=\"small\">", w->out);
        sp_html_format(w->out, "A chip-hour at %s.", w->page->price);
        fputs("</p>\n", w->out);
    }
    if (w->page->command) {
        fputs("<p class=\"small\">The same in a shell: ", w->out);
        tagged(w, "code", w->page->command);
        fputs("</p>\n", w->out);
    }
}

/* A bar of one number, called `label`. */
static struct sp_bar bar_of(const struct writer *w, const char *label, const char *key)
{
    struct sp_bar bar = {.parts = {0}};
    const struct sp_entry *const entry = find(w, key);
    snprintf(bar.label, sizeof bar.label, "%s", label);
    snprintf(bar.note, sizeof bar.note, "%s", entry ? sp_human_value(entry, SP_ROOM) : "");
    bar.parts[0] = entry ? sp_entry_number(entry) : 0;
    return bar;
}

/* Writes bars as a separate picture. */
static void put_bars(const struct writer *w, const char *title, const struct sp_bars *bars)
{
    struct sp_figure *const figure = sp_figure_new("%s", title);
    size_t length;
    sp_draw_bars(figure, bars);
    char *const svg = sp_figure_svg(figure, PICTURE_PX, false, &length);
    if (svg)
        fputs(svg, w->out);
    free(svg);
    sp_figure_free(figure);
}

static const char *const one_part[] = {""};

/* Where the step's time goes: parts above a thousandth of it. */
static void put_time(const struct writer *w)
{
    struct sp_bar bars[SP_TIME_PARTS];
    const double step = number_of(w, "step_s");
    size_t n = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        const struct sp_quantity_info part = sp_quantity(sp_time_parts[i].id);
        const struct sp_bar bar = bar_of(w, part.label, part.key);
        if (bar.parts[0] > step / 1000)
            bars[n++] = bar;
    }
    if (n > 0)
        put_bars(w, "Where the step's time goes",
                 &(struct sp_bars){.title = "",
                                   .label = "time",
                                   .unit = "s",
                                   .names = one_part,
                                   .n_parts = 1,
                                   .bars = bars,
                                   .n_bars = n,
                                   .limit = NAN});
}

static void put_memory(const struct writer *w)
{
    static const struct sp_page_fact parts[] = {
        {"weights", "memory.params_bytes"},      {"gradients", "memory.grads_bytes"},
        {"optimizer", "memory.optimizer_bytes"}, {"activations", "memory.activations_bytes"},
        {"buffers", "memory.buffers_bytes"},     {"device, in all", "memory.device_bytes"}};
    struct sp_bar bars[sizeof parts / sizeof *parts];
    const struct sp_entry *const capacity = find(w, "memory.capacity_bytes");
    if (!capacity)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bars[i] = bar_of(w, parts[i].label, parts[i].key);
    put_bars(w, "Memory of the fullest device",
             &(struct sp_bars){.title = "",
                               .label = "memory",
                               .unit = "B",
                               .names = one_part,
                               .n_parts = 1,
                               .bars = bars,
                               .n_bars = sizeof parts / sizeof *parts,
                               .limit = sp_entry_number(capacity),
                               .limit_text = sp_human_value(capacity, SP_ROOM)});
}

/* The scope of a row; false if there is none. */
static bool row_scope(const struct writer *w, const struct sp_page_list *list, size_t i, char *out,
                      size_t size)
{
    if (list->names && i >= list->n_names)
        return false;
    if (list->names)
        snprintf(out, size, "%s.%s", list->list, list->names[i]);
    else
        snprintf(out, size, "%s.%zu", list->list, i);
    return list->names || find_at(w, out, list->columns[0].key) != NULL;
}

static void put_row(const struct writer *w, const struct sp_page_list *list, const char *scope,
                    const char *title)
{
    if (!find_at(w, scope, list->columns[0].key))
        return;
    fputs("<tr>", w->out);
    if (title)
        tagged(w, "td", title);
    for (size_t i = 0; i < list->n; i++) {
        const struct sp_entry *const entry = find_at(w, scope, list->columns[i].key);
        tagged(w, "td", entry ? sp_human_value(entry, SP_ROOM) : "");
    }
    fputs("</tr>\n", w->out);
}

static void put_list(const struct writer *w)
{
    const struct sp_page_list *const list = &w->page->list;
    char scope[96];
    if (!list->list || (!list->names && !row_scope(w, list, 0, scope, sizeof scope)))
        return;
    heading(w, list->title);
    fputs("<table><tr>", w->out);
    if (list->titles)
        tagged(w, "th", "");
    for (size_t i = 0; i < list->n; i++)
        tagged(w, "th", list->columns[i].label);
    fputs("</tr>\n", w->out);
    for (size_t i = 0; row_scope(w, list, i, scope, sizeof scope); i++)
        put_row(w, list, scope, list->titles ? list->titles[i] : NULL);
    fputs("</table>\n", w->out);
}

static void put_assumptions(const struct writer *w)
{
    heading(w, "Assumptions");
    fputs("<ul>\n", w->out);
    for (size_t i = 0; i < w->page->n_assumptions; i++) {
        const struct sp_entry *const entry = find(w, w->page->assumptions[i].key);
        if (!entry)
            continue;
        fputs("<li>", w->out);
        sp_html_format(w->out, "%s: %s (%s)", w->page->assumptions[i].label,
                       sp_human_value(entry, SP_ROOM), entry->info->meaning);
        fputs("</li>\n", w->out);
    }
    for (size_t i = 0; sp_report_note(w->report, i); i++) {
        tagged(w, "li", sp_report_note(w->report, i));
        fputc('\n', w->out);
    }
    fputs("</ul>\n", w->out);
}

static void put_sources(const struct writer *w)
{
    heading(w, "Where the numbers come from");
    fputs("<table><tr><th>number</th><th>value</th><th>formula</th><th>source</th></tr>\n", w->out);
    for (size_t i = 0; i < w->page->n_facts; i++) {
        const struct sp_entry *const entry = find(w, w->page->facts[i].key);
        if (!entry || !*entry->info->source)
            continue;
        char formula[SP_FORMULA_TEXT];
        const char *const cells[] = {entry->info->label, sp_human_value(entry, SP_ROOM),
                                     sp_formula_text(entry->info->formula, formula),
                                     entry->info->source};
        fputs("<tr>", w->out);
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
            tagged(w, "td", cells[k]);
        fputs("</tr>\n", w->out);
    }
    fputs("</table>\n<p class=\"small\">The figures of machine and model with their sources: "
          "scaleplan show. Every number: --explain.</p>\n",
          w->out);
}

static void put_page(const struct writer *w)
{
    sp_html_open(w->out, w->page->title);
    put_question(w);
    put_plan(w);
    if (w->page->has_time)
        put_time(w);
    if (w->page->has_memory)
        put_memory(w);
    put_list(w);
    put_assumptions(w);
    put_sources(w);
    sp_html_close(w->out);
}

bool sp_write_page(struct sp_report *report, const struct sp_page *page, const char *path,
                   struct sp_error *error)
{
    char *text = NULL;
    size_t size = 0;
    /* A page of ours prints its own answer, and has no place for a file: without this it is 2 kB
     * smaller. */
    if (!sp_starts_programs())
        return sp_fail(error, SP_INTERNAL, "--report: print the page instead");
    const struct writer writer = {report, page, open_memstream(&text, &size)};
    if (!writer.out)
        return sp_fail(error, SP_INTERNAL, "--report: no memory");
    put_page(&writer);
    const bool written = fclose(writer.out) == 0 && text;
    const bool ok = written ? sp_put_file(report, path, text, error)
                            : sp_fail(error, SP_INTERNAL, "--report: no memory");
    free(text);
    if (ok) {
        sp_scope(report, "");
        sp_put_text(report, SP_Q_FIT_REPORT, "%s", path);
    }
    return ok;
}
