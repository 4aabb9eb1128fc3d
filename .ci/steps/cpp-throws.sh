# Checks that an exception in a pass, an instrument or a definition is reported as its failure, with the message:
# `check_throws DIRECTORY`.
check_throws() {
  local dir=$1 what message
  local model=tests/plugins/cpp/everything.ir
  local fails=(exits 1 in_host "$passdock" run --plugin-dir "$dir")
  while IFS=: read -r what message; do
    cat >"$dir/pipeline.toml" <<TOML
[[passes]]
name = "throws.transform.Function"
options = { what = "$what" }
TOML
    prints "$message" "${fails[@]}" "$dir/pipeline.toml" $model
  done <<'TEXT'
error:error[pass-failed]: The op isn't liked.
exception:error[pass-panicked]: the pass panicked: basic_string
number:panicked: exception of a type other than std::exception
rejection:is used by op8 (return); replace the uses first
type:error[pass-failed]: invalid value for `what`: expected an integer
unknown:unknown option `waht`; declare it in the manifest
stopped:error[throws::said]: It was said before.
TEXT
  for message in "error[pass-failed]: The function isn't liked." "function @main, op0 (onnx.Relu)"; do
    prints "$message" "${fails[@]}" $model --passes throws.transform.Module
  done

  while IFS=: read -r what message; do
    cat >"$dir/pipeline.toml" <<TOML
[[instruments]]
name = "throws.thrower"
where = "$what"
[[passes]]
name = "throws.transform.Function"
options = { what = "" }
TOML
    prints "$message" "${fails[@]}" "$dir/pipeline.toml" $model
  done <<'TEXT'
create:: it panicked: thrown in create
enter:panicked in enter_pass_ctx: thrown in enter
before:panicked in run_before_pass: thrown in before
report:panicked in report: thrown in report
TEXT

  while IFS=: read -r what message; do
    echo 'module { fn @main(%x: f32[2]) -> (%y) opset("throws" = 1) {' \
      "%y = throws.Op(%x) {$what = 1} return %y } }" >"$dir/throws.ir"
    prints "$message" in_host "$passdock" run "$dir/throws.ir" --plugin-dir "$dir" --passes relax.transform.InferType
  done <<'TEXT'
wrong:is invalid: `wrong` is set
buggy:failed: a mistake in C++
TEXT
}

# Runs a command, with the sanitizers preloaded if `preload` is set.
in_host() { LD_PRELOAD=${preload:-} "$@"; }
