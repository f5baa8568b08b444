/* Number formats: limits and precision as IEEE 754, the OCP and C print them, bytes as the models
 * count
 * them. */
#include "check.h"

#include <float.h>
#include <scaleplan/formats.h>
#include <scaleplan/names.h>

#include "config/load.h"

static struct sp_number_range range_of(const char *name)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_number_format format;
    assert_true(sp_load_number_format(name, &sources, &format, &error));
    return sp_number_range(&format);
}

static void is(const char *name, double bytes, double largest, double min_normal, double smallest,
               double epsilon)
{
    const struct sp_number_range r = range_of(name);
    assert_true(r.bytes == bytes);
    assert_true(r.largest == largest);
    assert_true(r.min_normal == min_normal || (isnan(r.min_normal) && isnan(min_normal)));
    assert_true(r.smallest == smallest);
    assert_true(r.epsilon == epsilon);
}

/* float.h has the limits of this machine's float and double. */
static void test_machine(void **state)
{
    (void)state;
    is("fp32", 4, FLT_MAX, FLT_MIN, FLT_TRUE_MIN, FLT_EPSILON);
    is("fp64", 8, DBL_MAX, DBL_MIN, DBL_TRUE_MIN, DBL_EPSILON);
}

/* Tables of the OCP's 8-bit Floating Point 1.0 (448, 57344, 2^-6, 2^-9, 2^-14, 2^-16) and
 * Microscaling 1.0 (6, 1, 0.5; 32 elements and 8 bits of scale), IEEE binary16 (65504), two's
 * complement. */
static void test_published(void **state)
{
    (void)state;
    is("fp16", 2, 65504, 0x1p-14, 0x1p-24, 0x1p-10);
    is("bf16", 2, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-7);
    is("tf32", 4, 0x1.ffcp127, 0x1p-126, 0x1p-136, 0x1p-10);
    is("fp8-e4m3", 1, 448, 0x1p-6, 0x1p-9, 0x1p-3);
    is("fp8-e5m2", 1, 57344, 0x1p-14, 0x1p-16, 0x1p-2);
    is("fp4", 0.5, 6, 1, 0.5, 0.5);
    is("mxfp4", 0.53125, 6, 1, 0.5, 0.5);
    is("nvfp4", 0.5625, 6, 1, 0.5, 0.5);
    is("mxfp8", 1.03125, 448, 0x1p-6, 0x1p-9, 0x1p-3);
    is("int8", 1, 127, NAN, 1, 1);
    is("int4", 0.5, 7, NAN, 1, 1);
}

/* The bytes that the models count of a format are those of its file. */
static void test_same_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < SP_DTYPES; i++)
        if (i == SP_FP8)
            assert_true(range_of("fp8-e4m3").bytes == sp_dtypes[i].bytes);
        else
            assert_true(range_of(sp_dtype_names[i]).bytes == sp_dtypes[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_machine),
                                       cmocka_unit_test(test_published),
                                       cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
