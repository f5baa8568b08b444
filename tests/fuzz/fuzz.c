/* Requirements of the fuzz targets on every answer: finite numbers, strict JSON, a reason to
 * refuse. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *const *running; /* the current command line, for messages */

/* Aborts, saying why and where. */
__attribute__((noreturn)) static void stop(const char *why)
{
    fprintf(stderr, "%s:", why);
    for (char *const *word = running; word && *word; word++)
        fprintf(stderr, " '%s'", *word);
    fputc('\n', stderr);
    abort();
}

/* No configs of the user's, no input, no folder to write into. */
__attribute__((constructor)) static void settle(void)
{
    setenv("HOME", "/nonexistent", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("SCALEPLAN_CONFIG_PATH");
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("PATH", "/nonexistent", 1); /* no rsvg-convert */
    if (!freopen("/dev/null", "r", stdin))
        abort();
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("fuzz", 0);
        if (file < 0)
            abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    static char *text;
    free(text);
    text = malloc(size + 1);
    if (!text)
        abort();
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(data[i] ? data[i] : '0');
    text[size] = '\0';
    return text;
}

int fuzz_lines(char *text, char **part, int most)
{
    int n = 0;
    while (*text && n < most) {
        part[n++] = text;
        text += strcspn(text, "\n");
        if (*text)
            *text++ = '\0';
    }
    return n;
}

void fuzz_expect(bool ok, const struct sp_error *error)
{
    if (ok ? error->lines != 0 : (error->lines == 0 || error->code == SP_OK))
        stop(ok ? "an answer with an error" : "refused without a reason");
    if (!ok && error->code == SP_INTERNAL)
        stop(error->text);
}

void fuzz_finite(double value)
{
    if (!isfinite(value))
        stop("a number is not finite");
}

static char *render(const struct sp_report *report, enum sp_format format, size_t *size)
{
    const struct sp_render how = {.format = format, .width = 80};
    char *text = NULL;
    FILE *const out = open_memstream(&text, size);
    if (!out)
        abort();
    sp_render(report, &how, out);
    fclose(out);
    return text;
}

/* A number of a report is finite, or null. */
static void check_report(const struct sp_report *report)
{
    struct sp_json json;
    struct sp_error error = {0};
    size_t size;
    for (size_t i = 0; i < sp_report_size(report); i++) {
        const struct sp_entry *const entry = sp_report_entry(report, i);
        if (entry->kind == SP_VALUE_NUMBER)
            fuzz_finite(entry->number);
    }
    char *text = render(report, SP_FORMAT_JSON, &size);
    if (size < SP_JSON_MAX_BYTES) {
        if (!sp_json_parse(text, size, "report", &json, &error)) {
            fprintf(stderr, "%s\n%.2000s\n", error.text, text);
            stop("not strict JSON");
        }
        sp_json_free(&json);
    }
    free(text);
    free(render(report, SP_FORMAT_CSV, &size));
    text = render(report, SP_FORMAT_TEXT, &size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
            stop("something of the input could steer a terminal");
    free(text);
}

void fuzz_command(int n, char **words)
{
    static struct sp_args args;
    struct sp_error error = {0};
    running = words;
    const struct sp_command *const command = sp_find_command(words[0], &error);
    if (!command)
        return fuzz_expect(false, &error);
    struct sp_report *const report = sp_report_new(command->name);
    const bool ok = sp_run_command(command, n, words, &args, report, &error);
    fuzz_expect(ok, &error);
    if (ok)
        check_report(report);
    sp_report_free(report);
}
