/* Undefines the macros of row_kinds.h. No include guard, as there. */
#undef IF
#undef QF_ID
#undef QV_ID
#undef QE_ID
#undef QB_ID
#undef QT_ID
#undef QW_ID
#undef QN
#undef LINE
#undef NOTE
#undef TABLE
#undef PART
#undef SCOPE
#undef WAY
