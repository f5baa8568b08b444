/* The program as a shared library. */
#include "python/session.h"

#include <stdlib.h>

#include "host/interrupt.h"
#include "cli/program.h"

struct sp_session {
    struct sp_world world;
};

struct sp_session *sp_session_new(void)
{
    return calloc(1, sizeof(struct sp_session));
}

void sp_session_free(struct sp_session *session)
{
    if (session)
        sp_free_world(&session->world);
    free(session);
}

/* A stream of a text; an empty stream if there is none. */
static FILE *read_text(const char *text, size_t length)
{
    return length > 0 ? fmemopen((void *)text, length, "r") : fopen("/dev/null", "r");
}

int sp_session_run(struct sp_session *session, int argc, char **argv, const char *input,
                   size_t length, char **answer, char **notes)
{
    size_t written;
    struct sp_pipes *const pipes = &session->world.pipes;
    const struct sp_output to = {open_memstream(answer, &written), open_memstream(notes, &written)};
    pipes->input = read_text(input, length);
    const int code =
        to.out && to.notes && pipes->input ? sp_run_program(argc, argv, &session->world, &to) : -1;
    if (pipes->input)
        fclose(pipes->input);
    sp_free_pipes(pipes); /* a later call has other input */
    *pipes = (struct sp_pipes){0};
    if (to.out)
        fclose(to.out);
    if (to.notes)
        fclose(to.notes);
    sp_release_interrupt();
    return code;
}

void sp_session_forget(char *text)
{
    free(text);
}
