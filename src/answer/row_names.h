/* Kinds of rows without a name: a row is named by its part and line, "serve_12". A row whose name
 * is used in C gives it, QF_ID(SERVE_BATCH, ...). The part is SP_PART. No include guard:
 * row_kinds_end.h undefines them. */

#define SP_NAME_ROW_(kind, part, line, ...) kind(part##_##line, __VA_ARGS__)
#define SP_NAME_ROW(kind, part, line, ...) SP_NAME_ROW_(kind, part, line, __VA_ARGS__)
#define QF(...) SP_NAME_ROW(QF_ID, SP_PART, __LINE__, __VA_ARGS__)
#define QV(...) SP_NAME_ROW(QV_ID, SP_PART, __LINE__, __VA_ARGS__)
#define QE(...) SP_NAME_ROW(QE_ID, SP_PART, __LINE__, __VA_ARGS__)
#define QB(...) SP_NAME_ROW(QB_ID, SP_PART, __LINE__, __VA_ARGS__)
#define QT(...) SP_NAME_ROW(QT_ID, SP_PART, __LINE__, __VA_ARGS__)
#define QW(...) SP_NAME_ROW(QW_ID, SP_PART, __LINE__, __VA_ARGS__)
