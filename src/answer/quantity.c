/* Rows of quantities, and values rounded for people. */
#include "answer/quantity.h"
#include "base/text.h"
#include "answer/row_sources.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *old_key(enum sp_quantity_id id)
{
#define OLD(id, key)                                                                               \
    case SP_Q_##id:                                                                                \
        return key;
    switch ((int)id) {
#include "answer/old_keys.def"
    }
#undef OLD
    return NULL;
}

#define SP_QUANTITIES_END(command)

/* Key, label, meaning and source of every row, each up to a zero, and where a row starts: an array
 * of pointers would need a relocation per string at every start. The source of a row with a form is
 * the form's. A page has only the keys of commands that need a shell. */
#define Q_FORM(id, key, label, unit, form, meaning) ROW(id, key, label, unit, form, "", meaning)
#define Q(id, key, label, unit, source, meaning) ROW(id, key, label, unit, NONE, source, meaning)
#define TEXT(key, label, source, meaning) key "\0" SP_BESIDE_KEY(label "\0" meaning "\0" source)

static const struct texts {
#define ROW(id, key, label, unit, form, source, meaning)                                           \
    char of_##id[sizeof(TEXT(key, label, source, meaning))];
#include "answer/all_quantities.def"
#undef ROW
} texts = {
#define ROW(id, key, label, unit, form, source, meaning) TEXT(key, label, source, meaning),
#include "answer/all_quantities.def"
#undef ROW
};

static const struct {
    unsigned start;
    unsigned short form;
    unsigned char unit;
} rows[] = {
#define ROW(id, key, label, unit, form, source, meaning)                                           \
    [SP_Q_##id] = {offsetof(struct texts, of_##id), SP_CLOSED_##form, SP_##unit},
#include "answer/all_quantities.def"
#undef ROW
};

#undef TEXT
#undef Q
#undef Q_FORM
#undef SP_QUANTITIES_END

/* The text after the zero that ends another one. */
static const char *after(const char *text)
{
    return text + strlen(text) + 1;
}

struct sp_quantity_info sp_quantity(enum sp_quantity_id id)
{
    const enum sp_form_id form = (enum sp_form_id)rows[id].form;
    const char *const key = (const char *)&texts + rows[id].start;
    const char *const label = after(key);
    const char *const meaning = after(label);
    return (struct sp_quantity_info){
        .key = key,
        .label = label,
        .unit = (enum sp_unit)rows[id].unit,
        .formula = form == SP_CLOSED_NONE ? "" : sp_form_text(form),
        .source = form == SP_CLOSED_NONE ? after(meaning) : sp_form_source(form),
        .meaning = meaning,
        .old_key = old_key(id),
    };
}

/* The commands, and the ends of their rows. */
#define Q(...)
#define Q_FORM(...)
#define SP_QUANTITIES_END(command) {#command, (enum sp_quantity_id)SP_END_##command},
static const struct {
    const char *command;
    enum sp_quantity_id end;
} parts[] = {
#include "answer/all_quantities.def"
};
#undef SP_QUANTITIES_END
#undef Q_FORM
#undef Q

const char *sp_command_with_key(const char *key)
{
    enum sp_quantity_id id = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (; id < parts[i].end; id++)
            if (strcmp(sp_quantity(id).key, key) == 0)
                return parts[i].command;
    return NULL;
}

enum sp_quantity_id sp_quantities_of(const char *command, enum sp_quantity_id *first)
{
    *first = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].command, command) == 0)
            return parts[i].end;
        *first = parts[i].end;
    }
    return *first = 0;
}

static const char *const unit_names[SP_UNITS] = {
    [SP_NUMBER] = "",
    [SP_COUNT] = "",
    [SP_BYTES] = "bytes",
    [SP_CAPACITY] = "bytes",
    [SP_BYTES_PER_S] = "bytes/s",
    [SP_FLOPS] = "FLOPs",
    [SP_FLOPS_PER_S] = "FLOP/s",
    [SP_FLOPS_PER_BYTE] = "FLOPs/byte",
    [SP_SECONDS] = "s",
    [SP_TOKENS] = "tokens",
    [SP_TOKENS_PER_S] = "tokens/s",
    [SP_FRACTION] = "",
    [SP_WATTS] = "W",
    [SP_WATT_HOURS] = "Wh",
    [SP_KILOGRAMS] = "kg",
    [SP_USD] = "USD",
    [SP_HERTZ] = "Hz",
    [SP_PARAMETERS] = "parameters",
    [SP_DAYS] = "days",
    [SP_HOURS] = "h",
    [SP_VERDICT] = "",
    [SP_WORDS] = "",
};

