# Tests new plugins of `passdock plugin new` in each language: they build and pass their tests offline, their pipelines
# work, and `passdock plugin check` accepts them. It also accepts the examples.
export PASSDOCK=$passdock
need make
need cc
need c++
tree=$(fresh "$TARGET/new-plugins/today")
# Checks that the pass removed one of two Relus.
runs() { [ "$("$passdock" run pipeline.toml model.ir -o - | grep -c onnx.Relu)" = 1 ] || fail "two Relus are left"; }

"$passdock" plugin new "$tree/new-rust"
(
  cd "$tree/new-rust"
  # The directory that the pipeline and the README name.
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
