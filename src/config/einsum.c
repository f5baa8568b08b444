/* Einsums as text: ij,jk->ik. */
#include "config/einsum.h"

#include "base/list.h"
#include "base/number.h"

/* Sizes of letters from "i=2,j=3". */
static bool read_letters(const char *text, double sizes[128], struct sp_error *error)
{
    char word[40];
    while (text && *text && sp_next_item(&text, word, sizeof word)) {
        double size;
        if ((unsigned char)word[0] >= 128 || word[0] == '\0' || word[1] != '=' ||
            !sp_parse_number(word + 2, &size) || size < 1 || size > 1e15)
            return sp_fail(error, SP_INPUT, "--dims: \"%s\": expected LETTER=SIZE,LETTER=SIZE",
                           sp_safe(word));
        sizes[(unsigned char)word[0]] = size;
    }
    return true;
}

bool sp_read_einsum(const char *spec, const char *dims, struct sp_operands types,
                    struct sp_work *work, struct sp_error *error)
{
    double sizes[128] = {0}, product = 1, bytes = 0, operand = 1;
    bool seen[128] = {false}, output = false;
    const double inputs[2] = {types.a_bytes, types.w_bytes};
    int operands = 0;
    if (!read_letters(dims, sizes, error))
        return false;
    for (const char *at = spec;; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == ',' || c == '\0' || (c == '-' && at[1] == '>')) {
            bytes += operand * (output ? types.out_bytes : inputs[operands > 0]);
            operands++;
            operand = 1;
            output = output || c == '-';
            at += c == '-';
            if (c == '\0')
                break;
        } else if (c != ' ') {
            if (c >= 128 || sizes[c] <= 0)
                return sp_fail(error, SP_INPUT, "--einsum: no size for \"%c\"; give --dims %c=N",
                               c < 128 ? c : '?', c < 128 ? c : '?');
            operand *= sizes[c];
            product *= seen[c] ? 1 : sizes[c];
            seen[c] = true;
        }
    }
    if (!output || operands < 3)
        return sp_fail(error, SP_INPUT,
                       "--einsum: \"%s\": expected two operands and an output, such as ij,jk->ik",
                       sp_safe(spec));
    if (product > 1e30 || bytes > 1e30)
        return sp_fail(error, SP_INPUT, "--einsum: more than 10^30 FLOPs or bytes");
    *work = (struct sp_work){2 * product, bytes};
    return true;
}
