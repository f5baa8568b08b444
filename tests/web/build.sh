#!/usr/bin/env bash
# build.sh SOURCE: builds build/web/scaleplan.html with the preset `web`. Exits with 77, and says what is missing, where a
# machine has no tool chain for WebAssembly.
set -euo pipefail
source=$(realpath "$1")
source "$source/tests/cli/needs.sh"
need clang wasm-ld wasm-opt wasi node dpkg-source esbuild xz

cd "$source"
cmake --preset web >/dev/null 2>&1 || cmake --preset web
cmake --build --preset web | tail -n 1
