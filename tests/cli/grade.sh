#!/usr/bin/env bash
# grade.sh PROGRAM CASE_FILE...: what --grade says of wrong answers; see grade.py.
set -eu
source "$(dirname "$0")/needs.sh"
need python3
exec python3 "$(dirname "$0")/grade.py" "$@"
