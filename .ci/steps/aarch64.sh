# Builds the command and plugins for aarch64 and runs them in qemu. Debian's `rustc-web` has the standard library of
# another processor; its packages are unpacked without changes to the system.
target=aarch64-unknown-linux-gnu
gcc=aarch64-linux-gnu-gcc
need $gcc gcc-aarch64-linux-gnu
need ${gcc/gcc/g++} g++-aarch64-linux-gnu
need qemu-aarch64 qemu-user
directory=$TARGET/aarch64
if [ ! -d "$directory/system" ]; then
  need apt-get
  need dpkg
  lists=$(fresh "$directory/lists")
  # Only for this step: the system's own lists stay as they are.
  apt=(-o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o Dir::State::Lists="$lists"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update --quiet --quiet
  unpacked=$(fresh "$directory/unfinished")
  (
    cd "$(fresh "$directory/packages")"
    apt-get "${apt[@]}" download --quiet {rustc,cargo,libstd-rust}-web libstd-rust-web-dev{,:arm64} \
      libllvm22 libgit2-1.5 libhttp-parser2.9 libmbed{crypto7,x509-1,tls14} libxml2 ||
      skip "Debian's packages for aarch64 can't be downloaded"
    for package in *.deb; do dpkg --extract "$package" "$unpacked"; done
  )
  mv "$unpacked" "$directory/system"
fi
root=$directory/system/usr
arm_cargo() {
  env -u RUSTFLAGS -u RUSTC_WRAPPER -u CARGO_BUILD_TARGET LD_LIBRARY_PATH="$root/lib/x86_64-linux-gnu" \
    RUSTC="$root/bin/rustc" CARGO_TARGET_DIR="$directory/build" CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$gcc \
    "$root/bin/cargo" "$@" --target $target
}
arm_cargo build --package passdock-cli --package passdock-onnx-ops --package passdock-relax --package passdock-tir
(cd examples/hello-pass && arm_cargo build --offline)

work=$(fresh "$directory/work")
mkdir "$work/plugins"
cp "$directory/build/$target/debug/libhello_pass.so" "$work/plugins"
$gcc -std=c11 -O2 -shared -fPIC -I $include -I examples/c-op examples/c-op/c_op.c -o "$work/plugins/libc_op.so"
${gcc/gcc/g++} -std=c++17 -O2 -shared -fPIC -I $include -I examples/cpp-pass examples/cpp-pass/cpp_pass.cpp -o "$work/plugins/libcpp_pass.so"
# Qemu runs one process: the kernel can't start a program of another processor from it.
on_arm() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$directory/build/$target/debug/passdock" "$@" --in-process; }
model=examples/models/digits.onnx
prints_file <("$passdock" run $model -o -) on_arm run $model -o -
with=(-o - --plugin-dir "$work/plugins" --passes)
prints_file examples/c-op/after.ir on_arm run examples/c-op/before.ir "${with[@]}" \
  InferType,FoldConstant
prints_file examples/cpp-pass/after.ir on_arm run examples/cpp-pass/before.ir "${with[@]}" cpp.transform.MergeTransposes
on_arm run $model "${with[@]}" hello.transform.FuseDoubleRelu >"$work/model.ir"
for plugin in "$work"/plugins/*.so; do
  for check in manifest passes memory options determinism ops instruments older-hosts; do
    on_arm plugin check "$plugin" --only $check
  done
done
