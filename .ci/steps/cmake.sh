# Tests the headers with pkg-config and CMake, and new plugins in C and C++ with CMake and, if it is installed, MinGW.
export PASSDOCK=$passdock
need cc
need c++
need make
need pkg-config
cmake=$(command -v cmake) || cmake=$(dirname "$(venv cmake .ci/cmake.txt)")/cmake
work=$(fresh "$TARGET/new-plugins/cmake")
symbols="passdock_manifest_v1 passdock_plugin_v1"
abi=$(sed -n 's/^#define PASSDOCK_ABI_M[A-Z]*OR \([0-9]*\).*/\1/p' $include/passdock/record.h | paste -sd.)

# The version is that of the ABI, and includes older minor versions.
export PKG_CONFIG_PATH=${include%include}share/pkgconfig
[ "$(pkg-config --modversion passdock)" = "$abi" ] || fail "passdock.pc should have the version $abi"
cc -fsyntax-only $(pkg-config --cflags passdock) -x c - <<<'#include "passdock.h"'
cat >"$work/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(versions LANGUAGES NONE)
foreach(version $abi ${abi%.*}.0 ${abi%.*}.4000 4000)
  find_package(passdock \${version} QUIET PATHS "$PWD/${include%include}" NO_DEFAULT_PATH)
  list(APPEND found \${passdock_FOUND})
endforeach()
message("found: \${found}")
CMAKE
prints "found: 1;1;0;0" "$cmake" -S "$work" -B "$work/versions"

for language in c cpp; do
  "$passdock" plugin new --$language "$work/new-$language"
  cd "$work/new-$language"
  "$cmake" -B build -DCMAKE_C_FLAGS="${warnings[*]}" -DCMAKE_CXX_FLAGS="${warnings[*]}" -DPASSDOCK_PROGRAM="$passdock"
  "$cmake" --build build
  # None of the header's functions is visible.
  visible=$(nm --defined-only --dynamic --format=just-symbols build/libnew_$language.so | grep passdock | xargs)
  [ "$visible" = "$symbols" ] || fail "visible: $visible"
  # The library is up to date, so make doesn't build it again.
  make --old-file=Makefile --old-file=src/plugin.toml --old-file=src/new_$language.$language test check

  # A manifest without the pass of the code fails the build.
  sed -i s/FuseDoubleRelu/FuseRelus/ src/plugin.toml
  for build in make "$cmake --build build"; do prints "missing pass \`new_$language.transform.FuseRelus\`" exits 2 $build; done
  sed -i s/FuseRelus/FuseDoubleRelu/ src/plugin.toml

  compiler=x86_64-w64-mingw32-g++ make_name=CXX cmake_name=CXX
  [ $language = cpp ] || compiler=x86_64-w64-mingw32-gcc make_name=CC cmake_name=C
  if ! command -v $compiler >/dev/null; then
    echo "no $compiler (Debian: mingw-w64): the build for Windows isn't tested"
    continue
  fi
  make $make_name=$compiler
  "$cmake" -B build/windows -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_${cmake_name}_COMPILER=$compiler
  "$cmake" --build build/windows
  for file in build/new_$language.dll build/windows/new_$language.dll; do
    # It exports the symbols, and needs no library of the compiler.
    names=$(x86_64-w64-mingw32-objdump -p $file | grep -oE 'passdock_[a-z]+_v1|lib(gcc|stdc|winpthread)\S*' | xargs)
    [ "$names" = "$symbols" ] || fail "$file: $names"
  done
done
