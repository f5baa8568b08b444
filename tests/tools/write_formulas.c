/* Prints docs/formulas.md from the list of quantities, so that the page cannot disagree with the
 * program. */
#include <stdio.h>
#include <string.h>

#include "answer/quantity.h"

#define Q(id, key, label, unit, formula, source, meaning) [SP_Q_##id] = #id,
#define SP_QUANTITIES_END(command)
static const char *const ids[SP_QUANTITIES] = {
#include "answer/all_quantities.def"
};
#undef SP_QUANTITIES_END
#undef Q

static const char *const intro =
    "# Formulas\n"
    "\n"
    "Every number that scaleplan prints, from the list it prints them from. This page is written "
    "by the\n"
    "program (`tests/tools/write_formulas.c`); `tests/unit/test_formulas.c` evaluates every "
    "formula below on\n"
    "many command lines and compares it with the program's value to 1e-12, and the tests named "
    "after each\n"
    "command pin the values themselves. `scaleplan COMMAND --explain KEY` shows a formula with its "
    "numbers.\n"
    "`--get` and `--explain` take a key as it stands here where one group alone has it (`x_opt`), "
    "and offer\n"
    "the groups where several do (`strategies.dp.fits`, `best.fits`).\n"
    "\n"
    "Symbols: B batch in tokens of one optimizer step, T sequence length, N chips (M per slice, S "
    "slices),\n"
    "C dense peak FLOP/s of one chip, D d_model, F MLP width that a token passes, L layers, P "
    "parameters,\n"
    "r = E/k of a mixture of experts (1 when dense), w one torus link one way, W bandwidth in "
    "bytes/s\n"
    "(W_ici = 2w one wrapped axis, W_gpu a device inside its node, W_node a node's scale-out "
    "egress, W_dcn a\n"
    "chip's data-centre egress, W_X and W_Y the axes given to FSDP and TP), X FSDP degree, Y TP "
    "degree,\n"
    "p pipeline stages, v chunks a stage, m micro-batches. SI base units throughout. An empty "
    "formula means\n"
    "that no closed form gives the number; its meaning says where it comes from.\n";

/* `|` would end a table cell. */
static void print_cell(const char *text)
{
    fputs("| ", stdout);
    for (; *text; text++)
        printf(*text == '|' ? "\\%c" : "%c", *text);
    fputc(' ', stdout);
}

int main(void)
{
    char group[32] = "";
    fputs(intro, stdout);
    for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
        const struct sp_quantity_info info = sp_quantity(id);
        const int n = (int)strcspn(ids[id], "_");
        if (strncmp(group, ids[id], (size_t)n) != 0 || group[n] != '\0') {
            snprintf(group, sizeof group, "%.*s", n, ids[id]);
            printf("\n## ");
            for (const char *c = group; *c; c++)
                putchar(*c | 0x20);
            printf("\n\n| key | unit | formula | meaning | source |\n|---|---|---|---|---|\n");
        }
        print_cell(info.key);
        print_cell(sp_unit_name(info.unit));
        char formula[SP_FORMULA_TEXT];
        print_cell(sp_formula_text(info.formula, formula));
        print_cell(info.meaning);
        print_cell(info.source);
        puts("|");
    }
    return 0;
}