const char *sp_unit_name(enum sp_unit unit)
{
    return unit_names[unit];
}

/* Three significant digits without an exponent below 10^6: 0.738, 7.38, 73.8, 738, 7380. */
static void three_digits(double value, char *out, size_t size)
{
    const double size_of = fabs(value);
    if (value == 0)
        snprintf(out, size, "0");
    else if (size_of >= 1e6 || size_of < 1e-3)
        snprintf(out, size, "%.3g", value);
    else if (size_of >= 99.95)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.*f",
                 size_of >= 9.995      ? 1
                 : size_of >= 0.9995   ? 2
                 : size_of >= 0.09995  ? 3
                 : size_of >= 0.009995 ? 4
                                       : 5,
                 value);
}

/* A value scaled to the largest prefix below it. */
static void scaled(double value, const char *const prefixes[9], const char *unit, char *out,
                   size_t size)
{
    int step = 0;
    while (fabs(value) >= 999.5 && step < 8) {
        value /= 1000;
        step++;
    }
    char digits[32];
    three_digits(value, digits, sizeof digits);
    snprintf(out, size, "%s%s%s%s", digits, *unit || step ? " " : "", prefixes[step], unit);
}

static void with_prefix(double value, const char *unit, char *out, size_t size)
{
    static const char *const si[9] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
    scaled(value, si, unit, out, size);
}

/* Parameters count in thousands, millions, billions and trillions. */
static void human_parameters(double value, char *out, size_t size)
{
    static const char *const counts[9] = {"", "K", "M", "B", "T", "e15", "e18", "e21", "e24"};
    scaled(value, counts, "", out, size);
}

/* Bytes without a prefix are spelled out: a bare B means billions, of parameters or tokens. */
static void human_bytes(double value, char *out, size_t size)
{
    if (value < 999.5) {
        snprintf(out, size, "%.3g %s", value, value == 1 ? "byte" : "bytes");
    } else {
        with_prefix(value, "B", out, size);
    }
}

static void human_capacity(double value, char *out, size_t size)
{
    const double gib = value / 1073741824;
    human_bytes(value, out, size);
    if (gib >= 1 && gib == floor(gib))
        sp_append(out, size, " (%.0f GiB)", gib);
}

/* Shares below 0.01 % print as "< 0.01 %": no estimate is more precise. */
static void human_share(double value, char *out, size_t size)
{
    if (value > 0 && value < 0.00005)
        snprintf(out, size, "< 0.01 %%");
    else
        snprintf(out, size, "%.3g %%", value * 100);
}

/* In the unit of `like`. Times below a picosecond are rounding errors. */
static void human_time(double s, double like, char *out, size_t size)
{
    static const struct {
        double below, unit;
        const char *name;
    } steps[] = {{1e-6, 1e-9, "ns"}, {1e-3, 1e-6, "us"},  {1, 1e-3, "ms"},          {600, 1, "s"},
                 {7200, 60, "min"},  {172800, 3600, "h"}, {INFINITY, 86400, "days"}};
    size_t i = 0;
    while (like >= steps[i].below && i + 1 < sizeof steps / sizeof *steps)
        i++;
    char digits[32];
    three_digits(s / steps[i].unit, digits, sizeof digits);
    if (s > 0 && s < 1e-12)
        snprintf(out, size, "< 1 ps");
    else
        snprintf(out, size, "%s %s", digits, s == 0 ? "s" : steps[i].name);
}

void sp_human_beside(double value, double other, enum sp_unit unit, char *out, size_t size)
{
    if (unit == SP_SECONDS && value > 0 && isfinite(value) && isfinite(other))
        human_time(value, fmax(value, other), out, size);
    else
        sp_human(value, unit, out, size);
}

