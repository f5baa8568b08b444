/* Closed forms that no larger derivation of these tests reaches, each at a case worked by hand. The
 * numbers on the right are derived from the meaning of the arguments, not from the expressions in
 * the .def files. */
#include "check.h"

#include <scaleplan/forms.h>

#define IS(value, by_hand) assert_close(value, by_hand, 1e-9)

/* 18 links of 25 GB/s one way; 8 cards of 50 GB/s for 8 devices, and 4 of 50 for 8; a third axis of
 * a torus. */
static void machines(void **state)
{
    (void)state;
    IS(sp_port_bytes_per_s(18, 25e9), 450e9);
    IS(sp_card_bytes_per_s_per_device(8, 50e9, 8), 50e9);
    IS(sp_card_bytes_per_s_per_device(4, 50e9, 8), 25e9);
    IS(sp_scaleout_share(400e9, 8), 50e9);
    IS(sp_wrapped_axes_bytes_per_s(3, 9e10), 2.7e11);
    IS(sp_share_of_bound(0.004, 0.005), 0.8);
    IS(sp_ratio_of_times(3, 4), 0.75);
    /* binary64: 53 bits are 15.954589770191003 digits; bf16 spans 2^-133 to 2^128 (1 - 2^-8) */
    IS(sp_format_digits(53), 15.954589770191003);
    IS(sp_format_octaves(0x1p15, 0x1p-24), 39);
    IS(sp_off_published_total(103e9, 100e9), 0.03);
    IS(sp_text_params(8.3e9, 0.3e9), 8e9);
}

/* 1,024 devices for 30 days are 737,280 device-hours. */
static void money(void **state)
{
    (void)state;
    IS(sp_cost_usd(1024, 30 * 86400, 2), 1474560);
    IS(sp_devices_for_budget(1474560, 2, 30), 1024);
    IS(sp_days_within(30, 960, 4, 2), 5); /* 4 devices spend 8 USD an hour: 960 last 120 h */
    IS(sp_days_within(3, 960, 4, 2), 3);
    IS(sp_steps_within(1, 99.9), 864); /* a day holds 864.9 steps of 99.9 s */
    IS(sp_steps_within(-1, 100), 0);
    /* 24,000 USD, and 3 USD an hour saved 2 of them: 12,000 hours */
    IS(sp_break_even_days(24000, 3, 1), 500);
    IS(sp_purchase_usd(2, 24000, 36000, 1), 48020);
    /* 43,830 USD over five years of 8,766 hours are 1 USD an hour, 1.25 when used 80 % of the time
     */
    IS(sp_capital_usd_per_h(43830, 5, 1), 1);
    IS(sp_capital_usd_per_h(43830, 5, 0.8), 1.25);
    IS(sp_power_usd_per_h(1400, 0.1), 0.14);
    IS(sp_break_even_use(43830, 5, 2.14, 0.14), 0.5);
    IS(sp_cost_of_steps(1e12, 4e6, 20), 5e6);
    IS(sp_usd_per_mtoken_trained(20, 4e6), 5);
    IS(sp_tokens_for_budget(5e6, 20, 1000, 4000), 1e12);
    IS(sp_cost_over_least(30, 20), 1.5);
    /* 512 devices of 2 s against 1,024 of 0.5 s at 3 USD: 512 device-seconds at 3 USD for 1,024 */
    IS(sp_break_even_usd_per_h(512, 2, 1024, 0.5, 3), 1.5);
    IS(sp_chip_seconds_ratio(0.5, 512, 2048), 0.125);
    /* 1 kW for a day: 24 kWh, at 0.4 kg each */
    IS(sp_energy_wh(1000, 86400), 24000);
    IS(sp_energy_mwh(1000, 86400), 0.024);
    IS(sp_carbon_kg(1000, 86400, 0.4), 9.6);
    /* 8 chips of 700 W and a fifth more for the building: 6,720 W; 1e6 tokens at 2,000/s take 500 s
     */
    IS(sp_energy_per_mtoken(700, 1.2, 8, 2000), 6720 * 500. / 3600);
}

