# Tests data that plugins of two compilers share: each plugin reads the data that the other compiler's plugin publishes.
need rustup
commit() { sed -n 's/^commit-hash: //p'; }
ours=$(rustc -vV | commit)
other=
for toolchain in $(rustup toolchain list | cut -d' ' -f1); do
  # Broken toolchains are ignored.
  theirs=$(rustup run "$toolchain" rustc -vV 2>/dev/null | commit) || continue
  [ -z "$theirs" ] || [ "$theirs" = "$ours" ] || other=$toolchain
done
[ -n "$other" ] || skip "all toolchains have the same compiler; \`rustup toolchain install nightly\` adds one"
echo "the other compiler is that of the toolchain $other"

export PASSDOCK=$passdock
for crate in cost-maker cost-reader; do
  (
    cd examples/share/$crate
    rustup run "$other" cargo build --offline --target-dir "$TARGET/share-other"
    cargo build --offline --target-dir "$TARGET/vendor"
  )
done
check() { # MAKER READER
  (
    cd examples/share/cost-reader
    COST_MAKER=$1/debug/libcost_maker.so COST_READER=$2/debug/libcost_reader.so \
      cargo test --offline --test reading --target-dir "$TARGET/vendor"
  )
}
check "$TARGET/share-other" "$TARGET/vendor"
check "$TARGET/vendor" "$TARGET/share-other"
