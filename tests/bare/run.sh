#!/usr/bin/env bash
# run.sh [MACHINE...]: the README's set-up blocks, to the letter, on machines made empty for it: Debian 12 and apt, no more.
#   root      a clone of the commit, as root
#   user      its tarball, without .git, as a user without rights, in a path with a space, with clang, with neither a home
#             nor a terminal
#   little    the same, and then the tests that run programs once more, with programs, locales and HOME taken away
# root and little when none is named. Needs root (for mounts), mmdebstrap, the way of this machine's apt to a mirror of Debian
# and 4 GiB of memory. Fails where a block does, where a skipped test says no reason and where fewer than 80 tests passed
# (60 with little).
set -euo pipefail
stop() { echo "tests/bare/run.sh: $*" >&2; exit 1; }

# Everything is made on a tmpfs in a mount and process namespace of its own: however this ends, nothing stays behind.
if [ "${1:-}" != --inside ]; then
  [ $# -gt 0 ] || set -- root little
  for name in "$@"; do
    [[ $name == root || $name == user || $name == little ]] || stop "unknown machine $name, expected root, user or little"
  done
  [ "$EUID" = 0 ] || stop "needs root, for mounts"
  for tool in mmdebstrap unshare setpriv git; do
    command -v $tool >/dev/null || stop "needs $tool (Debian: mmdebstrap, util-linux, git)"
  done
  place=$(mktemp -d)
  trap 'rmdir "$place"' EXIT
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash "$0" --inside "$place" "$@" </dev/null
  exit
fi
place=$2
shift 2
source=$(cd "$(dirname "$0")/../.." && pwd)
mount -t tmpfs tmpfs "$place"

block() { git -C "$source" show HEAD:README.md | bash "$source/tests/bare/block.sh" "$1"; }
first=$(block 1)
folder="/srv/a folder/scaleplan" # of the user
second=$(block 2)

# Debian's sources and the settings of apt (proxies, dates) are this machine's; mmdebstrap's own where it is not a Debian 12.
debian() {
  local sources
  mapfile -t sources < <(apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
    --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' | grep ' bookworm')
  apt-config dump Acquire > "$place/acquire"
  mmdebstrap --quiet --variant=minbase --aptopt="$place/acquire" bookworm "$place/debian" "${sources[@]}" ||
    stop "mmdebstrap could not make a Debian 12 (network?)"
}

machine() { # NAME: an empty one of that name, on a tmpfs of its own
  mkdir "$place/$1"
  mount -t tmpfs -o mode=755 tmpfs "$place/$1"
  cp -a "$place/debian/." "$place/$1"
  mount -t proc proc "$place/$1/proc"
  mount -t sysfs -o ro sysfs "$place/$1/sys"
}

as() { # MACHINE USER FOLDER COMMANDS [VARIABLE=VALUE...]: with no other variables than a path and the way to the network
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+"http_proxy=$http_proxy"} \
    ${https_proxy:+"https_proxy=$https_proxy"} "${@:5}" chroot --userspec="$2" "$place/$1" env -C "$3" bash -e -c "$4"
}

# What a command says is shown only where it fails, without the lines of tests that passed.
quietly() { # WHAT COMMAND...
  local start=$SECONDS status=0
  "${@:2}" > "$place/log" 2>&1 || status=$?
  echo "$1: exit $status after $((SECONDS - start)) s"
  [ $status = 0 ] || grep -vE '^ +Start +[0-9]+:| Passed +[0-9.]+ sec' "$place/log"
  return $status
}

# The README's second block, or part of it. Says which tests, cases and parts were skipped and why: each must say it, and LEAST
# tests must pass.
tests() { # LEAST COMMANDS WHAT MACHINE USER FOLDER [VARIABLE=VALUE...]
  local status=0 passed least=$1 commands=$2
  shift 2
  quietly "$1" as "$2" "$3" "$4" "$commands" "${@:5}" || status=$?
  [ $status != 0 ] || grep -E '^100% tests passed' "$place/log"
  awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
       FNR == NR && /(^|: )skipped: |^not all is tried: / { why[test] = 1; print "  " test ": " $0 }
       FNR < NR && /\*\*\*Skipped/ { sub(/^.*: /, ""); if (!($1 in why)) { print "  " $1 ": skipped without a reason"; bad = 1 } }
       END { exit bad }' "$place/$2/$4/build/release/Testing/Temporary/LastTest.log" "$place/log" || status=1
  passed=$(grep -cE ' Passed +[0-9.]+ sec' "$place/log") || true
  [ "$passed" -ge "$least" ] || { echo "only $passed tests passed, expected at least $least"; status=1; }
  return $status
}

root() {
  machine root
  mount -t devpts -o newinstance,ptmxmode=666 devpts "$place/root/dev/pts"
  git clone -q "$source" "$place/root/root/scaleplan"
  quietly "root, block 1" as root 0:0 /root/scaleplan "$first" HOME=/root
  tests 80 "$second" "root, block 2" root 0:0 /root/scaleplan HOME=/root
}

# The README says to put `sudo` before each apt-get if you are not root; without sudo, somebody else runs it. So here: the commands of the
# block that begin with apt-get are run by root, and all others by the user, who has no rights at all and no sudo.
user() {
  local mine=(HOME=/home/user CC=clang) commands # HOME is named, but is not there
  commands=$(sed 's/ && /\n/g' <<<"$first")
  machine user
  chroot "$place/user" useradd user
  mkdir -p "$place/user$folder"
  git -C "$source" archive HEAD | tar -x -C "$place/user$folder"
  chroot "$place/user" chown -R user: "/srv/a folder"
  quietly "user, packages of block 1" as user 0:0 / "$(grep '^apt-get ' <<<"$commands")" HOME=/root
  quietly "user, clang" as user 0:0 / "apt-get install -y --no-install-recommends clang" HOME=/root
  quietly "user, block 1" as user user: "$folder" "$(grep -v '^apt-get ' <<<"$commands")" "${mine[@]}"
  tests 80 "$second" "user, block 2" user user: "$folder" "${mine[@]}"
}

little() {
  local gone
  user
  for gone in rsvg-convert git python3 perl less man script tput; do
    rm -f "$place/user/usr/bin/$gone" "$place/user/usr/bin/$gone"[0-9.]*
  done
  rm -rf "$place/user/usr/lib/locale" "$place/user/usr/share/i18n"
  tests 60 "$second -L 'cli|code|docs|install|web'" "user, block 2 with little" user user: "$folder"
}

debian
for name in "$@"; do
  "$name"
  umount -lR "$place/${name/little/user}"
done
