# Tests the C++ header, the example, and exceptions of a C++ plugin with one compiler: `cpp.sh COMPILER`.
. .ci/steps/cpp-throws.sh
compiler=$1
need "$compiler"
work=$(fresh "$TARGET/cpp/$compiler")
compile() { # SOURCE NAME
  "$compiler" -std=c++17 -O2 -shared -fPIC -I $include "${warnings[@]}" "$1" -o "$work/$2/lib$2.so"
}
mkdir "$work/cpp_pass" "$work/throws"

# The header compiles alone, and all of it compiles without warnings when used.
for standard in c++17 c++20; do
  for source in $include/passdock.hpp examples/cpp-pass/cpp_pass.cpp tests/plugins/cpp/{everything,throws}.cpp; do
    "$compiler" -std=$standard -fsyntax-only -x c++ -I $include "${warnings[@]}" "$source"
  done
done

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
