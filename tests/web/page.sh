#!/usr/bin/env bash
# page.sh PROGRAM SOURCE BUILD: looks in Chromium at scaleplan.html, which build.sh builds. Exits with 77, and says what is
# missing, where a machine has no tool chain for WebAssembly or no browser.
set -euo pipefail
program=$(realpath "$1") source=$(realpath "$2") build=$(realpath "$3")
source "$source/tests/cli/needs.sh"
need npm chromium
bash "$source/tests/web/build.sh" "$source" || exit
cd "$source"

# Installed with the documents, as the package has it.
installed=$(mktemp -d)
trap 'rm -rf "$installed"' EXIT
DESTDIR='' cmake --install "$build" --prefix "$installed" >/dev/null
cmp build/web/scaleplan.html "$installed/share/doc/scaleplan/scaleplan.html"

modules=$build/page-modules
mkdir -p "$modules"
if ! cmp -s tests/web/package-lock.json "$modules/package-lock.json" || [ ! -d "$modules/node_modules" ]; then
  cp tests/web/package.json tests/web/package-lock.json "$modules/"
  (cd "$modules" && npm ci --no-audit --no-fund --silent)
fi
export SCALEPLAN_PROGRAM=$program SCALEPLAN_SOURCE=$source SCALEPLAN_PAGE=$source/build/web/scaleplan.html
export SCALEPLAN_MODULES=$modules
node --test --test-concurrency=1 --test-reporter=spec tests/web/*.test.mjs
