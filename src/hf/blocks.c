/* Nemotron-NAS: block_configs gives each layer its own attention and MLP, or a matmul in place of
 * one, or neither. Source: vLLM, models/nemotron_nas.py; TensorRT-LLM, models/nemotron_nas. */
#include "hf/blocks.h"

#include <math.h>
#include <string.h>

#include "hf/pattern.h"

/* What the blocks are together. */
struct blocks {
    char letters[SP_HF_MOST_LETTERS + 1];
    int n;
    double width;     /* of the model */
    double groups[2]; /* query heads per KV head, of layers A and L; 0: none */
    double mlps, widths, widest;
    bool linear; /* a matmul in place of a block */
    const char *fault;
};

/* The width of an MLP: as given, or two thirds of a multiple of the model's, rounded up. */
static double width_of(const cJSON *ffn, double width)
{
    enum { MULTIPLE = 256 };
    const double times = sp_hf_at(ffn, "ffn_mult");
    return times > 0 ? ceil(floor(2 * times * width / 3) / MULTIPLE) * MULTIPLE
                     : sp_hf_at(ffn, "intermediate_size");
}

/* Whether a part has a key that changes more than its sizes: a window, sinks. */
static bool is_beyond(const cJSON *part)
{
    static const char known[] =
        " n_heads_in_group no_op replace_with_linear ffn_mult intermediate_size hidden_act ";
    const cJSON *at;
    cJSON_ArrayForEach(at, part)
    {
        const char *const found = strstr(known, at->string);
        const size_t n = strlen(at->string);
        const bool named = found && n > 0 && found[-1] == ' ' && found[n] == ' ';
        if (!named && !cJSON_IsNull(at) && !cJSON_IsFalse(at))
            return true;
    }
    return !cJSON_IsObject(part);
}

static void put_letter(struct blocks *b, char letter)
{
    if (b->n == SP_HF_MOST_LETTERS)
        b->fault = "more layers than a pattern has letters";
    else
        b->letters[b->n++] = letter;
}

/* Adds an MLP; a D x D matmul has as many weights as a gated one of width D / 3. */
static void add_mlp(struct blocks *b, const cJSON *ffn, bool linear)
{
    const double width = linear ? b->width / 3 : width_of(ffn, b->width);
    b->linear = b->linear || linear;
    b->mlps++;
    b->widths += width;
    b->widest = fmax(b->widest, width);
    if (!(width >= 1))
        b->fault = "an ffn without a width";
}

/* 0 or 1: which attention of the model has this many query heads per KV head; 2: none. */
static int attention_of(struct blocks *b, const cJSON *attention, double heads)
{
    const double group = sp_hf_at(attention, "n_heads_in_group");
    int i = 0;
    while (i < 2 && b->groups[i] > 0 && fabs(b->groups[i] - group) > 0)
        i++;
    if (!(group >= 1) || fmod(heads, group) != 0)
        b->fault = "n_heads_in_group that does not divide the heads";
    else if (i == 2)
        b->fault = "more than two numbers of KV heads";
    else
        b->groups[i] = group;
    return i;
}

static void add_block(struct blocks *b, const cJSON *block, double heads)
{
    const cJSON *const attention = sp_hf_member(block, "attention"), *const ffn =
                                                                         sp_hf_member(block, "ffn");
    const bool mlp = !sp_hf_flag_at(ffn, "no_op", false);
    if (is_beyond(attention) || is_beyond(ffn)) {
        b->fault = "a part of attention or ffn";
        return;
    }
    if (mlp)
        add_mlp(b, ffn, sp_hf_flag_at(ffn, "replace_with_linear", false));
    if (sp_hf_flag_at(attention, "no_op", false)) {
        if (mlp)
            put_letter(b, '-');
    } else if (sp_hf_flag_at(attention, "replace_with_linear", false)) {
        add_mlp(b, NULL, true);
        put_letter(b, '-');
        if (mlp)
            put_letter(b, '-');
    } else {
        const int i = attention_of(b, attention, heads);
        put_letter(b, (mlp ? "AL?" : "*M?")[i]);
    }
}

static void read_blocks(const cJSON *o, struct blocks *b)
{
    const cJSON *block, *const list = sp_hf_member(o, "block_configs");
    *b = (struct blocks){.width = sp_hf_number(o, sp_hf_width)};
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != (int)sp_hf_at(o, "num_hidden_layers"))
        b->fault = "another number of layers";
    cJSON_ArrayForEach(block, list)
    {
        if (!b->fault)
            add_block(b, block, sp_hf_number(o, sp_hf_heads));
    }
    if (!b->fault && !(b->groups[0] > 0 && b->mlps > 0))
        b->fault = "no attention or no ffn at all";
    if (b->linear &&
        (sp_hf_flag_at(o, "attention_bias", false) || sp_hf_flag_at(o, "mlp_bias", false)))
        b->fault = "biases beside replace_with_linear";
}

void sp_hf_fill_blocks(cJSON *o)
{
    struct blocks b;
    read_blocks(o, &b);
    sp_hf_put(o, sp_hf_ff[0], fmax(1, ceil(b.widest))); /* so that a fault is what is named */
    sp_hf_put(o, sp_hf_kv[0], sp_hf_number(o, sp_hf_heads) / (b.fault ? 1 : b.groups[0]));
}

const char *sp_hf_fault_of_blocks(const cJSON *o)
{
    struct blocks b;
    read_blocks(o, &b);
    return b.fault;
}

void sp_hf_put_blocks(cJSON *out, const cJSON *o)
{
    struct blocks b;
    read_blocks(o, &b);
    const double heads = sp_hf_number(o, sp_hf_heads);
    sp_hf_put(out, "layers", b.n);
    sp_hf_put(out, "mean_d_ff", b.widths / b.mlps);
    if (b.groups[1] > 0) {
        cJSON *const x = cJSON_AddObjectToObject(out, "local_attention");
        SP_HF_TAKE(x, out, {"heads", "heads"}, {"head_dim", "head_dim"});
        sp_hf_put(x, "kv_heads", heads / b.groups[1]);
    }
    sp_hf_shorten(b.letters, b.n);
    cJSON_AddStringToObject(out, "pattern", b.letters);
}