static void shares(void **state)
{
    (void)state;
    IS(sp_per_cent(0.25), 25);
    IS(sp_error_pct(110, 100), 10);
    IS(sp_error_pct(80, 100), -20);
    IS(sp_percent_more(125, 100), 25);
    IS(sp_percent_less(75, 100), 25);
    IS(sp_percent_apart(80, 100), 25); /* of the smaller, whichever comes first */
    IS(sp_percent_apart(100, 80), 25);
    IS(sp_percent_of(3, 12), 25);
    IS(sp_log_ratio_pct(0.22314355131420976), 25); /* ln 1.25 */
    IS(sp_percent_of_log(0.22314355131420976), 25);
    IS(sp_needed_factor(6, 4), 1.5);
    IS(sp_measured_gap(5, 7), -2);
    IS(sp_total_of_instances(7, 3), 21);
    /* LLaMA-like: 4 D^2 of attention beside 8 D^2 of MLP, and a vocabulary of 1 D^2 */
    IS(sp_attention_params_share(4, 13), 4. / 13);
    IS(sp_attention_layer_share(4, 13, 1), 1. / 3);
    IS(sp_attention_over_mlp(2, 8), 0.25);
    IS(sp_attention_block_share(4, 2, 8), 3. / 7);
}

/* 512 chips of 2e14 FLOP/s at 40 %: 4.096e16 FLOP/s; 7e10 FLOPs per token: 585,142.857142...
 * tokens/s. */
static void utilisations(void **state)
{
    (void)state;
    IS(sp_rate_of_utilisation(0.4, 512, 2e14, 7e10), 4096000 / 7.);
    IS(sp_utilisation(7e10, 4096000 / 7., 512, 2e14), 0.4);
    IS(sp_device_flops_per_s(7e10, 4096000 / 7., 512), 8e13);
    IS(sp_rate_per_device(4096000 / 7., 512), 8000 / 7.);
    IS(sp_hfu(6e10, 2e10, 512e4, 512, 2e15), 0.4);
    IS(sp_recompute_factor(2e10, 6e10), 4. / 3); /* a whole forward pass again */
    IS(sp_mfu_of_step(0.3, 0.75), 0.4);
    IS(sp_measured_mfu(0.4, 2, 1.6), 0.5); /* a quarter faster than estimated */
    IS(sp_step_tflops_per_device(8e17, 2, 1000), 400);
    IS(sp_prompt_mfu(4, 2e14, 2, 8, 1e15), 0.05);
    IS(sp_days_of_run(86400e20, 1000, 1e15, 0.4), 250);
    IS(sp_uncounted_flops(125, 100), 0.25);
    IS(sp_share_of_gap(-0.4, 0.5, 2), -0.1);
    IS(sp_step_work(3, 1, 0.5, 0.25), 4.75);
    IS(sp_matmuls_least_s(2e15, 1e15, 1e12, 1e12), 2);
    IS(sp_matmuls_least_s(2e15, 1e15, 4e12, 1e12), 4);
}

/* The book's TPU v5p: 4.59e14 FLOP/s, 9e10 bytes/s of an axis with both directions; F = 30,000. A
 * ring of two axes holds FSDP while a chip has C/W = 2,550 tokens, a weight's gather in each of two
 * passes; TP over Y chips while Y < F W/C. */
