/* Texts of plans, stages, lists and rows: what they say is read back, or written by hand. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/pipeline.h>

#include "study/axes.h"
#include "study/joined_rows.h"
#include "study/laws.h"
#include "study/placement.h"
#include "study/plan_text.h"
#include "study/shapes.h"

/* Stages of these numbers of layers, each a kind of its own. */
static struct sp_stage_map stages_of(int stages, const int *layers)
{
    struct sp_stage_map map = {.stages = stages, .kinds = stages};
    for (int s = 0; s < stages; s++) {
        map.of[s] = (uint8_t)s;
        map.kind[s].layers.of[s % SP_LAYER_KINDS] = layers[s];
    }
    return map;
}

/* "1-4" or "3", joined by commas, of the layers that are marked. */
static void write_ranges(const bool *has, int n, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 1; i <= n; i++) {
        int last = i;
        if (!has[i])
            continue;
        while (last < n && has[last + 1])
            last++;
        const size_t at = strlen(text);
        if (last > i)
            snprintf(text + at, size - at, "%s%d-%d", at ? ", " : "", i, last);
        else
            snprintf(text + at, size - at, "%s%d", at ? ", " : "", i);
        i = last;
    }
}

/* Chunk c of stage s is the (c x stages + s)-th part of the layers; without chunks stages follow
 * each other. */
static void layers_of_stages(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++) {
        const int n = 2 + (int)draw(6), chunks = 1 + (int)draw(3), each = 1 + (int)draw(3);
        const bool even = draw(2);
        int layers[8], owner[200], all = 0;
        bool divides = true;
        for (int s = 0; s < n; s++) {
            layers[s] = even ? chunks * each : (int)draw(5);
            divides = divides && layers[s] == layers[0] && layers[s] % chunks == 0;
        }
        if (chunks == 1)
            for (int s = 0; s < n; s++)
                for (int k = 0; k < layers[s]; k++)
                    owner[++all] = s;
        else if (divides)
            for (int c = 0; c < chunks; c++)
                for (int s = 0; s < n; s++)
                    for (int k = 0; k < layers[0] / chunks; k++)
                        owner[++all] = s;
        const struct sp_stage_map map = stages_of(n, layers);
        struct sp_plan plan = {.pp = n, .vpp = chunks, .schedule = SP_1F1B};
        for (int s = 0; s < n; s++) {
            char text[200], want[200];
            bool has[200] = {false};
            for (int k = 1; k <= all; k++)
                has[k] = owner[k] == s;
            write_ranges(has, all, want, sizeof want);
            sp_name_stage_layers(&map, &plan, s, text, sizeof text);
            assert_string_equal(text, want);
            plan.schedule = SP_DUALPIPE; /* two copies of the weights */
            sp_name_stage_layers(&map, &plan, s, text, sizeof text);
            assert_string_equal(text, "");
            plan.schedule = SP_1F1B;
        }
    }
}

static void ranks_of_stages(void **state)
{
    (void)state;
    static const int none[4];
    const struct sp_stage_map map = stages_of(4, none);
    char text[80];
    sp_name_stage_ranks(&map, 32, 0, text, sizeof text);
    assert_string_equal(text, "0-7");
    sp_name_stage_ranks(&map, 32, 3, text, sizeof text);
    assert_string_equal(text, "24-31");
    sp_name_stage_ranks(&map, 4, 2, text, sizeof text);
    assert_string_equal(text, "2");
}

static const struct sp_plan_field *field(enum sp_plan_field_id id)
{
    return &sp_plan_fields[id];
}

