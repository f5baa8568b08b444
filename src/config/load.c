/* Finds a config among the user's folders and the built-in ones, and loads it. */
#include "config/load.h"

#include <dirent.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/read_file.h"
#include "base/suggest.h"
#include "config/world.h"
#include "hf/numbers.h"

/* Calls `visit` with each folder of the user's own configs until it returns true. */
static bool each_user_folder(enum sp_config_kind kind, const struct sp_sources *sources,
                             bool (*visit)(const char *folder, void *context), void *context)
{
    char folder[PATH_MAX];
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

/* The location of a config: a user's file, or built in. */
struct named {
    const char *name;
    const struct sp_builtin *builtin; /* NULL: none */
    bool own;
    char path[PATH_MAX + NAME_MAX]; /* of the user's file */
};

/* Whether the path may be a config: pipes and devices would block. A dangling link counts, so that
 * opening it reports the error. */
static bool is_config(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return false;
    return S_ISREG(status.st_mode) ||
           (S_ISLNK(status.st_mode) && (stat(path, &status) != 0 || S_ISREG(status.st_mode)));
}

static bool has_named_file(const char *folder, void *context)
{
    struct named *const wanted = context;
    snprintf(wanted->path, sizeof wanted->path, "%s/%s.json", folder, wanted->name);
    return is_config(wanted->path);
}

/* Whether the file stands beside the folder of its kind, instead of in it. */
static bool has_misplaced_file(const char *folder, void *context)
{
    struct named *const wanted = context;
    const int n = (int)(strrchr(folder, '/') - folder);
    snprintf(wanted->path, sizeof wanted->path, "%.*s/%s.json", n, folder, wanted->name);
    return is_config(wanted->path);
}

/* Whether the text is a path. Only a slash or .json makes it one, so a file in the current folder
 * cannot hide a built-in name. */
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
    return sp_json_parse_known(builtin->text, builtin->length, config->origin, &config->json,
                               error);
}

static bool parse_file(const char *path, struct sp_world *world, struct sp_config *config,
                       struct sp_error *error)
{
    size_t length;
    config->owned = sp_read_file(sp_pipes_of(world), path, SP_JSON_MAX_BYTES, &length, error);
    if (!config->owned)
        return false;
    snprintf(config->origin, sizeof config->origin, "%.255s", sp_origin_of(path));
    sp_hf_take_infinities(config->owned, length);
    bool ok = sp_json_parse(config->owned, length, config->origin, &config->json, error);
    const cJSON *const root = config->json.root;
    if (ok && cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "scaleplan")) &&
        cJSON_GetObjectItemCaseSensitive(root, "fields")) /* of `show`; those of plans are read */
        ok = sp_fail(error, SP_INPUT,
                     "%s: a report; `scaleplan show NAME --example` prints the file",
                     sp_safe(config->origin));
    if (!ok)
        sp_config_free(config);
    return ok;
}

static const struct sp_builtin *find_builtin(enum sp_config_kind kind, const char *name)
{
    for (size_t i = 0; i < sp_n_builtins; i++)
        if (sp_builtins[i].kind == kind && strcasecmp(sp_builtins[i].name, name) == 0)
            return &sp_builtins[i];
    return NULL;
}

bool sp_has_builtin(enum sp_config_kind kind, const char *name)
{
    return find_builtin(kind, name) != NULL;
}

bool sp_load_builtin(enum sp_config_kind kind, const char *name, void *base, struct sp_error *error)
{
    struct sp_config config = {0};
    if (!parse_builtin(find_builtin(kind, name), &config, error))
        return false;
    const bool ok = sp_decode(sp_config_kinds[kind].table, &config.json, false, base, error);
    sp_config_free(&config);
    return ok;
}

/* Finds the config with exactly this name. A user's hides a built-in one. */
static bool find_named(enum sp_config_kind kind, const char *name, const struct sp_sources *sources,
                       struct named *found)
{
    size_t size;
    const void *const kept = sp_recall(SP_KEPT_PLACE, kind, name, sources, &size);
    if (kept)
        memcpy(found, kept, size);
    found->name = name;
    if (kept)
        return found->own || found->builtin;
    found->builtin = find_builtin(kind, name);
    found->own = each_user_folder(kind, sources, has_named_file, found);
    size = offsetof(struct named, path) + (found->own ? strlen(found->path) + 1 : 0);
    sp_remember(SP_KEPT_PLACE, kind, name, sources, found, size);
    return found->own || found->builtin;
}

bool sp_config_named(enum sp_config_kind kind, const char *name, const struct sp_sources *sources)
{
    struct named found;
    return !looks_like_file(name) &&
           (find_builtin(kind, name) || find_named(kind, name, sources, &found));
}

void sp_config_free(struct sp_config *config)
{
    sp_json_free(&config->json);
    free(config->owned);
    config->owned = NULL;
}

