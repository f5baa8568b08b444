/* MaxText's options in files: YAML (libyaml) or key=value words; and the names it gives things. */
#include <string.h>

#include <yaml.h>

#include "launch/maxtext.h"
#include "base/json_syntax.h"
#include "base/list.h"

const char *const sp_maxtext_models[][2] = {
    {"llama2-7b", "llama2-7b"},
    {"llama2-13b", "llama2-13b"},
    {"llama2-70b", "llama2-70b"},
    {"llama3-8b", "llama3-8b"},
    {"llama3-70b", "llama3-70b"},
    {"llama3.1-8b", "llama3.1-8b"},
    {"llama3.1-70b", "llama3.1-70b"},
    {"llama3-405b", "llama3.1-405b"},
    {"llama4-scout", "llama4-17b-16e"},
    {"llama4-maverick", "llama4-17b-128e"},
    {"mistral-7b", "mistral-7b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "mixtral-8x22b"},
    {"deepseek-v3", "deepseek3-671b"},
    {"deepseek-v2", "deepseek2-236b"},
    {"deepseek-v2-lite", "deepseek2-16b"},
    {"kimi-k2", "kimi-k2-1t"},
    {"gemma-2b", "gemma-2b"},
    {"gemma-7b", "gemma-7b"},
    {"gemma2-2b", "gemma2-2b"},
    {"gemma2-9b", "gemma2-9b"},
    {"gemma2-27b", "gemma2-27b"},
    {"gemma3-27b", "gemma3-27b"},
    {"qwen3-8b", "qwen3-8b"},
    {"qwen3-32b", "qwen3-32b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"},
    {"qwen3-235b-a22b", "qwen3-235b-a22b"},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"gpt-oss-120b", "gpt-oss-120b"},
    {"gpt3-175b", "gpt3-175b"},
};
const struct sp_maxtext_dimension sp_maxtext_dimensions[] = {
    {"base_num_decoder_layers", "layers", offsetof(struct sp_model, layers), 16},
    {"base_emb_dim", "d_model", offsetof(struct sp_model, d_model), 2048},
    {"base_mlp_dim", "d_ff", offsetof(struct sp_model, d_ff), 7168},
    {"base_num_query_heads", "heads", offsetof(struct sp_model, heads), 16},
    {"base_num_kv_heads", "kv_heads", offsetof(struct sp_model, kv_heads), 16},
    {"head_dim", "head_dim", offsetof(struct sp_model, head_dim), 128},
    {"vocab_size", "vocab", offsetof(struct sp_model, vocab), 32000},
};
const struct sp_maxtext_policy sp_maxtext_policies[] = {
    {"full", "full", false, true},
    {"minimal", "dots", false, true},
    {"minimal_with_context", "none", false, true},
    {"minimal_offloaded", "dots", true, true},
    {"save_qkv_proj", "qkv", false, true},
    {"qkv_proj_offloaded", "qkv", true, true},
    {"save_dot_except_mlp", "mlp", false, true},
    {"save_dot_with_context_except_mlp", "mlp", false, false},
    {"save_dot_except_mlpwi", "mlp", false, false},
    {"save_out_proj", "full", false, false},
    {"custom", "full", false, false},
};
int64_t sp_jax_devices_of(const struct sp_hardware *hw)
{
    return hw->network.jax_devices_per_chip > 0 ? hw->network.jax_devices_per_chip : 1;
}
/* Top-level scalars of a YAML document; what is nested is passed over. */
static bool read_yaml(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    yaml_parser_t parser;
    yaml_event_t event;
    char key[64] = "";
    int depth = 0;
    bool ok = true, done = false;
    if (!yaml_parser_initialize(&parser))
        return sp_fail(error, SP_INTERNAL, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    while (ok && !done) {
        if (!yaml_parser_parse(&parser, &event)) {
            ok = sp_fail(error, SP_INPUT, "%s:%zu:%zu: %s", sp_safe(settings->origin),
                         parser.problem_mark.line + 1, parser.problem_mark.column + 1,
                         parser.problem ? parser.problem : "not YAML");
            break;
        }
        const bool opens =
            event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT;
        const bool closes =
            event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT;
        done = event.type == YAML_STREAM_END_EVENT;
        if (opens)
            depth++;
        if (closes)
            depth--;
        if (depth > SP_JSON_MAX_DEPTH)
            ok = sp_fail(error, SP_INPUT, "%s: nested deeper than %d", sp_safe(settings->origin),
                         SP_JSON_MAX_DEPTH);
        if ((opens && depth == 2) || (event.type == YAML_ALIAS_EVENT && depth == 1)) {
            key[0] = '\0';
        } else if (event.type == YAML_SCALAR_EVENT && depth == 1) {
            const char *const value = (const char *)event.data.scalar.value;
            if (!key[0]) {
                snprintf(key, sizeof key, "%s", value);
            } else {
                ok = ok && sp_add_setting(settings, key, value, error);
                key[0] = '\0';
            }
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok;
}

/* key=value words; other words (a command, its script) are passed over. */
static bool read_words(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    while (*text) {
        char word[320];
        text += strspn(text, " \t\r\n\\'\"");
        const size_t n = strcspn(text, *text == '#' ? "\n" : " \t\r\n\\'\"");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text);
        text += n;
        const char *const value = sp_cut_pair(word);
        if (word[0] != '#' && value && !sp_add_setting(settings, word, value, error))
            return false;
    }
    return true;
}

/* Whether a line outside of comments starts with a key of YAML, "word:" and a blank. */
static bool is_yaml(const char *text)
{
    while (*text) {
        text += strspn(text, " \t");
        const char *const end = text + strcspn(text, ": \t\r\n#=");
        if (end > text && *end == ':' && (end[1] == '\0' || strchr(" \t\r\n", end[1])))
            return true;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}
bool sp_read_options(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    return is_yaml(text) ? read_yaml(text, settings, error) : read_words(text, settings, error);
}
