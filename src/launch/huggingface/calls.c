/* Python that calls Hugging Face's Trainer, TRL, PEFT or unsloth: its keywords by the Trainer's
 * names. Names and defaults: transformers/training_args.py, the _config.py of trl/trainer,
 * peft/tuners/lora/config.py, unsloth/models/loader.py. */
#include "launch/huggingface/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/formats/python_lines.h"
#include "launch/formats/python_text.h"

const char sp_python_class[] = "python.class", sp_python_kind[] = "python.kind",
           sp_python_length[] = "python.length";

/* Classes that hold the arguments of a training, how it trains ("": on text), whether they are
 * TRL's, which recompute and take bf16 unless told otherwise, and their length of sequences. */
static const struct {
    const char *name, *kind;
    bool trl;
    const char *length;
} classes[] = {
    {"TrainingArguments", "", false, NULL},
    {"Seq2SeqTrainingArguments", "", false, NULL},
    {"UnslothTrainingArguments", "", false, NULL},
    {"SentenceTransformerTrainingArguments", "", false, NULL},
    {"SFTConfig", "", true, "1024"},
    {"DPOConfig", "dpo", true, "1024"},
    {"KTOConfig", "kto", true, "1024"},
    {"ORPOConfig", "orpo", true, "1024"},
    {"CPOConfig", "cpo", true, "1024"},
    {"RewardConfig", "reward", true, "1024"},
    {"GRPOConfig", "grpo", true, NULL},
    {"RLOOConfig", "rloo", true, NULL},
    {"PPOConfig", "ppo", true, NULL},
    {"GKDConfig", "gkd", true, "1024"},
};

/* Keywords of other calls that are read, as the Trainer's arguments have them; "0": the first that
 * has no keyword. */
static const struct {
    const char *call, *keyword, *as;
} others[] = {
    {"LoraConfig", "r", "lora_r"},
    {"LoraConfig", "target_modules", "lora_target_modules"},
    {"LoraConfig", "use_dora", "use_dora"},
    {"LoraConfig", "modules_to_save", "modules_to_save"},
    {"LoraConfig", "layers_to_transform", "layers_to_transform"},
    {"LoraConfig", "rank_pattern", "rank_pattern"},
    {"get_peft_model", "r", "lora_r"},
    {"get_peft_model", "target_modules", "lora_target_modules"},
    {"get_peft_model", "modules_to_save", "modules_to_save"},
    {"get_peft_model", "use_gradient_checkpointing", "gradient_checkpointing"},
    {"BitsAndBytesConfig", "load_in_4bit", "load_in_4bit"},
    {"BitsAndBytesConfig", "load_in_8bit", "load_in_8bit"},
    {"BitsAndBytesConfig", "bnb_4bit_use_double_quant", "bnb_4bit_use_double_quant"},
    {"from_pretrained", "0", "model_name_or_path"},
    {"from_pretrained", "pretrained_model_name_or_path", "model_name_or_path"},
    {"from_pretrained", "model_name_or_path", "model_name_or_path"},
    {"from_pretrained", "model_name", "model_name_or_path"},
    {"from_pretrained", "torch_dtype", "torch_dtype"},
    {"from_pretrained", "dtype", "dtype"},
    {"from_pretrained", "load_in_4bit", "load_in_4bit"},
    {"from_pretrained", "load_in_8bit", "load_in_8bit"},
    {"from_pretrained", "max_seq_length", "max_seq_length"},
    {"Trainer", "max_seq_length", "max_seq_length"},
    {"Trainer", "max_length", "max_length"},
    {"Trainer", "max_prompt_length", "max_prompt_length"},
    {"Trainer", "model", "model_name_or_path"},
};

enum { OTHERS = sizeof others / sizeof *others };

/* One of several trainings is requested by the function around it, by what receives its arguments,
 * by their class or by its line: the first of these that distinguishes it. */
enum { FUNCTION, TARGET, CLASS, LINE, HANDLES };
struct handles {
    char text[HANDLES][64];
};

struct reading {
    struct sp_settings *s;
    const char *recipe;
    struct handles first; /* of the first training */
    bool trains;          /* there is one */
    int around;           /* the function around the training that is asked for, by its line */
    int shared;           /* trainings in it */
    int line[OTHERS];     /* of the first call that a row is of; 0: none yet */
    bool modelled;        /* a model was loaded */
    bool parses;          /* arguments are those of its command */
    struct sp_python_file file;
    enum { LOCATES, COUNTS, READS, PASSES } pass;
    const char *own; /* a class of such a name that is another module's; NULL: none */
};

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), length = strlen(end);
    return n >= length && sp_is(text + n - length, end);
}

