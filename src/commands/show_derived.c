/* show: what follows from a model's, precision's or network's figures, and from a chip's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/show.h"

struct figure {
    enum sp_quantity_id id;
    double value;
};

#define N_OF(array) (sizeof(array) / sizeof *(array))

static void put_all(struct sp_report *report, const struct figure *figures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sp_put(report, figures[i].id, figures[i].value);
}

void sp_show_section(struct sp_report *report, const char *heading, size_t first)
{
    struct sp_row *const rows = calloc(sp_report_size(report) + 1, sizeof *rows);
    const struct sp_column columns[] = {
        {NULL, heading, true}, {"", "value", false}, {"?", "meaning", true}};
    size_t n = 0;
    for (size_t i = first; rows && i < sp_report_size(report); i++) {
        const struct sp_entry *entry = sp_report_entry(report, i);
        if (entry->kind == SP_VALUE_NONE)
            continue;
        snprintf(rows[n].label, sizeof rows[n].label, "%s", entry->info.label);
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "%.111s", entry->path);
        n++;
    }
    if (n > 0) {
        sp_line(report, " ");
        sp_table(report, columns, N_OF(columns), rows, n);
    }
    free(rows);
}

void sp_show_model(struct sp_report *report, const struct sp_shown *shown)
{
    const struct sp_model *const model = shown->base;
    const size_t first = sp_report_size(report);
    const struct sp_params p = sp_count_params(model);
    sp_symbol(report, "total", p.total, "parameters", "counted");
    sp_symbol(report, "published_params", model->published_params, "parameters", "published%s",
              model->published_rounded ? ", rounded" : "");
    const struct figure figures[] = {
        {SP_Q_SHOW_PARAMS, p.total},
        {SP_Q_SHOW_PARAMS_ACTIVE, p.active},
        {SP_Q_SHOW_PARAMS_EMBEDDING, p.embedding},
        {SP_Q_SHOW_PARAMS_ATTENTION, p.attention},
        {SP_Q_SHOW_PARAMS_MLP, p.mlp},
        {SP_Q_SHOW_PARAMS_EXPERTS, p.experts},
        {SP_Q_SHOW_PARAMS_ROUTER, p.router},
        {SP_Q_SHOW_PARAMS_NORM, p.norm},
        {SP_Q_SHOW_PARAMS_OFF, sp_off_published(model)},
    };
    put_all(report, figures, N_OF(figures));
    sp_show_section(report, "parameters", first);
    if (model->published_rounded)
        sp_note(report, "the published total is rounded, so the count cannot be checked closer "
                        "than that");
}

void sp_show_precision(struct sp_report *report, const struct sp_shown *shown)
{
    const struct sp_precision *const precision = shown->base;
    const size_t first = sp_report_size(report);
    sp_symbol(report, "weight", precision->weight_bytes, "bytes", "weights");
    sp_symbol(report, "grad", precision->grad_bytes, "bytes", "gradients");
    sp_symbol(report, "master", precision->master_bytes, "bytes", "master copy");
    sp_symbol(report, "optimizer", precision->optimizer_bytes, "bytes", "optimizer moments");
    sp_put(report, SP_Q_SHOW_STATE_BYTES, sp_state_bytes_per_param(precision));
    sp_show_section(report, "training state", first);
}

void sp_show_scaleout(struct sp_report *report, const struct sp_shown *shown)
{
    const struct sp_scaleout *const scaleout = shown->base;
    enum { DEVICES = 8 };
    const size_t first = sp_report_size(report);
    sp_symbol(report, "line", scaleout->bytes_per_s, "bytes/s", "line rate, one way");
    sp_symbol(report, "sharers", scaleout->per_node ? DEVICES : 1, "devices", "on one line");
    sp_put(report, SP_Q_SHOW_NET_PER_DEVICE, sp_scaleout_bytes_per_s_per_device(scaleout, DEVICES));
    sp_show_section(report, "share", first);
}

void sp_show_number_format(struct sp_report *report, const struct sp_shown *shown)
{
    const struct sp_number_format *const f = shown->base;
    const struct sp_number_range r = sp_number_range(f);
    const size_t first = sp_report_size(report);
    sp_symbol(report, "bits", (double)f->bits, "bits", "that an element is stored in");
    sp_symbol(report, "e", (double)f->exponent_bits, "bits", "exponent");
    sp_symbol(report, "m", (double)f->mantissa_bits, "bits", "mantissa");
    sp_symbol(report, "scale", f->block > 0 ? (double)f->scale_bits : 0, "bits",
              "scale of a block");
    sp_symbol(report, "block", f->block > 0 ? (double)f->block : 1, "",
              "elements that share a scale");
    sp_symbol(report, "lead", f->exponent_bits > 0, "bits", "leading one, which is not stored");
    sp_symbol(report, "E_max", r.largest_exponent, "", "largest exponent of a number");
    sp_symbol(report, "M_max", r.largest_mantissa, "", "mantissa that goes with it");
    const bool integer = f->exponent_bits == 0;
    const struct figure figures[] = {
        {SP_Q_SHOW_FORMAT_BYTES, r.bytes},
        {SP_Q_SHOW_FORMAT_BIAS, r.bias},
        {integer ? SP_Q_SHOW_FORMAT_LARGEST_INTEGER : SP_Q_SHOW_FORMAT_LARGEST, r.largest},
        {SP_Q_SHOW_FORMAT_MIN_NORMAL, r.min_normal},
        {integer ? SP_Q_SHOW_FORMAT_SMALLEST_INTEGER : SP_Q_SHOW_FORMAT_SMALLEST, r.smallest},
        {integer ? SP_Q_SHOW_FORMAT_STEP_INTEGER : SP_Q_SHOW_FORMAT_EPSILON, r.epsilon},
        {SP_Q_SHOW_FORMAT_DIGITS, r.digits},
        {SP_Q_SHOW_FORMAT_OCTAVES, r.octaves},
    };
    put_all(report, figures, N_OF(figures));
    sp_show_section(report, "range and precision", first);
}

static void put_points(struct sp_report *report, const struct sp_trend *t)
{
    static const struct sp_column columns[] = {
        {"name", "point", true}, {"year!", "year", false}, {"value", "value", false}};
    struct sp_row rows[SP_MOST_TREND_POINTS] = {0};
    for (int i = 0; i < t->points; i++) {
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "points.%d", i);
        sp_scope(report, rows[i].prefix);
        sp_put_text(report, SP_Q_SHOW_POINT_NAME, "%s", t->point[i].name);
        sp_put(report, SP_Q_SHOW_POINT_YEAR, t->point[i].year);
        sp_put(report, SP_Q_SHOW_POINT_VALUE, t->point[i].value);
    }
    sp_scope(report, "");
    if (t->points == 0)
        return;
    sp_line(report, " ");
    sp_table(report, columns, N_OF(columns), rows, (size_t)t->points);
}

void sp_show_trend(struct sp_report *report, const struct sp_shown *shown)
{
    const struct sp_trend *const t = &((const struct sp_trend_file *)shown->base)->trend;
    const size_t first = sp_report_size(report);
    sp_symbol(report, "f", t->factor, "", "by which it grows");
    sp_symbol(report, "T", t->years, "years", "in which it does");
    sp_symbol(report, "T_low", t->years_low, "years", "lower end of the published range");
    sp_symbol(report, "T_high", t->years_high, "years", "its upper end");
    const struct figure figures[] = {
        {SP_Q_SHOW_TREND_GROWTH, sp_trend_growth(t)},
        {SP_Q_SHOW_TREND_DOUBLING, sp_trend_doubling_years(t)},
        {SP_Q_SHOW_TREND_LOW, pow(t->factor, 1 / t->years_high)},
        {SP_Q_SHOW_TREND_HIGH, pow(t->factor, 1 / t->years_low)},
        {SP_Q_SHOW_TREND_FITTED, sp_trend_fitted_growth(t)},
    };
    put_all(report, figures, N_OF(figures));
    sp_show_section(report, "growth", first);
    put_points(report, t);
}

static void put_gpu_units(struct sp_report *report, const struct sp_chip *chip)
{
    const struct sp_gpu_units u = sp_gpu_units(chip);
    sp_symbol(report, "sms", chip->sms, "", "streaming multiprocessors");
    sp_symbol(report, "cores_per_sm", chip->cuda_cores_per_sm, "", "fp32 lanes of an SM");
    sp_symbol(report, "tensor_cores_per_sm", chip->tensor_cores_per_sm, "",
              "tensor cores of an SM");
    sp_symbol(report, "f_base", chip->clock_hz, "Hz", "base clock");
    sp_symbol(report, "f_boost", chip->boost_clock_hz, "Hz", "boost clock");
    sp_symbol(report, "f_tensor", u.tensor_clock_hz, "Hz",
              "clock that the tensor peak is taken at");
    sp_symbol(report, "smem_per_sm", chip->smem_bytes_per_sm, "bytes", "SMEM of an SM");
    sp_symbol(report, "registers_per_sm", chip->register_bytes_per_sm, "bytes",
              "registers of an SM");
    sp_symbol(report, "ports", chip->nvlink_ports, "", "NVLink ports");
    sp_symbol(report, "port", chip->nvlink_port_bytes_per_s, "bytes/s", "one port, one way");
    const struct figure figures[] = {
        {SP_Q_SHOW_CUDA_CORES, u.cuda_cores},
        {SP_Q_SHOW_TENSOR_CORES, u.tensor_cores},
        {SP_Q_SHOW_VECTOR_BASE, u.vector_base_flops_per_s},
        {SP_Q_SHOW_VECTOR_BOOST, u.vector_boost_flops_per_s},
        {SP_Q_SHOW_FMA_BASE, u.fma_base_flops_per_s},
        {SP_Q_SHOW_FMA_BOOST, u.fma_boost_flops_per_s},
        {SP_Q_SHOW_TENSOR_OVER_VECTOR, u.tensor_over_vector},
        {SP_Q_SHOW_IMPLIED_CLOCK, u.implied_clock_hz},
        {SP_Q_SHOW_TENSOR_PER_CYCLE, u.flops_per_cycle_per_tensor_core},
        {SP_Q_SHOW_SMEM, u.smem_bytes},
        {SP_Q_SHOW_REGISTERS, u.register_bytes},
        {SP_Q_SHOW_ON_CHIP, u.on_chip_bytes},
        {SP_Q_SHOW_NVLINK, u.nvlink_egress_bytes_per_s},
    };
    put_all(report, figures, N_OF(figures));
}

static void put_tpu_units(struct sp_report *report, const struct sp_chip *chip)
{
    const struct sp_tpu_units u = sp_tpu_units(chip);
    sp_symbol(report, "cores", chip->cores, "", "TensorCores of a chip");
    sp_symbol(report, "mxus_per_core", chip->mxus_per_core, "", "systolic arrays of a core");
    sp_symbol(report, "d", chip->mxu_dim, "", "side of a systolic array");
    sp_symbol(report, "f", chip->clock_hz, "Hz", "clock");
    sp_symbol(report, "lanes", chip->vpu_lanes, "", "lanes of the vector unit");
    sp_symbol(report, "sublanes", chip->vpu_sublanes, "", "sublanes of the vector unit");
    sp_symbol(report, "alus", chip->vpu_alus, "", "ALUs per lane and sublane");
    const struct figure figures[] = {
        {SP_Q_SHOW_MXUS, u.mxus},
        {SP_Q_SHOW_MXU_PER_CYCLE, u.mxu_flops_per_cycle},
        {SP_Q_SHOW_MXU_PEAK, u.mxu_flops_per_s},
        {SP_Q_SHOW_MXUS_PEAK, u.mxus_flops_per_s},
        {SP_Q_SHOW_VPU_ALUS, u.vpu_alus},
        {SP_Q_SHOW_VPU_CORE, u.vpu_core_ops_per_s},
        {SP_Q_SHOW_VPU, u.vpu_ops_per_s},
        {SP_Q_SHOW_TENSOR_OVER_VPU, u.matrix_over_vector},
    };
    put_all(report, figures, N_OF(figures));
}

/* Symbols of formulas in every scope: the networks'. */
static void put_network_symbols(struct sp_report *report, const struct sp_hardware *hw)
{
    const struct sp_network *net = &hw->network;
    const struct sp_chip *chip = &hw->chip;
    if (net->kind == SP_TORUS) {
        sp_symbol(report, "w", net->link_bytes_per_s, "bytes/s", "one link, one way");
        sp_symbol(report, "axes", (double)net->axes, "", "axes of the torus");
        sp_symbol(report, "W_dcn", sp_dcn_bytes_per_s_per_chip(net), "bytes/s",
                  "a host's data-centre egress over its chips");
        sp_symbol(report, "dcn_host", net->dcn_bytes_per_s_per_host, "bytes/s",
                  "data-centre egress of a host");
        sp_symbol(report, "cores_per_chip", chip->cores, "", "TensorCores of a chip");
    } else {
        sp_symbol(report, "W_gpu", net->domain_bytes_per_s, "bytes/s",
                  "scale-up egress of one device");
        sp_symbol(report, "W_node", sp_node_bytes_per_s(net), "bytes/s",
                  "scale-out egress of one node");
        sp_symbol(report, "domain", (double)net->domain, "devices",
                  "devices of one scale-up domain");
        sp_symbol(report, "scaleout", net->scaleout_bytes_per_s, "bytes/s",
                  "scale-out egress of a device");
    }
    sp_symbol(report, "chips_per_host", (double)sp_chips_per_host(net), "chips", "chips of a host");
}

