/* The image of a container, among the options of `docker run` (docker/cli, cli/command/container).
 */
#include "launch/shell/container.h"

#include <string.h>

#include "base/list.h"
#include "base/text.h"

#include "launch/fields/deciding.h"
#include "launch/shell/script_run.h"

/* Whether the next word is an option's value: neither a switch nor glued to its value. */
static bool takes_next(const char *word)
{
    static const char switches[] =
        "--detach,--init,--interactive,--no-healthcheck,--oom-kill-disable,--privileged,"
        "--publish-all,--quiet,--read-only,--rm,--sig-proxy,--tty,--disable-content-trust";
    if (word[1] == '-')
        return !strchr(word, '=') && !sp_is_listed(switches, word, '\0');
    const char *const letter = word + 1 + strspn(word + 1, "ditPq");
    return letter[0] && !letter[1];
}

/* The place of the image; -1: the command starts no container. `entry` becomes the program that is
 * typed in place of the image's own. */
static int image_of(const struct sp_script_command *command, const char **entry)
{
    static const char option[] = "--entrypoint";
    const size_t n = sizeof option - 1;
    int i = command->n > 0 && sp_is(command->words[0], "sudo");
    if (i + 1 >= command->n || !sp_is_listed("docker,podman,nerdctl", command->words[i], '\0') ||
        !sp_is(command->words[i + 1], "run"))
        return -1;
    for (i += 2; i < command->n && command->words[i][0] == '-'; i++) {
        const char *const word = command->words[i];
        if (strncmp(word, option, n) == 0 && word[n] == '=')
            *entry = word + n + 1;
        if (!takes_next(word) || i + 1 == command->n)
            continue;
        i++;
        if (sp_is(word, option))
            *entry = command->words[i];
    }
    return i < command->n ? i : -1;
}

/* The program of an image, and its end; NULL: no row has the image. */
static const char *program_of(const char *images, const char *image, const char **end)
{
    for (const char *row = images; *row; row += strcspn(row, "\n"), row += *row == '\n') {
        *end = strchr(row, ':');
        if (*end && sp_fits(*end + 1, row + strcspn(row, "\n"), image))
            return row;
    }
    return NULL;
}

static void enter(const char *images, struct sp_script_command *command, struct sp_shell_text *text)
{
    const char *entry = NULL, *end = NULL;
    const int image = image_of(command, &entry);
    const char *program = image < 0 ? NULL : program_of(images, command->words[image], &end);
    int n = 0;
    if (!program)
        return;
    if (entry)
        command->words[n++] = entry;
    for (size_t size; !entry && program < end && n < image;
         program += size + (program[size] == ' ')) {
        size = strcspn(program, " :");
        command->words[n++] = sp_shell_copy(text, program, size);
    }
    for (int i = image + 1; i < command->n; i++, n++) {
        command->words[n] = command->words[i];
        command->lines[n] = command->lines[i];
    }
    command->n = n;
}

void sp_enter_containers(const char *images, struct sp_script *script)
{
    for (int i = 0; i < script->n; i++)
        enter(images, &script->commands[i], &script->shell->text);
}
