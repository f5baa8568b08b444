#!/usr/bin/env bash
# core_is_pure.sh NM LIBRARY: fails when an object of the core library refers to anything but other
# objects of it, libm, and what compilers put in by themselves.
set -euo pipefail

nm=$1 library=$2
libm='ceil|floor|round|trunc|rint|lrint|llround|sqrt|cbrt|pow|exp|exp2|expm1|log|log2|log10|log1p'
libm+='|fmin|fmax|fabs|fmod|hypot|ldexp|frexp|erf|erfc|lgamma|tgamma|sin|cos|tan|atan|atan2|sinh|cosh|tanh'
compiler='_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__(memcpy|memset|memmove|strcpy)_chk'
compiler+='|mem(cpy|set|move|cmp|chr)|str(len|nlen|chr|cmp|ncmp)|__(asan|ubsan)_.*|__sanitizer_.*'

undefined=$("$nm" -u "$library" | sed -n 's/^ *U \([^@]*\).*/\1/p' | sort -u)
[ -n "$undefined" ] || { echo "nm found no symbols in $library" >&2; exit 1; }
foreign=$(grep -Evx "sp_.*|($libm)f?|$compiler" <<<"$undefined" || true)
if [ -n "$foreign" ]; then
    echo "src/core must be pure, but it refers to:" >&2
    echo "$foreign" >&2
    exit 1
fi
echo "$(wc -l <<<"$undefined") symbols, all of the core, libm or the compiler"