/* The chip's. */
static void put_chip_symbols(struct sp_report *report, const struct sp_chip *chip)
{
    sp_symbol(report, "C", sp_peak16_flops_per_s(chip), "FLOP/s", "dense 16-bit peak");
    for (int i = 0; i < SP_DTYPES; i++) {
        char name[16];
        snprintf(name, sizeof name, "C_%s", sp_dtype_names[i]);
        sp_symbol(report, name, chip->peak_flops_per_s[i], "FLOP/s", "dense %s peak",
                  sp_dtype_names[i]);
    }
    sp_symbol(report, "W_hbm", chip->hbm_bytes_per_s, "bytes/s", "memory bandwidth");
    sp_symbol(report, "W_vmem", chip->vmem_bytes_per_s, "bytes/s", "bandwidth of on-chip memory");
    sp_symbol(report, "W_pcie", chip->pcie_bytes_per_s, "bytes/s", "link to the host, one way");
    sp_symbol(report, "hbm", chip->hbm_bytes, "bytes", "memory of a chip");
    sp_symbol(report, "usable", sp_capacity_bytes(chip), "bytes",
              "what the runtime leaves to programs");
    sp_symbol(report, "tdp", chip->tdp_w, "W", "power of a chip");
    sp_symbol(report, "price", chip->price_usd_per_h, "USD/h", "list price of a chip");
}