const char *sp_human_lead_in(struct sp_text *room, double percent)
{
    char digits[32];
    three_digits(percent < 100 ? percent : 1 + percent / 100, digits, sizeof digits);
    snprintf(room->s, sizeof room->s, "%s %s", digits, percent < 100 ? "%" : "times");
    return room->s;
}

const char *sp_human_range_in(struct sp_text *room, double low, double high, enum sp_unit unit)
{
    sp_human_beside(low, high, unit, room->s, sizeof room->s);
    const size_t used = strlen(room->s);
    snprintf(room->s + used, sizeof room->s - used, " to ");
    sp_human_beside(high, low, unit, room->s + used + 4, sizeof room->s - used - 4);
    return room->s;
}

/* Above a tonne, mass is printed in tonnes. */
static void human_mass(double kg, char *out, size_t size)
{
    if (fabs(kg) < 999.5)
        with_prefix(kg, "kg", out, size);
    else
        with_prefix(kg / 1000, "t", out, size);
}

/* From 100,000 hours on, with a prefix. */
static void human_hours(double hours, char *out, size_t size)
{
    if (hours < 99999.5)
        three_digits(hours, out, size);
    else
        with_prefix(hours, "", out, size);
}

/* Below a tenth of a day in the unit that a person reads: 3.53 s. */
static void human_days(double days, char *out, size_t size)
{
    if (days < 0.1) {
        human_time(days * 86400, days * 86400, out, size);
    } else {
        three_digits(days, out, size);
        sp_append(out, size, " %s", unit_names[SP_DAYS]);
    }
}

/* Text has no more digits than the figures deserve: shares below 0.01 % have none, B means billions
 * and never bytes, and memories of whole GiB are marked. Other formats print all digits. */
void sp_human(double value, enum sp_unit unit, char *out, size_t size)
{
    if (!isfinite(value)) {
        snprintf(out, size, isnan(value) ? "-" : "never");
        return;
    }
    if (value == 0 || (unit == SP_SECONDS && value < 0 && value > -1e-12))
        value = 0;               /* nothing has no sign */
    if (value < 0 && size > 1) { /* prefixes depend on magnitude */
        out[0] = '-';
        sp_human(-value, unit, out + 1, size - 1);
        return;
    }
    switch (unit) {
    case SP_COUNT:
    case SP_TOKENS:
        if (fabs(value) < 99999.5 && (unit == SP_TOKENS || value == floor(value) || value >= 999.5))
            snprintf(out, size, value == floor(value) || value >= 100 ? "%.0f" : "%.3g", value);
        else if (unit == SP_COUNT && value == floor(value) && fabs(value) < 1e9)
            snprintf(out, size, "%.0f", value);
        else if (unit == SP_TOKENS && value >= 999.5e6)
            human_parameters(value, out, size);
        else
            with_prefix(value, "", out, size);
        break;
    case SP_SECONDS:
        human_time(value, value, out, size);
        break;
    case SP_FRACTION:
        human_share(value, out, size);
        break;
    case SP_NUMBER:
    case SP_FLOPS_PER_BYTE:
        three_digits(value, out, size);
        break;
    case SP_KILOGRAMS:
        human_mass(value, out, size);
        break;
    case SP_BYTES:
        human_bytes(value, out, size);
        break;
    case SP_CAPACITY:
        human_capacity(value, out, size);
        break;
    case SP_BYTES_PER_S:
        with_prefix(value, "B/s", out, size);
        break;
    case SP_PARAMETERS:
        human_parameters(value, out, size);
        break;
    case SP_HOURS:
        human_hours(value, out, size);
        break;
    case SP_DAYS:
        human_days(value, out, size);
        break;
    case SP_VERDICT:
        snprintf(out, size, "%s", value != 0 ? "yes" : "no");
        break;
    default:
        with_prefix(value, unit_names[unit], out, size);
        break;
    }
}

const char *sp_human_text_in(struct sp_text *room, double value, enum sp_unit unit)
{
    sp_human(value, unit, room->s, sizeof room->s);
    return room->s;
}
