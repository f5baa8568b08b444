/* `fit --report`: the answer as a page of HTML for readers without a shell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/fit.h>
#include <scaleplan/names.h>

#include "answer/fit_page.h"
#include "answer/html.h"

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1a1a1a;max-width:900px;margin:2em auto;"
    "padding:0 1em}h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.1em;margin:1.3em 0 .3em}"
    ".verdict{font-size:1.15em;border-left:6px solid #b00020;background:#f5f5f5;padding:.6em .9em}"
    ".yes{border-color:#00805a}dl{display:grid;grid-template-columns:repeat(4,1fr);gap:.5em 1em}"
    "dt{color:#555;font-size:.85em}dd{margin:0;font-weight:600}"
    "table{border-collapse:collapse;width:100%;font-size:.87em}"
    "th,td{text-align:left;vertical-align:top;padding:.25em .5em;border-bottom:1px solid #ddd}"
    "td:nth-child(3){white-space:nowrap}svg{width:100%;font:12px "
    "system-ui,sans-serif}ul{margin:.3em 0;padding-left:1.2em}"
    "li,.small{font-size:.87em}"
    "@page{size:A4;margin:12mm}@media print{body{font-size:10.5px;margin:0;max-width:none}"
    "tr,svg,li,div{break-inside:avoid}h2{break-after:avoid}svg{max-height:52mm}"
    ".verdict{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "svg rect{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";

/* State of a page. */
struct page {
    const struct sp_report *report;
    const char *price; /* of a chip-hour, as text */
    FILE *out;
};

static const struct sp_entry *find(const struct page *p, const char *path)
{
    const struct sp_entry *const entry = sp_find(p->report, path);
    return entry && entry->kind != SP_VALUE_NONE ? entry : NULL;
}

/* A quantity for people; "" if it is unknown. */
#define value_of(p, path) value_in(p, path, SP_ROOM)
static const char *value_in(const struct page *p, const char *path, struct sp_text *room)
{
    const struct sp_entry *const entry = find(p, path);
    return entry ? sp_human_value(entry, room) : "";
}

static const char *text_of(const struct page *p, const char *path)
{
    const struct sp_entry *const entry = find(p, path);
    return entry && entry->text ? entry->text : "";
}

static void heading(const struct page *p, const char *text)
{
    fputs("<h2>", p->out);
    sp_html_text(p->out, text);
    fputs("</h2>\n", p->out);
}

static void fact(const struct page *p, const char *label, const char *path, const char *unit)
{
    const char *const value = value_of(p, path);
    if (!*value)
        return;
    fputs("<div><dt>", p->out);
    sp_html_text(p->out, label);
    fputs("</dt><dd>", p->out);
    sp_html_format(p->out, "%s%s", value, unit);
    fputs("</dd></div>\n", p->out);
}

static void put_question(const struct page *p)
{
    const char *const verdict = text_of(p, "verdict");
    const bool yes = strncmp(verdict, "Yes", 3) == 0;
    fputs("<h1>", p->out);
    sp_html_format(p->out, "Does %s train on %s %s chips?", text_of(p, "model"),
                   value_of(p, "devices"), text_of(p, "hw"));
    fputs("</h1>\n<p class=\"small\">", p->out);
    sp_html_format(p->out, "%s parameters; %s; %s tokens per step in sequences of %s.",
                   value_of(p, "params"), text_of(p, "shape"), value_of(p, "batch_tokens"),
                   value_of(p, "seq"));
    fprintf(p->out, "</p>\n<p class=\"verdict%s\">", yes ? " yes" : "");
    sp_html_text(p->out, verdict);
    fputs("</p>\n", p->out);
}

static void put_plan(const struct page *p)
{
    heading(p, "The plan");
    fputs("<dl>\n", p->out);
    fact(p, "replicas (DP)", "best.dp", "");
    fact(p, "shards (FSDP)", "best.fsdp", "");
    fact(p, "tensor parallel (TP)", "best.tp", "");
    fact(p, "pipeline stages (PP)", "best.pp", "");
    fact(p, "micro-batches per step", "best.microbatches", "");
    fact(p, "recomputed", "best.remat", "");
    fact(p, "memory per chip", "best.device_bytes", "");
    fact(p, "of", "capacity_bytes", "");
    fact(p, "ideal step", "best.step_with_bubble_s", "");
    fact(p, "expected step", "best.step_at_mfu_s", "");
    fact(p, "at a utilisation (MFU, 6P) of", "best.mfu", "");
    fact(p, "tokens of the run", "best.tokens", "");
    fact(p, "days, without failures", "best.days", "");
    fact(p, "cost", "best.cost_usd", "");
    fputs("</dl>\n", p->out);
    if (find(p, "best.cost_usd")) {
        fputs("<p class=\"small\">", p->out);
        sp_html_format(p->out, "A chip-hour at %s.", p->price);
        fputs("</p>\n", p->out);
    }
}

