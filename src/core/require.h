/* sp_require(): what a public header says that a caller must give. */
#ifndef SP_REQUIRE_H
#define SP_REQUIRE_H

/* Stops where `condition` does not hold; `sentence` is the header's, which code.contracts compares.
 * A trap and no message, for core refers to nothing but libm: debuggers and sanitizers show the
 * line. Nothing at all with NDEBUG. */
#ifdef NDEBUG
#define sp_require(condition, sentence) ((void)0)
#else
#define sp_require(condition, sentence) ((condition) ? (void)(sentence) : __builtin_trap())
#endif

#endif
