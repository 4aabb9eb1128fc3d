# A demonstration: builds everything, copies a vendor's plugin into a directory, and runs it on a real model.
profile=debug
[ "${1:-}" != --release ] || profile=release
flags=()
[ $profile = debug ] || flags=(--release)
show() { echo "\$ $*"; "$@"; }

echo "Build the host and the standard plugins:"
show cargo build ${PASSDOCK_TEST_BUILD:-} "${flags[@]}"

printf '\nBuild a vendor'"'"'s plugin, a separate crate that depends only on the SDK:\n'
show cargo build "${flags[@]}" --manifest-path examples/hello-pass/Cargo.toml --target-dir "$TARGET/vendor"
mkdir -p "$TARGET/demo/plugins"
cp "$TARGET/vendor/$profile/libhello_pass.so" "$TARGET/demo/plugins"

printf '\nThe plugin was copied into a directory. Print its manifest without running its code:\n'
show "$TARGET/$profile/passdock" inspect "$TARGET/demo/plugins/libhello_pass.so"

printf '\nRun it with the standard passes, on a network that recognizes handwritten digits:\n'
model=examples/models/digits.onnx out=$TARGET/demo/digits.onnx
show "$TARGET/$profile/passdock" run examples/pipelines/demo.toml $model --plugin-dir "$TARGET/demo/plugins" -o "$out"

printf '\nThe result is %s: %s bytes; the original has %s.\n' "$out" "$(wc -c <"$out")" "$(wc -c <$model)"
echo "examples/pipelines/demo.toml lists the passes; the vendor's pass is in examples/hello-pass/src/lib.rs."
[ $profile = release ] || echo "The times are of a debug build; \`cargo xtask demo --release\` makes a release build."
