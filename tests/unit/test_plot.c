/* Pictures as SVG and as text: escapes, omissions, widths, places. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/scaleplan.h>

#include "base/text.h"
#include "config/load.h"
#include "pictures/pictures.h"
#include "pictures/glyphs.h"
#include "pictures/svg.h"

static void assert_escaped(const char *text, const char *expected)
{
    char *got = NULL;
    size_t size;
    FILE *const out = open_memstream(&got, &size);
    sp_svg_escaped(out, text);
    fclose(out);
    assert_string_equal(got, expected);
    free(got);
}

/* Characters reserved by XML become references, forbidden ones question marks. */
static void text_is_no_markup(void **state)
{
    (void)state;
    assert_escaped("", "");
    assert_escaped("llama3-8b's", "llama3-8b's");
    assert_escaped("<script>alert(\"1\")</script>",
                   "&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;");
    assert_escaped("a&lt;b ]]> -->", "a&#38;lt;b ]]&#62; --&#62;");
    assert_escaped("\t\x1b[31m\x7f\n", "??[31m??");
    assert_escaped("\xc3\xa9 \xe6\xa8\xa1 \xf0\x9f\x98\x80",
                   "\xc3\xa9 \xe6\xa8\xa1 \xf0\x9f\x98\x80");
    assert_escaped("\xc3", "?");                   /* cut short */
    assert_escaped("\xc0\xaf", "?\?");             /* too long for '/' */
    assert_escaped("\xed\xa0\x80", "?\?\?");       /* half of a surrogate pair */
    assert_escaped("\xf4\x90\x80\x80", "?\?\?\?"); /* beyond Unicode */
    assert_escaped("\xc2\x9b", "?\?");             /* a control character of C1 */
    assert_escaped("\xef\xbf\xbe", "?\?\?");       /* no character */
    assert_escaped("\xff\xfe", "?\?");
}

/* Helvetica's A, W and i have 667, 944 and 222 thousandths (Adobe's AFM files), DejaVu Sans' 684,
 * 989 and 278: the wider counts, rounded up to a 128th. */
static void text_is_measured(void **state)
{
    (void)state;
    assert_close(sp_text_px("A", 1000), 88 * 1000 / 128.0, 1e-12);
    assert_close(sp_text_px("W", 1000), 127 * 1000 / 128.0, 1e-12);
    assert_close(sp_text_px("iii", 1000), 3 * 36 * 1000 / 128.0, 1e-12);
    assert_close(sp_text_px("", 12), 0, 1e-12);
    char out[32];
    sp_fit_text("weights", 1000, 12, out, sizeof out);
    assert_string_equal(out, "weights");
    sp_fit_text("allocator and runtime", 60, 12, out, sizeof out);
    assert_non_null(strstr(out, "\xe2\x80\xa6"));
    assert_true(sp_text_px(out, 12) <= 60);
    sp_fit_text("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 24, 12, out, sizeof out); /* no half letter */
    assert_escaped(out, out);
    /* lines end behind a space, a dot or an underscore, else where there is no more room */
    assert_int_equal(sp_line_bytes("one two", 1000, 12), 7);
    assert_int_equal(sp_line_bytes("one two", sp_text_px("one tw", 12), 12), 4);
    assert_int_equal(sp_line_bytes("chip.hbm_bytes", sp_text_px("chip.hbm_by", 12), 12), 9);
    assert_int_equal(sp_line_bytes("unbroken", sp_text_px("unb", 12), 12), 3);
    assert_int_equal(sp_line_bytes("W", 1, 12), 1);
}

/* Items that do not fit make a figure an error rather than being dropped. */
static void a_crowded_picture_is_refused(void **state)
{
    (void)state;
    const struct sp_canvas canvas = {.terminal = SP_TERMINAL_JSON};
    struct sp_figure *const figure = sp_figure_new("%s", "all");
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("x", "s", false), sp_make_axis("y", "s", false), "many");
    struct sp_error error = {0};
    char *bytes = NULL;
    size_t size;
    for (int i = 0; i < SP_MAX_SERIES; i++)
        sp_add_point(sp_add_series(panel, SP_LINE, SP_BLUE, "%d", i), 1, 2);
    assert_true(sp_draw(figure, &canvas, &bytes, &size, &error));
    free(bytes);
    sp_add_point(sp_add_series(panel, SP_LINE, SP_BLUE, "%s", "one more"), 1, 2);
    assert_false(sp_draw(figure, &canvas, &bytes, &size, &error));
    assert_int_equal(error.code, SP_INPUT);
    assert_non_null(strstr(error.text, "room for 40"));
    sp_figure_free(figure);
}