static struct handles handles_of(const struct sp_call *call)
{
    struct handles handles;
    snprintf(handles.text[FUNCTION], sizeof *handles.text, "%s", call->function);
    snprintf(handles.text[TARGET], sizeof *handles.text, "%s", call->target);
    snprintf(handles.text[CLASS], sizeof *handles.text, "%s", call->name);
    snprintf(handles.text[LINE], sizeof *handles.text, "%d", call->line);
    return handles;
}

static bool is_asked_for(const struct reading *r, const struct sp_call *call)
{
    const struct handles handles = handles_of(call);
    for (int i = 0; r->recipe && i < HANDLES; i++)
        if (sp_is(handles.text[i], r->recipe))
            return true;
    return !r->recipe;
}

/* Explains how to tell apart two trainings that both match the request. */
static bool refuse_several(const struct reading *r, const struct sp_call *call)
{
    const struct handles other = handles_of(call);
    int i = FUNCTION;
    while (i < LINE &&
           (!r->first.text[i][0] || !other.text[i][0] || sp_is(r->first.text[i], other.text[i])))
        i++;
    return sp_fail(r->s->error, SP_INPUT,
                   "%s:%d: it holds several trainings, %s (line %s) and %s: give --recipe %s",
                   sp_safe(r->s->origin), call->line, sp_safe(r->first.text[i]),
                   r->first.text[LINE], sp_safe(other.text[i]), i == LINE ? "LINE" : "NAME");
}

/* Whether a call loads the model that is trained: no tokenizer, reference or judge. */
static bool loads_model(const struct sp_call *call)
{
    static const char *const no[] = {"Tokenizer", "Processor", "Config", "PeftModel", "Extractor"},
                             *const beside[] = {"ref",   "reward", "teacher", "token", "judge",
                                                "embed", "draft",  "critic",  "value"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strstr(call->path, no[i]))
            return false;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (strncmp(call->target, beside[i], strlen(beside[i])) == 0)
            return false;
    return strstr(call->path, "Model") || strstr(call->path, "For");
}

static bool add(struct sp_settings *s, const char *name, const char *value)
{
    return sp_has_setting(s, name) || sp_add_setting(s, name, value);
}

static bool refuse_unknown(const struct reading *r, const struct sp_call *call,
                           const struct sp_argument *argument)
{
    char words[40];
    snprintf(words, sizeof words, "%.*s", (int)(argument->to - argument->from), argument->from);
    return sp_fail(r->s->error, SP_INPUT,
                   "%s:%d: %s takes arguments of %s, which are unknown here: give the plan as "
                   "options",
                   sp_safe(r->s->origin), call->line, call->name, sp_safe(words));
}

static bool take_keyword(void *to, const struct sp_python *python, const struct sp_call *call,
                         const struct sp_argument *argument)
{
    struct reading *const r = to;
    if (sp_is(argument->keyword, "**"))
        return refuse_unknown(r, call, argument);
    return !argument->keyword[0] ||
           sp_take_argument(python, call, argument, argument->keyword, r->s);
}

/* All keywords of a class of arguments. */
static bool take_class(struct reading *r, const struct sp_python *python,
                       const struct sp_call *call, size_t row)
{
    if (r->trains)
        return refuse_several(r, call);
    r->first = handles_of(call);
    r->trains = true;
    return sp_add_setting(r->s, sp_python_class, call->name) &&
           (!classes[row].kind[0] || sp_add_setting(r->s, sp_python_kind, classes[row].kind)) &&
           sp_visit_arguments(python, call, take_keyword, r);
}

/* unsloth loads in 4 bits unless told otherwise, and adapts every linear layer. */
static bool take_unsloth(struct reading *r, const struct sp_call *call)
{
    if (strncmp(call->path, "Fast", 4) != 0)
        return true;
    return sp_is(call->name, "get_peft_model")
               ? add(r->s, "lora_r", "16") && add(r->s, "lora_target_modules", "all-linear")
               : add(r->s, "load_in_4bit", "true") && add(r->s, "dtype", "bfloat16");
}