/* A number of a strategy; NAN if unknown. */
static double number_of(const struct page *p, int kind, const char *key)
{
    char path[96];
    snprintf(path, sizeof path, "strategies.%s.%s", sp_strategy_names[kind], key);
    const struct sp_entry *const entry = find(p, path);
    return entry ? entry->number : NAN;
}

/* A bar with the strategy's name and one of its numbers. */
static struct sp_html_bar new_bar(const struct page *p, int kind, const char *key)
{
    struct sp_html_bar bar = {.parts = {0}};
    char path[96];
    snprintf(bar.label, sizeof bar.label, "%s", sp_strategy_titles[kind]);
    snprintf(path, sizeof path, "strategies.%s.%s", sp_strategy_names[kind], key);
    snprintf(bar.note, sizeof bar.note, "%s", value_of(p, path));
    return bar;
}

/* Cuts bars that leave the picture; their numbers are printed. */
static void cut(struct sp_html_bar *bar, double most)
{
    for (int i = 0; i < SP_HTML_PARTS; i++)
        bar->parts[i] = fmin(bar->parts[i], most);
}

static struct sp_html_bar memory_bar(const struct page *p, int kind, double capacity)
{
    struct sp_html_bar bar = new_bar(p, kind, "device_bytes");
    const double kept = fmax(number_of(p, kind, "activation_bytes"), 0); /* fmax turns NAN into 0 */
    const double state = number_of(p, kind, "state_bytes");
    bar.parts[0] = state;
    bar.parts[1] = number_of(p, kind, "device_bytes") - state - kept;
    bar.parts[2] = kept;
    cut(&bar, 1.4 * capacity);
    return bar;
}

static struct sp_html_bar step_bar(const struct page *p, int kind)
{
    struct sp_html_bar bar = new_bar(p, kind, "step_s");
    const double math = number_of(p, kind, "t_math_s");
    bar.parts[0] = math;
    bar.parts[1] = number_of(p, kind, "step_s") - math;
    cut(&bar, 3 * math);
    return bar;
}

static void put_pictures(const struct page *p)
{
    static const char *const parts[SP_HTML_PARTS] = {"training state", "held in addition",
                                                     "activations"};
    static const char *const times[SP_HTML_PARTS] = {"arithmetic", "waiting for the network", NULL};
    struct sp_html_bar memory[SP_STRATEGIES], steps[SP_STRATEGIES];
    const struct sp_entry *const capacity = find(p, "capacity_bytes");
    size_t n = 0;
    if (!capacity)
        return;
    for (int kind = 0; kind < SP_STRATEGIES; kind++) {
        if (isnan(number_of(p, kind, "device_bytes")))
            continue;
        memory[n] = memory_bar(p, kind, capacity->number);
        steps[n++] = step_bar(p, kind);
    }
    heading(p, "Memory per chip, by strategy");
    sp_html_bars(p->out, parts, memory, n, capacity->number, value_of(p, "capacity_bytes"));
    heading(p, "Ideal step, by strategy");
    sp_html_bars(p->out, times, steps, n, NAN, "");
    fputs(
        "<p class=\"small\">Bars far longer than the others are cut; the numbers are whole.</p>\n",
        p->out);
}

static void cell(const struct page *p, const char *scope, const char *key)
{
    char path[96];
    snprintf(path, sizeof path, "%s.%s", scope, key);
    fputs("<td>", p->out);
    sp_html_text(p->out, value_of(p, path));
    fputs("</td>", p->out);
}

