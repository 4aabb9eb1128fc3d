# Tests compatibility with future hosts and plugins: a copy of this checkout whose plugin ABI has grown everywhere. The
# current host loads future plugins, and the future host loads current plugins. `future.sh suites` does so in the test
# suites that load plugins and in the command, and passes values to each side that it doesn't know. `future.sh valgrind
# [deep]` runs the command under valgrind.
ages=$TARGET/future
checkout=$ages/checkout
[ "$1" != valgrind ] || need valgrind

# The suites that load plugins of the other age: Rust plugins built by cargo, or C plugins with its header. The other
# suites run the command, which has plugins of its own age next to it, or encode the ABI themselves (`plugin_files`).
suites=()
for suite in conformance instruments outlining pass_call sdk sequential_in_c sharing two_hosts; do
  suites+=(--test $suite)
done

mkdir -p "$checkout"
exec 7>"$ages/lock"
flock 7
python3 -B tests/plugins/future/checkout.py "$checkout"
CARGO_MANIFEST_DIR=$checkout/xtask "$built/xtask" generate
cargo_of() { # AGE WORDS…
  case $1 in
    today) cargo "${@:2}" ;;
    future) (cd "$checkout" && CARGO_TARGET_DIR=$ages/build cargo "${@:2}") ;;
  esac
}
built_of() { case $1 in today) echo "$built" ;; future) echo "$ages/build/debug" ;; esac; }
include_of() { case $1 in today) echo "$PWD/$include" ;; future) echo "$checkout/$include" ;; esac; }
# Third-party crates are the same in the future: their build results are copied, with their times.
if [ ! -d "$ages/build" ]; then
  own=$(cargo metadata --format-version 1 --no-deps |
    python3 -c 'import json, sys; print("|".join(p["name"] for p in json.load(sys.stdin)["packages"]))')
  hashes=$(ls "$built/.fingerprint" | grep -vE "^($own)-[0-9a-f]+$" | sed 's/.*-//' | sort -u)
  for part in deps build .fingerprint; do
    mkdir -p "$ages/build/debug/$part"
    (cd "$built/$part" && ls | grep -F "$hashes" | xargs cp -a -t "$ages/build/debug/$part")
  done
fi
# Builds the whole workspace: a few packages alone would need dependencies with other features.
for age in today future; do cargo_of $age build --workspace --lib --examples --bin passdock "${suites[@]}"; done
exec 7>&-

# Sets `command` to the command of one age, in its own directory with the standard plugins of the other age.
pair() { # HOST PLUGINS
  directory=$ages/$1-with-$2
  mkdir -p "$directory/c"
  cp "$(built_of "$1")/passdock" "$(built_of "$2")"/libpassdock_{onnx_ops,relax,tir}.so "$directory"
  command=$directory/passdock
}
simplify=(run examples/models/digits.onnx -o -)

if [ "$1" = valgrind ]; then
  for plugins in future today; do
    host=today
    [ $plugins = future ] || host=future
    pair $host $plugins
    checked() { valgrind --quiet --error-exitcode=99 --trace-children=yes "$command" "$@"; }
    checked run examples/c-op/before.ir -o - --passes FoldConstant,CanonicalizeBindings,DeadCodeElimination
    # A C pass and a C instrument, built with the header of the plugins' age.
    gcc -std=c11 -O1 -g -shared -fPIC -I "$(include_of $plugins)" -I examples/c-pass examples/c-pass/c_pass.c \
      -o "$directory/c/libc_pass.so"
    checked run examples/models/digits.onnx --plugin-dir "$directory/c" --passes c.transform.FuseDoubleRelu \
      --instrument c.counter
    # A pass in safe Rust that keeps borrowed data while it calls a definition.
    cat >"$directory/slices.ir" <<'IR'
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %y = onnx.Add(%x, %x)
    return %y
  }
}
IR
    checked run "$directory/slices.ir" --plugin "$(built_of $plugins)/libpassdock_sdk_passes.so" \
      --passes sdk.transform.SlicesStay
    [ "${2:-}" != deep ] || checked "${simplify[@]}"
  done
  return 0
fi

for plugins in future today; do
  host=today
  [ $plugins = future ] || host=future
  echo "host: $host, plugins: $plugins"
  (
    # The expected results are the same for all combinations.
    unset UPDATE_EXPECT
    export PASSDOCK_TEST_PLUGINS=$(built_of $plugins)/deps PASSDOCK_TEST_INCLUDE=$(include_of $plugins)
    cargo_of $host test --no-fail-fast --workspace "${suites[@]}"
  )
done

