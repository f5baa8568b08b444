/* Completions for bash, zsh and fish: commands, options, choices; names of configs are asked of the
 * program when they are needed, so that the user's own are among them. */
#include <string.h>

#include "../cli/help.h"
#include "manual.h"

/* Names of the configs of a kind, one a line, as a shell's words. */
#define NAMES                                                                                      \
    "scaleplan list %s --format json 2>/dev/null | sed -n "                                        \
    "'s/^[[:space:]]*\"name\":[[:space:]]*\"\\([^\"]*\\)\".*/\\1/p'"

/* Calls visit with each option of a command, its own and the common ones. */
static void each_option(const struct sp_command *c,
                        void (*visit)(const struct sp_option *, const struct sp_command *, FILE *),
                        FILE *out)
{
    for (size_t i = 0; i < c->n_options; i++)
        visit(&c->options[i], c, out);
    for (size_t i = 0; i < sp_n_common_options; i++)
        visit(&sp_common_options[i], c, out);
}

static void put_choices(const struct sp_option *o, FILE *out)
{
    for (int i = 0; o->choices[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
}

/* Text inside of single quotes of a shell, without what a completion would read as its own. */
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

static void bash_operand(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    const char *list = NULL;
    if (!o->metavar)
        return;
    fprintf(out, "    '%s --%s') ", c->name, o->name);
    switch (sp_operand_of(o, &list)) {
    case SP_NAMES:
        fprintf(out, "words=$(_scaleplan_names %s); files=1", list);
        break;
    case SP_WORDS_OF:
        fputs("words='", out);
        put_choices(o, out);
        fputs("'", out);
        break;
    case SP_FILES:
        fputs("files=1", out);
        break;
    case SP_FOLDERS:
        fputs("folders=1", out);
        break;
    case SP_ANY:
        fputs("return", out);
        break;
    }
    fputs(" ;;\n", out);
}

static void write_bash(FILE *out)
{
    fputs("# bash completion for scaleplan, made from its option tables\n"
          "_scaleplan_names() {\n"
          "  local kind=$1\n  ",
          out);
    fprintf(out, NAMES, "\"$kind\"");
    fputs("\n}\n\n"
          "_scaleplan() {\n"
          "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  local command=${COMP_WORDS[1]} words='' files='' folders=''\n"
          "  COMPREPLY=()\n"
          "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "    words='",
          out);
    for (size_t i = 0; i < sp_n_commands; i++)
        fprintf(out, "%s ", sp_commands[i]->name);
    fputs("--help --version'\n"
          "  else\n"
          "    case \"$command $prev\" in\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++)
        each_option(sp_commands[i], bash_operand, out);
    fputs("    *)\n"
          "      case $command in\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        fprintf(out, "      %s) words='", sp_commands[i]->name);
        each_option(sp_commands[i], bash_word, out);
        fprintf(out, "'%s ;;\n", sp_commands[i]->operands ? "; files=1" : "");
    }
    fputs("      esac\n"
          "      [[ $cur == -* ]] && files=''\n"
          "      ;;\n"
          "    esac\n"
          "  fi\n"
          "  [ -n \"$files\" ] && [[ $cur != -* ]] && COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "  [ -n \"$folders\" ] && COMPREPLY=($(compgen -d -- \"$cur\"))\n"
          "  COMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "  # a machine goes on with -CHIPS\n"
          "  if [ \"$prev\" = --hw ]; then compopt -o nospace 2>/dev/null; fi\n"
          "}\n"
          "complete -o filenames -F _scaleplan scaleplan\n",
          out);
}

static void zsh_option(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    const char *list = NULL;
    (void)c;
    fprintf(out, "        '%s--%s%s[", o->kind == SP_MANY || o->kind == SP_REPEATED ? "*" : "",
            o->name, o->metavar ? "=" : "");
    put_quoted(o->help, "[]", out);
    fputs("]", out);
    if (o->metavar) {
        fputs(o->kind == SP_MAYBE ? "::" : ":", out);
        put_quoted(o->metavar, ":[]", out);
        switch (sp_operand_of(o, &list)) {
        case SP_NAMES:
            fprintf(out, ":{_scaleplan_names %s}", list);
            break;
        case SP_WORDS_OF:
            fputs(":(", out);
            put_choices(o, out);
            fputs(")", out);
            break;
        case SP_FILES:
            fputs(":_files", out);
            break;
        case SP_FOLDERS:
            fputs(":_files -/", out);
            break;
        case SP_ANY:
            fputs(": ", out);
            break;
        }
    }
    fputs("' \\\n", out);
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
    fputs("  )\n"
          "  if (( CURRENT == 2 )); then\n"
          "    _describe command commands\n"
          "    return\n"
          "  fi\n"
          "  case $words[2] in\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        fprintf(out, "    %s)\n      _arguments \\\n", sp_commands[i]->name);
        each_option(sp_commands[i], zsh_option, out);
        fprintf(out, "        '*:: :_files'\n      ;;\n");
    }
    fputs("  esac\n"
          "}\n\n"
          "_scaleplan \"$@\"\n",
          out);
}

static void fish_option(const struct sp_option *o, const struct sp_command *c, FILE *out)
{
    const char *list = NULL;
    fprintf(out, "complete -c scaleplan -n '__fish_seen_subcommand_from %s' -l %s", c->name,
            o->name);
    if (o->metavar && o->kind != SP_MAYBE) {
        switch (sp_operand_of(o, &list)) {
        case SP_NAMES:
            fprintf(out, " -r -a '(__scaleplan_names %s)'", list);
            break;
        case SP_WORDS_OF:
            fputs(" -x -a '", out);
            put_choices(o, out);
            fputs("'", out);
            break;
        case SP_FILES:
            fputs(" -r -F", out);
            break;
        case SP_FOLDERS:
            fputs(" -x -a '(__fish_complete_directories)'", out);
            break;
        case SP_ANY:
            fputs(" -x", out);
            break;
        }
    }
    fputs(" -d '", out);
    for (const char *at = o->help; *at; at++)
        fputs(*at == '\'' ? "\\'" : (char[]){*at, '\0'}, out);
    fputs("'\n", out);
}

static void write_fish(FILE *out)
{
    fputs("# fish completion for scaleplan, made from its option tables\n"
          "function __scaleplan_names\n  ",
          out);
    fprintf(out, NAMES, "$argv[1]");
    fputs("\nend\n\n", out);
    for (size_t i = 0; i < sp_n_commands; i++) {
        fprintf(out, "complete -c scaleplan -n __fish_use_subcommand -f -a %s -d '",
                sp_commands[i]->name);
        for (const char *at = sp_commands[i]->summary; *at; at++)
            fputs(*at == '\'' ? "\\'" : (char[]){*at, '\0'}, out);
        fputs("'\n", out);
    }
    for (size_t i = 0; i < sp_n_commands; i++)
        each_option(sp_commands[i], fish_option, out);
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
