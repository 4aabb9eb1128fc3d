# Builds the published files of the SDK (`cargo package`) and the examples offline with the oldest supported compiler,
# in a separate tree, and runs the plugins in the current host.
version=1.63
directory=$TARGET/rust-$version

# Uses the system's toolchain, or Debian's packages, which are unpacked without root and without changes to the system.
# The C library is the system's, because a process can't have two.
if /usr/bin/rustc --version 2>/dev/null | grep -q "^rustc $version\."; then
  bin=/usr/bin libraries=
else
  bin=$directory/usr/bin
  if [ ! -d "$directory" ]; then
    need apt-get
    need dpkg
    if ! plan=$(LC_ALL=C apt-get install --simulate --no-install-recommends rustc cargo 2>&1); then
      case $plan in
        *"Unable to locate package"* | *"has no installation candidate"*)
          skip "apt-get doesn't know rustc (is \`apt-get update\` needed?)" ;;
        *) fail "\`apt-get install --simulate rustc cargo\` failed: $plan" ;;
      esac
    fi
    grep -q "^Inst rustc .*($version" <<<"$plan" || skip "apt-get doesn't offer rustc $version here"
    unpacked=$(fresh "$directory-unfinished")
    downloads=$(fresh "$directory-packages")
    (
      cd "$downloads"
      sed -n 's/^Inst \([^ ]*\) .*/\1/p' <<<"$plan" | grep -v '^libc6\|^libc-' |
        xargs apt-get download --quiet --option APT::Sandbox::User=root
      for package in *.deb; do dpkg --extract "$package" "$unpacked"; done
    )
    rm -rf "$downloads"
    # Only a complete toolchain has the final name.
    mv "$unpacked" "$directory"
  fi
  libraries=$(echo "$directory"/usr/lib/*-linux-gnu)
fi
old=(env -u RUSTFLAGS -u RUSTDOCFLAGS -u RUSTC_WRAPPER -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET
  LD_LIBRARY_PATH="$libraries" RUSTC="$bin/rustc" RUSTDOC="$bin/rustdoc" CARGO_HOME="$directory-home"
  CARGO_NET_OFFLINE=true CARGO_TARGET_DIR="$directory-build" PASSDOCK="$passdock" "$bin/cargo")
"${old[@]}" --version || fail "Debian's rustc was unpacked but doesn't run; remove $directory to try again"

tree=$(fresh "$TARGET/sdk")
# The old cargo can't read the format of current lock files.
put() { # DIRECTORY, its files on standard input
  mkdir -p "$tree/$1"
  grep -vx '\.cargo_vcs_info\.json\|Cargo\.lock\|Cargo\.toml\.orig' | tar -C "$1" -chT - | tar -C "$tree/$1" -x
}
members=(plugin-api/abi plugin-api tests/plugins/sdk)
vendors=(examples/{hello-pass,custom-instrument,custom-op,npu-partition})
for dir in "${members[@]:0:2}"; do
  cargo package --list --allow-dirty --manifest-path "$dir/Cargo.toml" | put "$dir"
done
for dir in tests/plugins/sdk "${vendors[@]}"; do
  (cd "$dir" && git ls-files --cached --others --exclude-standard) | put "$dir"
done
quoted() { printf '"%s", ' "$@"; }
# A workspace, so that cargo doesn't find this project's.
printf '[workspace]\nmembers = [%s]\nexclude = [%s]\n' "$(quoted "${members[@]}")" "$(quoted "${vendors[@]}")" \
  >"$tree/Cargo.toml"

# `old-rust.sh toolchain`: only the compiler and the tree.
[ "${1:-}" != toolchain ] || return 0

for dir in . "${vendors[@]}"; do (cd "$tree/$dir" && "${old[@]}" test --offline); done
new=$(fresh "$TARGET/new-plugins/old")
"$passdock" plugin new "$new/new-old"
(cd "$new/new-old" && "${old[@]}" test --offline)
(cd "$tree" && "${old[@]}" build --offline --package passdock-sdk-passes)
PASSDOCK_SDK_PASSES=$directory-build/debug/libpassdock_sdk_passes.so cargo test --workspace --test sdk
