# Builds target/wheels/passdock-….whl, checks its files, and uses it like a new user would:
# `wheel.sh [--zig] [--profile dist|dev]`. With zig all files work with glibc 2.28, otherwise with this machine's
# version. Cargo builds all packages together, because alone each has other features of its dependencies (maturin builds
# only one crate). Sets `wheel`.
. .ci/steps/tree.sh
. .ci/steps/python.sh
zig= profile=dist
while [ $# -gt 0 ]; do
  case $* in
    --zig*) zig=yes && shift ;;
    --profile\ dist* | --profile\ dev*) profile=$2 && shift 2 ;;
    *) fail "unexpected \`$1\`; usage: wheel [--zig] [--profile dist|dev]" ;;
  esac
done
packages+=(passdock-python)
unwinder=libgcc_s.so.1 # The module is linked with the system's unwinder; `python/build.rs` explains why.
if [ -n "$zig" ]; then
  tools=$(venv wheel/zig-tools python/build/zig.txt)
  export CARGO_TARGET_DIR=$TARGET/wheel
  export CARGO_ZIGBUILD_CACHE_DIR=$TARGET/wheel/zig ZIG_GLOBAL_CACHE_DIR=$TARGET/wheel/zig/global
  PASSDOCK_UNWINDER=$(cc -print-file-name=$unwinder)
  export PASSDOCK_UNWINDER PATH=${tools%/*}:$PATH
  build=zigbuild glibc=.2.28 build_release cargo-zigbuild -- "${packages[@]}"
else
  tools=$(venv wheel/tools python/build/requirements.txt)
  build_release -- "${packages[@]}"
fi
dir=$TARGET/wheels
mkdir -p "$dir"
xtask licenses "$dir/LICENSES-THIRD-PARTY.txt" "${packages[@]}"
PATH=${tools%/*}:$PATH "$tools" python/build/wheels.py "${files[@]//"$built"/"$release_build"}" assemble "$dir" \
  --licenses "$dir/LICENSES-THIRD-PARTY.txt" ${zig:+--platform manylinux_2_28}
wheel=$(echo "$dir"/*.whl)

unpacked=$(fresh "$dir/unpacked")
python3 -m zipfile -e "$wheel" "$unpacked"
find "$unpacked" -type f | while IFS= read -r file; do
  readelf -h "$file" >/dev/null 2>&1 || continue
  needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  echo "${file#"$unpacked/"}: $(wc -c <"$file") bytes, needs" $needed
  [[ $file != *.abi3.so || $needed == *$unwinder* ]] ||
    fail "the module has its own unwinder, but Python ends threads with the system's"
  [ $profile = dev ] || ! readelf -S "$file" | grep -q '\.symtab' || fail "$file isn't stripped"
done
if [ $profile = dist ]; then
  names_no_path "$unpacked"
  is_small "$wheel"
fi
if [ -n "$zig" ]; then
  # The newest glibc version that its files need, from auditwheel's tag.
  tag=$("$tools" -m auditwheel show "$wheel" | tee /dev/stderr | grep -o 'manylinux_2_[0-9]*' | head -1)
  [ "${tag#manylinux_2_}" -le 28 ] || fail "auditwheel names $tag, which is newer than 2.28"
fi
as_a_new_user python3 "$wheel"