static void values_of_fields(void **state)
{
    (void)state;
    struct sp_plan plan = {.dp = 16,
                           .zero = 2,
                           .recompute = {.modules = 1u << 0 | 1u << 2},
                           .recompute_layers = 0.25,
                           .tp_axes = {4, 2, 1},
                           .own = {.n = 4, .layers = {7, 8, 8, 9}},
                           .schedule = SP_1F1B};
    char text[SP_PLAN_TEXT];
    static const struct {
        enum sp_plan_field_id id;
        const char *text;
    } rows[] = {{SP_FIELD_DP, "16"},
                {SP_FIELD_ZERO, "2"},
                {SP_FIELD_MODULES, "core_attn,layernorm"},
                {SP_FIELD_REMAT_LAYERS, "0.25"},
                {SP_FIELD_TP_AXES, "4x2x1"},
                {SP_FIELD_STAGE_LAYERS, "7,8,8,9"},
                {SP_FIELD_SCHEDULE, "1f1b"},
                {SP_FIELD_SP, "off"},
                {SP_FIELD_REMAT, "none"},
                {SP_FIELD_PLACEMENT, "dp-inside"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sp_format_plan(&plan, field(rows[i].id), text);
        assert_string_equal(text, rows[i].text);
    }
    plan.own.modules_apart = true; /* on the stage before the last */
    sp_format_plan(&plan, field(SP_FIELD_STAGE_LAYERS), text);
    assert_string_equal(text, "7,8,8m,9");
    memset(plan.tp_axes, 0, sizeof plan.tp_axes);
    sp_format_plan(&plan, field(SP_FIELD_TP_AXES), text);
    assert_string_equal(text, "");
    plan.recompute.modules = 0;
    sp_format_plan(&plan, field(SP_FIELD_MODULES), text);
    assert_string_equal(text, "");
    plan.recompute.qkv = 0.123; /* no policy repeats that */
    sp_format_plan(&plan, field(SP_FIELD_REMAT), text);
    assert_string_equal(text, "");
}

/* A field matters from a degree of 2 on. */
static void fields_with_effect(void **state)
{
    (void)state;
    for (int bits = 0; bits < 32; bits++) {
        const struct sp_plan plan = {.tp = 1 + (bits & 1),
                                     .pp = 1 + (bits >> 1 & 1),
                                     .ep = 1 + (bits >> 2 & 1),
                                     .cp = 1 + (bits >> 3 & 1),
                                     .dp = 1 + (bits >> 4 & 1)};
        for (int id = 0; id < SP_PLAN_FIELDS; id++) {
            const bool want = id == SP_FIELD_SP                                       ? plan.tp == 2
                              : id == SP_FIELD_DISPATCH || id == SP_FIELD_MOE_OVERLAP ? plan.ep == 2
                              : id == SP_FIELD_CP_KIND                                ? plan.cp == 2
                              : id == SP_FIELD_SCHEDULE                               ? plan.pp == 2
                              : id == SP_FIELD_PLACEMENT
                                  ? plan.pp == 2 && (plan.dp == 2 || plan.cp == 2)
                                  : true;
            assert_int_equal(sp_has_effect(&plan, (enum sp_plan_field_id)id), want);
        }
    }
}

static void changes_in_words(void **state)
{
    (void)state;
    char text[120];
    struct sp_neighbour n = {.plan = {.tp = 4, .dp = 16, .zero = 3},
                             .changes = 3,
                             .field = {SP_FIELD_TP, SP_FIELD_DP, SP_FIELD_ZERO}};
    sp_change_text(&n, "--", text, sizeof text);
    assert_string_equal(text, "--tp 4, --dp 16, --zero 3");
    n.changes = 1;
    sp_change_text(&n, "", text, sizeof text);
    assert_string_equal(text, "tp 4");
    n.changes = 0;
    sp_change_text(&n, "", text, sizeof text);
    assert_string_equal(text, "");
}

/* Degrees above 1, ZeRO and policy are always named; the micro-batch only of the two plans that it
 * tells apart. */
static void names_tell_plans_apart(void **state)
{
    (void)state;
    struct sp_short_name names[4];
    struct sp_plan plans[4];
    for (int i = 0; i < 4; i++)
        plans[i] = (struct sp_plan){.dp = 8,
                                    .tp = 2,
                                    .pp = 1,
                                    .vpp = 1,
                                    .cp = 1,
                                    .ep = 1,
                                    .etp = 1,
                                    .shards = 8,
                                    .zero = 1,
                                    .micro_batch = 1,
                                    .schedule = SP_1F1B};
    plans[1].micro_batch = 4;
    plans[2].tp = 1;
    plans[2].pp = 4;
    plans[3].zero = 3;
    plans[3].micro_batch = 4;
    sp_name_plans(plans, 4, names);
    assert_string_equal(names[0].text, "tp 2 zero 1, none, micro-batch 1");
    assert_string_equal(names[1].text, "tp 2 zero 1, none, micro-batch 4");
    assert_string_equal(names[2].text, "pp 4 zero 1, none");
    assert_string_equal(names[3].text, "tp 2 zero 3, none");
    plans[1].micro_batch = 1; /* the same plan twice has no other name */
    sp_name_plans(plans, 2, names);
    assert_string_equal(names[0].text, "tp 2 zero 1, none");
    assert_string_equal(names[1].text, "tp 2 zero 1, none");
    plans[1].dp = 4; /* named in a fixed order, each only as far as needed */
    plans[1].micro_batch = 2;
    sp_name_plans(plans, 2, names);
    assert_string_equal(names[1].text, "tp 2 zero 1, none, dp 4");
}

/* The values of an option's text; NULL: refused. */
static void check_axis(enum sp_axis_text kind, const char *text, int n, const char *const *values)
{
    struct sp_axes axes = {.n = 0};
    struct sp_error error = {0};
    assert_int_equal(sp_add_axis(&axes, "tp", kind, text, &error), values != NULL);
    if (values) {
        assert_int_equal(axes.rows, n);
        for (int i = 0; i < n; i++)
            assert_string_equal(sp_axis_value(&axes, 0, (uint64_t)i), values[i]);
    }
    sp_free_axes(&axes);
}

#define VALUES(...)                                                                                \
    (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *)), (const char *const[])       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void values_of_axes(void **state)
{
    (void)state;
    check_axis(SP_AXIS_OF_LIST, "1,2,8", VALUES("1", "2", "8"));
    check_axis(SP_AXIS_OF_LIST, "1..4", VALUES("1", "2", "3", "4"));
    check_axis(SP_AXIS_OF_LIST, "1..9:+4", VALUES("1", "5", "9"));
    check_axis(SP_AXIS_OF_LIST, "1..8:+4", VALUES("1", "5"));
    check_axis(SP_AXIS_OF_LIST, "3..50:x4", VALUES("3", "12", "48"));
    check_axis(SP_AXIS_OF_LIST, "0..2", VALUES("0", "1", "2"));
    check_axis(SP_AXIS_OF_LIST, "5..5", VALUES("5"));
    check_axis(SP_AXIS_OF_LIST, "1..2:+0.5", VALUES("1", "1.5", "2"));
    check_axis(SP_AXIS_OF_LIST, "0.1..0.3:+0.1", VALUES("0.1", "0.2", "0.3"));
    check_axis(SP_AXIS_OF_LIST, "h100-8..32:x2", VALUES("h100-8", "h100-16", "h100-32"));
    check_axis(SP_AXIS_OF_LIST, "64..256:x2x8192", VALUES("64x8192", "128x8192", "256x8192"));
    check_axis(SP_AXIS_OF_LIST, "64..256x8192:x2", VALUES("64x8192", "128x8192", "256x8192"));
    check_axis(SP_AXIS_OF_LIST, "1k..4k:x2,7", VALUES("1000", "2000", "4000", "7"));
    check_axis(SP_AXIS_OF_LIST, "a..b", VALUES("a..b")); /* no number: a name */
    check_axis(SP_AXIS_OF_LIST, "..4", VALUES("..4"));
    check_axis(SP_AXIS_OF_TEXTS, "7,8;8,7", VALUES("7,8", "8,7"));
    check_axis(SP_AXIS_OF_ONE, "1..4,8", VALUES("1..4,8"));
    check_axis(SP_AXIS_OF_MANY, "a=1,2", VALUES("a=1,2"));
    check_axis(SP_AXIS_OF_SETS, "hw.x=1,2", VALUES("hw.x=1", "hw.x=2"));
    check_axis(SP_AXIS_OF_SETS, "hw.x=1..3", VALUES("hw.x=1", "hw.x=2", "hw.x=3"));
    check_axis(SP_AXIS_OF_SETS, "hw.x=[1,2]", VALUES("hw.x=[1,2]"));
    check_axis(SP_AXIS_OF_SETS, "hw.x", VALUES("hw.x"));
    check_axis(SP_AXIS_OF_LIST, "4..1", 0, NULL);
    check_axis(SP_AXIS_OF_LIST, "1..8:x1", 0, NULL);
    check_axis(SP_AXIS_OF_LIST, "0..8:x2", 0, NULL);
    check_axis(SP_AXIS_OF_LIST, "1..8:+0", 0, NULL);
    check_axis(SP_AXIS_OF_LIST, "1..8:-1", 0, NULL);
    check_axis(SP_AXIS_OF_LIST, "1,,2", 0, NULL);
}

