#!/usr/bin/env bash
# sources.sh FOLDER PACKAGE...: unpacks the distribution's sources of packages into FOLDER/PACKAGE, by an apt of its own
# lists, so that the machine's configuration stays as it is.
set -euo pipefail
mkdir -p "$1"
cd "$1"
shift
command -v dpkg-source >/dev/null || { echo "no dpkg-source here: install dpkg-dev" >&2; exit 1; }
. /etc/os-release
mkdir -p lists/partial cache
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" > apt.list
apt=(-o "Dir::Etc::SourceList=$PWD/apt.list" -o Dir::Etc::SourceParts=/nowhere -o "Dir::State::Lists=$PWD/lists"
  -o "Dir::Cache=$PWD/cache" -o APT::Sandbox::User= -qq)
apt-get "${apt[@]}" update
apt-get "${apt[@]}" source --download-only "$@" >/dev/null
for name in "$@"; do # apt has checked what it brought
  rm -rf "$name"
  dpkg-source --no-check --extract "${name}"_*.dsc "$name" >/dev/null
done
touch done
