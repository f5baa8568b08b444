#!/usr/bin/env bash
# run.sh BUILD RUNS [TARGET...]: fuzzes each target (all of them) for RUNS executions with a fixed seed, starting from
# the seeds and past findings; what crashes is left in BUILD/findings and makes the exit code 1. JOBS targets at once
# (default: the cores). What a run learns is kept in BUILD/corpus/TARGET when KEEP is set.
set -u
build=$1 runs=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
targets=${*:-$(cd "$here" && ls fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')}
mkdir -p "$build/findings" "$build/corpus" "$build/logs"

fuzz_one() {
  local target=$1 dictionary=text
  case $target in
  json | model | hardware | config | law | framework | profile | cases | huggingface | runs | merge | lines) dictionary=json ;;
  launch | shell | yaml | python | rl | served) dictionary=launch ;;
  line | search) dictionary=line ;;
  esac
  mkdir -p "$build/corpus/$target"
  local folders=("$here/seeds/$target")
  [ -d "$here/findings/$target" ] && folders+=("$here/findings/$target")
  case $target in # samples that stand beside other tests
  launch | python | rl) folders+=("$here/../data/launches") ;;
  node) folders+=("$here/../data/nodes") ;;
  esac
  local learned=("$build/corpus/$target")
  [ -n "${KEEP:-}" ] || { rm -rf "${learned[0]}"; mkdir -p "${learned[0]}"; }
  if ! (cd "$build/corpus" && ASAN_OPTIONS=detect_leaks=1 "$build/tests/fuzz_$target" -runs="$runs" -seed=1 -timeout=20 \
    -rss_limit_mb=3000 -max_len=8192 -dict="$here/$dictionary.dict" -artifact_prefix="$build/findings/$target-" \
    -print_final_stats=1 "${learned[@]}" "${folders[@]}" > "$build/logs/$target" 2>&1); then
    echo "$target: FAILED, see $build/logs/$target"
    return 1
  fi
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/logs/$target") executions, no findings"
}
build=$(realpath "$build")
export -f fuzz_one
export build runs here KEEP
printf '%s\n' $targets | xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'fuzz_one {}'