/* A path of --set has at most 79 letters; with more the whole text is one value. */
static void longest_path(void **state)
{
    (void)state;
    for (int letters = 78; letters <= 82; letters++) {
        struct sp_axes axes = {.n = 0};
        struct sp_error error = {0};
        char text[100];
        memset(text, 'x', (size_t)letters);
        snprintf(text + letters, sizeof text - (size_t)letters, "=1,2");
        assert_true(sp_add_axis(&axes, "set", SP_AXIS_OF_SETS, text, &error));
        assert_int_equal(axes.rows, letters < 80 ? 2 : 1);
        assert_int_equal(strlen(sp_axis_value(&axes, 0, 0)), letters + (letters < 80 ? 2 : 4));
        sp_free_axes(&axes);
    }
}

/* 100,000 values of an option are taken, one more not; a product of 10^12 rows is, 10^12 + 10^7
 * not. */
static void most_rows(void **state)
{
    (void)state;
    struct sp_axes axes = {.n = 0};
    struct sp_error error = {0};
    assert_true(sp_add_axis(&axes, "a", SP_AXIS_OF_LIST, "1..100000", &error));
    assert_true(sp_add_axis(&axes, "b", SP_AXIS_OF_LIST, "1..100000", &error));
    assert_true(sp_add_axis(&axes, "c", SP_AXIS_OF_LIST, "1..100", &error));
    assert_true(axes.rows == 1000000000000);
    assert_int_equal(sp_axis_place(&axes, 0, 999999999999), 99999);
    assert_int_equal(sp_axis_place(&axes, 1, 100), 1);
    assert_int_equal(sp_axis_place(&axes, 2, 199), 99);
    assert_string_equal(sp_axis_value(&axes, 1, 1234500), "12346");
    assert_false(sp_add_axis(&axes, "d", SP_AXIS_OF_LIST, "1,2", &error));
    sp_free_axes(&axes);
    assert_false(sp_add_axis(&axes, "a", SP_AXIS_OF_LIST, "0..100000", &error));
    sp_free_axes(&axes);
    assert_true(sp_add_axis(&axes, "a", SP_AXIS_OF_LIST, "1..100000", &error));
    assert_true(sp_add_axis(&axes, "b", SP_AXIS_OF_LIST, "1..100000", &error));
    assert_false(sp_add_axis(&axes, "c", SP_AXIS_OF_LIST, "1..101", &error));
    sp_free_axes(&axes);
}

