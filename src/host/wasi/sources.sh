#!/usr/bin/env bash
# an apt of its own lists, so that the machine's configuration stays as it is.
set -euo pipefail
mkdir -p "$1"
cd "$1"
. /etc/os-release
mkdir -p lists/partial cache
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" > apt.list
apt=(-o "Dir::Etc::SourceList=$PWD/apt.list" -o Dir::Etc::SourceParts=/nowhere -o "Dir::State::Lists=$PWD/lists"
  -o "Dir::Cache=$PWD/cache" -o APT::Sandbox::User= -qq)
apt-get "${apt[@]}" update
apt-get "${apt[@]}" source --download-only cjson libcsv libyaml >/dev/null
for name in cjson libcsv libyaml; do
  rm -rf "$name"
  dpkg-source --extract "${name}"_*.dsc "$name" >/dev/null
done
mkdir -p include/cjson # as programs name it: <cjson/cJSON.h>
cp cjson/cJSON.h include/cjson/
touch done
