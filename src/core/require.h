/* sp_require() checks the preconditions in public headers. */
#ifndef SP_REQUIRE_H
#define SP_REQUIRE_H

/* Traps if `condition` fails; test code.contracts compares `sentence` with the header. A trap
 * without a message, because core links only libm: debuggers and sanitizers show the line. Does
 * nothing with NDEBUG. */
#ifdef NDEBUG
#define sp_require(condition, sentence) ((void)0)
#else
#define sp_require(condition, sentence) ((condition) ? (void)(sentence) : __builtin_trap())
#endif

#endif