# Prints the diagnostics of a run, which may fail: severity, message and notes. Omits the plugin's path and the note on
# reproducers, which has file names of this run.
diagnostics() { # PLUGIN WORDS…
  { "$command" run --json --plugin "$@" || true; } | python3 -c '
import json, sys
for entry in json.load(sys.stdin)["diagnostics"]:
    if "reproducer" not in entry["message"]:
        lines = [f"{entry['"'severity'"']}: {entry['"'message'"']}", *(f"  {note}" for note in entry.get("notes", []))]
        print("\n".join(lines).replace(sys.argv[1], "FILE"))' "$1"
}
pair today today
unknown=$(fresh "$ages/unknown")
# What the future adds is declared only for plugins that require it.
printf '#include <passdock.h>\nuint64_t read(const passdock_host *host) { return host->future; }\n' >"$unknown/reads.c"
future_gcc() { gcc -std=c11 -fsyntax-only -I "$(include_of future)" "${warnings[@]}" "$@" "$unknown/reads.c"; }
future_gcc -DPASSDOCK_TARGET_MINOR=1
! future_gcc 2>"$unknown/errors" || fail "a plugin for 1.0 can read what 1.1 added"
grep -q "has no member named .future" "$unknown/errors" || fail "$(cat "$unknown/errors")"
# The future structs have an additional field, which the plugin's initializers lack.
gcc -std=c11 -DPASSDOCK_TARGET_MINOR=1 -DPASSDOCK_MIN_HOST_MINOR=0 -shared -fPIC -I "$(include_of future)" "${warnings[@]}" -Wno-missing-field-initializers \
  tests/plugins/future/future.c -o "$unknown/libfuture.so"
cat >"$unknown/model.ir" <<'IR'
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "future" = 1) {
    %y = future.Op(%x) {a = 1}
    return %y
  }
}
IR
cat >"$unknown/functions.ir" <<'IR'
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %y = onnx.Relu(%x)
    return %y
  }
  fn @of.the.Future(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %y = onnx.Relu(%x)
    return %y
  }
}
IR
cat >"$unknown/pipeline.toml" <<'TOML'
[[passes]]
name = "t.transform.Understands"
options = { word = "of the future" }
TOML
{
  echo "Today's host, asked by a plugin of the future:"
  for pass in future.transform.{Asks,Answers,Loop} relax.transform.InferType; do
    diagnostics "$unknown/libfuture.so" "$unknown/model.ir" --passes $pass
  done
  pair future today
  printf '\nA plugin of today, in a host of the future:\n'
  diagnostics "$built/examples/libpassdock_conformance.so" "$unknown/pipeline.toml" "$unknown/functions.ir"
} >"$unknown/expected.txt"
expected=tests/plugins/future/expected.txt
[ -z "${UPDATE_EXPECT:-}" ] || cp "$unknown/expected.txt" $expected
diff $expected "$unknown/expected.txt" || fail "\`UPDATE_EXPECT=1 cargo xtask deep future\` writes $expected"

pair today today
"$command" "${simplify[@]}" >"$unknown/expected.ir"
for pair in "today future" "future today"; do
  pair $pair
  prints_file "$unknown/expected.ir" "$command" "${simplify[@]}"
done

# The matrix in docs/abi.md: the files that were kept for 1.0 and plugins of the future, in both hosts. The future's
# plugins require nothing new, so they load in today's host, too.
newer=$(fresh "$ages/newer")
header=$(include_of future)
gcc -std=c11 -O2 -shared -fPIC -I "$header" -I examples/c-op examples/c-op/c_op.c -o "$newer/c_op-gcc.so"
g++ -std=c++17 -O2 -shared -fPIC -I "$header" -I examples/cpp-pass examples/cpp-pass/cpp_pass.cpp -o "$newer/cpp_pass-g++.so"
cp "$(built_of future)/deps/libpassdock_sdk_passes.so" "$newer/sdk_passes-rustc.so"
# Prints the passes of a plugin, with those that call its op definitions. Many of the SDK's passes are for one module.
passes_of() {
  case $1 in
    *sdk_passes*) echo sdk.transform.SlicesStay ;;
    *) "$command" inspect "$1" --json | python3 -c '
import json, sys
passes = [one["name"] for one in json.load(sys.stdin)["pass"] if one["kind"] == "function"]
print(",".join([*passes, "InferType", "FoldConstant"]))' ;;
  esac
}
{
  echo "| plugin | built for | host 1.0 | host of the future |"
  echo "|---|---|---|---|"
  for file in tests/old-plugins/abi-*/*.so "$newer"/*.so; do
    age="the future"
    [[ $file != tests/* ]] || age=$(dirname "${file#*abi-}")
    cells=
    for host in today future; do
      pair $host $host
      result=runs
      "$command" run tests/old-plugins/model.ir -o - --plugin "$file" --passes "$(passes_of "$file")" \
        >/dev/null 2>"$unknown/errors" || result="fails: $(head -1 "$unknown/errors")"
      cells+=" $result |"
    done
    echo "| \`${file##*/}\` | $age |$cells"
  done
} >"$ages/matrix.md"
python3 - "$ages/matrix.md" docs/abi.md "${UPDATE_EXPECT:-}" <<'PYTHON'
import re, sys
from pathlib import Path
matrix, page = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
text = page.read_text()
new = re.sub(r"(?<=<!-- matrix -->\n).*?(?=<!-- end -->)", lambda _: matrix, text, flags=re.S)
if new != text and sys.argv[3]:
    page.write_text(new)
elif new != text:
    sys.exit(f"the matrix in {page} differs; `UPDATE_EXPECT=1 cargo xtask deep future` writes it:\n{matrix}")
PYTHON