/* The last option changes fastest, and each row has its own place. */
static void rows_of_axes(void **state)
{
    (void)state;
    struct sp_axes axes = {.n = 0};
    struct sp_error error = {0};
    assert_true(sp_add_axis(&axes, "tp", SP_AXIS_OF_LIST, "1,2,4", &error));
    assert_true(sp_add_axis(&axes, "quiet", SP_AXIS_OF_ONE, NULL, &error));
    assert_true(sp_add_axis(&axes, "set", SP_AXIS_OF_SETS, "hw.x=a,b", &error));
    assert_true(sp_add_axis(&axes, "set", SP_AXIS_OF_SETS, "hw.y=3", &error));
    assert_false(sp_add_axis(&axes, "tp", SP_AXIS_OF_LIST, "8", &error));
    assert_int_equal(axes.rows, 6);
    static const char *const tp[] = {"1", "1", "2", "2", "4", "4"};
    for (uint64_t row = 0; row < 6; row++) {
        assert_string_equal(sp_axis_value(&axes, 0, row), tp[row]);
        assert_null(sp_axis_value(&axes, 1, row));
        assert_string_equal(sp_axis_value(&axes, 2, row), row % 2 ? "hw.x=b" : "hw.x=a");
    }
    assert_string_equal(sp_axis_name(&axes.axis[2]), "hw.x");
    assert_string_equal(sp_axis_name(&axes.axis[0]), "tp");
    assert_string_equal(sp_value_name(&axes.axis[2], 1), "b");
    assert_string_equal(sp_value_name(&axes.axis[0], 2), "4");
    sp_free_axes(&axes);
}

