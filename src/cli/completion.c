/* Completions for bash, zsh and fish: commands, options, choices. Names of configs are asked from
 * the program when needed, so that users' own are included. */
#include "cli/completion.h"

#include <string.h>

#include "answer/quantity.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/operands.h"

/* Prints a command for the names of the configs of a kind, one per line. */
#define NAMES                                                                                      \
    "scaleplan list %s --format json 2>/dev/null | sed -n "                                        \
    "'s/^[[:space:]]*\"name\":[[:space:]]*\"\\([^\"]*\\)\".*/\\1/p'"

/* Calls visit with each option of a command, its own and the common ones. */
static void each_option(const struct sp_command *c,
                        void (*visit)(const struct sp_option *, const struct sp_command *, FILE *),
                        FILE *out)
{
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(c, options);
    for (size_t i = 0; i < n; i++)
        visit(&options[i], c, out);
}

/* The same for the options that every command has, which may also come before it. */
static void each_common_option(void (*visit)(const struct sp_option *, const struct sp_command *,
                                             FILE *),
                               FILE *out)
{
    for (size_t i = 0; i < sp_n_common_options; i++) {
        const struct sp_option option =
            sp_option_row(sp_common_options[i].id, &sp_common_options[i]);
        visit(&option, NULL, out);
    }
}