static void put_alternatives(const struct page *p)
{
    static const char *const keys[] = {"fits",   "device_bytes", "microbatches", "compute_bound",
                                       "step_s", "reason",       "way_out"};
    heading(p, "Alternatives");
    fputs("<table><tr><th>strategy</th><th>fits</th><th>per chip</th><th>micro-batches</th>"
          "<th>network keeps up</th><th>ideal step</th><th>why</th>"
          "<th>what would turn a no into a yes</th></tr>\n",
          p->out);
    for (int kind = 0; kind < SP_STRATEGIES; kind++) {
        char scope[64];
        snprintf(scope, sizeof scope, "strategies.%s", sp_strategy_names[kind]);
        char path[96];
        snprintf(path, sizeof path, "%s.fits", scope);
        if (!find(p, path))
            continue;
        fputs("<tr><td>", p->out);
        sp_html_text(p->out, sp_strategy_titles[kind]);
        fputs("</td>", p->out);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            cell(p, scope, keys[i]);
        fputs("</tr>\n", p->out);
    }
    fputs("</table>\n", p->out);
}

static void put_assumptions(const struct page *p)
{
    static const char *const keys[] = {
        "precision", "state_bytes_per_param", "dtype", "peak_flops_per_s", "constants",
        "overlap",   "microbatches"};
    heading(p, "Assumptions");
    fputs("<ul>\n", p->out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct sp_entry *const entry = find(p, keys[i]);
        if (!entry)
            continue;
        fputs("<li>", p->out);
        sp_html_format(p->out, "%s: %s (%s)", entry->info.label, value_of(p, keys[i]),
                       entry->info.meaning);
        fputs("</li>\n", p->out);
    }
    for (size_t i = 0; sp_report_note(p->report, i); i++) {
        fputs("<li>", p->out);
        sp_html_text(p->out, sp_report_note(p->report, i));
        fputs("</li>\n", p->out);
    }
    fputs("<li>The step is a closed form: arithmetic against network traffic. What a framework "
          "reaches is estimated by <code>scaleplan step</code> and <code>search</code>.</li>\n"
          "</ul>\n",
          p->out);
}

static void put_sources(const struct page *p)
{
    static const char *const keys[] = {
        "best.state_bytes", "best.activation_bytes",   "best.device_bytes",  "best.comms_over_math",
        "best.t_math_s",    "best.step_with_bubble_s", "best.step_at_mfu_s", "best.days",
        "best.cost_usd"};
    heading(p, "Where the numbers come from");
    fputs("<table><tr><th>number</th><th>value</th><th>formula</th><th>source</th></tr>\n", p->out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct sp_entry *const entry = find(p, keys[i]);
        if (!entry)
            continue;
        char formula[SP_FORMULA_TEXT];
        const char *const cells[] = {entry->info.label, value_of(p, keys[i]),
                                     sp_formula_text(entry->info.formula, formula),
                                     entry->info.source};
        fputs("<tr>", p->out);
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            fputs("<td>", p->out);
            sp_html_text(p->out, cells[k]);
            fputs("</td>", p->out);
        }
        fputs("</tr>\n", p->out);
    }
    fputs("</table>\n<p class=\"small\">", p->out);
    sp_html_format(p->out,
                   "The figures of machine and model with their sources: scaleplan show %s, "
                   "scaleplan show %s. Every number: scaleplan fit --explain.",
                   text_of(p, "hw"), text_of(p, "model"));
    fputs("</p>\n", p->out);
}

bool sp_write_fit_page(struct sp_report *report, const char *price, const char *path,
                       struct sp_error *error)
{
    char *text = NULL;
    size_t size = 0;
    const struct page page = {report, price, open_memstream(&text, &size)};
    if (!page.out)
        return sp_fail(error, SP_INTERNAL, "--report: no memory");
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          page.out);
    sp_html_format(page.out, "%s on %s", text_of(&page, "model"), text_of(&page, "hw"));
    fprintf(page.out, "</title>\n<style>%s</style></head><body>\n", style);
    put_question(&page);
    put_plan(&page);
    put_pictures(&page);
    put_alternatives(&page);
    put_assumptions(&page);
    put_sources(&page);
    fputs("</body></html>\n", page.out);
    const bool written = fclose(page.out) == 0 && text;
    const bool ok = written ? sp_put_file(report, path, text, error)
                            : sp_fail(error, SP_INTERNAL, "--report: no memory");
    free(text);
    if (ok) {
        sp_scope(report, "");
        sp_put_text(report, SP_Q_FIT_REPORT, "%s", path);
    }
    return ok;
}
