#!/usr/bin/env bash
# derivations.sh ROOT: src/answer/derivations.def line by line. Needs python3 with sympy (exit 77 without).
set -u
source "$(dirname "$0")/needs.sh"
need sympy
exec python3 "$(dirname "$0")/derivations.py" "$1"