static void put_list(const char *const *words, FILE *out)
{
    for (int i = 0; words && words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", words[i]);
}

static void put_commands(FILE *out)
{
    for (size_t i = 0; i < sp_n_commands; i++)
        fprintf(out, "%s%s", i ? " " : "", sp_commands[i]->name);
}

/* The words of "[models|hardware]...". */
static void put_operands(const struct sp_command *c, FILE *out)
{
    for (const char *at = c->operands; *at; at++)
        if (!strchr("[].", *at))
            fputc(*at == '|' ? ' ' : *at, out);
}

/* The keys of a command's answer; those that hold the name or number of a row are left out. */
static void put_keys(const struct sp_command *c, FILE *out)
{
    enum sp_quantity_id first;
    const enum sp_quantity_id end = sp_quantities_of(c->name, &first);
    const char *before = "";
    for (enum sp_quantity_id id = first; id < end; id++) {
        const char *const key = sp_quantity(id).key;
        if (strcmp(key, before) != 0 &&
            key[strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_.")] == '\0')
            fprintf(out, "%s%s", *before ? " " : "", key);
        before = key;
    }
}

/* "dp= tp= ...": the fields of a plan. */
static void put_fields(FILE *out)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        fprintf(out, "%s%s=", i ? " " : "", sp_plan_fields[i].name);
}

/* The shell's code for each kind of operand; "%" stands for the kind of config whose names are
 * offered, or for the possible words. */
typedef const char *forms[SP_KEYS + 1];

static void put_form(const forms of, enum sp_operand kind, const char *list,
                     const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    const char *const form = of[kind] ? of[kind] : "", *const gap = strchr(form, '%');
    fprintf(out, "%.*s", gap ? (int)(gap - form) : (int)strlen(form), form);
    if (!gap)
        return;
    if (kind == SP_NAMES)
        fputs(list, out);
    else if (kind == SP_COMMANDS)
        put_commands(out);
    else if (kind == SP_KEYS && c)
        put_keys(c, out); /* before a command there are none */
    else if (kind == SP_FIELDS_OF)
        put_fields(out);
    else if (o)
        put_list(o->choices, out);
    else if (c)
        put_operands(c, out);
    fputs(gap + 1, out);
}

/* The same for an option's value, and for what follows a command. */
static void put_value(const forms of, const struct sp_option *o, const struct sp_command *c,
                      FILE *out)
{
    const char *list = NULL;
    const enum sp_operand kind = sp_operand_of(o, &list);
    put_form(of, kind, list, o, c, out);
}

static void put_operand(const forms of, const struct sp_command *c, FILE *out)
{
    const char *list = NULL;
    const enum sp_operand kind = sp_operand_of_command(c, &list);
    put_form(of, kind, list, NULL, c, out);
}

/* Writes text inside a shell's single quotes, without the special characters of completions. */
static void put_quoted(const char *text, const char *drop, FILE *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (!strchr(drop, *text))
            fputc(*text, out);
    }
}

static void bash_word(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    (void)c;
    fprintf(out, " --%s", o->name);
}

/* The values of an option; one with an optional value waits for none. */
static void bash_value(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    static const forms values = {
        [SP_NAMES] = "words=$(_scaleplan_names %); files=1 lists=1",
        [SP_WORDS_OF] = "words='%'",
        [SP_FILES] = "files=1",
        [SP_FOLDERS] = "folders=1",
        [SP_COMMANDS] = ":",
        [SP_KEYS] = "words='%'; lists=1",
        [SP_FIELDS_OF] = "words='%'; lists=1 fields=1",
        [SP_ANY] = ":",
    };
    if (!o->metavar || o->kind == SP_MAYBE)
        return;
    fprintf(out, "  '%s --%s') ", c->name, o->name);
    put_value(values, o, c, out);
    fputs(" ;;\n", out);
}

/* The options and operands of a command. */
static void bash_command(const struct sp_command *c, FILE *out)
{
    static const forms operands = {
        [SP_NAMES] = "; words=$(_scaleplan_names %); files=1",
        [SP_WORDS_OF] = "; words='%'",
        [SP_COMMANDS] = "; words=$commands",
        [SP_FILES] = "; files=1",
        [SP_FOLDERS] = "; files=1",
    };
    fprintf(out, "  %s) options='", c->name);
    each_option(c, bash_word, out);
    fputs("'", out);
    put_operand(operands, c, out);
    fputs(" ;;\n", out);
}

/* The completion function after the command's name. */
static const char bash_body[] =
    "'\n"
    "  COMPREPLY=()\n"
    "  # options may come before the command\n"
    "  while [ $first -lt $place ] && [[ \" $commands \" != *\" ${line[first]} \"* ]]; do\n"
    "    first=$((first+1))\n"
    "  done\n"
    "  if [ $first -lt $place ] && [ \"${line[1]}\" != help ]; then\n"
    "    line=(scaleplan \"${line[@]:first}\") place=$((place-first+1))\n"
    "  fi\n"
    "  local command=${line[1]}\n"
    "  # --option=value is one word, or three where = breaks words\n"
    "  case $cur in\n"
    "  --*=*) before=${cur%%=*}= prev=${cur%%=*} cur=${cur#*=} ;;\n"
    "  =) cur='' ;;\n"
    "  *)\n"
    "    local at=$place\n"
    "    while [ \"$prev\" = = ] || { [ $at -lt $place ] && [[ $prev != -* ]] && [ $at -gt 2 ]; }; "
    "do\n"
    "      at=$((at-1)) prev=${line[at-1]}\n"
    "    done ;;\n"
    "  esac\n"
    "  # a sweep is another command's line with lists in it\n"
    "  if [ \"$command\" = sweep ] && [ $place -gt 2 ]; then\n"
    "    sweep=1 command=${line[2]}\n"
    "    case $cur in *,*) before=$before${cur%,*}, cur=${cur##*,} ;; esac\n"
    "  fi\n"
    "  if [ \"$command\" = help ] && [ $place -gt 1 ]; then\n"
    "    [ $place -eq 2 ] && words=$commands || words=all\n"
    "  elif [ $first -eq $place ] && [ $first -ge 1 ] && [ $place -eq $COMP_CWORD ] &&\n"
    "      [[ \" $commands \" != *\" $command \"* || $place -eq 1 ]]; then\n"
    "    _scaleplan_value list \"$prev\" || words=\"$commands help --version $common\"\n"
    "  elif ! _scaleplan_value \"$command\" \"$prev\" &&\n"
    "      { [ -z \"$sweep\" ] || ! _scaleplan_value sweep \"$prev\"; }; then\n"
    "    _scaleplan_command \"$command\"\n"
    "    if [ -n \"$sweep\" ]; then\n"
    "      local own=$options\n"
    "      _scaleplan_command sweep\n"
    "      options=\"$own $options\" words='' files=''\n"
    "    fi\n"
    "    # options come up when a dash is typed, or where nothing else fits\n"
    "    if [[ $cur == -* ]]; then words='' files=''; fi\n"
    "    if [ -z \"$words$files\" ]; then words=$options; fi\n"
    "  fi\n"
    "  if [ -n \"$lists\" ]; then\n"
    "    case $cur in *,*) before=$before${cur%,*}, cur=${cur##*,} ;; esac\n"
    "  fi\n"
    "  [ -n \"$files\" ] && COMPREPLY=($(compgen -P \"$before\" -f -- \"$cur\"))\n"
    "  [ -n \"$folders\" ] && COMPREPLY=($(compgen -P \"$before\" -d -- \"$cur\"))\n"
    "  COMPREPLY+=($(compgen -P \"$before\" -W \"$words\" -- \"$cur\"))\n"
    "  # a machine goes on with -CHIPS, a field of a plan with its value\n"
    "  if [ \"$prev\" = --hw ] || [ -n \"$fields\" ]; then compopt -o nospace 2>/dev/null; fi\n"
    "}\n"
    "complete -o filenames -F _scaleplan scaleplan\n";

static void write_bash(FILE *out)
{
    fputs("# bash completion for scaleplan, made from its option tables\n"
          "_scaleplan_names() {\n  ",
          out);
    fprintf(out, NAMES, "${1:-}");
    fputs("\n}\n\n"
          "# COMMAND: its options, and what may follow it by itself\n"
          "_scaleplan_command() {\n"
          "  case $1 in\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++)
        bash_command(sp_commands[i], out);
    fputs("  esac\n"
          "}\n\n"
          "# COMMAND OPTION: what may follow it; false when it takes no value\n"
          "_scaleplan_value() {\n"
          "  case \"$1 $2\" in\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++)
        each_option(sp_commands[i], bash_value, out);
    fputs("  *) return 1 ;;\n"
          "  esac\n"
          "}\n\n"
          "_scaleplan() {\n"
          "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  local sweep='' words='' options='' files='' folders='' lists='' fields='' before=''\n"
          "  local line=(\"${COMP_WORDS[@]}\") place=$COMP_CWORD first=1 common='",
          out);
    each_common_option(bash_word, out);
    fputs("'\n  local commands='", out);
    put_commands(out);
    fputs(bash_body, out);
}

static void zsh_option(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    static const forms values = {
        [SP_NAMES] = ":{_scaleplan_names %}",
        [SP_WORDS_OF] = ":(%)",
        [SP_FILES] = ":_files",
        [SP_FOLDERS] = ":_files -/",
        [SP_COMMANDS] = ": ",
        [SP_KEYS] = ":{_sequence compadd - %}",
        [SP_FIELDS_OF] = ":{compset -P \"*,\"; compadd -S \"\" - %}",
        [SP_ANY] = ": ",
    };
    fprintf(out, "        '%s--%s%s[", o->kind == SP_MANY || o->kind == SP_REPEATED ? "*" : "",
            o->name, o->metavar ? "=" : "");
    put_quoted(o->help, "[]", out);
    fputs("]", out);
    if (o->metavar) {
        fputs(o->kind == SP_MAYBE ? "::" : ":", out);
        put_quoted(o->metavar, ":[]", out);
        put_value(values, o, c, out);
    }
    fputs("' \\\n", out);
}

/* Operands of a command. `_arguments` sees the command as the first operand, so the rest is only
 * described (`*:`), not cut off (`*::`). */
static void zsh_operand(const struct sp_command *c, FILE *out)
{
    static const forms operands = {
        [SP_NAMES] = "{_scaleplan_names %}",
        [SP_WORDS_OF] = "(%)",
        [SP_COMMANDS] = "(%)",
        [SP_FILES] = "_files",
        [SP_FOLDERS] = "_files",
        [SP_ANY] = " ",
    };
    fputs("        '*: :", out);
    put_operand(operands, c, out);
    fputs("'\n", out);
}

/* The options that a sweep adds to those of the command it runs. */
static void zsh_sweep(FILE *out)
{
    for (size_t i = 0; i < sp_n_commands; i++)
        for (size_t k = 0;
             strcmp(sp_commands[i]->name, "sweep") == 0 && k < sp_commands[i]->n_options; k++) {
            const struct sp_taken *const taken = &sp_commands[i]->options[k];
            const struct sp_option option = sp_option_row(taken->id, taken);
            zsh_option(&option, sp_commands[i], out);
        }
}

/* What comes before the command: options that all have, and `help`. */
static void zsh_before_command(FILE *out)
{
    fputs("  # options may come before the command\n"
          "  local -a known common\n"
          "  known=(${commands%%:*})\n"
          "  local -i at=2\n"
          "  while (( at < CURRENT && ! ${known[(Ie)$words[at]]} )); do (( at++ )); done\n"
          "  if [[ $words[2] == help ]] && (( CURRENT > 2 )); then\n"
          "    _describe command commands\n"
          "    return\n"
          "  elif (( at == CURRENT )); then\n"
          "    common=( \\\n",
          out);
    each_common_option(zsh_option, out);
    fputs("    )\n"
          "    commands+=('help:help of a command')\n"
          "    _arguments $common '--version[the version]' '*:command:{_describe command "
          "commands}'\n"
          "    return\n"
          "  fi\n"
          "  words=(\"$words[1]\" \"${(@)words[at,-1]}\") CURRENT=$((CURRENT-at+2))\n",
          out);
}

static void write_zsh(FILE *out)
{
    fputs("#compdef scaleplan\n"
          "# zsh completion for scaleplan, made from its option tables\n"
          "_scaleplan_names() {\n"
          "  local -a names\n"
          "  names=(${(f)\"$(",
          out);
    fprintf(out, NAMES, "$1");
    fputs(")\"})\n"
          "  compset -P '*,'\n"
          "  compadd -a names\n"
          "  _files -g '*.json'\n"
          "}\n\n"
          "_scaleplan() {\n"
          "  local -a commands\n"
          "  commands=(\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        fprintf(out, "    '%s:", sp_commands[i]->name);
        put_quoted(sp_commands[i]->summary, ":", out);
        fputs("'\n", out);
    }
    fputs("  )\n", out);
    zsh_before_command(out);
    fputs("  # a sweep is another command's line, with its own options\n"
          "  local -a sweep\n"
          "  if [[ $words[2] == sweep ]] && (( CURRENT > 3 )); then\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    sweep=( \\\n",
          out);
    zsh_sweep(out);
    fputs("    )\n"
          "  fi\n"
          "  case $words[2] in\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        fprintf(out, "    %s)\n      _arguments $sweep \\\n", sp_commands[i]->name);
        each_option(sp_commands[i], zsh_option, out);
        zsh_operand(sp_commands[i], out);
        fputs("      ;;\n", out);
    }
    fputs("  esac\n"
          "}\n\n"
          "# found in fpath, or sourced\n"
          "if [[ $funcstack[1] == _scaleplan ]]; then\n"
          "  _scaleplan \"$@\"\n"
          "else\n"
          "  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
          "  compdef _scaleplan scaleplan\n"
          "fi\n",
          out);
}

static void fish_description(const char *text, FILE *out)
{
    fputs(" -d '", out);
    for (; *text; text++)
        fputs(*text == '\'' ? "\\'" : (char[]){*text, '\0'}, out);
    fputs("'\n", out);
}

static void fish_option(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    static const forms values = {
        [SP_NAMES] = " -r -a '(__scaleplan_names %)'",
        [SP_WORDS_OF] = " -x -a '%'",
        [SP_FILES] = " -r -F",
        [SP_FOLDERS] = " -x -a '(__fish_complete_directories)'",
        [SP_COMMANDS] = " -x",
        [SP_KEYS] = " -x -a '%'",
        [SP_FIELDS_OF] = " -x -a '%'",
        [SP_ANY] = " -x",
    };
    if (c)
        fprintf(out, "complete -c scaleplan -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                o->name);
    else
        fprintf(out, "complete -c scaleplan -n __fish_use_subcommand -l %s", o->name);
    if (o->metavar && o->kind != SP_MAYBE)
        put_value(values, o, c, out);
    fish_description(o->help, out);
}

/* Operands of a command; files are offered unless excluded. */
static void fish_operand(const struct sp_command *c, FILE *out)
{
    static const forms operands = {
        [SP_NAMES] = " -a '(__scaleplan_names %)'",
        [SP_WORDS_OF] = " -f -a '%'",
        [SP_COMMANDS] = " -f -a '%'",
        [SP_ANY] = " -f",
    };
    const char *list = NULL;
    const enum sp_operand kind = sp_operand_of_command(c, &list);
    if (kind == SP_FILES || kind == SP_FOLDERS)
        return;
    fprintf(out, "complete -c scaleplan -n '%s %s'",
            kind == SP_COMMANDS ? "__scaleplan_follows" : "__fish_seen_subcommand_from", c->name);
    put_operand(operands, c, out);
    fputs("\n", out);
}

static void write_fish(FILE *out)
{
    fputs("# fish completion for scaleplan, made from its option tables\n"
          "function __scaleplan_names\n  ",
          out);
    fprintf(out, NAMES, "$argv[1]");
    fputs("\nend\n\n"
          "function __scaleplan_follows\n"
          "  test \"$(commandline -opc)[-1]\" = $argv[1]\n"
          "end\n\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        fprintf(out, "complete -c scaleplan -n __fish_use_subcommand -f -a %s",
                sp_commands[i]->name);
        fish_description(sp_commands[i]->summary, out);
    }
    each_common_option(fish_option, out);
    fputs("complete -c scaleplan -n __fish_use_subcommand -l version -d 'the version'\n"
          "complete -c scaleplan -n __fish_use_subcommand -f -a help -d 'help of a command'\n"
          "complete -c scaleplan -n '__scaleplan_follows help' -f -a '",
          out);
    put_commands(out);
    fputs("'\n", out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        each_option(sp_commands[i], fish_option, out);
        fish_operand(sp_commands[i], out);
    }
}

bool sp_write_completion(const char *shell, FILE *out)
{
    static const struct {
        const char *shell;
        void (*write)(FILE *out);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].shell, shell) == 0) {
            shells[i].write(out);
            return true;
        }
    return false;
}