static struct sp_figure *evil_figure(void)
{
    static const char evil[] = "x<script>]]>&quot;\"\n'";
    struct sp_figure *const figure = sp_figure_new("%s", evil);
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis(evil, evil, false), sp_make_axis(evil, "s", true), evil);
    panel->key = SP_KEY_ABOVE;
    sp_add_point(sp_add_series(panel, SP_LINE, SP_BLUE, "%s", evil), 1, 2);
    sp_add_point(sp_add_series(panel, SP_DROPS, SP_BLUE, "%s", evil), 1, 2);
    sp_add_box(sp_add_series(panel, SP_BOXES, SP_BLUE, "%s", evil), 0, 1, 1, 2);
    sp_add_label(panel, 1, 1, SP_LEFT, "%s", evil);
    sp_add_rule(panel, true, 0.5, SP_BLACK, "%s", evil);
    sp_add_tick(&panel->x, 1, "%s", evil);
    return figure;
}

__attribute__((noinline)) static char *text_of(const struct sp_figure *figure,
                                               enum sp_terminal terminal, double width)
{
    char *bytes = NULL;
    size_t size;
    struct sp_error error = {0};
    const struct sp_canvas canvas = {terminal, 80, width};
    assert_true(sp_draw(figure, &canvas, &bytes, &size, &error));
    assert_int_equal(size, strlen(bytes));
    return bytes;
}

/* No text of a name is markup, in no form of the picture; it is the same each time. */
static void names_are_no_markup(void **state)
{
    (void)state;
    struct sp_figure *const figure = evil_figure();
    char *const svg = text_of(figure, SP_TERMINAL_SVG, 390),
                *const again = text_of(figure, SP_TERMINAL_SVG, 390),
                *const lines = text_of(figure, SP_TERMINAL_TEXT, 0),
                *const csv = text_of(figure, SP_TERMINAL_CSV, 0);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "]]>"));
    assert_non_null(strstr(svg, "&#60;script&#62;"));
    assert_string_equal(svg, again);
    assert_non_null(strstr(lines, "x<script>]]>&quot;\"?'"));
    assert_non_null(strstr(csv, "\"x<script>]]>&quot;\"\""));
    free(csv);
    free(lines);
    free(again);
    free(svg);
    sp_figure_free(figure);
}

static void what_no_plot_shows_is_left_out(void **state)
{
    (void)state;
    struct sp_figure *const figure = sp_figure_new("%s", "x");
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("x", "", false), sp_make_axis("y", "s", true), "");
    struct sp_series *const line = sp_add_series(panel, SP_LINE, SP_BLUE, "%s", "");
    sp_add_point(line, 1, 10);
    sp_add_point(line, NAN, 1);
    sp_add_point(line, 2, INFINITY);
    sp_add_point(line, 3, 1000);
    sp_add_box(line, 0, 1, 2, 3); /* a line has no boxes */
    assert_int_equal(line->n, 4);
    const struct sp_scale y = sp_scale_of(panel, true), x = sp_scale_of(panel, false);
    assert_true(y.min > 0 && y.min < 10 && y.max > 1000);
    assert_close(x.min, 0, 1e-12);
    assert_true(x.max > 3 && x.max < 4);
    for (int i = 0; i < SP_MAX_SERIES + 3; i++)
        assert_non_null(sp_add_series(panel, SP_LINE, SP_BLUE, "%s", "more"));
    assert_int_equal(panel->n_series, SP_MAX_SERIES);
    sp_figure_free(figure);
}

static void units_get_prefixes(void **state)
{
    (void)state;
    static const struct {
        double most;
        const char *unit, *prefix;
        double factor;
    } rows[] = {
        {2.5e-3, "s", "m", 1e-3}, {4e-7, "s", "n", 1e-9}, {3, "s", "", 1},
        {5000, "s", "", 1},       {8e10, "B", "G", 1e9},  {12, "", "", 1},
        {1e15, "B", "P", 1e15},
    };
    static const struct {
        double value;
        const char *unit, *text;
    } ticks[] = {{1000, "tokens", "1 k"},   {0.01, "s", "10 ms"}, {1, "s", "1 s"},
                 {5e14, "FLOP/s", "500 T"}, {200, "", "200"},     {1e9, "B", "1 GB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_figure *const figure = sp_figure_new("%s", "x");
        struct sp_panel *const panel = sp_add_panel(figure, sp_make_axis("x", rows[i].unit, false),
                                                    sp_make_axis("y", "", false), "");
        panel->x.min = 0;
        panel->x.max = rows[i].most;
        const struct sp_scale scale = sp_scale_of(panel, false);
        assert_string_equal(scale.prefix, rows[i].prefix);
        assert_close(scale.factor, rows[i].factor, 1e-12);
        sp_figure_free(figure);
    }
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        char text[48];
        sp_tick_text(ticks[i].value, ticks[i].unit, text, sizeof text);
        assert_string_equal(text, ticks[i].text);
    }
}

