/* The answer of a command as a page of HTML for readers without a shell (--report). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "answer/html.h"
#include "pictures/page.h"
#include "answer/time_parts.h"
#include "host/filter.h"
#include "pictures/drawing.h"
#include "pictures/pictures.h"

/* The width of a picture: two stand beside each other, on a screen and in print. */
enum { PICTURE_PX = 440 };

const struct sp_page_fact sp_plan_facts[] = {
    {"step", "step_s"},
    {"80 % range", "time.low_s"},
    {"MFU", "mfu"},
    {"tokens per second", "tokens_per_s"},
    {"memory per device", "memory.device_bytes"},
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

/* In print: one page, on which the formulas and what the assumptions mean have no room. */
static const char style[] =
    ".verdict{font-size:1.15em;border-left:6px solid #b00020;background:#f5f5f5;padding:.6em .9em}"
    ".yes{border-color:#00805a}dl{display:grid;grid-template-columns:repeat(4,1fr);gap:.5em 1em}"
    "dt{color:#555;font-size:.85em}dd{margin:0;font-weight:600}"
    "figure{display:grid;grid-template-columns:1fr 1fr;gap:1em;align-items:start;margin:1em 0}"
    "svg{width:100%;height:auto}.verdict+ul li{font-size:1em}"
    "@media (max-width:600px){dl{grid-template-columns:1fr 1fr}figure{display:block}}"
    "@media print{h2{margin-top:.8em}"
    "section,li span,figure+h2+table tr:nth-child(n+8){display:none}.two{columns:2}"
    ".verdict,svg rect{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";

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

/* How a fact is shown where its value alone is not enough. */
struct manner {
    const char *key;
    const char *other, *between; /* a second key in the same place, and the word between the two */
    const char *only_with;       /* left out unless the number of this key is above 0 */
    double above;                /* left out unless above this */
};
static const struct manner manners[] = {
    {"time.low_s", "time.high_s", "to", NULL, 0},
    {"memory.device_bytes", "memory.capacity_bytes", "of", NULL, 0},
    {"device_bytes", "/capacity_bytes", "of", NULL, 0},
    {"vpp", NULL, NULL, NULL, 1},
    {"cp", NULL, NULL, NULL, 1},
    {"ep", NULL, NULL, NULL, 1},
    {"dispatch", NULL, NULL, "time.ep_comm_s", 0},
    {"moe_overlap", NULL, NULL, "time.ep_comm_s", 0},
};

static const struct manner *manner_of(const struct sp_page_fact *fact)
{
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++)
        if (strcmp(manners[i].key, fact->key) == 0)
            return &manners[i];
    return NULL;
}

/* The entry of a fact; NULL where it is unknown, or says nothing of this plan. */
static const struct sp_entry *find_fact(const struct writer *w, const struct sp_page_fact *fact)
{
    const struct manner *const manner = manner_of(fact);
    const struct sp_entry *const entry = find(w, fact->key);
    if (entry && manner && manner->only_with && !(number_of(w, manner->only_with) > 0))
        return NULL;
    return entry && manner && sp_entry_number(entry) <= manner->above ? NULL : entry;
}

/* The value of a fact: "13.4 s to 15.8 s" where it has two. */
static void put_value(const struct writer *w, const struct sp_page_fact *fact)
{
    const struct manner *const manner = manner_of(fact);
    const struct sp_entry *const other = manner && manner->other ? find(w, manner->other) : NULL;
    sp_html_text(w->out, sp_human_value(find(w, fact->key), SP_ROOM));
    if (other)
        sp_html_format(w->out, " %s %s", manner->between, sp_human_value(other, SP_ROOM));
}

/* The parts of a step for readers who know no abbreviations, in the order of sp_time_parts. */
static const char *const part_words[SP_TIME_PARTS] = {"matrix multiplications",
                                                      "attention",
                                                      "operations bound by memory",
                                                      "recomputation",
                                                      "launches of kernels",
                                                      "offload to the host",
                                                      "tensor-parallel communication",
                                                      "context-parallel communication",
                                                      "exchange between experts",
                                                      "data-parallel communication",
                                                      "sends between pipeline stages",
                                                      "idle pipeline stages",
                                                      "the optimizer",
                                                      "waits for the slowest device"};

