# Tests the C++ header, the example, and failures of C++ plugins with one compiler: `cpp.sh COMPILER`.
. .ci/steps/cpp-throws.sh
compiler=$1
need "$compiler"
work=$(fresh "$TARGET/cpp/$compiler")
compile() { # SOURCE NAME FLAGS…
  mkdir -p "$work/$2"
  "$compiler" -std=c++17 -O2 -shared -fPIC -I $include -I "${1%/*}" "${warnings[@]}" "${@:3}" "$1" \
    -o "$work/$2/lib$2.so"
}

# The header compiles alone, and all of it compiles without warnings when used. All plugins are
# built as C++17 below.
"$compiler" -std=c++17 -fsyntax-only -x c++ -I $include "${warnings[@]}" $include/passdock.hpp
"$compiler" -std=c++20 -fsyntax-only -I $include "${warnings[@]}" tests/plugins/cpp/everything.cpp
# The plugin that calls most functions of the header and checks their results.
everything() { # LIBRARY
  for pass in Function Module; do
    "$passdock" run tests/plugins/cpp/everything.ir --plugin "$1" --passes everything.transform.$pass
  done
}
compile tests/plugins/cpp/everything.cpp everything -O0
everything "$work/everything/libeverything.so"

# The example's pass, with its option, its config key and its instrument.
compile examples/cpp-pass/cpp_pass.cpp cpp_pass
pass=cpp.transform.MergeTransposes before=examples/cpp-pass/before.ir
run=("$passdock" run --plugin-dir "$work/cpp_pass")
prints_file examples/cpp-pass/after.ir "${run[@]}" $before -o - --passes $pass
cat >"$work/pipeline.toml" <<TOML
[[instruments]]
name = "cpp.removed-ops"
[[passes]]
name = "$pass"
options = { limit = 1 }
TOML
prints_json 'r["instruments"][0]["text"].startswith("'$pass' removed 1\n")' \
  "${run[@]}" "$work/pipeline.toml" $before --json
prints 'perm = [0, 1]' "${run[@]}" $before -o - --passes $pass --config cpp.Transpose.keep_identity=true
prints 'panics are caught' "$passdock" inspect "$work/cpp_pass/libcpp_pass.so"

compile tests/plugins/cpp/throws.cpp throws
check_throws "$work/throws"

# The same plugin with and without exceptions: returned statuses are the same, but an error of the host can't be caught.
compile tests/plugins/cpp/returns.cpp returns
compile tests/plugins/cpp/returns.cpp aborts -fno-exceptions -fno-rtti
for plugin in returns aborts; do
  run=("$passdock" run tests/plugins/cpp/everything.ir --plugin "$work/$plugin/lib$plugin.so")
  prints "error[pass-failed]: The op isn't liked." exits 1 "${run[@]}" --passes returns.transform.Fail
  prints "function @main, op0 (onnx.Relu)" exits 1 "${run[@]}" --passes returns.transform.FailModule
  "${run[@]}" --passes returns.transform.Nothing
  echo 'module { fn @main(%x: f32[2]) -> (%y) opset("returns" = 1) { %y = returns.Op(%x) return %y } }' >"$work/op.ir"
  prints "(returns.Op) is invalid: The op is never valid" \
    "$passdock" run "$work/op.ir" --plugin "$work/$plugin/lib$plugin.so" --passes relax.transform.InferType
done
erase=(tests/plugins/cpp/everything.ir --passes returns.transform.Erase)
reason="is used by op8 (return); replace the uses first"
prints "error[pass-failed]: " exits 1 "$passdock" run "${erase[@]}" --plugin "$work/returns/libreturns.so"
for message in "$reason" 'SIGABRT, `abort` was called'; do
  prints "$message" exits 1 "$passdock" run "${erase[@]}" --plugin "$work/aborts/libaborts.so"
done
prints 'panics terminate the process' "$passdock" inspect "$work/aborts/libaborts.so"

# The same through the module. The macros are the only names that the module lacks.
module=("$compiler" -std=c++20 -fPIC -DPASSDOCK_LOOPS= -I "$PWD/$include" "${warnings[@]}")
if [[ $compiler != clang* ]]; then
  (cd "$work" && "${module[@]}" -fmodules-ts -x c++ -c "$OLDPWD/$include/passdock.cppm" -o passdock.o)
elif (($("$compiler" -dumpversion | cut -d. -f1) < 16)); then
  echo "the module isn't tested: $compiler is older than 16"
else
  headers=$(printf '#include <%s>\\n' map memory optional string string_view vector)
  sed "s|#include \"passdock.hpp\"|$headers#include \"passdock/cpp/macros.hpp\"\nimport passdock;|" \
    tests/plugins/cpp/everything.cpp >"$work/imports.cpp"
  "${module[@]}" --precompile $include/passdock.cppm -o "$work/passdock.pcm"
  "${module[@]}" -I tests/plugins/cpp -fmodule-file=passdock="$work/passdock.pcm" -shared "$work/imports.cpp" "$work/passdock.pcm" \
    -o "$work/libimports.so"
  everything "$work/libimports.so"
fi