/* A bar of 3 s and one of 1 s after it in 40 columns, by hand: names take 7 columns and a blank,
 * the axis one, and 4 stay free at the right, so 8 s are 27 columns. */
static void terminals_have_letters(void **state)
{
    (void)state;
    struct sp_figure *const figure = sp_figure_new("%s", "bars");
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("time", "s", false), sp_make_axis("", "", false), "");
    struct sp_series *const a = sp_add_series(panel, SP_BOXES, SP_BLUE, "%s", "first");
    struct sp_series *const b = sp_add_series(panel, SP_BOXES, SP_ORANGE, "%s", "second");
    size_t size;
    a->letter = 'F';
    b->letter = 'S';
    sp_add_box(a, 0, 3, -0.4, 0.4);
    sp_add_box(b, 3, 4, -0.4, 0.4);
    sp_add_tick(&panel->y, 0, "%s", "row");
    panel->key = SP_KEY_ABOVE;
    panel->x.min = 0;
    panel->x.max = 8;
    panel->y.min = -0.5;
    panel->y.max = 0.5;
    panel->rows = 2;
    char *const text = sp_figure_text(figure, 40, &size);
    assert_string_equal(text, "         bars\n"
                              "         F first   S second\n"
                              "     row |FFFFFFFFFFSSS\n"
                              "         ++--+--+---+--+--+---+--+---\n"
                              "          0  1  2   3  4  5   6  7   8\n"
                              "                  time (s)\n");
    free(text);
    sp_figure_free(figure);
}

/* Lines have separate letters, and a rule's text is on the side that has more room. */
static void terminals_have_lines(void **state)
{
    (void)state;
    struct sp_figure *const figure = sp_figure_new("%s", "lines");
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("x", "", false), sp_make_axis("y", "", false), "");
    static const char *const names[] = {"one", "two", "three"};
    size_t size;
    for (int i = 0; i < 3; i++) {
        struct sp_series *const line = sp_add_series(panel, SP_LINE, SP_BLUE, "%s", names[i]);
        sp_add_point(line, 0, i);
        sp_add_point(line, 8, i);
    }
    panel->key = SP_KEY_ABOVE;
    panel->x.min = panel->y.min = 0;
    panel->x.max = 8;
    panel->y.max = 4;
    sp_add_rule(panel, true, 2, SP_BLACK, "%s", "early");
    sp_add_rule(panel, true, 6.4, SP_BLACK, "%s", "late");
    char *const text = sp_figure_text(figure, 60, &size);
    assert_non_null(strstr(text, "* one   # two   $ three"));
    assert_non_null(strstr(text, "| early"));
    assert_non_null(strstr(text, "late |"));
    free(text);
    sp_figure_free(figure);
}

static void endings_choose_the_terminal(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        bool ok;
        enum sp_terminal terminal;
    } rows[] = {{"-", true, SP_TERMINAL_TEXT},        {"a.svg", true, SP_TERMINAL_SVG},
                {"dir/a.PNG", true, SP_TERMINAL_PNG}, {"a.pdf", true, SP_TERMINAL_PDF},
                {"a.csv", true, SP_TERMINAL_CSV},     {"svg", false, SP_TERMINAL_TEXT},
                {"", false, SP_TERMINAL_TEXT},        {".svg", false, SP_TERMINAL_TEXT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_error error = {0};
        enum sp_terminal terminal;
        assert_int_equal(sp_terminal_of(rows[i].target, &terminal, &error), rows[i].ok);
        assert_int_equal(error.code, rows[i].ok ? SP_OK : SP_INPUT);
        if (rows[i].ok)
            assert_int_equal(terminal, rows[i].terminal);
    }
}