/* If a function holds several trainings, and two calls set the same thing, it is unknown which of
 * them belongs to the requested training. */
static void doubt_shared(struct reading *r, const struct sp_call *call)
{
    for (size_t i = 0; i < OTHERS && r->shared > 1; i++) {
        if (!sp_is(others[i].call, call->name))
            continue;
        const int before = r->line[i];
        r->line[i] = before ? before : call->line;
        for (int j = 0; before && j < r->s->n; j++)
            if (sp_is(r->s->at[j].name, others[i].as)) {
                snprintf(r->s->at[j].gap, sizeof r->s->at[j].gap, "one of lines %d and %d", before,
                         call->line);
                r->s->at[j].gap_line = call->line;
            }
    }
}

/* Where texts are cut for a training: tokenizer(..., truncation=True, max_length=N). */
static bool take_cut(struct reading *r, const struct sp_python *python, const struct sp_call *call)
{
    struct sp_argument argument = {0}, length = {0};
    bool cuts = false;
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);) {
        if (sp_is(argument.keyword, "max_length"))
            length = argument;
        cuts = cuts || (sp_is(argument.keyword, "truncation") && *argument.from != 'F');
        if (sp_is(argument.keyword, "return_tensors") && strchr("\"'", *argument.from))
            return true; /* tensors are for a model that answers */
    }
    const char *const before = sp_said(r->s, sp_python_length);
    if (!cuts || !length.from)
        return true;
    if (!sp_take_argument(python, call, &length, sp_python_length, r->s))
        return false;
    struct sp_setting *const last = &r->s->at[r->s->n - 1];
    if (before && !sp_is(before, last->value)) /* it is unknown which is the training's */
        snprintf(last->gap, sizeof last->gap, "another length");
    return true;
}

/* An argument of another call, by its row; adapters may have arguments with unknown values. */
static bool take_row(void *to, const struct sp_python *python, const struct sp_call *call,
                     const struct sp_argument *argument)
{
    struct reading *const r = to;
    const bool trains = ends_in(call->name, "Trainer");
    char name[160]; /* of a model, where no object is given */
    int branch = 0;
    bool ok = true;
    if (sp_is(argument->keyword, "**") && sp_is(call->name, "LoraConfig"))
        return refuse_unknown(r, call, argument);
    for (size_t i = 0; i < OTHERS && ok; i++) {
        const bool here =
            (trains && sp_is(others[i].call, "Trainer")) || sp_is(others[i].call, call->name);
        const bool named = argument->keyword[0]
                               ? sp_is(others[i].keyword, argument->keyword)
                               : sp_is(others[i].keyword, "0") && argument->place == 1;
        const bool text =
            !sp_is(others[i].keyword, "model") ||
            (sp_python_value(python, argument->from, argument->to, &branch, name, sizeof name) &&
             strchr(name, '/'));
        if (here && named && text)
            ok = sp_take_argument(python, call, argument, others[i].as, r->s);
    }
    return ok;
}

static bool take_other(struct reading *r, const struct sp_python *python,
                       const struct sp_call *call)
{
    if (sp_is(call->name, "tokenizer"))
        return take_cut(r, python, call);
    const bool loads = sp_is(call->name, "from_pretrained");
    if (loads && ((r->modelled && r->shared < 2) || !loads_model(call)))
        return true;
    r->modelled = r->modelled || loads;
    const bool ok = sp_visit_arguments(python, call, take_row, r) && take_unsloth(r, call);
    doubt_shared(r, call);
    return ok;
}

/* Whether the file defines a class of that name itself, not on top of a library's. */
static bool defines(const struct sp_python_file *file, const char *class)
{
    bool own = false;
    for (int i = 0; i < file->n && !own; i++) {
        const char *const name = file->at[i].from + sizeof "class";
        const size_t n = strlen(class);
        own = sp_line_starts(&file->at[i], "class") && file->at[i].to > name + n &&
              strncmp(name, class, n) == 0 && !sp_is_python_letter(name[n]);
        for (size_t j = 0; own && j < sizeof classes / sizeof *classes; j++) {
            const char *const base = strstr(name + n, classes[j].name);
            own = !base || base >= file->at[i].to;
        }
    }
    return own;
}

