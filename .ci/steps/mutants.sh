# Makes one mistake at a time in the files that decide what runs, and runs the conformance suite and the host's own
# tests on it. A mistake that no test notices is a failure.
cargo mutants --version >/dev/null 2>&1 || skip "no cargo-mutants (\`cargo install cargo-mutants\`)"
files=(plan/mod.rs pass/sequential.rs run/mod.rs instrument/calls.rs context/mod.rs context/scope.rs)
# The tests are another package's than the files, which the tool's own first run can't do; `fmt` only prints.
cargo mutants --baseline skip --test-workspace=true --jobs 1 --timeout 120 --exclude-re fmt \
  --output "$TARGET/mutants" "${files[@]/#/--file=host/core/src/}" \
  --cargo-arg=--test=rules --cargo-arg=--test=conformance --cargo-arg=--test=instruments ||
  fail "some mistakes go unnoticed; see $TARGET/mutants/mutants.out/missed.txt"
