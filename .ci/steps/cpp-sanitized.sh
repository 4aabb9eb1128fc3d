# Calls most functions of the C++ header under the sanitizers, in the host and in one that lacks nearly all functions.
# All exceptions are caught. One process loads several plugins that have the header's inline functions.
. .ci/steps/cpp-throws.sh
need g++
work=$(fresh "$TARGET/cpp/sanitized")
mkdir "$work/throws" "$work/everything"
compile() { # SOURCE OUTPUT FLAGS…
  g++ -std=c++17 -I $include -I tests/plugins/cpp "${warnings[@]}" -g -fsanitize=address,undefined -fno-sanitize-recover=all "${@:3}" \
    "tests/plugins/cpp/$1.cpp" -o "$work/$2"
}
compile hosts hosts
"$work/hosts"

# The host is built without sanitizers. They are preloaded, because they replace functions of the system.
preload=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so)
[[ $preload == /*:/* ]] || skip "g++ has no libasan.so or no libubsan.so"
compile throws throws/libthrows.so -shared -fPIC
check_throws "$work/throws"

compile everything everything/libeverything.so -shared -fPIC
run=(in_host "$passdock" run --plugin-dir "$work/everything" --plugin-dir "$work/throws")
for pass in Function Module; do
  "${run[@]}" tests/plugins/cpp/everything.ir --passes everything.transform.$pass
done
cat >"$work/pipeline.toml" <<'TOML'
[[passes]]
name = "throws.transform.Function"
options = { what = "" }
[[passes]]
name = "everything.All"
TOML
"${run[@]}" "$work/pipeline.toml" tests/plugins/cpp/everything.ir

# The C++ operators: acme.ScaledAdd as in C, one that prefers another layout, one with a list as a default.
before=examples/c-op/before.ir
prints_file examples/c-op/after.ir "${run[@]}" $before -o - \
  --passes relax.transform.InferType,relax.transform.FoldConstant
"${run[@]}" $before -o "$work/decomposed.ir" --passes relax.transform.DecomposeOps
exits 1 grep acme.ScaledAdd "$work/decomposed.ir"
cat >"$work/sizes.ir" <<'IR'
module { fn @main(%x: f32[2,4]) -> (%y: i64[2]) opset("" = 17, "acme" = 1) {
%y = acme.Sizes(%x) : i64[2]
return %y } }
IR
prints 'onnx.Transpose(%x) {perm = [1, 0]}' "${run[@]}" "$work/sizes.ir" -O3 -o - --passes relax.transform.AlterOpLayout
prints_json 'r["ops"][0]["attributes"][0]["default"] == ["a", "b"]' \
  in_host "$passdock" list ops acme.Listed --json --plugin-dir "$work/everything"
