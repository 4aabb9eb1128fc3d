# Runs the fuzz targets with libFuzzer, which `libfuzzer-sys` builds: `run.sh [--seconds N] [--target NAME] [--asan]`.
# The instrumentation is that of `cargo fuzz` without a sanitizer, which the project's toolchain supports. `--asan` adds
# AddressSanitizer, which needs a nightly toolchain.
seconds=60 only= asan=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2 && shift 2 ;;
    --target) only=$2 && shift 2 ;;
    --asan) asan=yes && shift ;;
    *) fail "unexpected \`$1\`; usage: deep fuzz [--seconds N] [--target NAME] [--asan]" ;;
  esac
done
# Each target with its seeds and its arguments. An input of `edits` reaches thousands of edges, and libFuzzer's entropic
# schedule takes longer for it than running it.
targets="
edits edits -entropic=0
library library
lock_file lock_file
manifest manifest -dict=fuzz/manifest.dict
onnx_read onnx
onnx_write onnx
provenance provenance
rules rules -dict=fuzz/rules.dict
text text -dict=fuzz/text.dict
worker_messages worker_messages"
[ -z "$only" ] || grep -q "^$only " <<<"$targets" || fail "unknown target \`$only\`; fuzz/fuzz_targets lists them"

work=$TARGET/fuzz
mkdir -p "$work/found"
system=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares"
# With `--target`, build scripts and macros aren't instrumented.
build=(build --release --manifest-path fuzz/Cargo.toml --target "$system" ${only:+--bin "$only"})
if [ -n "$asan" ]; then
  RUSTFLAGS="$flags -Zsanitizer=address" cargo +nightly "${build[@]}" --target-dir "$work/asan"
  programs=$work/asan/$system/release
else
  RUSTFLAGS=$flags cargo "${build[@]}" --target-dir "$work"
  programs=$work/$system/release
fi

# Creates the seeds if they are missing, or if they are from a checkout with fewer targets.
seeds=$work/seeds
if [ ! -d "$seeds/text" ] || [ ! -d "$seeds/worker_messages" ]; then
  cargo build
  python=$(oracle_python)
  "$python" -B fuzz/seeds.py "$seeds" examples/models "$built" ${PASSDOCK_MODELS:+"$PASSDOCK_MODELS"}
  part=$(fresh "$seeds/text.part")
  # Some models are invalid on purpose and have no text.
  for model in "$seeds"/onnx/*; do
    "$passdock" convert "$model" "$part/$(basename "${model%.*}").ir" >/dev/null 2>&1 || true
  done
  cp host/ir/src/text/print/*.ir "$part"
  # Last, so that incomplete seeds are created again.
  rm -rf "$seeds/text"
  mv "$part" "$seeds/text"
fi

# Runs a target with its output in `log`; fails if it finds an error.
logged() {
  "$programs/$name" -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 "-artifact_prefix=$work/found/$name-" "$@" \
    >"$log" 2>&1 || fail "$(grep 'panicked\|ERROR: libFuzzer' "$log" | head -4)
see $log"
}
number() { grep -o "$1 *[0-9]*" "$log" | tail -1 | grep -o '[0-9]*$' || echo 0; }
report=
while read -r name seed arguments; do
  [ -n "$name" ] || continue
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  log=$work/$name.log corpus=$work/corpus/$name
  mkdir -p "$corpus"
  # Large inputs and regressions run without mutation.
  large=()
  [ "$seed" != onnx ] || large=("$seeds/large")
  logged -runs=0 -max_len=1048576 "fuzz/regressions/$name" "${large[@]}"
  # shellcheck disable=SC2086
  logged $arguments -max_len=65536 "-max_total_time=$seconds" "$corpus" "$seeds/$seed"
  report+="$name: $(number 'stat::number_of_executed_units:') executions in $seconds s, $(number ' cov:') of "
  report+="$(number 'INFO: Loaded 1 modules   (') edges, no crash"$'\n'
done <<<"$targets"
printf '\n%s' "$report"