/* Writes texts to files and joins them; the numbers of the rows in order, "-" if refused. */
static void joined(const char *const *texts, int n, bool valid, char *out, size_t size)
{
    static const char *const names[] = {"joined-1.txt", "joined-2.txt", "joined-3.txt"};
    struct sp_world world = {0};
    struct sp_joined_rows rows;
    struct sp_error error = {0};
    for (int i = 0; i < n; i++) {
        FILE *const file = fopen(names[i], "w");
        fputs(texts[i], file);
        fclose(file);
    }
    snprintf(out, size, "-");
    if (sp_join_rows(sp_pipes_of(&world), names, n, valid, &rows, &error)) {
        out[0] = '\0';
        for (size_t i = 0; i < rows.n_rows; i++)
            snprintf(out + strlen(out), size - strlen(out), "%s%d", i ? " " : "",
                     (int)rows.rows[i].number);
        snprintf(out + strlen(out), size - strlen(out), "|%d", (int)rows.n_failed);
    }
    sp_free_joined_rows(&rows);
    for (int i = 0; i < n; i++)
        remove(names[i]);
}

#define CSV(rows) "row,tp,reason\n" rows

static void parts_are_joined(void **state)
{
    (void)state;
    static const struct {
        const char *texts[3];
        int n;
        const char *all, *valid; /* numbers and how many failed; without those that did */
    } cases[] = {
        {{CSV("0,1,\n2,4,\n"), CSV("1,2,\n3,8,\n")}, 2, "0 1 2 3|0", "0 1 2 3|0"},
        {{CSV("0,1,\n1,2,too large\n")}, 1, "0 1|1", "0|0"},
        {{CSV("0,1,\n1,2,\"a, \"\"b\"\"\"\n")}, 1, "0 1|1", "0|0"},
        {{CSV("0,\"x\",\n")}, 1, "0|0", "0|0"},
        {{CSV("0,1,\n2,4,\n")}, 1, "-", "0 2|0"},            /* 1 is in no part */
        {{CSV("1,1,\n2,4,\n")}, 1, "-", "1 2|0"},            /* nor 0 */
        {{CSV("0,1,\n1,2,\n"), CSV("1,2,\n")}, 2, "-", "-"}, /* 1 is in both */
        {{CSV("1,1,\n0,2,\n")}, 1, "-", "-"},                /* falls */
        {{CSV("9,1,\n10,2,\n20,2,\n100,3,\n")}, 1, "-", "9 10 20 100|0"},
        {{CSV("01,1,\n")}, 1, "-", "-"},
        {{CSV("0,1,\n0,2,\n")}, 1, "-", "-"},                    /* repeats */
        {{CSV("0,1,\n"), ""}, 2, "0|0", "0|0"},                  /* an empty part */
        {{CSV("")}, 1, "-", "|0"},                               /* none */
        {{CSV("0,1,\n"), "row,pp,reason\n1,2,\n"}, 2, "-", "-"}, /* other columns */
        {{CSV("0,1\n")}, 1, "-", "-"},                           /* a field short */
        {{CSV("0,1,,\n")}, 1, "-", "-"},                         /* one more */
        {{CSV("00,1,\n")}, 1, "-", "-"},                         /* no number */
        {{CSV("x,1,\n")}, 1, "-", "-"},
        {{CSV("0,\"1,\n")}, 1, "-", "-"}, /* open quotes */
        {{CSV("0,a\"1,\n")}, 1, "-", "-"},
        {{CSV("0,1,")}, 1, "-", "-"},      /* cut off */
        {{CSV("0,\x1b,\n")}, 1, "-", "-"}, /* a control character */
        {{CSV("999999999999,1,\n")}, 1, "-", NULL},
        {{CSV("1000000000000,1,\n")}, 1, "-", "-"}, /* 10^12 rows are 0 to 10^12 - 1 */
        {{"{\"row\":0,\"tp\":1}\n{\"row\":1,\"tp\":2}\n"}, 1, "0 1|0", "0 1|0"},
        {{"{\"row\":0,\"reason\":null}\n{\"row\":1,\"reason\":\"x\"}\n"}, 1, "0 1|1", "0|0"},
        {{"{\"row\":0,\"tp\":1}\n{\"row\":1,\"pp\":2}\n"}, 1, "-", "-"}, /* other keys */
        {{"{\"row\":0,\"tp\":1}\n{\"row\":1,\"tp\":}\n"}, 1, "-", "-"},
        {{"{\"row\":0,\"tp\":1}\n", CSV("1,2,\n")}, 2, "-", "-"}, /* mixed */
        {{"a,b\n1,2\n"}, 1, "-", "-"},
        {{"row,a,b\n0,x,\n1,,y\n"}, 1, "0 1|0", "0 1|0"}, /* without reasons none failed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[120];
        joined(cases[i].texts, cases[i].n, false, text, sizeof text);
        if (strcmp(text, cases[i].all) != 0)
            fail_msg("case %d: %s, expected %s", (int)i, text, cases[i].all);
        joined(cases[i].texts, cases[i].n, true, text, sizeof text);
        if (cases[i].valid && strcmp(text, cases[i].valid) != 0)
            fail_msg("case %d, valid: %s, expected %s", (int)i, text, cases[i].valid);
    }
    assert_true(sp_holds_rows("row,a") && sp_holds_rows("{\"row\":1}"));
    assert_false(sp_holds_rows("rows,a") || sp_holds_rows("row") || sp_holds_rows("{\"rows\":1}"));
}

/* All dense decoders by the ratio of their sizes, from the list of models. */
struct known {
    char name[400][64];
    double params[400];
    int n;
};

static void note(const char *name, void *context)
{
    struct known *const k = context;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_model *const m = sp_load_config(SP_MODELS, name, &sources, &error);
    if (m && k->n < 400 && strlen(name) < 64 && m->layers > 0 && m->d_model > 0 &&
        sp_model_has_shape(m) && m->vocab > 0 && m->moe.experts == 0 && m->encoder.layers == 0 &&
        !m->bidirectional) {
        snprintf(k->name[k->n], 64, "%s", name);
        k->params[k->n++] = sp_count_params(m).total;
    }
    free(m);
}

static void shapes_by_ratio(void **state)
{
    (void)state;
    struct known *const k = calloc(1, sizeof *k);
    const struct sp_sources sources = {0};
    sp_each_config(SP_MODELS, &sources, note, k);
    assert_true(k->n > 20);
    for (int i = 0; i < 40; i++) {
        const double params = spread(1e8, 1e12);
        const size_t most = 1 + draw(5);
        struct sp_known_shape found[6];
        assert_int_equal(sp_nearest_shapes(params, NULL, &sources, found, most), most);
        for (size_t r = 0; r < most; r++) {
            int nearer = 0, same = 0;
            bool known = false;
            const double away = fmax(found[r].params / params, params / found[r].params);
            for (int m = 0; m < k->n; m++) {
                const double other = fmax(k->params[m] / params, params / k->params[m]);
                nearer += other < away * (1 - 1e-12);
                same += fabs(other / away - 1) <= 1e-12;
                known = known ||
                        (strcmp(k->name[m], found[r].name) == 0 && k->params[m] == found[r].params);
            }
            assert_true(known);
            assert_true(nearer <= (int)r && (int)r < nearer + same);
        }
    }
    free(k);
}

/* Each law is asked with its own file, whose names have at most 60 letters. */
static void count(const char *name, void *context)
{
    *(size_t *)context += strchr(name, '.') == NULL;
}

static void all_laws(void **state)
{
    (void)state;
    const struct sp_sources sources = {0};
    struct sp_law_answer answers[64];
    struct sp_error error = {0};
    size_t laws = 0;
    sp_each_config(SP_LAWS, &sources, count, &laws);
    const size_t n = sp_laws_at(1e24, &sources, answers, 64);
    assert_true(n > 2 && n <= laws);
    for (size_t i = 0; i < n; i++) {
        const struct sp_scaling_run *const r = &answers[i].best;
        struct sp_scaling_law law;
        assert_true(sp_load_law(answers[i].name, &sources, &law, &error));
        assert_close(r->flops, 1e24, 1e-12);
        assert_true(r->params > 1e9 && r->params < 1e13);
        for (size_t k = 0; k < i; k++)
            assert_true(strcmp(answers[k].name, answers[i].name) != 0);
    }
    assert_int_equal(sp_laws_at(1e24, &sources, answers, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_stages), cmocka_unit_test(ranks_of_stages),
        cmocka_unit_test(values_of_fields), cmocka_unit_test(fields_with_effect),
        cmocka_unit_test(changes_in_words), cmocka_unit_test(names_tell_plans_apart),
        cmocka_unit_test(values_of_axes),   cmocka_unit_test(longest_path),
        cmocka_unit_test(most_rows),        cmocka_unit_test(rows_of_axes),
        cmocka_unit_test(parts_are_joined), cmocka_unit_test(shapes_by_ratio),
        cmocka_unit_test(all_laws),
    };
    return cmocka_run_group_tests_name("study_text", tests, NULL, NULL);
}
