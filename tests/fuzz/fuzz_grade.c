/* Answers to a sheet, one per line: numbers, words and a yes or no are graded, right or with a
 * remark. */
#include "fuzz.h"

#include <stdlib.h>

#include "cli/exercise_grade.h"
#include "cli/exercise_sheet.h"

/* A question whose answer has a number with a unit, one without, a yes or no, and words. */
static const struct sp_case question = {
    .id = "fuzz",
    .args = {"step", "--model", "gpt2", "--hw", "h100-8", "--batch", "16x512"},
    .n_args = 7,
    .expect = {{.key = "step_s"}, {.key = "mfu"}, {.key = "memory.fits"}, {.key = "framework"}},
    .n_expect = 4,
    .rel_tol = 0.01,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_outcome outcome;
    if (!outcome.answered) {
        outcome = sp_answer_case(&question, NULL);
        if (!outcome.answered)
            abort();
    }
    struct sp_answers answers;
    sp_open_answers(fuzz_text(data, size), &answers);
    for (int part = 0; part < question.n_expect; part++) {
        const struct sp_graded g = sp_grade(&answers, 1, part, &question, outcome.report);
        if (!g.of || (g.right && !*g.given))
            abort();
        if (!isnan(g.off))
            fuzz_finite(g.off);
    }
    sp_close_answers(&answers);
    return 0;
}