struct seen {
    char name[NAME_MAX + 1];
};

struct visitor {
    void (*visit)(const char *name, void *context);
    void *context;
    struct seen *seen; /* names visited so far; the first of equal names hides later ones */
    size_t n;
};

/* Visits a name once, users' first, so that a replaced built-in profile does not count twice. */
static void visit_once(struct visitor *visitor, const char *name)
{
    for (size_t i = 0; i < visitor->n; i++)
        if (strcmp(visitor->seen[i].name, name) == 0)
            return;
    struct seen *const seen = sp_must(realloc(visitor->seen, (visitor->n + 1) * sizeof *seen));
    snprintf(seen[visitor->n].name, sizeof seen[visitor->n].name, "%s", name);
    visitor->seen = seen;
    visitor->n++;
    visitor->visit(name, visitor->context);
}

static bool visit_folder(const char *folder, void *context)
{
    struct visitor *const visitor = context;
    struct dirent **entries;
    const int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *const name = entries[i]->d_name;
        const size_t length = strlen(name);
        char path[PATH_MAX + NAME_MAX + 2];
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (length > 5 && strcmp(name + length - 5, ".json") == 0 && is_config(path)) {
            name[length - 5] = '\0';
            visit_once(visitor, name);
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
    struct visitor visitor = {visit, context, NULL, 0};
    each_user_folder(kind, sources, visit_folder, &visitor);
    for (size_t i = 0; i < sp_n_builtins; i++)
        if (sp_builtins[i].kind == kind)
            visit_once(&visitor, sp_builtins[i].name);
    free(visitor.seen);
}

/* Whether a spec is a Hugging Face Hub id such as "meta-llama/Llama-3.1-8B-Instruct" rather than a
 * file; `name` gets the model's name without suffixes for tuning and storage, which do not change
 * the shape. */
static bool name_of_hub_id(const char *spec, char *name, size_t size)
{
    static const char *const tuned[] = {"-bnb-4bit", "-unsloth", "-BF16", "-Instruct",
                                        "-instruct", "-it",      "-hf",   "-Base",
                                        "-base",     "-Chat",    "-chat"};
    const char *const slash = strchr(spec, '/');
    const size_t n = strlen(spec);
    if (!slash || slash == spec || strchr(slash + 1, '/') || spec[0] == '.' ||
        access(spec, F_OK) == 0 || (n > 5 && strcmp(spec + n - 5, ".json") == 0))
        return false;
    snprintf(name, size, "%s", slash + 1);
    for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++) {
        const size_t whole = strlen(name), end = strlen(tuned[i]);
        if (whole > end && strcmp(name + whole - end, tuned[i]) == 0)
            name[whole - end] = '\0';
    }
    return name[0] != '\0';
}

/* A search for a config by one of its aliases. */
struct alias {
    enum sp_config_kind kind;
    const char *wanted;
    const struct sp_sources *sources;
    struct sp_nearest *nearest;
    char name[NAME_MAX + 1]; /* of the config with this alias; "": none so far */
    int64_t devices;         /* of "gb200-nvl72=72"; 0: it names one */
};

static bool open_found(const struct named *found, const struct sp_sources *sources,
                       struct sp_config *config, struct sp_error *error)
{
    return found->own ? parse_file(found->path, sources->world, config, error)
                      : parse_builtin(found->builtin, config, error);
}

/* Another code of two letters is no slip of this one: "se" is not "de". */
static void offer(struct sp_nearest *nearest, const char *name)
{
    if (strlen(nearest->wanted) > 2 || strlen(name) > 2)
        sp_nearest_offer(nearest, name);
}

static void look_for_alias(const char *name, void *context)
{
    struct alias *const a = context;
    struct sp_config config = {0};
    struct sp_error ignored = {0};
    struct named found;
    offer(a->nearest, name);
    if (!find_named(a->kind, name, a->sources, &found) ||
        !open_found(&found, a->sources, &config, &ignored))
        return;
    const cJSON *alias;
    cJSON_ArrayForEach(alias, cJSON_GetObjectItemCaseSensitive(config.json.root, "aliases"))
    {
        if (!cJSON_IsString(alias))
            continue;
        char other[NAME_MAX + 1];
        snprintf(other, sizeof other, "%s", alias->valuestring);
        const char *const devices = sp_cut_pair(other);
        if (a->name[0] == '\0' && strcasecmp(other, a->wanted) == 0) {
            snprintf(a->name, sizeof a->name, "%s", name);
            a->devices = devices ? strtoll(devices, NULL, 10) : 0;
        }
        offer(a->nearest, other);
    }
    sp_config_free(&config);
}

/* Finds the config with this alias, only if no config has the name: searching aliases parses every
 * config. */
static bool find_alias(struct alias *a)
{
    sp_each_config(a->kind, a->sources, look_for_alias, a);
    return a->name[0] != '\0';
}

