#!/usr/bin/env bash
# install.sh BUILD SOURCE: the installation works for a program outside of the tree, in C and in C++ (where there is a
# compiler of it), shows public names alone, and its .deb runs in an empty root (as root). The machine stays as it was.
set -eu
source "$(dirname "$0")/needs.sh"
build=$(realpath "$1") source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
DESTDIR='' cmake --install "$build" --prefix "$prefix" >/dev/null
lib=$(dirname "$(find "$prefix" -name libscaleplan.a)")
cd "$work"

for file in bin/scaleplan include/scaleplan/scaleplan.h share/scaleplan/models/llama3-8b.json share/scaleplan/measure.py \
  share/scaleplan/schema/models.json share/doc/scaleplan/docs/formulas.md share/doc/scaleplan/docs/exercises.md \
  share/doc/scaleplan/docs/{book-training,lesson,flax-guide,lecture,slides}.md share/man/man1/scaleplan.1 share/man/man1/scaleplan-fit.1 \
  share/man/man5/scaleplan-config.5 share/bash-completion/completions/scaleplan \
  share/zsh/site-functions/_scaleplan share/fish/vendor_completions.d/scaleplan.fish \
  share/doc/scaleplan/docs/library.md; do
  [ -s "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
if has python3; then
  here=$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$prefix/lib/python3/dist-packages python3 -c 'import scaleplan
print(scaleplan.fit(model="llama2-13b", hw="v5p-4096")["model"])')
  [ "$here" = llama2-13b ]
fi
[ "$("$prefix/bin/scaleplan" fit --model llama2-13b --hw v5p-4096 --get model)" = llama2-13b ]

# Only what the headers declare is visible.
nm -D --defined-only "$lib/libscaleplan.so" | awk '{print $3}' | sort -u > visible
[ "$(wc -l < visible)" -gt 100 ]
cc -E -I "$prefix/include" -include scaleplan/scaleplan.h -x c /dev/null > headers # closed forms are declared by their rows
grep -ow '[A-Za-z_][A-Za-z0-9_]*' headers | sort -u > declared
comm -23 visible declared > hidden
[ ! -s hidden ] || { echo "visible and in no header:"; cat hidden; exit 1; }
readelf -d "$lib/libscaleplan.so" | grep -q 'SONAME.*libscaleplan\.so\.[0-9]'

# pkg-config, shared and static; every example.
export PKG_CONFIG_PATH=$lib/pkgconfig
ran=0
for example in "$source"/docs/examples/*.c; do
  cc -std=c11 -Wall -Wextra -Werror "$example" $(pkg-config --cflags --libs scaleplan) -o shared
  cc -std=c11 "$example" $(pkg-config --cflags scaleplan) "$lib/libscaleplan.a" -lm -o static
  LD_LIBRARY_PATH=$lib ./shared > out.shared
  ./static > out.static
  cmp out.shared out.static && [ -s out.shared ]
  cat out.shared
  ran=$((ran + 1))
done
[ $ran -ge 4 ]
LD_LIBRARY_PATH=$lib ldd ./shared | grep -q "$lib/libscaleplan.so" # the first example was not linked statically

# A C++ program links and calls it, shared and static.
if has c++; then
  cp "$source/docs/examples/ridge.cc" .
  cc="c++ -std=c++11 -Wall -Wextra -Werror ridge.cc"
  $cc $(pkg-config --cflags --libs scaleplan) -o ridge
  [ "$(LD_LIBRARY_PATH=$lib ./ridge)" = "h100: 295.2 FLOPs a byte" ] # 989e12 / 3.35e12
  $cc $(pkg-config --cflags scaleplan) "$lib/libscaleplan.a" -lm -o ridge.static
  ./ridge.static
fi

# find_package, both targets.
mkdir outside
cat > outside/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(outside C)
find_package(scaleplan 0.2 REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared PRIVATE scaleplan::scaleplan)
add_executable(static main.c)
target_link_libraries(static PRIVATE scaleplan::static)
CMAKE
cp "$source/docs/examples/fits.c" outside/main.c
cmake -S outside -B outside/build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build outside/build >/dev/null
./outside/build/shared | grep -q '13015864320 parameters'
./outside/build/static | grep -q '13015864320 parameters'

# A moved installation still works.
mv "$prefix" "$work/moved"
PKG_CONFIG_PATH=${PKG_CONFIG_PATH/$prefix/$work/moved} pkg-config --cflags scaleplan | grep -q "$work/moved"

# The .deb: in an empty root with the libraries it depends on, and nothing else.
if has package; then
  (cd "$build" && cpack -G DEB -B "$work/deb" >/dev/null)
  deb=$(echo "$work"/deb/*.deb)
  dpkg-deb --field "$deb" Depends | grep -q libcjson1
  root=$work/root
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers" "$root/usr/lib" \
    "$root/usr/lib64" "$root/usr/bin"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
  touch "$root/var/lib/dpkg/status"
  # Without a root of its own the package's script would write this machine's cache of libraries.
  mkdir "$work/bin"
  printf '#!/bin/sh\n' > "$work/bin/ldconfig"
  chmod +x "$work/bin/ldconfig"
  cache=$(stat -c '%i %Y' /etc/ld.so.cache)
  PATH=$work/bin:$PATH dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null --install "$deb" >/dev/null 2>&1
  [ "$(stat -c '%i %Y' /etc/ld.so.cache)" = "$cache" ]
  ldd "$root/usr/bin/scaleplan" | grep -o '/[^ ]*' | while read -r file; do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
  done
  [ "$(chroot "$root" /usr/bin/scaleplan fit --model llama2-13b --hw v5p-4096 --get model)" = llama2-13b ]
  echo "$(basename "$deb"): $(stat -c %s "$deb") bytes, runs in an empty root"
fi
