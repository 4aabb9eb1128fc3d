# A newcomer's first look: builds everything, drops a vendor's plugin in a directory, and runs it on a real model.
profile=debug
[ "${1:-}" != --release ] || profile=release
flags=()
[ $profile = debug ] || flags=(--release)
show() { echo "\$ $*"; "$@"; }

echo "Build the host and the standard plugins:"
show cargo build "${flags[@]}"

printf '\nBuild a vendor'"'"'s plugin, a crate of its own that knows only the SDK:\n'
show cargo build "${flags[@]}" --manifest-path examples/hello-pass/Cargo.toml --target-dir "$TARGET/vendor"
mkdir -p "$TARGET/demo/plugins"
cp "$TARGET/vendor/$profile/libhello_pass.so" "$TARGET/demo/plugins"

printf '\nIt lies in a directory now. Its manifest, read without running any of its code:\n'
show "$TARGET/$profile/passdock" inspect "$TARGET/demo/plugins/libhello_pass.so"

printf '\nRun it among the standard passes, on a network that reads handwritten digits:\n'
model=examples/models/digits.onnx out=$TARGET/demo/digits.onnx
show "$TARGET/$profile/passdock" run examples/pipelines/demo.toml $model --plugin-dir "$TARGET/demo/plugins" -o "$out"

printf '\nThe result is %s: %s bytes, where the original has %s.\n' "$out" "$(wc -c <"$out")" "$(wc -c <$model)"
echo "The passes are listed in examples/pipelines/demo.toml; the vendor's is examples/hello-pass/src/lib.rs."
[ $profile = release ] || echo "The times are of a quick build; \`cargo xtask demo --release\` shows the real cost."