void sp_nearest_config(struct sp_nearest *nearest, const struct sp_sources *sources)
{
    for (int kind = 0; kind < SP_CONFIG_KINDS; kind++)
        if (kind != SP_GROUNDS) /* whose names are those of nothing that a user types */
            find_alias(&(struct alias){.kind = (enum sp_config_kind)kind,
                                       .wanted = nearest->wanted,
                                       .sources = sources,
                                       .nearest = nearest});
}

int64_t sp_devices_of_alias(const char *name, const struct sp_sources *sources)
{
    struct sp_nearest nearest = {.wanted = name};
    struct alias alias = {
        .kind = SP_HARDWARE, .wanted = name, .sources = sources, .nearest = &nearest};
    return !looks_like_file(name) && find_alias(&alias) ? alias.devices : 0;
}

bool sp_config_exists(enum sp_config_kind kind, const char *name, const struct sp_sources *sources)
{
    struct sp_nearest nearest = {.wanted = name};
    struct alias alias = {.kind = kind, .wanted = name, .sources = sources, .nearest = &nearest};
    return sp_config_named(kind, name, sources) || (!looks_like_file(name) && find_alias(&alias));
}

bool sp_is_builtin(enum sp_config_kind kind, const char *name, const struct sp_sources *sources)
{
    struct sp_nearest nearest = {.wanted = name};
    struct alias alias = {.kind = kind, .wanted = name, .sources = sources, .nearest = &nearest};
    struct named found;
    return !looks_like_file(name) &&
           (find_named(kind, name, sources, &found) ||
            (find_alias(&alias) && find_named(kind, alias.name, sources, &found))) &&
           !found.own;
}

/* Number formats are often given in place of a recipe, so the error says what a recipe is. */
static const char *hint_of(struct sp_text *room, enum sp_config_kind kind,
                           const struct sp_nearest *nearest)
{
    for (int i = 0; kind == SP_PRECISIONS && sp_fp8_recipe_names[i]; i++)
        if (strcasecmp(sp_fp8_recipe_names[i], nearest->wanted) == 0) {
            snprintf(room->s, sizeof room->s,
                     ": a scaling of fp8: --precision fp8 with --fp8-recipe %s, or in `search` "
                     "--fix fp8-recipe=%s",
                     sp_fp8_recipe_names[i], sp_fp8_recipe_names[i]);
            return room->s;
        }
    for (int i = 0; kind == SP_PRECISIONS && sp_dtype_names[i]; i++)
        if (strcasecmp(sp_dtype_names[i], nearest->wanted) == 0)
            return ": a number format without a recipe; expected bf16, fp8 or a recipe such as "
                   "mixed16 (bf16 matmuls, 16 bytes per parameter); `serve --weights` takes "
                   "it";
    return sp_nearest_hint_in(room, nearest);
}

bool sp_open_config(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                    struct sp_config *config, struct sp_error *error)
{
    const struct sp_config_kind_info *const info = &sp_config_kinds[kind];
    char name[NAME_MAX + 1];
    const bool of_hub = kind == SP_MODELS && name_of_hub_id(spec, name, sizeof name);
    struct sp_nearest nearest = {.wanted = of_hub ? name : spec};
    struct alias alias = {
        .kind = kind, .wanted = nearest.wanted, .sources = sources, .nearest = &nearest};
    *config = (struct sp_config){0};
    if (looks_like_file(spec) && !of_hub)
        return parse_file(spec, sources->world, config, error);
    struct named found;
    if (find_named(kind, nearest.wanted, sources, &found) ||
        (find_alias(&alias) && find_named(kind, alias.name, sources, &found)))
        return open_found(&found, sources, config, error);
    if (of_hub)
        return sp_fail(error, SP_INPUT,
                       "%s: no such file and no built-in model \"%s\"%s (--model also reads a "
                       "Hugging Face config.json)",
                       sp_safe(spec), sp_safe(name), sp_nearest_hint(&nearest));
#ifndef __wasi__ /* the page has no folders */
    struct stat there;
    if (stat(spec, &there) == 0 && S_ISDIR(there.st_mode))
        return sp_fail(error, SP_INPUT, "%s is a folder: give a file, such as %s/config.json",
                       sp_safe(spec), sp_safe(spec));
    found.name = nearest.wanted;
    if (each_user_folder(kind, sources, has_misplaced_file, &found))
        return sp_fail(error, SP_INPUT, "unknown %s \"%s\": %s must stand in the folder %s there",
                       info->noun, sp_safe(spec), sp_safe(found.path), info->folder);
#endif
    return sp_fail(error, SP_INPUT, "unknown %s \"%s\"%s (see `scaleplan list %s`)", info->noun,
                   sp_safe(spec), hint_of(SP_ROOM, kind, &nearest), info->folder);
}
