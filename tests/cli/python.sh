#!/usr/bin/env bash
# python.sh BUILD PROGRAM: the Python module answers as the program does; see python.py.
set -eu
source "$(dirname "$0")/needs.sh"
need python3
export SCALEPLAN_LIBRARY=$1/libscaleplan-session.so PYTHONPATH=$1/python PYTHONDONTWRITEBYTECODE=1
exec python3 "$(dirname "$0")/python.py" "$2"
