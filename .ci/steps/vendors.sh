# The examples as their authors have them: formatting, lints, tests and a build, each in a workspace of its own.
export CARGO_TARGET_DIR=$TARGET/vendor PASSDOCK=$passdock
# A crate, and the lines that its `lib.rs` may have. The maker and the reader of data use the type.
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
