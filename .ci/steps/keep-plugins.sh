# Builds the plugin files of the current ABI version that all later hosts load, with their hashes: once per minor version,
# before its release. Rust plugins are built by the oldest supported compiler, those for Windows by MinGW.
abi=$(sed -n 's/^  \["ABI_MAJOR", "\(.*\)", .*/\1/p; s/^  \["ABI_MINOR", "\(.*\)", .*/\1/p' \
  plugin-api/abi/table/record.toml | paste -sd.)
output=tests/old-plugins/abi-$abi
for compiler in gcc g++ clang clang++ x86_64-w64-mingw32-{gcc,g++}; do need $compiler; done
. .ci/steps/old-rust.sh toolchain

mkdir -p "$output"
rm -f "$output"/*.{so,dll}
for crate in hello-pass custom-op; do
  (cd "$tree/examples/$crate" && "${old[@]}" build --offline --release)
  strip -o "$output/${crate/-/_}-rustc-$version.so" "$directory-build/release/lib${crate/-/_}.so"
done
build() { # COMPILER SUFFIX FILE FLAG…
  local name=${3##*/} standard=c11
  [[ $3 != *.cpp ]] || standard=c++17
  (cd "${3%/*}" && "$1" -std=$standard -O2 -s -shared -fPIC -fvisibility=hidden -I "$OLDPWD/$include" "$name" \
    -o "$OLDPWD/$output/${name%.*}-$2" "${@:4}")
}
for name in c-pass/c_pass.c c-op/c_op.c c-rules/c_rules.c; do
  build gcc gcc.so examples/$name
  build clang clang.so examples/$name
done
build g++ g++.so examples/cpp-pass/cpp_pass.cpp
build clang++ clang++.so examples/cpp-pass/cpp_pass.cpp
build x86_64-w64-mingw32-gcc mingw.dll examples/c-pass/c_pass.c -static
# Without MinGW's libraries, which a user of the plugin lacks.
build x86_64-w64-mingw32-g++ mingw.dll examples/cpp-pass/cpp_pass.cpp -static
(cd "$output" && sha256sum -- *.so *.dll >SHA256SUMS)
UPDATE_EXPECT=1 cargo test --workspace --test old_plugins
