# The SDK as its users get it: the files that `cargo package` would ship, and the examples, copied to a tree of their
# own and built there, offline, by the oldest compiler promised. Its plugins run in today's host.
version=1.63
place=$TARGET/rust-$version

# The system's own toolchain, or Debian's packages, which are only unpacked: no root, and no change to the system.
# The C library stays the system's, as a second one in a process doesn't work.
if /usr/bin/rustc --version 2>/dev/null | grep -q "^rustc $version\."; then
  bin=/usr/bin libraries=
else
  bin=$place/usr/bin
  if [ ! -d "$place" ]; then
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
    unpacked=$(fresh "$place-unfinished")
    downloads=$(fresh "$place-packages")
    (
      cd "$downloads"
      sed -n 's/^Inst \([^ ]*\) .*/\1/p' <<<"$plan" | grep -v '^libc6\|^libc-' |
        xargs apt-get download --quiet --option APT::Sandbox::User=root
      for package in *.deb; do dpkg --extract "$package" "$unpacked"; done
    )
    rm -rf "$downloads"
    # Only a complete toolchain ever has the final name.
    mv "$unpacked" "$place"
  fi
  libraries=$(echo "$place"/usr/lib/*-linux-gnu)
fi
old=(env -u RUSTFLAGS -u RUSTDOCFLAGS -u RUSTC_WRAPPER -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET
  LD_LIBRARY_PATH="$libraries" RUSTC="$bin/rustc" RUSTDOC="$bin/rustdoc" CARGO_HOME="$place-home"
  CARGO_NET_OFFLINE=true CARGO_TARGET_DIR="$place-build" PASSDOCK="$passdock" "$bin/cargo")
"${old[@]}" --version || fail "Debian's rustc was unpacked but doesn't run; remove $place to try again"

tree=$(fresh "$TARGET/sdk")
# Today's lock files are of a version that the old cargo can't read.
put() { # DIRECTORY, its files on standard input
  mkdir -p "$tree/$1"
  grep -vx '\.cargo_vcs_info\.json\|Cargo\.lock\|Cargo\.toml\.orig' | tar -C "$1" -cT - | tar -C "$tree/$1" -x
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
# Ends the search for a workspace before it reaches this project's.
printf '[workspace]\nmembers = [%s]\nexclude = [%s]\n' "$(quoted "${members[@]}")" "$(quoted "${vendors[@]}")" \
  >"$tree/Cargo.toml"

for dir in . "${vendors[@]}"; do (cd "$tree/$dir" && "${old[@]}" test --offline); done
new=$(fresh "$TARGET/new-plugins/old")
"$passdock" plugin new "$new/new-old"
(cd "$new/new-old" && "${old[@]}" test --offline)
(cd "$tree" && "${old[@]}" build --offline --package passdock-sdk-passes)
PASSDOCK_SDK_PASSES=$place-build/debug/libpassdock_sdk_passes.so cargo test --workspace --test sdk
