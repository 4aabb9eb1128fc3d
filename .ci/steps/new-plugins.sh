# Tests a new plugin of `passdock plugin new` in Rust: it builds and passes its tests offline, its pipeline works, and
# `passdock plugin check` accepts it. It also accepts the examples. `cmake.sh` tests new plugins in C and C++.
export PASSDOCK=$passdock
tree=$(fresh "$TARGET/new-plugins/today")

"$passdock" plugin new "$tree/new-rust"
(
  cd "$tree/new-rust"
  # The directory that the pipeline and the README name.
  export CARGO_TARGET_DIR=target
  cargo fmt --check
  cargo build --offline
  cargo test --offline
  [ "$("$passdock" run pipeline.toml model.ir -o - | grep -c onnx.Relu)" = 1 ] || fail "two Relus are left"
  "$passdock" plugin check target/debug/libnew_rust.so
)

# A new plugin that shares data, with the same SDK. The examples have built the dependencies in these versions.
cp examples/share/cost-maker/Cargo.lock "$tree/new-rust"
(
  cd "$tree/new-rust"
  grep -qx '\[dependencies\]' Cargo.toml || fail "the new plugin has no dependencies"
  sed -i 's|^\[dependencies\]$|&\npassdock-plugin-share = { path = "vendor/passdock-plugin-api/share" }|' Cargo.toml
  printf '\n#[doc(hidden)]\npub use passdock_plugin_share as share;\n' >>src/lib.rs
  cargo build --offline --target-dir "$TARGET/vendor"
)
for example in hello-pass custom-instrument custom-op npu-partition; do
  (cd examples/$example && cargo build --offline --target-dir "$TARGET/vendor")
  "$passdock" plugin check "$TARGET/vendor/debug/lib${example//-/_}.so"
done