static void put_ridges(struct sp_report *report, const struct sp_chip *chip)
{
    const double W = chip->hbm_bytes_per_s, W_vmem = chip->vmem_bytes_per_s;
    const enum sp_dtype d16 = sp_dtype16(chip);
    const struct figure figures[] = {
        {SP_Q_SHOW_RIDGE, sp_ridge(chip, d16, W)},
        {SP_Q_SHOW_RIDGE_TF32, sp_ridge(chip, SP_TF32, W)},
        {SP_Q_SHOW_RIDGE_FP32, sp_ridge(chip, SP_FP32, W)},
        {SP_Q_SHOW_RIDGE_FP8, sp_ridge(chip, SP_FP8, W)},
        {SP_Q_SHOW_RIDGE_INT8, sp_ridge(chip, SP_INT8, W)},
        {SP_Q_SHOW_RIDGE_INT4, sp_ridge(chip, SP_INT4, W)},
        {SP_Q_SHOW_RIDGE_FP4, sp_ridge(chip, SP_FP4, W)},
        {SP_Q_SHOW_RIDGE_PCIE, sp_ridge(chip, d16, chip->pcie_bytes_per_s)},
        {SP_Q_SHOW_RIDGE_VMEM, sp_ridge(chip, d16, W_vmem)},
        {SP_Q_SHOW_RIDGE_VMEM_FP8, sp_ridge(chip, SP_FP8, W_vmem)},
        {SP_Q_SHOW_RIDGE_VMEM_INT8, sp_ridge(chip, SP_INT8, W_vmem)},
        {SP_Q_SHOW_RIDGE_VMEM_INT4, sp_ridge(chip, SP_INT4, W_vmem)},
    };
    put_all(report, figures, N_OF(figures));
}

