# What `passdock plugin new` makes, in each language: it builds and passes its tests without a network, its pipeline
# does what its pass is for, and `passdock plugin check` finds nothing in it, nor in the examples.
export PASSDOCK=$passdock
need make
need cc
need c++
tree=$(fresh "$TARGET/new-plugins/today")
# Of two Relus one is left.
runs() { [ "$("$passdock" run pipeline.toml model.ir -o - | grep -c onnx.Relu)" = 1 ] || fail "two Relus are left"; }

"$passdock" plugin new "$tree/new-rust"
(
  cd "$tree/new-rust"
  # Where the pipeline and the README say that it is.
  export CARGO_TARGET_DIR=target
  cargo fmt --check
  cargo build --offline
  cargo test --offline
  runs
  "$passdock" plugin check target/debug/libnew_rust.so
)
for language in c cpp; do
  "$passdock" plugin new --$language "$tree/new-$language"
  (cd "$tree/new-$language" && make test check && runs)
done

# With data that plugins share: one SDK for both. Its dependencies were built for the examples, in these versions.
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