/* What takes the step's time: the largest part, and the next one. */
static void say_limit(const struct writer *w)
{
    const double step = number_of(w, "step_s");
    double parts[SP_TIME_PARTS];
    size_t most = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        parts[i] = fmax(number_of(w, sp_quantity(sp_time_parts[i].id).key), 0);
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        most = parts[i] > parts[most] ? i : most;
    size_t next = most == 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++)
        next = i != most && parts[i] > parts[next] ? i : next;
    if (!(step > 0 && parts[most] > 0))
        return;
    fputs("<li>", w->out);
    sp_html_format(w->out, "Most of the step goes to %s (%s of the time), then to %s (%s).",
                   part_words[most], sp_human_text(parts[most] / step, SP_FRACTION),
                   part_words[next], sp_human_text(parts[next] / step, SP_FRACTION));
    fputs("</li>\n", w->out);
}

/* Whether other plans of the list are as good. */
static void say_ties(const struct writer *w)
{
    const struct sp_entry *const ties = find_at(w, "", "ties"), *const lead =
                                                                    find_at(w, "", "tie_pct");
    if (!ties || !lead)
        return;
    fputs("<li>", w->out);
    if (ties->number > 0)
        sp_html_format(w->out,
                       "%.0f other plan%s of the list tie%s with this one: no estimate ranks plans "
                       "within %s %%, so choose by other reasons.",
                       ties->number, ties->number > 1 ? "s" : "", ties->number > 1 ? "" : "s",
                       sp_human_value(lead, SP_ROOM));
    else
        sp_html_format(w->out,
                       "The plan leads the next one by more than %s %%, the error of a lead.",
                       sp_human_value(lead, SP_ROOM));
    fputs("</li>\n", w->out);
}

/* What the reader should know before deciding. */
static void put_meaning(const struct writer *w)
{
    const struct sp_entry *const odds = find(w, "memory.oom_probability");
    fputs("<ul>\n", w->out);
    say_limit(w);
    say_ties(w);
    if (odds) {
        fputs("<li>", w->out);
        sp_html_format(w->out, "Risk: the chance that a device runs out of memory is %s.",
                       sp_human_value(odds, SP_ROOM));
        fputs("</li>\n", w->out);
    }
    fputs("</ul>\n", w->out);
}

/* The run, where the tokens are known: its days, as far apart as the step's range, and cost. */
static void say_run(const struct writer *w)
{
    const double days = number_of(w, "days"), step = number_of(w, "step_s"),
                 low = number_of(w, "time.low_s"), high = number_of(w, "time.high_s");
    const struct sp_entry *const cost = find(w, "cost_usd");
    if (!(days > 0 && step > 0))
        return;
    fputs("<p>", w->out);
    sp_html_format(w->out, "%s tokens take %.3g days (80 %% range %.3g to %.3g)",
                   sp_human_text(number_of(w, "tokens_per_s") * days * 86400, SP_TOKENS), days,
                   days * low / step, days * high / step);
    if (cost)
        sp_html_format(w->out, " and %s", sp_human_value(cost, SP_ROOM));
    fputs(", without failures.</p>\n", w->out);
}

static void put_question(const struct writer *w)
{
    tagged(w, "h1", w->page->title);
    fprintf(w->out, "\n<p class=\"verdict%s\">", w->page->yes ? " yes" : "");
    sp_html_text(w->out, w->page->verdict);
    fputs("</p>\n", w->out);
    if (w->page->has_time) {
        say_run(w);
        put_meaning(w);
    }
}