static void put_networks(struct sp_report *report, const struct sp_hardware *hw)
{
    const struct sp_chip_networks n = sp_chip_networks(hw);
    const struct figure torus[] = {{SP_Q_SHOW_ALPHA_AXIS, n.alpha_axis},
                                   {SP_Q_SHOW_ALPHA_DCN, n.alpha_dcn}};
    const struct figure switched[] = {{SP_Q_SHOW_ALPHA_NODE, n.alpha_node},
                                      {SP_Q_SHOW_ALPHA_CROSS, n.alpha_cross}};
    const struct figure torus_ratios[] = {{SP_Q_SHOW_HBM_OVER_LINK, n.hbm_over_link},
                                          {SP_Q_SHOW_HBM_OVER_AXIS, n.hbm_over_axis},
                                          {SP_Q_SHOW_HBM_OVER_DCN, n.hbm_over_dcn}};
    const struct figure switched_ratios[] = {{SP_Q_SHOW_HBM_OVER_NODE, n.hbm_over_node},
                                             {SP_Q_SHOW_HBM_OVER_SCALEOUT, n.hbm_over_scaleout}};
    const bool is_torus = hw->network.kind == SP_TORUS;
    sp_scope(report, "alpha");
    put_all(report, is_torus ? torus : switched, 2);
    if (is_torus) {
        sp_scope(report, "network");
        sp_put(report, SP_Q_SHOW_AXIS, n.axis_bytes_per_s);
        sp_put(report, SP_Q_SHOW_DCN, n.dcn_bytes_per_s);
    }
    sp_scope(report, "ratio");
    put_all(report, is_torus ? torus_ratios : switched_ratios, is_torus ? 3 : 2);
    sp_put(report, SP_Q_SHOW_HBM_OVER_PCIE, n.hbm_over_pcie);
    sp_put(report, SP_Q_SHOW_VMEM_OVER_HBM, n.vmem_over_hbm);
}

void sp_show_chip(struct sp_report *report, const struct sp_hardware *hw)
{
    const struct sp_chip *chip = &hw->chip;
    size_t first = sp_report_size(report);
    sp_scope(report, "");
    put_chip_symbols(report, chip);
    put_network_symbols(report, hw);
    sp_scope(report, "chip");
    if (!isnan(chip->sms))
        put_gpu_units(report, chip);
    if (!isnan(chip->cores))
        put_tpu_units(report, chip);
    if (hw->network.kind == SP_TORUS)
        sp_put(report, SP_Q_SHOW_EGRESS, sp_chip_networks(hw).egress_bytes_per_s);
    sp_show_section(report, "one chip", first);
    first = sp_report_size(report);
    sp_scope(report, "ridge");
    put_ridges(report, chip);
    sp_show_section(report, "ridge point", first);
    first = sp_report_size(report);
    put_networks(report, hw);
    sp_show_section(report, "networks", first);
    sp_scope(report, "");
}
