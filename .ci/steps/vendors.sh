# Checks the examples like their authors would: formatting, lints, tests and a build, each in its own workspace.
export CARGO_TARGET_DIR=$TARGET/vendor PASSDOCK=$passdock
# Each crate, with the maximum number of lines of its `lib.rs`.
vendors=(examples/{hello-pass:25,custom-instrument:80,custom-op:105,npu-partition:100}
  examples/share/{cost-type,cost-maker,cost-reader,cost-changed}:)
for vendor in "${vendors[@]}"; do
  dir=${vendor%:*} most=${vendor#*:}
  lines=$(wc -l <"$dir/src/lib.rs")
  [ -z "$most" ] || [ "$lines" -le "$most" ] || fail "$dir/src/lib.rs has $lines lines; it must fit in $most"
  (
    cd "$dir"
    cargo fmt --check
    cargo clippy --offline --all-targets -- -D warnings
    cargo test --offline
    cargo build --offline
  )
done