/* Whether a class of that name is not that of the supported libraries. */
static bool is_own(const struct sp_python_file *file, const char *class)
{
    char module[96];
    if (defines(file, class))
        return true;
    return sp_find_import(file, class, module, sizeof module) && !sp_starts_with(module, "trl") &&
           !sp_starts_with(module, "transformers") && !sp_starts_with(module, "unsloth") &&
           !sp_starts_with(module, "sentence_transformers");
}

/* The row of the class of arguments that a call makes; -1: it makes none of a library's. */
static int class_of(struct reading *r, const struct sp_call *call)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (sp_is(classes[i].name, call->name)) {
            if (!is_own(&r->file, call->name))
                return (int)i;
            r->own = classes[i].name;
        }
    return -1;
}

/* Notes that an object of one of the file's own classes gets values from elsewhere: its defaults
 * are read. */
static void note_spread(const struct reading *r, const struct sp_call *call)
{
    struct sp_argument argument = {0};
    if (!defines(&r->file, call->name))
        return;
    for (const char *at = call->from; sp_next_argument(call, &at, &argument);)
        if (strncmp(argument.from, "**", 2) == 0)
            sp_launch_note(r->s,
                           "line %d: %s gets other values from elsewhere: its defaults are "
                           "read",
                           call->line, sp_safe(call->name));
}

/* Whether the text of a call is the head of a class, "class NAME(BASE):". */
static bool heads_class(const struct reading *r, const struct sp_call *call)
{
    for (int i = 0; i < r->file.n; i++)
        if (call->from >= r->file.at[i].from && call->from < r->file.at[i].to)
            return sp_line_starts(&r->file.at[i], "class");
    return false;
}

/* Visits a call: finds the function around the training that is asked for, then how many trainings
 * it has, then reads. */
static bool visit(void *to, const struct sp_python *python, const struct sp_call *call)
{
    struct reading *const r = to;
    if (heads_class(r, call))
        return true;
    const int row = class_of(r, call);
    const bool asked = row >= 0 && is_asked_for(r, call);
    if (r->pass == LOCATES && r->recipe && asked)
        r->around = call->def;
    if (r->pass == COUNTS)
        r->shared += r->recipe && row >= 0 && r->around == call->def;
    if (r->pass != READS)
        return true;
    note_spread(r, call);
    r->parses =
        r->parses || sp_is(call->name, "HfArgumentParser") || sp_is(call->name, "TrlParser");
    if (r->recipe && call->def > 0 && call->def != r->around)
        return true;
    return row < 0 ? take_other(r, python, call)
                   : !asked || take_class(r, python, call, (size_t)row);
}

/* Defaults of TRL's classes. */
static bool take_defaults(struct sp_settings *s)
{
    const char *const class = sp_setting(s, sp_python_class);
    bool ok = true;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (!sp_is(classes[i].name, class) || !classes[i].trl)
            continue;
        const bool half = sp_has_setting(s, "bf16") || sp_has_setting(s, "fp16"),
                   again = sp_has_setting(s, "gradient_checkpointing"),
                   length = !classes[i].length || sp_has_setting(s, "max_length") ||
                            sp_has_setting(s, "max_seq_length");
        if (!half || !again || !length)
            sp_launch_note(s, "%s without%s%s%s: as in TRL since 0.20", class, half ? "" : " bf16",
                           again ? "" : " gradient_checkpointing", length ? "" : " max_length");
        ok = ok && (half || sp_add_setting(s, "bf16", "true")) &&
             (again || sp_add_setting(s, "gradient_checkpointing", "true")) &&
             (length || sp_add_setting(s, "max_length", classes[i].length)) &&
             (classes[i].length || sp_is(classes[i].kind, "ppo") || add(s, "num_generations", ""));
    }
    return ok;
}

bool sp_read_trainer_calls(const char *text, const struct sp_typed_names *names,
                           struct sp_settings *s)
{
    struct reading r = {.s = s, .recipe = names->recipe, .file = {.text = (char *)text}};
    bool ok = true;
    sp_split_python(&r.file);
    for (; ok && r.pass < PASSES; r.pass++)
        ok = sp_read_calls(text, s->origin, names, visit, &r);
    free(r.file.at);
    if (!ok)
        return false;
    if (!r.trains)
        s->n = 0;
    if (!r.trains && r.own)
        return sp_fail_in(
            s, "its %s is not a class of TRL or transformers: give the plan as options", r.own);
    if (!r.trains && r.parses)
        return sp_fail_in(s, "its arguments are on the command line that starts it: read that");
    return !r.trains || take_defaults(s);
}
