/* Loaded before the library (LD_PRELOAD): every closed form again, with one of them wrong by a
 * twentieth. SPOILED is the name of that one; the names of the forms that ran are added to the file
 * ENTERED.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

#define FORM(name, ...) #name,
#define ARG(symbol, unit, meaning) const double symbol
static const char *const names[] = {
    "",
#include <scaleplan/forms.def>
};
#undef FORM

enum { FORMS = sizeof names / sizeof *names };
static char entered[FORMS];
static const char *spoiled = "";

__attribute__((constructor)) static void begin(void)
{
    const char *const name = getenv("SPOILED");
    spoiled = name ? name : "";
}

__attribute__((destructor)) static void end(void)
{
    const char *const path = getenv("ENTERED");
    FILE *const file = path ? fopen(path, "a") : NULL;
    for (int i = 1; file && i < FORMS; i++)
        if (entered[i])
            fprintf(file, "%s\n", names[i]);
    if (file)
        fclose(file);
}

#define FORM(name, what, unit, arguments, expression, source)                                      \
    double sp_##name arguments                                                                     \
    {                                                                                              \
        entered[SP_CLOSED_##name] = 1;                                                             \
        return (expression) * (strcmp(spoiled, #name) == 0 ? 1.05 : 1);                            \
    }
#include <scaleplan/forms.def>
