# The distributed tree: the command with the standard plugins, headers, examples, completions, a manual page,
# documentation and licenses.
packages=(passdock-cli passdock-onnx-ops passdock-relax passdock-tir)
profile=dist

# Builds packages with optimization and without this machine's paths, which panic messages would contain:
# `build_release [COMMAND…] -- PACKAGE…`. COMMAND replaces `cargo`. Sets `release_build`, the directory of the results.
build_release() {
  local command=() system
  while [ "$1" != -- ]; do command+=("$1") && shift; done
  shift
  system=$(rustc -vV | sed -n 's/^host: //p')
  RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo --remap-path-prefix=$PWD=/passdock ${RUSTFLAGS:-}" \
    "${command[@]:-cargo}" "${build:-build}" --locked --profile $profile --target "$system${glibc:-}" \
    "${@/#/--package=}"
  release_build=$CARGO_TARGET_DIR/$system/${profile/#dev/debug}
}

# Copies the headers for plugins in C and C++, with their files for CMake and pkg-config.
lay_out_headers() { # ROOT
  mkdir -p "$1"/{include,share}
  cp -r $include/. "$1/include"
  cp -r plugin-api/abi/share/. "$1/share"
}

# Creates the tree from a build: `lay_out BUILT ROOT`.
lay_out() {
  local built=$1 root=$2 doc=$2/share/doc/passdock examples=$2/share/passdock/examples
  lay_out_headers "$root"
  mkdir -p "$root"/{bin,lib/passdock/plugins} "$doc" "$examples"/{models,rules} "$root/share/man/man1" \
    "$root"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
  cp "$built/passdock" "$root/bin"
  cp "$built"/libpassdock_{onnx_ops,relax,tir}.so "$root/lib/passdock/plugins"
  cp LICENSE-APACHE LICENSE-MIT "$doc"
  cp examples/models/digits.onnx examples/models/digits_inputs.npy "$examples/models"
  cp examples/rules/erf_gelu.rules "$examples/rules"
  cp -R examples/{c-op,c-pass,c-rules,cpp-pass} "$examples"
  rm "$examples"/c*/README.md # they link to files of the checkout
  "$built/passdock" completions bash >"$root/share/bash-completion/completions/passdock"
  "$built/passdock" completions zsh >"$root/share/zsh/site-functions/_passdock"
  "$built/passdock" completions fish >"$root/share/fish/vendor_completions.d/passdock.fish"
  "$built/passdock" man >"$root/share/man/man1/passdock.1"
  xtask docs "$doc"
  xtask licenses "$doc/LICENSES-THIRD-PARTY.txt" "${packages[@]}"
}

# Fails if a file in the directories contains a path of this machine.
names_no_path() {
  ! grep -rlF -e "$PWD/" -e "${CARGO_HOME:-$HOME/.cargo}/" "$@" || fail "the files above contain paths of this machine"
}

# Fails if a file is larger than 15 MB.
is_small() {
  echo "$1: $(wc -c <"$1") bytes"
  [ "$(wc -c <"$1")" -lt 15000000 ] || fail "it must be smaller than 15000000 bytes"
}
