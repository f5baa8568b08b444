/* Undefines the macros of row_kinds.h. No include guard, as there. */
#undef QF
#undef QV
#undef QE
#undef QB
#undef QT
#undef QN
#undef LINE
#undef NOTE
#undef PART
#undef SCOPE