static void put_plan(const struct writer *w)
{
    heading(w, w->page->plan_title);
    fputs("<dl>\n", w->out);
    for (size_t i = 0; i < w->page->n_facts; i++) {
        const struct sp_page_fact *const fact = &w->page->facts[i];
        if (!find_fact(w, fact))
            continue;
        fputs("<div>", w->out);
        tagged(w, "dt", fact->label);
        fputs("<dd>", w->out);
        put_value(w, fact);
        fputs("</dd></div>\n", w->out);
    }
    fputs("</dl>\n", w->out);
    if (w->page->price && find(w, "cost_usd")) {
        fputs("<p class=\"small\">", w->out);
        sp_html_format(w->out, "A device-hour at %s.", w->page->price);
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

/* Where the step's time goes: parts from a fiftieth of it, and the rest in one bar. */
static void put_time(const struct writer *w)
{
    struct sp_bar bars[SP_TIME_PARTS + 1], rest = {.label = "all else", .parts = {0}};
    const double step = number_of(w, "step_s");
    size_t n = 0;
    for (size_t i = 0; i < SP_TIME_PARTS; i++) {
        const struct sp_quantity_info part = sp_quantity(sp_time_parts[i].id);
        const struct sp_bar bar = bar_of(w, part.label, part.key);
        if (bar.parts[0] > step / 50)
            bars[n++] = bar;
        else if (bar.parts[0] > 0)
            rest.parts[0] += bar.parts[0];
    }
    sp_human(rest.parts[0], SP_SECONDS, rest.note, sizeof rest.note);
    if (rest.parts[0] > step / 1000)
        bars[n++] = rest;
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
        {"weights", "memory.params_bytes"},       {"gradients", "memory.grads_bytes"},
        {"optimizer", "memory.optimizer_bytes"},  {"activations", "memory.activations_bytes"},
        {"buffers", "memory.buffers_bytes"},      {"allocator, runtime", "memory.live_bytes"},
        {"device, in all", "memory.device_bytes"}};
    enum { N = sizeof parts / sizeof *parts, AROUND = N - 2 };
    struct sp_bar bars[N];
    const struct sp_entry *const capacity = find(w, "memory.capacity_bytes");
    if (!capacity)
        return;
    for (size_t i = 0; i < N; i++)
        bars[i] = bar_of(w, parts[i].label, parts[i].key);
    /* What the tensors leave of the device's bytes. */
    bars[AROUND].parts[0] = fmax(bars[N - 1].parts[0] - bars[AROUND].parts[0], 0);
    sp_human(bars[AROUND].parts[0], SP_BYTES, bars[AROUND].note, sizeof bars[AROUND].note);
    put_bars(w, "Memory of the fullest device",
             &(struct sp_bars){.title = "",
                               .label = "memory",
                               .unit = "B",
                               .names = one_part,
                               .n_parts = 1,
                               .bars = bars,
                               .n_bars = N,
                               .limit = sp_entry_number(capacity),
                               .limit_text = sp_human_value(capacity, SP_ROOM)});
}

/* The pictures, beside each other. */
static void put_pictures(const struct writer *w)
{
    if (!w->page->has_time && !w->page->has_memory)
        return;
    fputs("<figure>", w->out);
    if (w->page->has_time)
        put_time(w);
    if (w->page->has_memory)
        put_memory(w);
    fputs("</figure>\n", w->out);
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
    fputs("<ul class=\"two\">\n", w->out);
    for (size_t i = 0; i < w->page->n_assumptions; i++) {
        const struct sp_entry *const entry = find_fact(w, &w->page->assumptions[i]);
        if (!entry)
            continue;
        fputs("<li>", w->out);
        sp_html_format(w->out, "%s: %s", w->page->assumptions[i].label,
                       sp_human_value(entry, SP_ROOM));
        fputs("<span>", w->out);
        sp_html_format(w->out, " (%s)", entry->info->meaning);
        fputs("</span>", w->out);
        fputs("</li>\n", w->out);
    }
    for (size_t i = 0; sp_report_note(w->report, i); i++) {
        tagged(w, "li", sp_report_note(w->report, i));
        fputc('\n', w->out);
    }
    fputs("</ul>\n", w->out);
}

/* On the screen only: who reads it on paper decides, and does not compute. */
static void put_sources(const struct writer *w)
{
    fputs("<section>", w->out);
    heading(w, "Where the numbers come from");
    fputs("<table><tr><th>number</th><th>value</th><th>formula</th><th>source</th></tr>\n", w->out);
    for (size_t i = 0; i < w->page->n_facts; i++) {
        const struct sp_entry *const entry = find_fact(w, &w->page->facts[i]);
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
          "scaleplan show. Every number: --explain.</p></section>\n",
          w->out);
}

static void put_page(const struct writer *w)
{
    sp_html_open(w->out, w->page->title, style);
    put_question(w);
    put_plan(w);
    put_pictures(w);
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
    const char *const suffix = strrchr(sp_base_name(path), '.');
    if (suffix && strcasecmp(suffix, ".html") != 0 && strcasecmp(suffix, ".htm") != 0)
        return sp_fail(error, SP_INPUT, "--report: %s: the page is HTML: expected a name in .html",
                       sp_safe(path));
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
