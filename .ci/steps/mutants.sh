# Mutates the files that decide which passes run, one mutation at a time, and runs the conformance suite and the host's
# tests. A mutation that no test detects is a failure.
cargo mutants --version >/dev/null 2>&1 || skip "no cargo-mutants (\`cargo install cargo-mutants\`)"
files=(plan/mod.rs pass/sequential.rs run/mod.rs instrument/calls.rs context/mod.rs context/scope.rs)
# The tests are in another package than the files, which the tool's baseline run doesn't support. `fmt` only prints.
cargo mutants --baseline skip --test-workspace=true --jobs 1 --timeout 120 --exclude-re fmt \
  --output "$TARGET/mutants" "${files[@]/#/--file=host/core/src/}" \
  --cargo-arg=--test=rules --cargo-arg=--test=conformance --cargo-arg=--test=instruments ||
  fail "some mutations weren't detected; see $TARGET/mutants/mutants.out/missed.txt"
