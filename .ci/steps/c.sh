# Tests the headers and the C plugins with the given compilers: `c.sh COMPILER:LANGUAGE:STANDARD…`.
model=examples/models/digits.onnx

compile() { # SOURCE NAME
  "$compiler" -x "$language" "-std=$standard" -O2 -shared -fPIC -I $include -I "${1%/*}" "${warnings[@]}" "$1" \
    -o "$work/lib$2.so"
}

for name in "$@"; do need "${name%%:*}"; done
for name in "$@"; do
  IFS=: read -r compiler language standard <<<"$name"
  echo "$compiler, $standard"
  work=$(fresh "$TARGET/c/$compiler-$standard")
  syntax=("$compiler" "-std=$standard" -fsyntax-only -x "$language")

  # The header compiles alone and without warnings. It rejects versions that it doesn't have.
  "${syntax[@]}" "${warnings[@]}" $include/passdock.h
  for minor in TARGET MIN_HOST; do
    prints "PASSDOCK_${minor}_MINOR is" exits 1 "${syntax[@]}" -DPASSDOCK_${minor}_MINOR=4000 $include/passdock.h
  done
  [[ $language == c++ ]] && continue

  # A pass and an instrument, which vetoes the second run. The pipeline itself counts as a pass.
  compile examples/c-pass/c_pass.c c_pass
  cat >"$work/pipeline.toml" <<'TOML'
[[instruments]]
name = "c.counter"
limit = 1
[[passes]]
name = "c.transform.FuseDoubleRelu"
[[passes]]
name = "c.transform.FuseDoubleRelu"
TOML
  prints_json '[p["status"] for p in r["passes"][:2]] == ["changed", "skipped"]
    and r["instruments"][0]["text"] == "2 passes ran, 1 were vetoed"' \
    "$passdock" run "$work/pipeline.toml" $model --json --plugin-dir "$work"

  # An operator: its type is inferred, and it is folded.
  compile examples/c-op/c_op.c c_op
  prints_file examples/c-op/after.ir "$passdock" run examples/c-op/before.ir -o - --plugin-dir "$work" \
    --passes relax.transform.InferType,relax.transform.FoldConstant
  prints_json 'r["ops"][0]["attributes"][0].items() >= {"name": "scale", "default": 1.0}.items()' \
    "$passdock" list ops acme.ScaledAdd --json --plugin-dir "$work"

  # Rules.
  compile examples/c-rules/c_rules.c c_rules
  prints_file examples/c-rules/after.ir "$passdock" run examples/c-rules/before.ir -o - \
    --plugin "$work/libc_rules.so" --passes crules.transform.Simplify
done

# An error in rules fails the pass and names the line.
sed 's/where float(%x)/where flaot(%x)/' examples/c-rules/c_rules.c >"$work/wrong.c"
cp examples/c-rules/plugin.toml "$work"
compile "$work/wrong.c" wrong
prints 'unknown condition `flaot`' exits 1 "$passdock" run examples/c-rules/before.ir -o - \
  --plugin "$work/libwrong.so" --passes crules.transform.Simplify

# A diagnostic keeps its labels and notes. An error after which a pass fails is printed once, before the note on
# reproducers.
compile tests/bad-plugins/complains.c complains
run=("$passdock" run $model --json --plugin "$work/libcomplains.so" --passes)
prints_json '(d := r["diagnostics"][0])["severity"] == "warning" and d["code"] == "c::double-relu"
  and d["snippet"]["label"] == "is never negative" and d["labels"][0]["text"] == "because of this"
  and d["notes"][0] == "`Relu(Relu(x))` equals `Relu(x)`" and d["help"]' "${run[@]}" c.transform.Warn
prints_json 'len(r["diagnostics"]) == 2 and r["diagnostics"][0]["message"] == "cannot continue"' \
  exits 1 "${run[@]}" c.transform.GiveUp

# The host suite. This host keeps all rules, in both ways in which it runs plugins, and so does the
# older host that it emulates. A host with a defect breaks the rule about it.
suite=plugin-api/abi/host-suite
"$compiler" -std=c11 "${warnings[@]}" $suite/main.c -o "$work/host-suite"
"$compiler" -std=c11 -DDEFECTS -shared -fPIC -fvisibility=hidden -pthread -I $include -I $suite "${warnings[@]}" $suite/*.c \
  -o "$work/libhost_suite.so"
check_host=("$work/host-suite" "$work/report" "$passdock")
plugin=(--plugin "$work/libhost_suite.so" --passes host_suite.transform.All --instrument host_suite.observer
  --allow "host_suite=write:$work/report")
passed="0 failed, 0 were not reached"
prints "$passed" "${check_host[@]}" run $suite/module.ir "${plugin[@]}"
prints "$passed" "${check_host[@]}" run $suite/module.ir "${plugin[@]}" --in-process
prints "$passed" "${check_host[@]}" plugin check "$work/libhost_suite.so" --allow "host_suite=write:$work/report" --only older-hosts --model $suite/module.ir
for defect in get_extension:105 find:202 constant_data:401 last_error:407 set_attr:415 erase_op:507 snapshot:602 \
  run_pass:613 option:705 put:827 infer_with:835 target:855; do
  DEFECT=${defect%:*} prints "FAIL ${defect#*:} " exits 1 "${check_host[@]}" run $suite/module.ir "${plugin[@]}"
done
