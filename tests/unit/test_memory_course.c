/* Memory over a step, by hand. */
#include "check.h"

#include <scaleplan/memory.h>

/* A forward pass of 1 s and a backward one of 2 s, twice, on stage 1 of a list that holds another
 * stage's tasks too. Bytes: weights 10, gradients 4, master copy 4 and moments 8, activations of a
 * micro-batch 24, and 6 that a backward pass adds; buffers 2. */
static const struct sp_task tasks[] = {
    {0, 9, 0, 0, 0, 'F', false}, {0, 1, 1, 0, 0, 'F', false}, {1, 3, 1, 0, 0, 'B', false},
    {3, 4, 1, 0, 1, 'F', false}, {4, 6, 1, 0, 1, 'B', false},
};
enum { TASKS = sizeof tasks / sizeof *tasks };
static const struct sp_stage_memory memory = {.params = 10,
                                              .grads = 4,
                                              .optimizer = 12,
                                              .activations = 30,
                                              .transient = 6,
                                              .buffers = 2,
                                              .live = 58};
static const struct sp_precision precision = {.master_bytes = 4, .optimizer_bytes = 8};

static int64_t course(const struct sp_framework *framework, struct sp_memory_moment *moments,
                      struct sp_memory_moment *marks)
{
    const struct sp_memory_course c = {.memory = &memory,
                                       .precision = &precision,
                                       .framework = framework,
                                       .task = tasks,
                                       .tasks = TASKS,
                                       .stage = 1,
                                       .chunks = 1,
                                       .update_s = 0.5};
    const int64_t n = sp_memory_over_step(&c, moments, marks);
    assert_true(n <= sp_most_memory_moments(TASKS));
    return n;
}

static void assert_moment(const struct sp_memory_moment *m, double s, double activations,
                          double gradients, double first, double later)
{
    assert_close(m->s, s, 1e-12);
    assert_close(m->activations, activations, 1e-12);
    assert_close(m->gradients, gradients, 1e-12);
    assert_close(m->first, first, 1e-12);
    assert_close(m->later, later, 1e-12);
}

/* Gradients and activations are whole together at the start of the second backward pass: `live`. */
static void test_marks(void **state)
{
    (void)state;
    struct sp_memory_moment m[4 * TASKS + 4], marks[SP_MEMORY_MARKS];
    const int64_t n = course(&(struct sp_framework){.name = ""}, m, marks);
    assert_moment(&marks[SP_AT_START], 0, 0, 0, 16, 24);
    assert_moment(&marks[SP_AT_ACTIVATIONS], 4, 30, 4, 50, 58);
    assert_moment(&marks[SP_AT_BACKWARD], 6, 0, 4, 20, 28);
    assert_moment(&marks[SP_AT_UPDATE], 6, 0, 4, 28, 28);
    assert_moment(&marks[SP_AT_END], 6.5, 0, 0, 24, 24);
    assert_close(sp_fullest_moment(m, n, true).first, 50, 0);
    assert_close(sp_fullest_moment(m, n, false).later, 58, 0);
}

/* Every bend: up to 24 over the first forward pass, 6 more at once, down again while gradients
 * come; and the times never fall. */
static void test_bends(void **state)
{
    (void)state;
    struct sp_memory_moment m[4 * TASKS + 4], marks[SP_MEMORY_MARKS];
    const int64_t n = course(&(struct sp_framework){.name = ""}, m, marks);
    static const double at[][3] = {{1, 24, 0}, {1, 30, 0}, {3, 6, 4}, {3, 0, 4},
                                   {4, 24, 4}, {4, 30, 4}, {6, 6, 4}, {6, 0, 4}};
    int64_t k = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        while (k < n &&
               !(fabs(m[k].s - at[i][0]) < 1e-12 && fabs(m[k].activations - at[i][1]) < 1e-12 &&
                 fabs(m[k].gradients - at[i][2]) < 1e-12))
            k++;
        assert_true(k < n);
    }
    for (int64_t i = 1; i < n; i++)
        assert_true(m[i].s >= m[i - 1].s);
}

/* A framework with permanent gradient memory, and one that creates moments early. */
static void test_habits(void **state)
{
    (void)state;
    struct sp_memory_moment m[4 * TASKS + 4], marks[SP_MEMORY_MARKS];
    course(&(struct sp_framework){.keeps_gradients = true}, m, marks);
    assert_moment(&marks[SP_AT_START], 0, 0, 4, 20, 28);
    assert_moment(&marks[SP_AT_END], 6.5, 0, 4, 28, 28);
    course(&(struct sp_framework){.early_optimizer = true}, m, marks);
    assert_moment(&marks[SP_AT_START], 0, 0, 0, 24, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks), cmocka_unit_test(test_bends),
                                       cmocka_unit_test(test_habits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
