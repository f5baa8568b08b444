/* formulas.md: all printed numbers, from their rows. */

#include "manual/manual.h"

static const char *const intro =
    "# Formulas\n\n"
    "Every number that scaleplan prints, by command. `scaleplan COMMAND --explain KEY` shows a "
    "formula with its numbers.\n"
    "`--get` and `--explain` take a key as printed here if only one group has it (`x_opt`), "
    "and list the groups\nif several do (`strategies.dp.fits`, `best.fits`). All values are "
    "in SI base units.\n\n"
    "Symbols: B tokens of one optimizer step, T sequence length, N chips (M per slice, S slices), "
    "C dense peak FLOP/s\nper chip, D d_model, F MLP width that a token passes, L layers, P "
    "parameters, r = E/k of a mixture of experts\n(1 for a dense model), w one torus link one "
    "way, W bandwidth in bytes/s (W_ici = 2w one wrapped axis, W_gpu a\ndevice inside its node, "
    "W_node a node's scale-out egress, W_dcn a chip's data-centre egress, W_X and W_Y the axes\n"
    "given to FSDP and TP), X FSDP degree, Y TP degree, p pipeline stages, v chunks per stage, m "
    "micro-batches. An\nempty formula means that no closed form gives the number; its meaning "
    "says where it comes from.\n";

/* `|` would end a table cell. */
static void put_cell(const char *text, FILE *out)
{
    fputs("| ", out);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    fputc(' ', out);
}

static void put_quantity(enum sp_quantity_id id, FILE *out)
{
    char formula[SP_FORMULA_TEXT];
    const struct sp_quantity_info info = sp_quantity(id);
    put_cell(info.key, out);
    put_cell(sp_unit_name(info.unit), out);
    put_cell(sp_formula_text(info.formula, formula), out);
    put_cell(info.meaning, out);
    put_cell(info.source, out);
    fputs("|\n", out);
}

void sp_write_formulas(FILE *out)
{
    fputs(intro, out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        enum sp_quantity_id first;
        const enum sp_quantity_id end = sp_quantities_of(sp_commands[i]->name, &first);
        if (first == end)
            continue;
        fprintf(out,
                "\n## %s\n\n| key | unit | formula | meaning | source |\n|---|---|---|---|---|\n",
                sp_commands[i]->name);
        for (enum sp_quantity_id id = first; id < end; id++)
            put_quantity(id, out);
    }
}
