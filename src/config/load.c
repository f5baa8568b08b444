/* Finds a config among the user's folders and the built-in ones, and reads it. */
#include "config/load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/suggest.h"

const struct sp_config_kind_info sp_config_kinds[SP_CONFIG_KINDS] = {
    [SP_MODELS] = {"models", "model", &sp_model_table},
    [SP_HARDWARE] = {"hardware", "hardware", &sp_hardware_table},
    [SP_PRECISIONS] = {"precision", "precision", &sp_precision_table},
    [SP_NETWORKS] = {"networks", "network", &sp_network_table},
    [SP_LAWS] = {"laws", "scaling law", &sp_law_table},
    [SP_FRAMEWORKS] = {"frameworks", "framework", &sp_framework_table},
    [SP_PROFILES] = {"profiles", "profile", &sp_profile_table},
};

static void fail_too_large(const char *name, size_t most, struct sp_error *error)
{
    sp_fail(error, SP_INPUT, "%s: is larger than %zu MiB, the most that is read", name, most >> 20);
}

/* All that a stream holds, with a NUL at the end; NULL with an error when it is more than `most`.
 */
static char *read_stream(FILE *file, const char *name, size_t most, size_t *length,
                         struct sp_error *error)
{
    size_t size = 65536, used = 0;
    char *text = malloc(size);
    while (text && used <= most) {
        const size_t got = fread(text + used, 1, size - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (size - used < 2) {
            size *= 2;
            char *const larger = realloc(text, size);
            if (!larger)
                free(text);
            text = larger;
        }
    }
    if (!text) {
        sp_fail(error, SP_INTERNAL, "%s: out of memory", name);
        return NULL;
    }
    if (used > most)
        fail_too_large(name, most, error);
    else if (ferror(file))
        sp_fail(error, SP_INPUT, "%s: %s", name, strerror(errno));
    if (used > most || ferror(file)) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *length = used;
    return text;
}

/* What came from pipes, terminals and the like: it can be read only once, but a command may ask
 * twice (every row of a sweep asks for its --model). */
static struct kept {
    dev_t device;
    ino_t inode;
    char *text;
    size_t length;
} * kept;
static size_t n_kept;
static bool stdin_taken;

static const struct kept *find_kept(const struct stat *status)
{
    for (size_t i = 0; i < n_kept; i++)
        if (kept[i].device == status->st_dev && kept[i].inode == status->st_ino)
            return &kept[i];
    return NULL;
}

static char *copy_text(const char *text, size_t length)
{
    char *const copy = malloc(length + 1);
    if (!copy)
        abort();
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void keep(const struct stat *status, const char *text, size_t length)
{
    struct kept *const larger = realloc(kept, (n_kept + 1) * sizeof *kept);
    if (!larger)
        abort();
    kept = larger;
    kept[n_kept++] = (struct kept){status->st_dev, status->st_ino, copy_text(text, length), length};
}

void sp_take_stdin(void)
{
    stdin_taken = true;
}

/* Whether what the path names is standard input, which somebody else reads. */
static bool is_taken(const struct stat *status)
{
    struct stat in;
    return stdin_taken && fstat(STDIN_FILENO, &in) == 0 && in.st_dev == status->st_dev &&
           in.st_ino == status->st_ino;
}

/* An open file, as long as it holds no more than `most`; kept when it can be read only once. */
static char *read_open(FILE *file, const struct stat *status, const char *name, size_t most,
                       size_t *length, struct sp_error *error)
{
    if (S_ISDIR(status->st_mode))
        return sp_fail(error, SP_INPUT, "%s: is a directory, expected a file", name), NULL;
    if (S_ISREG(status->st_mode) && (size_t)status->st_size > most)
        return fail_too_large(name, most, error), NULL;
    char *const text = read_stream(file, name, most, length, error);
    if (text && (!S_ISREG(status->st_mode) || file == stdin))
        keep(status, text, *length);
    return text;
}

char *sp_read_file(const char *path, size_t most, size_t *length, struct sp_error *error)
{
    const bool from_stdin = strcmp(path, "-") == 0;
    const char *const name = from_stdin ? "standard input" : sp_safe(path);
    struct stat status;
    /* Looked at before it is opened: a pipe whose writer has left would never open again. */
    if ((from_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0)
        return sp_fail(error, SP_INPUT, "%s: %s", name, strerror(errno)), NULL;
    if (is_taken(&status))
        return sp_fail(error, SP_INPUT, "%s: the plans come from there; expected another file",
                       name),
               NULL;
    const struct kept *const before = find_kept(&status);
    if (before && before->length > most)
        return fail_too_large(name, most, error), NULL;
    if (before) {
        *length = before->length;
        return copy_text(before->text, before->length);
    }
    FILE *const file = from_stdin ? stdin : fopen(path, "rb");
    if (!file)
        return sp_fail(error, SP_INPUT, "%s: %s", name, strerror(errno)), NULL;
    char *const text = read_open(file, &status, name, most, length, error);
    if (!from_stdin)
        fclose(file);
    return text;
}

/* Calls `visit` with each folder of the user's own configs until it returns true. */
static bool each_user_folder(enum sp_config_kind kind, const struct sp_sources *sources,
                             bool (*visit)(const char *folder, void *context), void *context)
{
    char folder[1024];
    const char *const kind_folder = sp_config_kinds[kind].folder;
    if (sources->config_dir) {
        snprintf(folder, sizeof folder, "%s/%s", sources->config_dir, kind_folder);
        if (visit(folder, context))
            return true;
    }
    const char *path = getenv("SCALEPLAN_CONFIG_PATH");
    while (path && *path) {
        const int n = (int)strcspn(path, ":");
        snprintf(folder, sizeof folder, "%.*s/%s", n, path, kind_folder);
        if (n > 0 && visit(folder, context))
            return true;
        path += n + (path[n] == ':');
    }
    const char *const xdg = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");
    if (xdg && *xdg)
        snprintf(folder, sizeof folder, "%s/scaleplan/%s", xdg, kind_folder);
    else if (home && *home)
        snprintf(folder, sizeof folder, "%s/.config/scaleplan/%s", home, kind_folder);
    else
        return false;
    return visit(folder, context);
}

struct named_file {
    const char *name;
    char path[1200];
};

/* Whether a config may stand there: a pipe or a device would keep the program waiting. A link that
 * leads nowhere counts: whoever opens it is told why that fails. */
static bool is_config(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? S_ISREG(status.st_mode) : lstat(path, &status) == 0;
}

static bool has_named_file(const char *folder, void *context)
{
    struct named_file *wanted = context;
    snprintf(wanted->path, sizeof wanted->path, "%s/%s.json", folder, wanted->name);
    return is_config(wanted->path);
}

static bool looks_like_file(const char *spec)
{
    const size_t n = strlen(spec);
    return strcmp(spec, "-") == 0 || strchr(spec, '/') ||
           (n > 5 && strcmp(spec + n - 5, ".json") == 0);
}

static bool parse_builtin(const struct sp_builtin *builtin, struct sp_config *config,
                          struct sp_error *error)
{
    snprintf(config->origin, sizeof config->origin, "built-in %s/%s.json",
             sp_config_kinds[builtin->kind].folder, builtin->name);
    return sp_json_parse(builtin->text, builtin->length, config->origin, &config->json, error);
}

static bool parse_file(const char *path, struct sp_config *config, struct sp_error *error)
{
    size_t length;
    config->owned = sp_read_file(path, SP_JSON_MAX_BYTES, &length, error);
    if (!config->owned)
        return false;
    snprintf(config->origin, sizeof config->origin, "%.255s",
             strcmp(path, "-") == 0 ? "standard input" : path);
    if (sp_json_parse(config->owned, length, config->origin, &config->json, error))
        return true;
    sp_config_free(config);
    return false;
}

/* The built-in config with that alias. Only reached when no file name matches, so that the usual
 * call parses one config and not all. */
static const struct sp_builtin *find_alias(enum sp_config_kind kind, const char *name,
                                           struct sp_nearest *nearest)
{
    const struct sp_builtin *found = NULL;
    for (size_t i = 0; i < sp_n_builtins && !found; i++) {
        struct sp_config config = {0};
        struct sp_error ignored = {0};
        if (sp_builtins[i].kind != kind || !parse_builtin(&sp_builtins[i], &config, &ignored))
            continue;
        sp_nearest_offer(nearest, sp_builtins[i].name);
        const cJSON *alias;
        cJSON_ArrayForEach(alias, cJSON_GetObjectItemCaseSensitive(config.json.root, "aliases"))
        {
            if (!cJSON_IsString(alias))
                continue;
            if (strcmp(alias->valuestring, name) == 0)
                found = &sp_builtins[i];
            sp_nearest_offer(nearest, alias->valuestring);
        }
        sp_config_free(&config);
    }
    return found;
}

static const struct sp_builtin *find_builtin(enum sp_config_kind kind, const char *name)
{
    for (size_t i = 0; i < sp_n_builtins; i++)
        if (sp_builtins[i].kind == kind && strcmp(sp_builtins[i].name, name) == 0)
            return &sp_builtins[i];
    return NULL;
}

bool sp_config_named(enum sp_config_kind kind, const char *name, const struct sp_sources *sources)
{
    struct named_file wanted = {.name = name};
    if (looks_like_file(name))
        return false;
    return find_builtin(kind, name) || each_user_folder(kind, sources, has_named_file, &wanted);
}

bool sp_config_exists(enum sp_config_kind kind, const char *name, const struct sp_sources *sources)
{
    struct sp_nearest nearest = {.wanted = name};
    return sp_config_named(kind, name, sources) || find_alias(kind, name, &nearest);
}

bool sp_open_config(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                    struct sp_config *config, struct sp_error *error)
{
    *config = (struct sp_config){0};
    if (looks_like_file(spec))
        return parse_file(spec, config, error);
    struct named_file wanted = {.name = spec};
    if (each_user_folder(kind, sources, has_named_file, &wanted))
        return parse_file(wanted.path, config, error);
    const struct sp_builtin *builtin = find_builtin(kind, spec);
    struct sp_nearest nearest = {.wanted = spec};
    if (!builtin)
        builtin = find_alias(kind, spec, &nearest);
    if (builtin)
        return parse_builtin(builtin, config, error);
    const struct sp_config_kind_info *info = &sp_config_kinds[kind];
    return sp_fail(error, SP_INPUT, "unknown %s \"%s\"%s (`scaleplan list %s` shows all)",
                   info->noun, sp_safe(spec), sp_nearest_hint(&nearest), info->folder);
}

void sp_config_free(struct sp_config *config)
{
    sp_json_free(&config->json);
    free(config->owned);
    config->owned = NULL;
}

struct visitor {
    void (*visit)(const char *name, void *context);
    void *context;
};

static bool visit_folder(const char *folder, void *context)
{
    const struct visitor *visitor = context;
    struct dirent **entries;
    const int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *const name = entries[i]->d_name;
        const size_t length = strlen(name);
        char path[1400];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (length > 5 && strcmp(name + length - 5, ".json") == 0 && is_config(path)) {
            name[length - 5] = '\0';
            visitor->visit(name, visitor->context);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return false;
}

void sp_each_config(enum sp_config_kind kind, const struct sp_sources *sources,
                    void (*visit)(const char *name, void *context), void *context)
{
    struct visitor visitor = {visit, context};
    each_user_folder(kind, sources, visit_folder, &visitor);
    for (size_t i = 0; i < sp_n_builtins; i++)
        if (sp_builtins[i].kind == kind)
            visit(sp_builtins[i].name, context);
}

static void offer_name(const char *name, void *context)
{
    sp_nearest_offer(context, name);
}

void sp_nearest_config(struct sp_nearest *nearest, const struct sp_sources *sources)
{
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
        sp_each_config((enum sp_config_kind)kind, sources, offer_name, nearest);
}