static void pareto_front(void **state)
{
    (void)state;
    /* By hand: (1,9) (2,5) (5,2) are on the front, with both equal points at (5,2); (4,5) and (3,6)
     * are beaten. */
    struct sp_pareto_point p[] = {{5, 2, false, "cheap", 0}, {4, 5, false, "", 0},
                                  {1, 9, false, "small", 0}, {3, 6, false, "", 0},
                                  {5, 2, false, "", 0},      {2, 5, false, "middle", 0}};
    static const bool expected[] = {true, false, true, false, true, true};
    sp_mark_front(p, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(p[i].front, expected[i]);
    struct sp_figure *const figure = sp_figure_new("%s", "search");
    const struct sp_panel *const panel =
        sp_draw_pareto(figure, &(struct sp_pareto){.title = "",
                                                   .x = sp_make_axis("memory", "B", false),
                                                   .y = sp_make_axis("step", "s", false),
                                                   .front_name = "front",
                                                   .rest_name = "rest",
                                                   .candidates = p,
                                                   .n_candidates = 6,
                                                   .limits = &(struct sp_limit){6, "limit"},
                                                   .n_limits = 1});
    size_t marks = 0;
    for (size_t s = 0; s < panel->n_series; s++) {
        const struct sp_series *const series = &panel->series[s];
        if (series->kind == SP_STEPS) { /* from the smallest to the fastest */
            static const double steps[] = {1, 9, 2, 5, 5, 2, 5, 2};
            assert_int_equal(series->n, 8);
            assert_memory_equal(series->values, steps, sizeof steps);
        } else {
            marks += series->n / 2;
        }
    }
    assert_int_equal(marks, 6);
    assert_int_equal(panel->n_rules, 1);
    assert_int_equal(panel->n_labels, 3);
    sp_figure_free(figure);
}

/* Two machines: a series of points each, under its name, and the front's line over both. */
static void pareto_of_groups(void **state)
{
    (void)state;
    static const char *const machines[] = {"h100-8", "b200-8"};
    struct sp_pareto_point p[] = {
        {1, 9, false, "", 0}, {2, 5, false, "", 1}, {3, 6, false, "", 1}, {4, 3, false, "", 0}};
    sp_mark_front(p, 4);
    struct sp_figure *const figure = sp_figure_new("%s", "search");
    const struct sp_panel *const panel =
        sp_draw_pareto(figure, &(struct sp_pareto){.title = "",
                                                   .x = sp_make_axis("memory", "B", false),
                                                   .y = sp_make_axis("step", "s", false),
                                                   .front_name = "front",
                                                   .rest_name = "rest",
                                                   .groups = machines,
                                                   .n_groups = 2,
                                                   .candidates = p,
                                                   .n_candidates = 4});
    size_t found = 0;
    for (size_t s = 0; s < panel->n_series; s++)
        for (size_t m = 0; m < 2; m++)
            if (strcmp(panel->series[s].name, machines[m]) == 0) {
                assert_int_equal(panel->series[s].n / 2, 2);
                assert_true(panel->series[s].look == sp_look_of(m));
                found++;
            }
    assert_int_equal(found, 2);
    assert_int_equal(panel->series[2].kind, SP_STEPS);
    assert_int_equal(panel->series[2].n / 2, 3); /* (1,9) (2,5) (4,3) */
    sp_figure_free(figure);
}

/* Adjacent plain fills differ by 60 of 255 levels of grey, hatched ones by their hatches: any two
 * parts can be adjacent, because those between may be empty. */
static void check_fills(const struct sp_figure *figure, size_t expected)
{
    double plain[32];
    int hatch[32];
    size_t n_plain = 0, n_hatch = 0;
    char *const svg = text_of(figure, SP_TERMINAL_SVG, 720);
    char group[160];
    for (const char *at = strstr(svg, "</pattern>"); (at = strstr(at, "<g ")) != NULL; at++) {
        unsigned r, g, b;
        sp_cut_text(at, strcspn(at, ">"), group, sizeof group);
        const char *const fill = strstr(group, "fill=\"");
        if (!fill || strncmp(fill, "fill=\"none", 10) == 0)
            continue;
        if (sscanf(fill, "fill=\"url(#h%d", &hatch[n_hatch]) == 1)
            n_hatch++;
        else if (sscanf(fill, "fill=\"#%2x%2x%2x", &r, &g, &b) == 3)
            plain[n_plain++] = 0.299 * r + 0.587 * g + 0.114 * b;
    }
    assert_int_equal(n_plain + n_hatch, expected);
    for (size_t i = 0; i < n_plain; i++)
        for (size_t k = 0; k < i; k++)
            if (fabs(plain[i] - plain[k]) < 60)
                fail_msg("grey %.0f beside %.0f", plain[i], plain[k]);
    for (size_t i = 0; i < n_hatch; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(hatch[i], hatch[k]);
    free(svg);
}

static void parts_differ_without_colour(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    const struct sp_bar bar = {.label = "bar", .parts = {1, 2, 3, 4, 5, 6}};
    struct sp_figure *const figure = sp_figure_new("%s", "bars");
    sp_draw_bars(figure, &(struct sp_bars){.title = "",
                                           .label = "memory",
                                           .unit = "B",
                                           .names = names,
                                           .n_parts = 6,
                                           .bars = &bar,
                                           .n_bars = 1,
                                           .limit = NAN});
    check_fills(figure, 6);
    sp_figure_free(figure);
}

/* How often the text occurs in the picture, between marks of an SVG or anywhere in lines. */
static int times_of(const char *picture, const char *text)
{
    char wanted[160];
    int n = 0;
    snprintf(wanted, sizeof wanted, *picture == '<' ? ">%s</text>" : "%s", text);
    for (const char *at = picture; (at = strstr(at, wanted)) != NULL; at++)
        n++;
    return n;
}

/* The fastest plan's name is shown; one that would cover a limit is omitted, and in a terminal,
 * which has one place for a name, so is a close one. */
static void labels_give_way(void **state)
{
    (void)state;
    static const enum sp_terminal terminals[] = {SP_TERMINAL_SVG, SP_TERMINAL_TEXT};
    struct sp_pareto_point p[] = {
        {10, 90, true, "smallest", 0},
        {49.8, 20.1, true, "near it", 0},
        {50, 20, true, "fastest", 0},
        {46, 60, true, "a name that goes across both of the two limits, left and right", 0}};
    const struct sp_limit limits[] = {{33, "limit one"}, {98, "limit two"}};
    for (size_t t = 0; t < 2; t++) {
        struct sp_figure *const figure = sp_figure_new("%s", "search");
        sp_draw_pareto(figure, &(struct sp_pareto){.title = "",
                                                   .x = sp_make_axis("memory", "", false),
                                                   .y = sp_make_axis("step", "s", false),
                                                   .front_name = "front",
                                                   .rest_name = "rest",
                                                   .candidates = p,
                                                   .n_candidates = 4,
                                                   .limits = limits,
                                                   .n_limits = 2});
        figure->panels[0].x.max = 110;
        char *const picture = text_of(figure, terminals[t], 390);
        assert_int_equal(times_of(picture, "fastest"), 1);
        assert_int_equal(times_of(picture, "smallest"), 1);
        assert_int_equal(times_of(picture, p[3].name), 0);
        assert_int_equal(times_of(picture, "limit one"), 1);
        assert_int_equal(times_of(picture, "limit two"), 1);
        if (terminals[t] == SP_TERMINAL_TEXT)
            assert_int_equal(times_of(picture, "near it"), 0);
        free(picture);
        sp_figure_free(figure);
    }
}

/* Each part starts where the previous one ended. */
static void waterfalls_add_up(void **state)
{
    (void)state;
    const struct sp_part parts[] = {{"a", "", 3}, {"b", "", 1}, {"c", "", 2}};
    struct sp_figure *const figure = sp_figure_new("%s", "step");
    const struct sp_panel *const panel =
        sp_draw_waterfall(figure, &(struct sp_waterfall){.title = "",
                                                         .label = "time",
                                                         .unit = "s",
                                                         .parts = parts,
                                                         .n_parts = 3,
                                                         .sum = {"sum", "", 6},
                                                         .low = NAN,
                                                         .high = NAN,
                                                         .mark = NAN});
    static const double ends[][2] = {{0, 3}, {3, 4}, {4, 6}, {0, 6}};
    size_t box = 0;
    for (size_t s = 0; s < panel->n_series; s++)
        for (size_t i = 0; panel->series[s].kind == SP_BOXES && i < panel->series[s].n; i += 4) {
            assert_close(panel->series[s].values[i], ends[box][0], 1e-12);
            assert_close(panel->series[s].values[i + 1], ends[box++][1], 1e-12);
        }
    assert_int_equal(box, 4);
    sp_figure_free(figure);
}

/* The curve's peak equals the simulation's, it starts and ends at zero, and 1F1B's stage s of p
 * holds p - s micro-batches (Narayanan et al. 2021, section 2.1). */
static void in_flight_over_time(void **state)
{
    (void)state;
    enum { P = 4, M = 8, MOST = P * M * 2 * 3 };
    static struct sp_task tasks[MOST];
    static struct sp_in_flight_level levels[MOST];
    static struct sp_played played;
    static const struct {
        enum sp_schedule schedule;
        int64_t chunks;
    } rows[] = {{SP_GPIPE, 1}, {SP_1F1B, 1}, {SP_INTERLEAVED, 2}, {SP_ZB_H1, 1}, {SP_ZB_H2, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sp_pipeline q = {rows[i].schedule, P, M, rows[i].chunks, 1, 2, 1};
        assert_true(sp_tasks_of(&q) <= MOST);
        assert_true(sp_play_pipeline(&q, NULL, 0, tasks, &played));
        for (int64_t s = 0; s < P; s++) {
            const int64_t n = sp_in_flight_levels(tasks, played.tasks, q.chunks, s, levels);
            double peak = 0;
            for (int64_t k = 0; k < n; k++) {
                peak = fmax(peak, levels[k].microbatches);
                assert_true(levels[k].microbatches >= 0);
                assert_true(k == 0 || levels[k].s > levels[k - 1].s);
            }
            assert_close(peak, played.peak_in_flight[s], 1e-12);
            assert_close(levels[n - 1].microbatches, 0, 1e-12);
            if (q.schedule == SP_1F1B)
                assert_close(peak, (double)(P - s), 1e-12);
        }
    }
}

/* Crossings are where the time curves meet, and the strategies' own times agree. */
static void times_over_the_batch(void **state)
{
    (void)state;
    const double P = 8e9, C = 989e12, W = 450e9, critical = C / W;
    /* FSDP moves the 2-byte weights three times: 6 P bytes over W. */
    assert_close(sp_chip_math_s(P, critical, C), 6 * P / W, 1e-12);
    assert_close(sp_chip_mixed_comms_s(P, 235, 235, C), sp_chip_math_s(P, 235, C), 1e-12);
    /* Four times the batch: twice the traffic of the best split. */
    assert_close(sp_chip_mixed_comms_s(P, 940, 235, C), 2 * sp_chip_math_s(P, 235, C), 1e-12);
    assert_close(sp_chip_tp_comms_s(P, 100, C, 8, 8), sp_chip_math_s(P, 100, C), 1e-12);
    assert_close(sp_attainable_flops_per_s(10, 100, 5), 50, 1e-12);
    assert_close(sp_attainable_flops_per_s(30, 100, 5), 100, 1e-12);
}

static void no_converter_is_an_error(void **state)
{
    (void)state;
    struct sp_figure *const figure = evil_figure();
    char *const path = strdup(getenv("PATH"));
    struct sp_error error = {0};
    char *bytes = NULL;
    size_t size;
    setenv("PATH", "/nonexistent", 1);
    const bool drawn =
        sp_draw(figure, &(struct sp_canvas){.terminal = SP_TERMINAL_PNG}, &bytes, &size, &error);
    setenv("PATH", path, 1);
    assert_false(drawn);
    assert_null(bytes);
    assert_int_equal(error.code, SP_INTERNAL);
    assert_int_equal(error.lines, 1);
    assert_non_null(strstr(error.text, "not installed"));
    assert_non_null(strstr(error.text, "librsvg2-bin"));
    free(path);
    sp_figure_free(figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_no_markup),
        cmocka_unit_test(text_is_measured),
        cmocka_unit_test(a_crowded_picture_is_refused),
        cmocka_unit_test(names_are_no_markup),
        cmocka_unit_test(what_no_plot_shows_is_left_out),
        cmocka_unit_test(units_get_prefixes),
        cmocka_unit_test(terminals_have_letters),
        cmocka_unit_test(terminals_have_lines),
        cmocka_unit_test(endings_choose_the_terminal),
        cmocka_unit_test(pareto_front),
        cmocka_unit_test(pareto_of_groups),
        cmocka_unit_test(parts_differ_without_colour),
        cmocka_unit_test(labels_give_way),
        cmocka_unit_test(waterfalls_add_up),
        cmocka_unit_test(in_flight_over_time),
        cmocka_unit_test(times_over_the_batch),
        cmocka_unit_test(no_converter_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
