/* Parameter counts, each derived by hand from the architecture. */
#include "check.h"

#include "config/load.h"

static struct sp_params count(const char *name)
{
    static const struct sp_sources sources = {0};
    struct sp_model model;
    struct sp_error error = {0};
    if (!sp_load_model(name, &sources, &model, &error))
        fail_msg("%s", error.text);
    return sp_count_params(&model);
}

/* 12h^2 + 13h a layer (h = 768: 7,087,872) times 12, V h = 50257 * 768, 1024 positions, 2h for the
 * last norm: 85,054,464 + 38,597,376 + 786,432 + 1,536. */
static void gpt2(void **state)
{
    (void)state;
    const struct sp_params p = count("gpt2");
    assert_close(p.total, 124439808, 0);
    assert_close(p.embedding, 50257. * 768 + 1024 * 768, 0);
    assert_close(p.attention, 12 * (4. * 768 * 768 + 4 * 768), 0);
    assert_close(p.mlp, 12 * (8. * 768 * 768 + 5 * 768), 0);
    assert_close(p.norm, (12 * 2 + 1) * 2 * 768., 0);
    assert_close(p.active, p.total, 0);
}

/* A layer: 4 * 5120^2 + 3 * 5120 * 13824 + 2 * 5120 = 317,204,480; times 40, plus 2 * 32000 * 5120
 * and the last norm. */
static void llama2_13b(void **state)
{
    (void)state;
    const struct sp_params p = count("llama2-13b");
    assert_close(p.total, 13015864320., 0);
    assert_close(p.embedding, 2. * 32000 * 5120, 0);
    assert_close(p.attention, 40 * 4. * 5120 * 5120, 0);
    assert_close(p.mlp, 40 * 3. * 5120 * 13824, 0);
    assert_close(p.norm, 81 * 5120., 0);
    assert_close(p.experts, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2),
        cmocka_unit_test(llama2_13b),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