static void loads(void **state)
{
    (void)state;
    const double C = 4.59e14, W = 9e10;
    IS(sp_ratio_of_weights(1, 1, C, 2 * W, 2550), 1);
    IS(sp_ratio_of_weights(2, 8, C, 2 * W, 2550),
       16); /* 8 experts of which one works, gathered again */
    IS(sp_ratio_of_width(10, C, W, 51000), 1);
    IS(sp_ratio_of_shards(1, 1, C, 4, 16, 2 * W, 64 * 2550, 0.5), 1);
    IS(sp_ratio_of_shards(1, 1, C, 4, 16, 2 * W, 128 * 2550, 0.75), 0.75);
    IS(sp_ratio_of_shards_in_turn(1, 1, C, 4, 16, 2 * W, 128 * 2550, 0.75), 1.25);
    IS(sp_ratio_of_slice(C, 8, W, 40800, 0.5), 1);
    IS(sp_ratio_of_slice(C, 8, W, 40800, 3), 3);
    IS(sp_ratio_of_slice_in_turn(C, 8, W, 40800, 3), 4);
    IS(sp_ratio_of_axes(1, 1, C, 4, 16, 2 * W, 128 * 2550, 8, W, 40800, 0.25), 1);
    IS(sp_ratio_of_axes(1, 1, C, 4, 16, 2 * W, 32 * 2550, 8, W, 40800, 0.25), 2);
    IS(sp_ratio_of_axes_in_turn(1, 1, C, 4, 16, 2 * W, 128 * 2550, 8, W, 40800, 0.25), 1.75);
    IS(sp_ratio_of_levels(0.5, 0.75), 0.75);
    IS(sp_ratio_of_levels(1.5, 0.75), 1.5);
    /* chapter "Training", mixed FSDP and TP: B/N > a^2/(Mx My F) with a = C/W of an axis, 5,100 */
    IS(sp_critical_split(C, 2 * W, W, 30000, 1, 0), 5100. * 5100 / 2 / 30000);
    IS(sp_critical_split(C, 2 * W, W, 30000, 1, 900), 900);
    /* if they take turns the two equal loads add up: 4 times; with a third load k the root of
     * x = 2 sqrt(s x) + k, here s = 433.5 and k = 433.5: x = s (1 + sqrt 2)^2 */
    IS(sp_critical_split_in_turn(C, 2 * W, W, 30000, 1, 0), 4 * 433.5);
    IS(sp_critical_split_in_turn(C, 2 * W, W, 30000, 1, 433.5),
       433.5 * (3 + 2 * 1.4142135623730951));
    /* a rank's keys and values, 2 bytes of 2,048 elements, go to cp ranks in turn while it does 4 D
     * F FLOPs a token */
    IS(sp_context_load(C, 4, 2048, W, 8192, 30000), 4 * 2 * 2048 / W / (4. * 8192 * 30000 / C));
    /* forward 2 B D F FLOPs, on 4 x 8 chips; a matrix of 8,192 x 30,000 in 2 bytes, in 16 parts */
    IS(sp_layer_matmul_flops(1e6, 8192, 30000, 4, 8), 1.536e13);
    IS(sp_layer_array_bytes(1, 8192, 30000, 16), 30.72e6);
    IS(sp_layer_array_bytes(2, 8192, 30000, 16), 61.44e6);
    /* both matrices: 2 x 2 B D F forward, twice that backward, over 64 chips of 4.59e14 FLOP/s */
    IS(sp_layer_forward_s(1e6, 8192, 30000, 64, C), 4 * 1e6 * 8192 * 30000 / 2.9376e16);
    IS(sp_layer_backward_s(1e6, 8192, 30000, 64, C), 8 * 1e6 * 8192 * 30000 / 2.9376e16);
    /* 7 of 8 parts leave at 450 GB/s, of a quarter of the array, there and back */
    IS(sp_node_pass_s(2, 7.2e9, 450e9, 4, 8), 2 * 0.875 * 1.8e9 / 450e9);
    IS(sp_critical_over_small(300, 240), 1.25);
    IS(sp_sharded_flops(1e12, 4), 4e12);
}

/* Narayanan et al. 2021: (p-1)/(v m) of a pipeline whose rounds are full; 1F1B: (p-1)/m. */
static void pipelines(void **state)
{
    (void)state;
    IS(sp_pipeline_bubble(8, 1, 8, 32), 7. / 32);
    IS(sp_pipeline_bubble(8, 4, 8, 32), 7. / 4 / 32);
    IS(sp_pipeline_bubble(8, 4, 2, 34), (6 + 0.25) / 34);
    IS(sp_played_bubble(30, 4, 10), 0.25);
    IS(sp_stage_idle_s(10, 7.5), 2.5);
    IS(sp_micro_batches(4096 * 1024, 4096, 64, 2), 8);
    IS(sp_micro_batches(4096 * 1000, 4096, 64, 2), 8); /* 15.6 sequences each */
    IS(sp_serial_share(0.8, 3), 0.125);                /* Amdahl: 1/(s + (1-s)/3)/3 = 0.8 */
}

static void memory(void **state)
{
    (void)state;
    IS(sp_states_held(7e9, 16, 2e9), 114e9);
    IS(sp_states_and_activations(3e9, 4e9), 7e9);
    IS(sp_there_and_back_s(32e9, 64e9), 1);
    IS(sp_step_adapter_bytes(14.2e9, 14e9, 0.4e9, 1.2e9), 1.8e9);
    IS(sp_draft_memory(2e9, 64, 1e8), 8.4e9);
    IS(sp_block_waste(16), 7.5); /* 0 to 15 tokens, each as likely */
    /* Chen et al. 2016: 100 layers in 10 segments keep 10 inputs and the 10 layers of one segment
     */
    IS(sp_root_segments(100), 10);
    IS(sp_root_segments(80), 9);
    IS(sp_segment_bytes(1000, 100, 10, 0.1), 10 * 1 + 10 * 10);
    IS(sp_segment_bytes(800, 80, 9, 0.1), 9 * 1 + 9 * 10); /* the longest segment has 9 layers */
}

/* McCandlish et al. 2018, equation 2.11: (S/S_min - 1)(E/E_min - 1) = 1, with B_noise =
 * E_min/S_min. */
