#!/usr/bin/env bash
# shells.sh PROGRAM SOURCE COUNT: scripts drawn from the shell's constructs are read as bash runs them.
set -uo pipefail
source "$(dirname "$0")/needs.sh"
need python3
python3 "$2/tests/tools/draw_scripts.py" "$1" "$3" 1