static void laws(void **state)
{
    (void)state;
    IS(sp_min_steps(1e12, 2e6), 5e5);
    IS(sp_steps_in_batches(1e12, 1e6, 2e6), 1.5e6);
    IS(sp_data_efficiency(1e6, 2e6), 2. / 3);
    IS((1.5e6 / 5e5 - 1) * (1 / sp_data_efficiency(1e6, 2e6) - 1), 1);
    IS(sp_bits_of_nats(0.6931471805599453), 1);
    IS(sp_steps_of_tokens(1e12, 4e6), 250000);
    IS(sp_days_of_steps(1e12, 4e6, 8.64), 25);
    /* Muennighoff et al. 2023: nothing in excess, then R* (1 - 1/e) of the base at an excess of R*
     */
    IS(sp_worth_of_excess_params(7e9, 7e9), 7e9);
    IS(sp_worth_of_excess_params(6.309743e9, 1e9), 1e9 * (1 + 5.309743 * 0.6321205588285577));
    IS(sp_share_of_algorithms(0.65), 0.35);
    IS(sp_flops_by_older_algorithms(1e24, 8), 8e24);
    IS(sp_adamw_parameter(2, 0.99, 0.03), 1.95);
}

static void runs(void **state)
{
    (void)state;
    IS(sp_wall_s(900, 0.9, 60), 1060);
    IS(sp_checkpoints_of_run(1e6, 3e4), 33);
    IS(sp_first_step_s(60, 120, 0.01, 1000, 30, 45), 265);
    IS(sp_drives_write_s(1.6e12, 64, 2.5e9), 10);
    IS(sp_written_bytes(33, 1.6e12), 5.28e13);
    IS(sp_worn(5.28e13, 64, 1.1e15), 0.00075);
    IS(sp_plans_of_space(10, 20, 30, 40), 100);
    IS(sp_plans_per_s(3e6, 1.5), 2e6);
    /* the mean of the larger of some errors of 4 % an octave, two octaves away: e^(1.7 x 0.08) */
    IS(sp_expected_over_estimate(1.7, 0.04, 2), 1.1456818935948618);
    IS(sp_expected_step(2, 1.25), 2.5);
    IS(sp_expected_mfu(0.5, 1.25), 0.4);
}

static void serving(void **state)
{
    (void)state;
    /* two blocks a layer, each a reduction of B D numbers of 2 bytes: scattered and gathered once
     */
    IS(sp_step_tp_time(16, 8192, 80, 9e11), 2 * 2 * 2 * 16. * 8192 * 80 / 9e11);
    IS(sp_prompts_of_step(64, 256), 0.25);
    IS(sp_request_time(0.5, 101, 0.02), 2.5);
    IS(sp_user_rate(0.02), 50);
    IS(sp_tokens_of_all_drafts(3), 4);
    IS(sp_chips_of_pool(3, 8), 24);
    IS(sp_cache_transfer_time(4000, 1e5, 5e10), 0.008);
    IS(sp_host_fetch_time(1.28e11, 8, 6.4e10), 0.25);
    IS(sp_prompts_on_host(1e12, 1e5, 2, 5000), 1000);
    IS(sp_gain_over_one_pool(6, 4), 1.5);
}

static void rollouts(void **state)
{
    (void)state;
    IS(sp_rl_latency_s(1.5, 20, 5000, 1000, 0.01), 90);
    IS(sp_rl_update_s(1.5, 2, 4, 3), 36);
    IS(sp_rl_training_s(1, 2, 3, 4, 5), 15);
    IS(sp_rl_packs(100, 1024, 4096, 0.1), 25);
    IS(sp_rl_packs(100, 1024, 4096, 0.4), 40); /* 40 answers that share no row */
    IS(sp_rl_wake_s(32e9, 64e9), 1);
    /* nothing ahead: the batch; one step ahead: half of what the step before does not hide, or the
     * work that the 30 + 3 s of training leave over */
    IS(sp_rl_exposed_s(100, 120, 30, 5, 0, 3), 120);
    IS(sp_rl_exposed_s(60, 120, 30, 5, 1, 3), 41);
    IS(sp_rl_exposed_s(100, 120, 30, 5, 1, 3), 67);
    IS(sp_rl_exposed_s(10, 20, 30, 5, 1, 3), 0);
    IS(sp_rl_busy(30, 120), 0.25);
    IS(sp_rl_memory_apart(50e9, 60e9), 60e9);
    IS(sp_rl_memory_apart(70e9, 60e9), 70e9);
    IS(sp_rl_memory_together(50e9, 60e9), 110e9);
    IS(sp_rl_host_bytes(8, 30e9, 2e9), 256e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines),     cmocka_unit_test(money),    cmocka_unit_test(shares),
        cmocka_unit_test(utilisations), cmocka_unit_test(loads),    cmocka_unit_test(pipelines),
        cmocka_unit_test(memory),       cmocka_unit_test(laws),     cmocka_unit_test(runs),
        cmocka_unit_test(serving),      cmocka_unit_test(rollouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
